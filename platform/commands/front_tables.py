"""The front of a study of strength and time, as a table and as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import matplotlib
from rich.console import Console

from turnier.commands.tables import agent_table
from turnier.search.pareto import ParetoStudy, Point

matplotlib.use("Agg")
from matplotlib import pyplot  # the backend has to be chosen first


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


def plot_points(study: ParetoStudy, points: Sequence[Point], path: Path) -> None:
    """Draws all candidates, and fresh games of the start and the front, into a PNG file."""
    figure, axes = pyplot.subplots(figsize=(8, 4.8), layout="constrained")
    told = [trial.values for trial in study.optuna.get_trials(deepcopy=False) if trial.values]
    axes.plot([v[1] for v in told], [v[0] for v in told], ".", color="0.75", label="candidates in the search")
    for label, color, some in (
        ("start, fresh games", "#D55E00", points[:1]),
        ("front, fresh games, 95 %", "#0072B2", sorted(points[1:], key=lambda p: p.milliseconds)),
    ):
        axes.errorbar(
            [p.milliseconds for p in some], [p.strength for p in some], [p.strength_half_width for p in some],
            [p.milliseconds_half_width for p in some], fmt="o", capsize=3, color=color, label=label,
        )  # fmt: skip
    best = sorted((p for p, beaten in zip(points, dominated(points), strict=True) if not beaten), key=lambda p: p[4])
    axes.step([p.milliseconds for p in best], [p.strength for p in best], where="post", color="#0072B2", alpha=0.5)
    axes.set(xscale="log", xlabel="milliseconds a decision", ylabel=study.objective.name, title=study.definition.name)
    axes.legend()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=130)
    pyplot.close(figure)
