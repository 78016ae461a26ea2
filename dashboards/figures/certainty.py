"""Certainty as figures: heat maps by phase and legal actions, and against iterations and against strength."""

from __future__ import annotations

import contextlib
from dataclasses import fields
from typing import Any

import pandas as pd

from turnier.agents.registry import AGENTS
from turnier.core.errors import UserError
from turnier.dashboards.figures import charts
from turnier.dashboards.figures.charts import Figure
from turnier.dashboards.figures.scores import value_of
from turnier.games.registry import GAMES
from turnier.results.frames.certainty import agent_certainty, group_certainty

NOTE = "95 % intervals, Student's t over positions."
MAX_WIDE = 5  # columns that leave room for intervals
MAX_LEGAL = 12  # columns of a heat map; with more, neighbouring numbers of legal actions share one


def certainty_heat_map(groups: pd.DataFrame, measure: str) -> Figure:
    """One agent's groups (see `group_certainty`) by the game's phase and the number of legal actions."""
    game, agent = str(groups["game"].iloc[0]), str(groups["label"].iloc[0])
    data = groups[["legal", "phase", "states", measure, f"{measure}_low", f"{measure}_high"]].copy()
    data["percent"] = 100 * data[measure]
    half = 100 * (data[f"{measure}_high"] - data[measure])
    room = data["legal"].nunique() <= MAX_WIDE
    texts = zip(data["percent"], half, strict=True)
    data["cell"] = [f"{value:.0f}" + ("" if pd.isna(h) or not room else f" ± {h:.0f}") for value, h in texts]
    titles = ("legal actions", phase_name(game))
    chart = charts.heat(data, "legal", "phase", "percent", "cell", titles, (0, 100))
    return Figure(f"{agent}: {measure}", chart, data.drop(columns="cell"), f"%, ± {NOTE}")


def phase_name(game: str) -> str:
    with contextlib.suppress(UserError):
        return GAMES.make(game).phase_name
    return "phase"


def coarser(positions: pd.DataFrame) -> pd.DataFrame:
    """Returns positions with neighbouring numbers of legal actions merged where there are many."""
    largest = positions["legal"].max() if len(positions) else 0
    step = -(-int(largest) // MAX_LEGAL)
    return positions if step <= 1 else positions.assign(legal=(positions["legal"] // step) * step)


def certainty_means(positions: pd.DataFrame, measure: str) -> Figure:
    """Every agent's mean over the groups."""
    table = agent_certainty(positions).sort_values(measure, ascending=False)
    data = _percent(table, measure)[["label", "percent", "low", "high", "searches", "states"]]
    chart = charts.points(data, "label", "percent", "low", "high", f"{measure}, %")
    return Figure(f"{measure.capitalize()} of agents", chart, data, f"Means over the groups, of any size. {NOTE}")


def certainty_by_parameter(positions: pd.DataFrame, measure: str, parameter: str = "iterations") -> Figure | None:
    """Certainty against a parameter in which agents differ; None where fewer than two values are known."""
    table = _percent(agent_certainty(positions), measure)
    table[parameter] = [parameter_of(agent, parameter) for agent in table["agent"]]
    data = table.dropna(subset=[parameter])
    if data[parameter].nunique() < 2:
        return None
    data = data.assign(kind=[agent.partition("(")[0] for agent in data["agent"]])
    data = data[["kind", parameter, "percent", "low", "high", "label"]].sort_values(["kind", parameter])
    titles = (f"{parameter} per move", f"{measure}, %")
    chart = charts.lines(data, parameter, "percent", "low", "high", "kind", titles, log=True)
    return Figure(f"{measure.capitalize()} by {parameter}", chart, data, NOTE)


def certainty_by_score(positions: pd.DataFrame, measure: str, summary: pd.DataFrame) -> Figure | None:
    """Certainty against the scores of stored games; None where no agent has both."""
    scores, unit = value_of(summary[summary["game"].isin(positions["game"])])
    scores = scores[scores["value"].notna()]
    scores = scores.sort_values("games").drop_duplicates(["game", "agent"], keep="last")
    table = _percent(agent_certainty(positions), measure)
    merged = table.merge(scores[["game", "agent", "value", "games"]], on=["game", "agent"])
    if merged.empty:
        return None
    data = merged[["label", "value", "percent", "low", "high", "games"]]
    chart = charts.lines(data, "value", "percent", "low", "high", "label", (unit, f"{measure}, %"), connected=False)
    return Figure(
        f"{measure.capitalize()} against strength", chart, data, f"Scores of stored games of the same agents. {NOTE}"
    )


def parameter_of(agent: str, parameter: str) -> float:
    """Returns a numeric parameter of an agent, or of the agent inside it; NaN where it has none."""
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


def certainty_table(positions: pd.DataFrame) -> pd.DataFrame:
    """Returns the means of every agent with their intervals, in percent."""
    table = agent_certainty(positions)
    shown = pd.DataFrame(
        {"agent": table["label"].map(charts.shortened), "positions": table["states"], "searches": table["searches"]}
    )
    for measure in ("certainty", "normalised", "agreement"):
        percent = _percent(table, measure)
        texts = percent[["percent", "low", "high"]].itertuples(index=False)
        shown[f"{measure}, %"] = [
            f"{v:.1f}" + ("" if pd.isna(low) else f" ({low:.1f} to {high:.1f})") for v, low, high in texts
        ]
    shown["normalised of a random agent, %"] = (100 * table["chance_level"]).round(1)
    shown["s per search"] = table["seconds"].map(lambda s: f"{s:.3g}")
    return shown


def certainty_heat_maps(positions: pd.DataFrame, measure: str) -> list[Figure]:
    """Returns a heat map for every agent, the most certain first."""
    table = agent_certainty(positions).sort_values(measure, ascending=False)
    groups = group_certainty(coarser(positions))
    return [certainty_heat_map(groups[groups["agent"] == agent], measure) for agent in table["agent"]]


def _percent(table: pd.DataFrame, measure: str) -> pd.DataFrame:
    ends = {"percent": measure, "low": f"{measure}_low", "high": f"{measure}_high"}
    return table.assign(**{new: 100 * table[old] for new, old in ends.items()})
