"""The agents of a study's candidates, and their games."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from turnier.core.errors import UserError
from turnier.dashboards.links import games_of
from turnier.search.storage.definitions import agent_with, used_values


def agents_of(candidates: pd.DataFrame, trials: pd.DataFrame, definition: Mapping[str, Any]) -> list[str]:
    """Returns the text of each candidate's agent; empty if this version cannot build it.

    Args:
        candidates: rows of `trials`.
        trials: see `trials_frame`.
        definition: of the study.
    """
    rows = candidates[trials.attrs["parameters"]].to_dict("records")
    return [agent_with(definition, used_values(row, trials.attrs["ranges"])) for row in rows]


def games_of_candidate(run: str, number: int, trials: pd.DataFrame, definition: Mapping[str, Any]) -> str:
    """Returns the address of a candidate's games; raises UserError if no candidate with this number is finished."""
    found = trials[trials["number"] == number]
    if found.empty:
        raise UserError(f"a candidate must be finished, got number {number}; choose one on the tab Search.")
    return games_of(run, *agents_of(found, trials, definition))
