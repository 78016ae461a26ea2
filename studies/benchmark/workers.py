"""One study with more and more simulated workers: the search stays the same, takes less time, and its games count."""

from __future__ import annotations

import tempfile

from rich.table import Table

from turnier.arena.match import derive_seed
from turnier.arena.workers.simulated_workers import SimulatedExecutor
from turnier.core.terminal.console import Console
from turnier.results.store.store import Store
from turnier.search.definition import StudyDefinition
from turnier.search.storage.checked_studies import facts_of
from turnier.search.study_run import StudyRun

WORKERS = (8, 32, 128)
BUDGET = 640  # games
START = "expectimax(depth=1,evaluator=rows2048)"
HEADINGS = ("workers", "busy", "useful", "seconds", "games of candidates", "of these counted", "idle-time games")


def show_workers(console: Console) -> None:
    """Prints a table with a row for each number of workers."""
    table = Table(title=f"population 64, {BUDGET:,} games, simulated workers that take 1 ms per decision")
    for heading in (*HEADINGS, "recommended"):
        table.add_column(heading, justify="right")
    definition = StudyDefinition("workers", "2048(size=4)", START, ("evaluator.*",), "cmaes(population=64)")
    for workers in WORKERS:
        with tempfile.TemporaryDirectory() as folder, Store.open(f"sqlite:///{folder}/workers.db") as store:
            study, executor = StudyRun(store, definition), SimulatedExecutor(workers)
            study.run_budget(BUDGET, executor)
            counted = sum(facts_of(trial)["games"] for trial in study.optuna.get_trials(deepcopy=False))
            digest = f"{derive_seed(str(study.course.proposed())):016x}"[:6]
        played = executor.games - study.idle_games
        shares = (f"{100 * share:.0f} %" for share in (executor.time.busy_share, executor.time.useful_share))
        cells = (f"{cell:,.0f}" for cell in (executor.now, played, counted, study.idle_games))
        table.add_row(str(workers), *shares, *cells, digest)
    console.print(table)
