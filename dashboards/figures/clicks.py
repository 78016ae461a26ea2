"""Marks of charts that a click chooses; pages put what it chose into their address."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt

CELL = "cell"  # the name of the selection


def selection(fields: Sequence[str]) -> Any:
    """Returns the selection of a mark by the values of some fields."""
    return alt.selection_point(name=CELL, fields=list(fields))


def clickable(marks: Any, fields: Sequence[str]) -> Any:
    """Returns marks of which a click chooses the values of some fields; without fields, the marks as they are."""
    return marks.add_params(selection(fields)) if fields else marks
