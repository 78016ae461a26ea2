"""What a study found, as a table of parameters and a picture of the search beside fresh games."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import matplotlib
from rich.console import Console
from rich.table import Table

from turnier.agents.agent import Agent
from turnier.search.study import Study
from turnier.statistics.intervals import mean_interval

matplotlib.use("Agg")
from matplotlib import pyplot  # the backend has to be chosen first


def print_parameters(console: Console, study: Study, agents: Mapping[str, Agent]) -> None:
    """Prints the searched parameters of the named agents, and each agent's text form."""
    table = Table(title="searched parameters")
    table.add_column("parameter")
    values = [study.space.of_agent(agent) for agent in agents.values()]
    for label in agents:
        table.add_column(label, justify="right")
    for dimension in study.space.dimensions:
        row = [v.get(dimension.path, "") for v in values]  # a baseline may have another evaluator
        table.add_row(dimension.path, *(f"{x:.4f}" if isinstance(x, float) else str(x).lower() for x in row))
    console.print(table)


def plot_study(study: Study, scores: Mapping[str, list[float]], path: Path) -> None:
    """Draws the search (candidates and generation means) beside the held-out comparison into a PNG file."""
    trials = [t for t in study.optuna.get_trials(deepcopy=False) if t.value is not None]
    generations = sorted({t.user_attrs["generation"] for t in trials})
    by_generation = [[float(t.value or 0) for t in trials if t.user_attrs["generation"] == g] for g in generations]
    intervals = [mean_interval(values) for values in by_generation]
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(11, 4.2), width_ratios=(3, 2), layout="constrained")
    left.plot(
        [t.user_attrs["generation"] + 1 for t in trials],
        [t.value for t in trials],
        ".",
        color="0.75",
        label="candidate",
    )
    left.errorbar(
        [g + 1 for g in generations], [m for m, _ in intervals], [h for _, h in intervals],
        marker="o", capsize=3, color="#0072B2", label="mean of the generation, 95 %",
    )  # fmt: skip
    left.set(xlabel="generation", ylabel="score in the search", title=study.definition.name)
    left.legend()
    labels = list(scores)
    held_out = [mean_interval(values) for values in scores.values()]
    right.barh(labels, [m for m, _ in held_out], xerr=[h for _, h in held_out], color="#E69F00", capsize=3)
    right.invert_yaxis()
    right.set(xlabel="mean score, 95 %", title=f"held-out games ({len(next(iter(scores.values())))} each)")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=130)
    pyplot.close(figure)
