"""Certainty condensed: the basis of means and intervals, and groups that fit into a chart."""

from __future__ import annotations

import contextlib

import pandas as pd

from turnier.core.errors import UserError
from turnier.games.registry import GAMES

NOTE = "95 % intervals by leaving out each game that positions come from in turn; none if there is only one game."
BY_POSITION = "95 % intervals by leaving out each position in turn, since their games are not known."
UNEVEN = "The agents have not all searched the same positions: their means are over different ones."
MAX_LEGAL = 10  # columns of a heat map; with more, neighbouring numbers of legal actions share one


def means_note(positions: pd.DataFrame) -> str:
    """Returns a note on the means of agents over groups, and their intervals."""
    return f"Means over the groups, of whatever size. {positions_note(positions)}"


def positions_note(positions: pd.DataFrame) -> str:
    searched = positions.groupby("agent")["position"].agg(frozenset)
    said = BY_POSITION if (positions["source"] == "").any() else NOTE
    return said if searched.nunique() <= 1 else f"{said} {UNEVEN}"


def coarser(positions: pd.DataFrame) -> pd.DataFrame:
    """Returns positions with neighbouring numbers of legal actions merged if there are many."""
    largest = positions["legal"].max() if len(positions) else 0
    step = -(-int(largest) // MAX_LEGAL)
    return positions if step <= 1 else positions.assign(legal=(positions["legal"] // step) * step)


def in_percent(table: pd.DataFrame, measure: str) -> pd.DataFrame:
    """Returns the table with percent, low and high; ends of intervals are possible values, or the value itself."""
    percent = 100 * table[measure]
    low = (100 * table[f"{measure}_low"]).clip(lower=0.0).combine(percent, min)
    high = (100 * table[f"{measure}_high"]).clip(upper=100.0).combine(percent, max)
    return table.assign(percent=percent, low=low, high=high)


def phase_name(game: str) -> str:
    with contextlib.suppress(UserError):
        return GAMES.make(game).phase_name
    return "phase"
