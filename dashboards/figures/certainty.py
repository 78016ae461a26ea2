"""Certainty as figures: heat maps by phase and legal actions, and against iterations and against strength."""

from __future__ import annotations

import contextlib
from dataclasses import fields
from typing import Any

import altair as alt
import pandas as pd

from turnier.agents.registry import AGENTS
from turnier.core.errors import UserError
from turnier.core.number_text import interval, number
from turnier.dashboards.figures import charts
from turnier.dashboards.figures.figure import Figure
from turnier.dashboards.links import BEHIND
from turnier.dashboards.summaries.certainty import (
    ANY,
    in_percent,
    means_note,
    over_game,
    phase_name,
    positions_note,
)
from turnier.dashboards.summaries.matches import value_of
from turnier.games.game import Game
from turnier.results.frames.certainty import agent_certainty, certainty_over_game

GROUP_NOTE = (
    "Percentages, each above its number of positions (n). 95 % intervals of Wilson's type, within the range of the"
    " measure however few positions there are; none if all come from one game."
)
OVER_GAME = (
    "Means of positions, those of neighbouring phases pooled; bands of 95 % count the games that they come from."
    " Dashed: searches that choose at random."
)
MAX_WIDE = 4  # columns that leave room for intervals


def certainty_heat_map(groups: pd.DataFrame, measure: str) -> Figure:
    """One agent's groups (see `group_certainty`) by the game's phase and the number of legal actions."""
    game, agent = str(groups["game"].iloc[0]), str(groups["label"].iloc[0])
    data = groups[["legal", "phase", "states", measure, f"{measure}_low", f"{measure}_high"]].copy()
    data["percent"] = 100 * data[measure]
    data["low"], data["high"] = 100 * data[f"{measure}_low"], 100 * data[f"{measure}_high"]
    room = data["legal"].nunique() <= MAX_WIDE
    rows = data[["percent", "low", "high", "states"]].itertuples(index=False)
    data["cell"] = [
        f"{number(v, (high - low) / 2)} ({interval(low, high, '–')})\nn {n}"
        if room and low == low
        else f"{v:.0f}\nn {n}"
        for v, low, high, n in rows
    ]
    data = data[["legal", "phase", "states", "percent", "low", "high", "cell"]]
    titles, drawn = ("legal actions", phase_name(game)), data.assign(of=agent, first=data["phase"], last=data["phase"])
    chart = charts.heat(drawn, "legal", "phase", "percent", "cell", titles, (0, 100), chosen=BEHIND)
    return Figure(f"{agent}: {measure}", chart, data.drop(columns="cell"), GROUP_NOTE)


def certainty_over_phases(positions: pd.DataFrame, measure: str) -> Figure | None:
    """Every agent's certainty over the game, see `certainty_over_game`; None if all positions are of one phase."""
    found = certainty_over_game(positions, measure)
    if found["phase"].nunique() < 2:
        return None
    percent = {column: 100 * found[column] for column in ("value", "low", "high", "chance")}
    data = found.drop(columns="agent").assign(**percent).sort_values(["label", "phase"], ignore_index=True)
    name = phase_name(str(positions["game"].iloc[0]))
    falling = name == Game.phase_name  # cells are filled
    drawn, titles = data.assign(of=data["label"], legal=ANY), (name, f"{measure}, %")
    chart = charts.lines(
        drawn, "phase", "value", "low", "high", "label", titles, band=True, falling=falling, chosen=BEHIND
    )
    chance = data.groupby("phase", as_index=False)["chance"].mean()
    base = alt.Chart(chance).encode(x=chart.layer[0].encoding.x, y="chance:Q")
    hover = [alt.Tooltip("phase:Q", title=name), alt.Tooltip("chance:Q", format=".1f")]
    chart.layer.insert(0, base.mark_line(strokeDash=[6, 4], strokeWidth=2, color="#777777"))
    chart.layer.append(base.mark_point(size=60, opacity=0).encode(tooltip=hover))
    return Figure(over_game(measure), chart, data, OVER_GAME)


def certainty_means(positions: pd.DataFrame, measure: str) -> Figure:
    """Every agent's mean over the groups."""
    table = agent_certainty(positions).sort_values(measure, ascending=False)
    data = in_percent(table, measure)[["label", "percent", "low", "high", "searches", "states"]]
    chart = charts.points(data, "label", "percent", "low", "high", f"{measure}, %")
    return Figure(f"{measure.capitalize()}, by agent", chart, data, means_note(positions))


def certainty_by_parameter(positions: pd.DataFrame, measure: str, parameter: str = "iterations") -> Figure | None:
    """Certainty against a parameter in which agents differ; None if fewer than two values are known."""
    table = in_percent(agent_certainty(positions), measure)
    table[parameter] = [parameter_of(agent, parameter) for agent in table["agent"]]
    data = table.dropna(subset=[parameter])
    if data[parameter].nunique() < 2:
        return None
    data = data.assign(kind=[agent.partition("(")[0] for agent in data["agent"]])
    data = data[["kind", parameter, "percent", "low", "high", "label"]].sort_values(["kind", parameter])
    titles = (f"{parameter} per move", f"{measure}, %")
    chart = charts.lines(data, parameter, "percent", "low", "high", "kind", titles, log=True)
    return Figure(f"{measure.capitalize()}, by {parameter}", chart, data, positions_note(positions))


def certainty_by_score(positions: pd.DataFrame, measure: str, summary: pd.DataFrame) -> Figure | None:
    """Certainty against the scores of stored games; None if fewer than two agents have both."""
    if summary.empty:
        return None
    scores, unit = value_of(summary[summary["game"].isin(positions["game"])])
    scores = scores[scores["value"].notna()]
    scores = scores.sort_values("games").drop_duplicates(["game", "agent"], keep="last")
    table = in_percent(agent_certainty(positions), measure)
    merged = table.merge(scores[["game", "agent", "value", "games"]], on=["game", "agent"])
    if len(merged) < 2:
        return None
    data = merged[["label", "value", "percent", "low", "high", "games"]]
    chart = charts.lines(data, "value", "percent", "low", "high", "label", (unit, f"{measure}, %"), connected=False)
    return Figure(
        f"{measure.capitalize()}, against strength",
        chart,
        data,
        f"Scores of stored games of the same agents. {positions_note(positions)}",
    )


def parameter_of(agent: str, parameter: str) -> float:
    """Returns a numeric parameter of an agent, or of the agent inside it; NaN if it has none."""
    with contextlib.suppress(UserError):
        return _number(AGENTS.make(agent), parameter)
    return float("nan")


def _number(declared: Any, parameter: str) -> float:
    own = getattr(declared, parameter, None)
    if isinstance(own, int | float):
        return float(own)
    for field in fields(declared):
        part = getattr(declared, field.name)
        if hasattr(part, "full_text"):
            number = _number(part, parameter)
            if number == number:
                return number
    return float("nan")
