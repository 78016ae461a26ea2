"""Runs of searches on problems, and the file of their results, to which what is missing is added."""

from __future__ import annotations

import csv
import multiprocessing
import os
import signal
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from turnier.arena.match import derive_seed
from turnier.search.noise import NOISES
from turnier.studies.benchmark.bbob import installed
from turnier.studies.benchmark.contenders import CONTENDERS, Contender
from turnier.studies.benchmark.problem import Floats, Table
from turnier.studies.benchmark.tables import BY_NAME, Preset
from turnier.studies.promises.in_memory import search_in_memory
from turnier.studies.scripts.results_file import read_rows, write_rows

START = "start"  # the label of what is recommended without a search


class Task(NamedTuple):
    """A search on a problem with a budget; also the first columns of stored results."""

    table: str
    search: str
    problem: int
    games: int


class Result(NamedTuple):
    loss: float
    seconds: float  # CPU time of the search alone


COLUMNS = (*Task._fields, *Result._fields)
Results = dict[Task, Result]


class _Clock:
    """Counts CPU seconds outside of games."""

    def __init__(self) -> None:
        self.seconds, self._since = 0.0, time.process_time()

    def stop(self) -> None:
        self.seconds += time.process_time() - self._since

    def go_on(self) -> None:
        self._since = time.process_time()


def run(task: Task) -> tuple[Task, Result]:
    """Runs a search to the end of its budget, and measures what it recommends."""
    table = BY_NAME[task.table]
    problem = table.make(task.problem)
    if task.search == START:
        return task, Result(problem.loss(problem.start), 0.0)
    contender = next(one for one in CONTENDERS if one.label == task.search)
    rng = np.random.default_rng(derive_seed("benchmark", *task))
    evaluations, clock = task.games // problem.unit, _Clock()
    search = contender.begin(problem, 1 + task.problem, evaluations, task.games)

    def played(how: str, vectors: Floats) -> Sequence[float]:
        clock.stop()
        found = problem.duel(vectors, rng) if how == "duel" else problem.play(vectors, rng)
        clock.go_on()
        return found

    for _ in search_in_memory(
        search,
        NOISES.make(contender.noise_for(evaluations)),
        lambda vectors: played("play", vectors),
        task.games,
        (lambda vectors: played("duel", vectors)) if problem.duels else None,
        problem.unit,
    ):
        pass
    recommended = search.recommended()
    clock.stop()
    return task, Result(problem.loss(recommended), clock.seconds)


def missing_packages(preset: Preset) -> Iterator[str]:
    """Yields a sentence for each table or search that is left out because its package is not installed."""
    if any(name.startswith("bbob") for name in preset.problems) and not installed():
        yield "The tables of bbob-noisy are left out: coco-experiment is not installed; see the extra rivals."
    for contender in CONTENDERS:
        if not contender.installed:
            yield f"{contender.label} is left out: {contender.package} is not installed; see the extra rivals."


def tasks(preset: Preset, only: str = "") -> list[Task]:
    """Returns the runs of a preset, of searches whose labels contain a text, problem by problem."""
    found = []
    for name, count in preset.problems.items():
        if name.startswith("bbob") and not installed():
            continue
        table = BY_NAME[name]
        duels = table.make(0).duels
        found += [
            Task(name, label, problem, games)
            for problem in range(count)
            for label in [START, *(one.label for one in CONTENDERS if _enters(one, duels) and only in one.label)]
            for games in _budgets(table, preset)
            if label != START or games == table.games[0]
        ]
    return found


def _budgets(table: Table, preset: Preset) -> list[int]:
    return [games for games in table.games if games <= preset.most]


def _enters(contender: Contender, duels: bool) -> bool:
    return contender.installed and (duels or not contender.duels)


def measured(todo: Iterable[Task], processes: int) -> Iterator[tuple[Task, Result]]:
    """Yields results as they come; several processes, not threads, since searches are Python."""
    if processes == 1:
        yield from map(run, todo)
        return
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # as many searches at once as there are cores
    # Our handler of the pool's signal to end could wait for ever in a worker that just begins to wait for work.
    calm = (signal.SIGTERM, signal.SIG_DFL)
    with multiprocessing.get_context("spawn").Pool(processes, signal.signal, calm) as pool:
        yield from pool.imap_unordered(run, todo)


def read(path: Path) -> Results:
    """Returns stored results, none if there is no file; raises UserError for a file with other columns."""
    rows = read_rows(path, COLUMNS)
    return {Task(t, s, int(p), int(g)): Result(float(loss), float(seconds)) for t, s, p, g, loss, seconds in rows}


def write(path: Path, results: Results) -> None:
    """Replaces the file as a whole, in order."""
    write_rows(path, COLUMNS, (_cells(*one) for one in sorted(results.items())))


def add(path: Path, task: Task, result: Result) -> None:
    """Appends a result to the file."""
    with path.open("a", newline="") as file:
        csv.writer(file, lineterminator="\n").writerow(_cells(task, result))


def _cells(task: Task, result: Result) -> list[object]:
    return [*task, f"{result.loss:.4g}", f"{result.seconds:.2g}"]
