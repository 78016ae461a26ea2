"""What all ways to train print and draw."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from rich.table import Table

from turnier.commands.command_line import saving
from turnier.core.number_text import plus_minus
from turnier.core.terminal.console import Console

if TYPE_CHECKING:
    from turnier.agents.agent import Agent
    from turnier.agents.ntuple.training import TrainingLoop
    from turnier.runs.deep.loop import DeepLoop
    from turnier.runs.training_run import TrainingRun


class Planned(Protocol):
    """A training that may have begun."""

    out: Path

    @property
    def done(self) -> int: ...

    @property
    def finished(self) -> bool: ...


def stored_games(planned: Planned) -> str:
    """Says what the file has at the moment."""
    return f"{planned.out} has {planned.done:,} games" if planned.out.exists() else f"{planned.out} is not written yet"


def train_and_print(
    planned: Any,
    store: str,
    plot: Path | None,
    *,
    stop: Callable[[], bool],
    print_end: Callable[[Console, Any], None],
    title: Callable[[], str],
    more: str = "--games",
) -> None:
    """Trains into a file, resumes where it was stopped, and prints how it went.

    Args:
        planned: the training.
        store: its URL.
        plot: a picture of the curve to be written.
        stop: has a training under way save and end, see `saving`.
        print_end: prints the results.
        title: of the picture.
        more: the option by which a finished training resumes.
    """
    from turnier.commands.other_code import print_other_code
    from turnier.results.store.store import Store

    console = Console()
    print_finished(console, planned, more)
    with Store.open(store) as opened:
        with saving(stop, lambda: stored_games(planned)):
            results = planned.run(opened)
        print_end(console, results)
        if plot:
            save_plot(console, plot, title(), results.run)
        print_other_code(opened, results.id)


def print_finished(console: Console, planned: Planned, more: str = "--games") -> None:
    """Prints which option resumes a training that has what was asked for."""
    if planned.finished:
        console.print(f"{stored_games(planned)} already; resume with more {more}.", soft_wrap=True)


def print_learned(console: Console, loop: TrainingLoop | DeepLoop) -> None:
    """Prints what was played, and how well at the end."""
    from turnier.statistics.intervals import half_width_of_mean

    count, mean, variance = loop.points.newest(loop.plan.every)
    error = half_width_of_mean(count, math.sqrt(variance))
    console.print(
        f"{loop.out}: {loop.done:,} games, {loop.moves:,} moves, {loop.moves_per_second:,.0f} moves/s;"
        f" mean of the last {count:,} games {plus_minus(mean, error)}",
        soft_wrap=True,
    )


def print_agent(console: Console, game: str, agent: Agent) -> None:
    console.print(f'To play with it: turnier tournament {game} "{agent}"', soft_wrap=True)


def print_evaluations(console: Console, run: TrainingRun[Any]) -> None:
    """Prints a row for each evaluation, if there are any."""
    evaluations, evaluating = run.evaluations(), run.evaluating
    if not evaluations:
        return
    if evaluating and evaluating.against:
        console.print(f"Evaluated against {evaluating.against}", soft_wrap=True)
    table = Table(caption=f"turnier show {run.id}")
    for heading in ("games trained", f"{run.unit}, 95 %", "games played"):
        table.add_column(heading, justify="right", no_wrap=True)
    for evaluation in evaluations:
        table.add_row(f"{evaluation.games:,}", str(evaluation), f"{evaluation.matches:,}")
    console.print(table)


def save_plot(console: Console, path: Path, title: str, run: TrainingRun[Any]) -> None:
    """Writes a picture of the curve, and of the evaluations if there are any."""
    from turnier.dashboards.reports.pictures import save_training_picture

    save_training_picture(path, title, run.store.curves.points(run.id), run.evaluations(), run.unit)
    console.print(f"Plot: {path}", soft_wrap=True)
