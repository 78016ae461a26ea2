"""Running a search for a front of strength and time, and showing its result."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from turnier.commands.search_tables import print_points
from turnier.search.pareto import ParetoStudy, Point


def show_front(console: Console, study: ParetoStudy, points: Sequence[Point], folder: Path | None = None) -> None:
    """Prints the start and the front, and draws them into a picture if there is a folder for it."""
    print_points(console, study, points)
    if folder:
        from turnier.dashboards.reports.pictures import save_front_picture

        path = folder / f"{study.definition.name}.png"
        save_front_picture(path, study.store, study.definition.name, points)
        console.print(f"Picture: {path}", soft_wrap=True)
