"""What is printed and drawn at the end of a training."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:
    from turnier.runs.training_run import TrainingRun


def print_evaluations(console: Console, run: TrainingRun[Any]) -> None:
    """Prints a row for each evaluation, if there are any."""
    evaluations, evaluating = run.evaluations(), run.evaluating
    if not evaluations:
        return
    if evaluating and evaluating.against:
        console.print(f"Evaluated against {evaluating.against}", soft_wrap=True)
    table = Table(caption=f"turnier results --run {run.id}")
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
