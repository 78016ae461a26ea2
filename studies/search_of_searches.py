"""Which search finds good parameters with the fewest games? All samplers and noise strategies, with equal budgets.

\b
Every search tunes seven weights of the row tables of a 2048 agent that looks one ply ahead. It is judged by the regret
of its recommendation: how much less it scores in held-out games than the best agent of any search.

\b
Examples:
    python studies/search_of_searches.py                        few seeds, a few minutes
    python studies/search_of_searches.py --preset paper         20 seeds: 260 searches of a few seconds each
    python studies/search_of_searches.py --workers-only         one study with 8, 32 and 128 simulated workers

After Ctrl-C, repeat the command to resume.
"""

import json
import multiprocessing
import os
import signal
import statistics
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pandas as pd
import typer
from rich.table import Table

from turnier.agents.registry import make_agent
from turnier.arena.match import MatchSpec, derive_seed
from turnier.arena.play import play_matches
from turnier.arena.workers.simulated_workers import SimulatedExecutor
from turnier.commands.options import writable_folder
from turnier.core.number_text import plus_minus
from turnier.core.terminal.console import Console
from turnier.dashboards.figures.charts import Figure, lines, save
from turnier.results.store.store import Store
from turnier.runs.bar import game_bar
from turnier.search.definition import StudyDefinition
from turnier.search.noise import NOISES
from turnier.search.samplers.registry import SAMPLERS
from turnier.search.space import Space
from turnier.search.storage.checked_studies import facts_of
from turnier.search.study_run import StudyRun
from turnier.statistics.intervals import mean_interval
from turnier.studies.promises.in_memory import search_in_memory
from turnier.studies.scripts.script import choose_preset, run_script

GAME = "2048(size=4)"
START = make_agent("expectimax(depth=1,evaluator=rows2048)")
WEIGHTS = ("empty", "merges", "monotonicity", "monotonicity_power", "sum", "sum_power", "corner")
SPACE = Space.of(START, [f"evaluator.{name}" for name in WEIGHTS])
# label -> sampler and noise strategy
SEARCHES = {
    "CMA-ES 64 x 1": ("cmaes(population=64)", "fixed"),
    "CMA-ES 32 x 1": ("cmaes(population=32)", "fixed"),
    "CMA-ES 9 x 10": ("cmaes(population=9)", "fixed(games=10)"),
    "CMA-ES 9 x 1": ("cmaes(population=9)", "fixed"),
    "CMA-ES 32, growing": ("cmaes(population=32)", "growing(growth=1.06)"),
    "CMA-ES 32, best again": ("cmaes(population=32)", "reevaluated(share=0.25,again=2)"),
    "CMA-ES 16, racing": ("cmaes(population=16)", "racing(games=8,first=2)"),
    "CMA-ES lr 64 x 1": ("cmaes_lr(population=64)", "fixed"),
    "SPSA": ("spsa", "fixed"),
    "TPE x 5": ("tpe", "fixed(games=5)"),
    "GP x 5": ("gp", "fixed(games=5)"),
    "random x 1": ("random", "fixed"),
    "grid x 1": ("grid(steps=2)", "fixed"),
}


@dataclass(frozen=True)
class Preset:
    seeds: int
    games: tuple[int, ...]  # ascending, after which recommendations are judged
    held_out: int  # games that judge each of them


PRESETS = {
    "quick": Preset(3, (300, 1000), 100),
    "paper": Preset(20, (500, 1000), 200),
    "tiny": Preset(2, (130, 200), 5),  # for tests
}


def scores(vectors: Sequence[Sequence[float]], seeds: Sequence[int]) -> list[float]:
    """Returns the scores of games, one for each vector on its seed."""
    text = [SPACE.apply(START, SPACE.decode(vector)).full_text() for vector in vectors]
    return [r.scores[0] for r in play_matches([MatchSpec(GAME, (t,), s) for t, s in zip(text, seeds, strict=True)])]


def run_search(task: tuple[str, int, Preset]) -> list[dict[str, Any]]:
    """Runs one search; returns its recommendation after each number of games, with the held-out score."""
    label, seed, preset = task
    sampler, noise = SEARCHES[label]
    search, played = SAMPLERS.make(sampler).begin(SPACE.encode(START), seed, SPACE), 0

    def play(vectors: Any) -> list[float]:
        nonlocal played
        played += len(vectors)
        return scores(vectors, [derive_seed(seed, label, played - i) for i in range(len(vectors))])

    rows, left = [], list(preset.games)
    latest = SPACE.encode(START), 0
    # The recommendation after N games is the latest one after at most N.
    for trial in search_in_memory(search, NOISES.make(noise), play, preset.games[-1]):
        while left and trial.games > left[0]:
            rows.append((left.pop(0), *latest))
        latest = search.recommended(), trial.games
    rows += [(games, *latest) for games in left]
    return [
        {
            "label": label,
            "seed": seed,
            "games": games,
            "used": used,
            "vector": vector,
            "mean": held_out_score(vector, preset),
        }
        for games, vector, used in rows
    ]


def held_out_score(vector: Sequence[float], preset: Preset) -> float:
    """Returns the mean score in held-out games."""
    return statistics.fmean(
        scores([vector] * preset.held_out, [derive_seed("unseen", i) for i in range(preset.held_out)])
    )


def optimum(found: Sequence[dict[str, Any]], preset: Preset) -> tuple[float, float]:
    """Returns the mean score of the best agent of any search, and its interval's half width.

    It is chosen among the ten best by 1,000 games each, then judged by 1,000 further ones, to limit luck.
    """
    games = 1000 if preset.held_out > 5 else 10
    vectors = [row["vector"] for row in sorted(found, key=lambda row: -row["mean"])[:10]]
    first = [statistics.fmean(scores([v] * games, [derive_seed("first", i) for i in range(games)])) for v in vectors]
    best = vectors[int(np.argmax(first))]
    return mean_interval(scores([best] * games, [derive_seed("second", i) for i in range(games)]))


