"""Scores as figures and a table: means, distributions, milestones such as tiles, and strength against its cost."""

from __future__ import annotations

import math

import pandas as pd

from turnier.core.number_text import number
from turnier.dashboards.colours import COLOURS
from turnier.dashboards.figures import charts
from turnier.dashboards.figures.figure import Figure
from turnier.dashboards.figures.ranked import MAX_NUMBERS, cost_scatter
from turnier.dashboards.summaries.matches import (
    CPU,
    GAMES_NOTE,
    NODES,
    POINTS,
    POINTS_NOTE,
    TIME,
    Scores,
    costs_of,
    named,
    value_of,
)
from turnier.results.frames.matches import shown_milestones

MAX_LINES = len(COLOURS)  # agents in a chart of coloured lines
MAX_ROWS = 50  # agents in a chart with a row for each


def mean_scores(summary: pd.DataFrame) -> Figure:
    frame, unit = value_of(named(summary))
    data = frame[["name", "value", "low", "high", "games"]]
    places = [f"{rank}  {name}" for rank, name in enumerate(frame["name"], 1)]
    chart = charts.points(data.assign(name=places)[:MAX_ROWS], "name", "value", "low", "high", unit)
    title, note = ("Points", POINTS_NOTE) if unit == POINTS else ("Mean scores", GAMES_NOTE)
    return Figure(title, chart, data, note + _left_out(len(data), MAX_ROWS))


def best_of(summary: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """Returns the best agents, one per colour of lines, with names; and a sentence on the others."""
    frame, _ = value_of(named(summary))
    return frame[:MAX_LINES], _left_out(len(frame), MAX_LINES)


def _left_out(agents: int, shown: int) -> str:
    """Returns a sentence if a chart does not show all agents, otherwise nothing."""
    return f" The best {shown} of {agents} agents are drawn; use the filter for others." if agents > shown else ""


def score_distribution(found: Scores, cumulative: bool = False) -> Figure:
    """The distribution of scores, a line for each agent: shares of games by score, or below a score."""
    best, others = best_of(found.summary)
    spread = named(found.spread)
    spread = pd.concat([spread[spread["name"] == name] for name in best["name"]])
    data = spread[["name", "low", "high", "games", "share", "below"]].assign(
        percent=100 * spread["share"], percent_below=100 * spread["below"]
    )
    column, what = ("percent_below", "games below, %") if cumulative else ("percent", "games, %")
    data = data.rename(columns={"low": "score", "high": "score_to"})
    whole = bool((data["score_to"] == data["score_to"].round()).all())
    last_of = data["score_to"] - 1 if whole else data["score_to"]
    data["scores"] = [
        f"{low:,.0f} to {high:,.0f}" if whole else f"{number(low)} to {number(high)}"
        for low, high in zip(data["score"], last_of, strict=True)
    ]
    # A step needs an end: the last bin extends to its upper edge.
    last = data.groupby("name", sort=False).tail(1)
    drawn = pd.concat([data, last.assign(score=last["score_to"], percent_below=100.0)], ignore_index=True)
    chart = charts.steps(drawn, "score", column, "name", ("score, points", what), "score" if cumulative else "scores")
    return Figure(
        "Scores of single games",
        chart,
        data,
        f"{data['score'].nunique()} bins, shared by all agents; a score at an edge counts above it.{others}",
    )


def milestone_shares(summary: pd.DataFrame) -> Figure | None:
    """Shares of games that reached a milestone, such as a tile; None in a game without milestones."""
    frame, others = best_of(summary)
    names = shown_milestones(frame)
    rows = [
        {
            "name": row["name"],
            "reached": float(column.split(">=")[1]),
            "percent": 100 * row[column],
            "low": 100 * row[f"{column}_low"],
            "high": 100 * row[f"{column}_high"],
        }
        for row in frame.to_dict("records")
        for column in names
        if not math.isnan(row[column])
    ]
    if not rows:
        return None
    fact = names[0].split(">=")[0].replace("_", " ")
    data = pd.DataFrame(rows)
    titles = (f"{fact} of at least", "games, %")
    chart = charts.lines(data, "reached", "percent", "low", "high", "name", titles, ordinal=True)
    return Figure(
        f"How often the {fact} is reached", chart, data, f"Shares of games with Wilson's 95 % intervals.{others}"
    )


def score_against_cost(summary: pd.DataFrame, cost: str = NODES) -> Figure | None:
    """Strength against one of COSTS; None if no agent has that cost."""
    frame, unit = value_of(named(summary))
    frame = frame.assign(rank=range(1, len(frame) + 1), cost=costs_of(frame)[cost])
    data = frame.loc[frame["cost"] > 0, ["rank", "name", "cost", "value", "low", "high", "games"]]
    if data.empty:
        return None
    chart = cost_scatter(data, (cost, unit))
    many = len(data) > MAX_NUMBERS
    note = f"Numbers are ranks in the table{', shown for agents that no cheaper one beats' if many else ''}."
    if cost == CPU:
        note += " Mean CPU time, measured per batch of games, of agents that play in compiled code on one thread."
    if cost == TIME:
        note += " Mean wall-clock time on the machine that played; other programs may have slowed it."
    if len(data) < len(frame):
        without = ", ".join(frame.loc[~(frame["cost"] > 0), "name"][:3])
        why = "they search no nodes" if cost == NODES else "their cost was not measured"
        note += f" Not drawn because {why}: {without}{', ...' if len(frame) - len(data) > 3 else ''}."
    title = "Points against cost" if unit == POINTS else "Score against cost"
    return Figure(title, chart, data, f"{note} {POINTS_NOTE if unit == POINTS else GAMES_NOTE}")
