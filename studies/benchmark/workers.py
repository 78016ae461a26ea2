"""Studies with more and more simulated workers: they take less time, and their games count."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from typing import NamedTuple

from rich.table import Table

from turnier.arena.match import derive_seed
from turnier.arena.workers.simulated_workers import SimulatedExecutor
from turnier.core.terminal.console import Console
from turnier.results.store.store import Store
from turnier.search.definition import StudyDefinition
from turnier.search.samplers.duels import Duels
from turnier.search.samplers.registry import SAMPLERS
from turnier.search.samplers.sampler import Sampler
from turnier.search.storage.checked_studies import facts_of
from turnier.search.study_run import StudyRun

HEADINGS = ("workers", "busy", "useful", "seconds", "games of candidates", "of these counted", "idle-time games")


class Case(NamedTuple):
    """A study, and the numbers of workers that it is played with."""

    game: str
    start: str
    parameters: tuple[str, ...]
    sampler: Sampler
    budget: int  # games
    workers: tuple[int, ...]

    @property
    def title(self) -> str:
        return f"{self.sampler}, {self.budget:,} games, simulated workers that take 1 ms per decision"


ROWS = "expectimax(depth=1,evaluator=rows2048)"
SCORES = Case("2048(size=4)", ROWS, ("evaluator.*",), SAMPLERS.make("cmaes(population=64)"), 640, (8, 32, 128))
RANGES = ("exploration=0.01..10:log", "rollout_depth=0..100:log")
WON = Case("yavalath", "mcts(iterations=4,rollout_depth=20)", RANGES, Duels(share=0.0), 20_000, (64, 256, 1000))


def show_workers(console: Console) -> None:
    """Prints a table of scores and one of won games, with a row for each number of workers."""
    for case in (SCORES, WON):
        table = Table(title=case.title)
        for heading in (*HEADINGS, "recommended"):
            table.add_column(heading, justify="right")
        for workers in case.workers:
            table.add_row(str(workers), *_cells(case, workers))
        console.print(table)


def _cells(case: Case, workers: int) -> Iterator[str]:
    sampler = str(case.sampler.within(case.budget, workers))
    definition = StudyDefinition("workers", case.game, case.start, case.parameters, sampler)
    with tempfile.TemporaryDirectory() as folder, Store.open(f"sqlite:///{folder}/workers.db") as store:
        study, executor = StudyRun(store, definition), SimulatedExecutor(workers)
        study.run_budget(case.budget, executor)
        counted = sum(facts_of(trial)["games"] for trial in study.optuna.get_trials(deepcopy=False))
        digest = f"{derive_seed(str(study.course.proposed())):016x}"[:6]
    yield from (f"{100 * share:.0f} %" for share in (executor.time.busy_share, executor.time.useful_share))
    yield f"{executor.now:,.1f}"
    yield from (f"{cell:,}" for cell in (executor.games - study.idle_games, counted, study.idle_games))
    yield digest