def summary(found: Sequence[dict[str, Any]], best: float) -> dict[str, dict[int, tuple[float, float, int]]]:
    """Returns the mean regret, its interval's half width over seeds, and the seeds, by label and games."""
    groups: dict[tuple[str, int], list[float]] = defaultdict(list)
    for row in found:
        groups[row["label"], row["games"]].append(best - row["mean"])
    result: dict[str, dict[int, tuple[float, float, int]]] = defaultdict(dict)
    for (label, games), regrets in sorted(groups.items()):
        result[label][games] = (*mean_interval(regrets), len(regrets))
    return result


def print_summary(console: Console, result: dict[str, Any], preset: Preset, title: str) -> None:
    table = Table(title=title)
    table.add_column("search")
    for games in preset.games:
        table.add_column(f"{games:,} games", justify="right")
    table.add_column("seeds", justify="right")
    for label in sorted(result, key=lambda label: result[label][preset.games[-1]][0]):
        cells = [plus_minus(mean, half) for mean, half, _ in (result[label][games] for games in preset.games)]
        table.add_row(label, *cells, str(result[label][preset.games[-1]][2]))
    console.print(table)


def plot(result: dict[str, Any], preset: Preset, path: Path) -> None:
    rows = [
        {"search": label, "games": games, "regret": mean, "low": mean - half, "high": mean + half}
        for label in sorted(result, key=lambda label: result[label][preset.games[-1]][0])
        for games, (mean, half, _) in result[label].items()
    ]
    data, titles = pd.DataFrame(rows), ("games of the search", "regret in held-out games, points")
    chart = lines(data, "games", "regret", "low", "high", "search", titles, log=True)
    save(path, Figure("Regret of searches", chart, data, "95 % intervals of means over seeds."))


def show_workers(console: Console, folder: Path, budget: int) -> None:
    """Runs one study with simulated workers: the search stays the same, and takes less time."""
    table = Table(title=f"population 64, {budget:,} games, simulated workers that take 1 ms per decision")
    for heading in (
        "workers",
        "busy",
        "useful",
        "seconds",
        "games of candidates",
        "of these counted",
        "idle-time games",
        "recommended",
    ):
        table.add_column(heading, justify="right")
    definition = StudyDefinition("workers", GAME, START.full_text(), ("evaluator.*",), "cmaes(population=64)")
    for workers in (8, 32, 128):
        path = folder / f"search_of_searches-{workers}.db"
        path.unlink(missing_ok=True)
        with Store.open(f"sqlite:///{path}") as store:
            study, executor = StudyRun(store, definition), SimulatedExecutor(workers)
            study.run_budget(budget, executor)
            counted = sum(facts_of(trial)["games"] for trial in study.optuna.get_trials(deepcopy=False))
        cells = (
            executor.time.busy_share * 100,
            executor.time.useful_share * 100,
            executor.now,
            executor.games - study.idle_games,
            counted,
            study.idle_games,
        )
        digest = f"{derive_seed(str(study.course.proposed())):016x}"[:6]
        shares = (f"{share:.0f} %" for share in cells[:2])
        table.add_row(str(workers), *shares, *(f"{cell:,.0f}" for cell in cells[2:]), digest)
        path.unlink()
    console.print(table)


def main(
    preset: Annotated[str, typer.Option(help=", ".join(PRESETS))] = "quick",
    only: Annotated[str, typer.Option(help="run only searches whose label contains this")] = "",
    processes: Annotated[int, typer.Option(help="searches at once", min=1)] = 2,
    folder: Annotated[
        Path,
        typer.Option(
            help="folder for results, table and picture; existing results are not computed again",
            callback=writable_folder,
        ),
    ] = Path("reports"),
    workers_only: Annotated[
        bool, typer.Option("--workers-only", help="only run one study with 8, 32 and 128 simulated workers")
    ] = False,
) -> None:
    console, chosen = Console(), choose_preset(PRESETS, preset)
    folder.mkdir(parents=True, exist_ok=True)
    if workers_only:
        show_workers(console, folder, 640)
        return
    path = folder / f"search_of_searches-{preset}.jsonl"
    found = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    done = {(row["label"], row["seed"]) for row in found}
    tasks = [(label, seed, chosen) for seed in range(1, chosen.seeds + 1) for label in SEARCHES if only in label]
    left = [task for task in tasks if task[:2] not in done]
    # Searches are independent and sequential: processes, not threads, since samplers are Python.
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # there are as many searches at once as cores
    with (
        game_bar("searches", len(tasks), unit="searches", completed=len(tasks) - len(left)) as bar,
        # Our handler of the pool's signal to end could wait forever in a worker that is about to wait for work.
        multiprocessing.get_context("spawn").Pool(processes, signal.signal, (signal.SIGTERM, signal.SIG_DFL)) as pool,
    ):
        for rows in pool.imap_unordered(run_search, left):
            with path.open("a") as file:
                file.write("".join(f"{json.dumps(row)}\n" for row in rows))
            found += rows
            bar.advance(1)
    best, half = optimum(found, chosen)
    start = held_out_score(SPACE.encode(START), chosen)
    result = summary(found, best)
    title = f"regret in points below {plus_minus(best, half)}, the best found; the start has {best - start:,.0f}"
    print_summary(console, result, chosen, title)
    plot(result, chosen, folder / f"search_of_searches-{preset}.png")
    console.print(f"Picture: {folder / f'search_of_searches-{preset}.png'}")


if __name__ == "__main__":
    run_script(main, __doc__)
