"""Certainty condensed: the basis of means and intervals, and groups that fit into a chart."""

from __future__ import annotations

import contextlib

import pandas as pd

from turnier.core.errors import UserError
from turnier.core.number_text import counted, estimate, number, plus_minus
from turnier.games.game import Game
from turnier.games.registry import GAMES
from turnier.results.frames.certainty import certainty_lead, certainty_over_game

NOTE = "95 % intervals by leaving out each game that positions come from in turn; none if there is only one game."
BY_POSITION = "95 % intervals by leaving out each position in turn, since their games are not known."
UNEVEN = "The agents have not all searched the same positions: their means are over different ones."
ANY = "any"  # number of legal actions, in addresses
MAX_LEGAL = 10  # columns of a heat map; with more, neighbouring numbers of legal actions share one


def means_note(positions: pd.DataFrame) -> str:
    """Returns a note on the means of agents over groups, and their intervals."""
    return f"Means over the groups, of whatever size. {positions_note(positions)}"


def positions_note(positions: pd.DataFrame) -> str:
    searched = positions.groupby("agent")["position"].agg(frozenset)
    said = BY_POSITION if (positions["source"] == "").any() else NOTE
    return said if searched.nunique() <= 1 else f"{said} {UNEVEN}"


def lead_sentence(positions: pd.DataFrame, measure: str) -> str:
    """Returns whether the most certain agent of a game is more certain than the second; empty if they share nothing."""
    lead = certainty_lead(positions, measure)
    if lead is None:
        return ""
    labels = dict(zip(positions["agent"], positions["label"], strict=True))
    first, second = labels[lead.first], labels[lead.second]
    where = f"in the same {counted(lead.positions, 'position')} from {counted(lead.games, 'game')}"
    apart, half = 100 * lead.mean, 100 * lead.half_width
    if not apart:
        return f"{first} and {second} are equally certain {where}."
    if not half > 0:
        return f"{first} leads {second} by {number(apart)} percentage points {where}: too few games to test that."
    points = f"{plus_minus(apart, half)} percentage points {where}"
    if abs(apart) > half:
        return f"{first} is more certain than {second}, the next: by {points}."
    return f"{first} and {second}, the most certain, are not told apart: they differ by {points}."


def course_sentence(positions: pd.DataFrame, measure: str, label: str) -> str:
    """Returns how certain an agent is at the beginning and at the end of the game; empty without intervals of both."""
    course = certainty_over_game(positions, measure)
    course = course[course["label"] == label].sort_values("phase")
    name = phase_name(str(positions["game"].iloc[0]))
    if name == Game.phase_name:  # cells are filled
        course = course[::-1]
    if len(course) < 2 or course[["low", "high"]].iloc[[0, -1]].isna().any(axis=None):
        return ""
    first, last = course.iloc[0], course.iloc[-1]
    ends = [
        f"{estimate(100 * row['value'], 100 * row['low'], 100 * row['high'], ' %')} at {number(row['phase'])} {name}"
        for row in (first, last)
    ]
    more, less = last["low"] > first["high"], last["high"] < first["low"]
    change = "becomes more certain" if more else "becomes less certain" if less else "shows no change in certainty"
    return f"Over the game, {label} {change}: from {ends[0]} to {ends[1]}."


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


def over_game(measure: str) -> str:
    """Returns the title of a measure's course over the game."""
    return "Certainty over the game" + (f", {measure}" if measure != "certainty" else "")


def phase_name(game: str) -> str:
    """Returns what the phase of a game counts."""
    with contextlib.suppress(UserError):
        return GAMES.make(game).phase_name
    return "phase"
