"""Rows of certainty, in the groups of positions used by Kutsch 2017, 9.1."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from turnier.runs.experiments.published import OTHER
from turnier.runs.experiments.row import Row
from turnier.studies.kutsch.statements import STATEMENTS
from turnier.studies.kutsch.thesis import DOCUMENT, published

# Positions of a group, searches of each, and the games with these positions (9.1: 20 and 20).
STATES = {"quick": (3, 6, 8), "paper": (20, 20, 50), "tiny": (1, 2, 2)}
ALIKE = 5  # times the positions and games, where means are compared that are close to each other
# Times the positions of the plan at the latest look at statements: 2, 4, 8, ...; those of earlier looks are among them.
LOOKED = {"certainty-trees": 2, "table2-certainty": 16, "table3-certainty": 8}
COMMON = (1, 8)  # empty cells with which positions of two, three and four legal actions are found
PHASES = {"quick": (2, 4, 6), "paper": (1, 2, 3, 4, 6, 8, 10), "tiny": (2, 6)}  # empty cells of the figures' curves
GROUPS = """ The thesis does not say which numbers of empty cells its mean goes over; since certainty falls so much with
them, the mean over all of them says less than that over positions with at most six."""


def certainty(
    preset: str, label: str, agents: tuple[str, ...], figure: float | None, share: int = 1, **place: Any
) -> Row:
    """Returns a row of certainty; `share` divides the states of a group, `place` is its place on a plot."""
    states, repeats, games = STATES[preset]
    return Row(
        label,
        "2048",
        agents if len(set(agents)) > 1 else agents[:1],
        games,
        "normalised_certainty",
        published(preset, figure),
        states=-(-states // share),
        repeats=repeats,
        setting="" if figure is None else OTHER,
        reason="" if figure is None else "the thesis does not tell its positions",
        **place,
    )


def means(
    preset: str, agents: Mapping[str, tuple[str, ...]], figures: Mapping[str, float], share: int = 1
) -> list[Row]:
    """Returns the rows of a table of certainty: over all positions, and over those with at most six empty cells."""
    return [
        certainty(preset, label + where, agent, figures.get(label), share, **place)
        for where, place in (("", {}), (", at most 6 empty cells", {"phases": (0, 6)}))
        for label, agent in agents.items()
    ]


def looked_at(preset: str, name: str, rows: Iterable[Row]) -> list[Row]:
    """Returns the rows of an experiment, those that statements are about with the positions of the latest look."""
    stated = {label for one in STATEMENTS if one.experiment == f"{DOCUMENT}:{name}" for label in one.rows}
    times = LOOKED.get(name, 1) if preset == "paper" else 1
    return [replace(row, states=times * row.states) if row.label in stated else row for row in rows]


def curves(preset: str, series: Mapping[str, tuple[str, ...]]) -> list[Row]:
    """Returns the rows of a certainty figure: by empty cells, one line per agent and number of actions."""
    return [
        certainty(
            preset,
            f"{label}, {actions} actions, {empty} empty",
            agents,
            None,
            x=empty,
            series=f"{label}, {actions} actions",
            legal=actions,
            phases=(empty, empty),
        )
        for label, agents in series.items()
        for actions in (2, 3, 4)
        for empty in PHASES[preset]
    ]


def lines(preset: str, series: Mapping[str, tuple[str, ...]]) -> list[Row]:
    """Returns the rows of a figure by the number of actions, each a mean over the same numbers of empty cells."""
    rows = [
        certainty(preset, f"{label}, {n} actions", agents, None, x=n, series=label, legal=n, phases=COMMON)
        for label, agents in series.items()
        for n in (2, 3, 4)
    ]
    return [replace(row, states=ALIKE * row.states, games=ALIKE * row.games) for row in rows]
