"""A tournament as figures and tables: the rating list, who beats whom, ratings, seats, and every two agents."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from turnier.core.number_text import estimate, interval, number, p_value
from turnier.dashboards.figures import charts
from turnier.dashboards.figures.figure import Figure
from turnier.dashboards.figures.ranked import MAX_NUMBERS, MAX_TEXTS, cost_scatter, square
from turnier.dashboards.summaries.matches import WINDOW, Ranks, both_sides

SIGNIFICANT = 0.05
MAX_RATINGS = 60  # agents of `rating_points`
RACERS = 6  # agents of `best_over_games`


def crosstable(ranks: Ranks, first: int = 1) -> Figure:
    """Rows against columns: points, % (single-player games: of seeds, by the larger score).

    Args:
        ranks: of one game.
        first: the first place shown, if there are too many agents for one chart.
    """
    agents = len(ranks.ratings)
    last = min(agents, first + WINDOW - 1)
    sides = both_sides(ranks)
    sides = sides[sides["place"].between(first, last) & sides["against_place"].between(first, last)]
    data = sides[["place", "agent", "against_place", "against", "games"]].assign(
        points=100 * sides["points_share"],
        low=100 * sides["points_share_low"],
        high=100 * sides["points_share_high"],
        won=sides["wins"],
        drawn=sides["draws"],
        lost=sides["losses"],
        p=sides["p_holm"],
    )
    records = list(data[["points", "low", "high", "won", "drawn", "lost", "p"]].itertuples(index=False))
    texts = {
        "share": [f"{number(row.points, (row.high - row.low) / 2)}{_star(row.p)}" for row in records],
        "whole": [f"{row.points:.0f}{_star(row.p)}" for row in records],
        "interval": [interval(row.low, row.high, "–") for row in records],
        "points, %": [estimate(row.points, row.low, row.high) for row in records],
        "won-drawn-lost": [f"{row.won}-{row.drawn}-{row.lost}" for row in records],
        "p": [p_value(row.p) for row in records],
    }
    chart = square(data.drop(columns=["low", "high", "won", "drawn", "lost"]).assign(**texts))
    several = bool(ranks.ratings["elo"].notna().any())
    what = "games (a draw is half a win)" if several else "seeds (the larger score wins)"
    star = "points differ from 50 %" if several else "mean scores, not the points, differ"
    note = f"Row against column: points, % of the {what}, with a 95 % interval; from dark (0) to light (100)."
    note += f" *: their {star}, p < 0.05 after Holm's correction for all pairs; see the table below."
    note += " Point at a cell to see its interval and p." if last - first >= MAX_TEXTS else ""
    note += " Numbers stand where the two differ." if last - first >= MAX_NUMBERS else ""
    if last - first + 1 < agents:
        note += f" Shown: places {first} to {last} of {agents}."
    return Figure("Who beats whom", chart, data, note)


def _star(p: float) -> str:
    return "*" if p < SIGNIFICANT else ""


def rating_points(ranks: Ranks) -> Figure | None:
    """Elo with intervals; None if the game has one seat."""
    frame = ranks.ratings
    if frame["elo"].isna().all():
        return None
    data = frame[["rank", "label", "elo", "elo_low", "elo_high", "games", "live_mu", "live_sigma"]]
    drawn = data.assign(label=[f"{rank}  {label}" for rank, label in data[["rank", "label"]].itertuples(index=False)])
    chart = charts.points(drawn[:MAX_RATINGS], "label", "elo", "elo_low", "elo_high", "Elo")
    by = "Plackett and Luce" if ranks.crowded else "Bradley and Terry"
    note = f"By the model of {by}; 95 % intervals with the games of a seed as clusters."
    if len(data) > MAX_RATINGS:
        note += f" Shown: the first {MAX_RATINGS} of {len(data)} agents."
    return Figure("Ratings", chart, data, note)


def seat_points(ranks: Ranks) -> Figure | None:
    """Points in each seat; None if the game has one seat."""
    frame = ranks.seats
    if frame.empty:
        return None
    places = ranks.ratings.set_index("agent")["rank"]
    percent = {
        new: 100 * frame[f"points_share{end}"] for new, end in (("points", ""), ("low", "_low"), ("high", "_high"))
    }
    data = frame[["label", "seat", "games"]].assign(place=frame["agent"].map(places), **percent)
    data = data[data["place"].notna()].sort_values(["place", "seat"])
    shown = data[data["place"] <= MAX_TEXTS]
    ends = shown[["points", "low", "high"]].itertuples(index=False)
    cells = [f"{number(v, (high - low) / 2)}\n{interval(low, high, '–')}" for v, low, high in ends]
    names = shown["label"].unique().tolist()
    titles = ("seat", "")
    chart = charts.heat(shown.assign(cell=cells), "seat", "label", "points", "cell", titles, (0, 100), (None, names))
    note = "Points in %, with 95 % intervals; seat 0 moves first."
    if len(shown) < len(data):
        note += f" Shown: the first {MAX_TEXTS} of {len(places)} agents; the CSV has all."
    return Figure("Points by seat", chart, data, note)


def best_over_games(race: pd.DataFrame, order: Sequence[str]) -> Figure | None:
    """The probabilities of being the best of all after the first games; None for fewer than two numbers of games.

    Args:
        race: of `best_so_far`; the likeliest agents are drawn.
        order: its agents, the best first.
    """
    known = race.dropna(subset="best")
    if known["games"].nunique() < 2:
        return None
    likely = known.groupby("agent", sort=False)["best"].agg(["last", "max"]).sort_values(["last", "max"])
    data = known[known["agent"].isin(likely.index[-RACERS:])]
    data = data.assign(percent=100 * data["best"], low=np.nan, high=np.nan)
    place = data["agent"].map(order.index)
    data = data.iloc[np.lexsort((data["games"], place))]
    titles = ("games of all agents", "best of all, %")
    chart = charts.lines(data, "games", "percent", "low", "high", "label", titles, log=True)
    note = "Probability to be the best of all, as in the rating list, after the games of the first seeds."
    return Figure("Best of all over the games", chart, data[["label", "games", "percent"]], note)


def strength_against_cost(costs: pd.DataFrame, what: str, cost: str) -> Figure | None:
    """Ratings of agents against the time of a move; None if fewer than two are known.

    Args:
        costs: of `agent_costs`, with elo, low and high of each agent.
        what: they are, such as Elo.
        cost: the title of the times.
    """
    known = costs[costs["elo"].notna() & (costs["per_move"] > 0)].sort_values("elo", ascending=False, kind="stable")
    if len(known) < 2:
        return None
    data = known.assign(rank=range(1, len(known) + 1), cost=known["per_move"], value=known["elo"])
    data = data[["rank", "name", "cost", "value", "low", "high", "games"]].reset_index(drop=True)
    note = "Numbers are ranks among these. 95 % intervals."
    return Figure("Strength against time", cost_scatter(data, (cost, what)), data, note)


def versions_over_time(rated: pd.DataFrame) -> Figure | None:
    """Ratings of the versions of code that is not ours, the oldest first, see `rated_versions`; None of only one."""
    if len(rated) < 2:
        return None
    name = "elo" if rated["elo"].notna().any() else "mean"
    number = rated["since"].rank(method="first").astype(int)
    data = pd.DataFrame(
        {
            "version": number,
            "value": rated[name],
            "low": rated[f"{name}_low"],
            "high": rated[f"{name}_high"],
            "class": rated["agent"].str.partition("@")[0],
            "label": rated["label"],
            "since": rated["since"].astype(str),
        }
    )
    titles = ("version, by its first game", "Elo" if name == "elo" else "mean score")
    chart = charts.lines(data, "version", "value", "low", "high", "class", titles, ordinal=True)
    return Figure("Versions over time", chart, data, "95 % intervals; the table below has names and dates.")
