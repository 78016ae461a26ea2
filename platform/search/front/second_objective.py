"""The second objective of a search for a front: the time of a decision, or certainty."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from optuna.study import StudyDirection

from ...core.errors import UserError
from ...core.number_text import number, plus_minus
from ...statistics.intervals import COUNT, PERCENT, Bounds


class SecondObjective(NamedTuple):
    """An objective beside strength, and its names."""

    name: str  # in --objectives
    stored: str  # in the definitions of studies
    column: str  # of tables, and of points as they are stored
    title: str  # of axes
    unit: str
    sign: int  # 1 if more is better, otherwise -1
    bounds: Bounds

    @property
    def direction(self) -> StudyDirection:
        return StudyDirection.MAXIMIZE if self.sign > 0 else StudyDirection.MINIMIZE

    def text(self, value: float, half_width: float | None = None) -> str:
        shown = number(value) if half_width is None else plus_minus(value, half_width)
        return f"{shown} {self.unit}"


TIME = SecondObjective(
    "time", "milliseconds a decision", "milliseconds", "ms per decision", "ms per decision", -1, COUNT
)
CERTAINTY = SecondObjective("certainty", "certainty", "agreement_percent", "agreement, %", "% agreement", 1, PERCENT)
SECOND_OBJECTIVES = {objective.name: objective for objective in (TIME, CERTAINTY)}


def read_objectives(text: str) -> SecondObjective | None:
    """Returns the objective that `--objectives` adds to strength, or None; raises UserError for other texts."""
    first, comma, second = text.replace(" ", "").partition(",")
    if first != "strength" or (comma and second not in SECOND_OBJECTIVES):
        allowed = " or ".join(f"strength,{name}" for name in SECOND_OBJECTIVES)
        raise UserError(f"--objectives must be strength, {allowed}, got {text!r}.")
    return SECOND_OBJECTIVES[second] if comma else None


def stored_objective(definition: Mapping[str, Any]) -> SecondObjective:
    """Returns the second objective of a stored study; any for a study without one."""
    stored = definition.get("objectives", ())
    return next((objective for objective in SECOND_OBJECTIVES.values() if objective.stored in stored), TIME)
