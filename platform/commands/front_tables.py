"""The front of a study of strength and time, as a table."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from turnier.commands.tables import agent_table
from turnier.search.pareto import ParetoStudy, Point


def dominated(points: Sequence[Point]) -> list[bool]:
    """Returns which of the points another one beats: at least as strong and as cheap, and better at one of both."""
    return [
        any(
            other.strength >= point.strength
            and other.milliseconds <= point.milliseconds
            and (other.strength, -other.milliseconds) != (point.strength, -point.milliseconds)
            for other in points
        )
        for point in points
    ]


def print_points(console: Console, study: ParetoStudy, points: Sequence[Point]) -> None:
    """Prints what fresh games say of the start and the front, the cheapest first."""
    title = f"{study.objective.name} and time in {points[0].units:,} fresh games each; * no other one beats it at both"
    table = agent_table(title, study.objective.name, "± 95 %", "ms a decision", "± 95 %", "*", numbered=True)
    beaten = dict(zip((p.label for p in points), dominated(points), strict=True))
    digits = 0 if max(abs(p.strength) for p in points) >= 100 else 3
    for point in sorted(points, key=lambda p: p.milliseconds):
        strength = (f"{point.strength:,.{digits}f}", f"{point.strength_half_width:,.{digits}f}")
        cost = (f"{point.milliseconds:.3g}", f"{point.milliseconds_half_width:.2g}")
        table.add_row(point.label, str(point.agent), *strength, *cost, "" if beaten[point.label] else "*")
    console.print(table)
