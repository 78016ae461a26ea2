"""Points of a front: agents with their results in held-out games, which of them others beat, and their stored form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...agents.agent import Agent
from ...agents.registry import AGENTS
from ...results.store.store import Store
from ..storage.checked_studies import study_notes
from .second_objective import SECOND_OBJECTIVES, TIME, SecondObjective

HELD_OUT = "held-out front"  # the attribute of Optuna's study


class Point(NamedTuple):
    """An agent with its strength and its value of the second objective; half widths of 95 % intervals."""

    label: str
    agent: Agent
    strength: float
    strength_half_width: float
    other: float
    other_half_width: float
    units: int  # of held-out games
    positions: int = 0  # searched repeatedly
    objective: SecondObjective = TIME  # the second one

    def sample(self, unit_games: int) -> str:
        """Returns what the means cover; `unit_games` is the number of games per unit, see `Objective`."""
        positions = f" and {self.positions:,} held-out positions" if self.positions else ""
        return f"{self.units * unit_games:,} held-out games{positions}"

    def row(self) -> dict[str, Any]:
        """Returns the point as it is stored and exported; see `read_point` for the reverse."""
        column = self.objective.column
        row = {
            "label": self.label,
            "agent": str(self.agent),
            "strength": self.strength,
            "strength_half_width": self.strength_half_width,
            column: self.other,
            f"{column}_half_width": self.other_half_width,
            "units": self.units,
        }
        return row | ({"positions": self.positions} if self.positions else {})


def read_point(row: Mapping[str, Any]) -> Point:
    objective = next(one for one in SECOND_OBJECTIVES.values() if one.column in row)
    return Point(
        row["label"],
        AGENTS.make(row["agent"]),
        row["strength"],
        row["strength_half_width"],
        row[objective.column],
        row[f"{objective.column}_half_width"],
        row["units"],
        row.get("positions", 0),
        objective,
    )


def stored_points(store: Store, study: str) -> list[Point]:
    """Returns the start and the front in held-out games at the end of a search; empty before."""
    return [read_point(row) for row in study_notes(store, study, HELD_OUT).get(HELD_OUT, ())]


def dominated(points: Sequence[Point]) -> list[bool]:
    """Returns for each point whether another one is at least as good in both objectives and better in one."""
    values = [(point.strength, point.objective.sign * point.other) for point in points]
    return [bool(worse) for worse in beaten(np.reshape(values, (-1, 2)))]


def beaten(values: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
    """Returns for each row of values, [n, 2], whether another is at least as large in both and larger in one, [n]."""
    better = (values[:, None] >= values).all(2) & (values[:, None] > values).any(2)  # [by, whom]
    return np.asarray(better.any(0), np.bool_)


def best_first(points: Sequence[Point]) -> list[Point]:
    """Returns the points by the second objective, the best one first."""
    return sorted(points, key=lambda point: -point.objective.sign * point.other)
