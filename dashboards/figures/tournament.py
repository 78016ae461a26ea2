"""A tournament as figures: who beats whom, ratings, seats, and the number of games to separate two agents."""

from __future__ import annotations

import math

import pandas as pd

from turnier.agents.registry import label_of
from turnier.dashboards.figures import charts
from turnier.dashboards.figures.charts import Figure
from turnier.dashboards.figures.scores import interval, short
from turnier.dashboards.run_summary import Ranks
from turnier.statistics.intervals import share_interval

MAX_AGENTS = 12  # of a matrix, the best
SIGNIFICANT = 0.05
PAIR_NOTE = (
    "Games to separate: the number of games in which these two, playing as so far, would differ significantly with"
    " 80 % probability (two-sided t-test at 5 %, pairs of games as units)."
)


def ranking(ranks: Ranks) -> list[str]:
    """Returns the agents, the strongest first: by rating, or by mean score in single-player games."""
    return [str(agent) for agent in ranks.ratings["agent"]]


def win_matrix(ranks: Ranks) -> Figure:
    """Rows against columns: games won, %, with Wilson's interval (single-player games: seeds with the larger score)."""
    order = ranking(ranks)[:MAX_AGENTS]
    rows = []
    for pair in ranks.pairs.to_dict("records"):
        for first, second, won in ((pair["first"], pair["second"], "wins"), (pair["second"], pair["first"], "losses")):
            rate, low, high = (100 * x for x in share_interval(int(pair[won]), int(pair["games"])))
            mark = "*" if pair["p_holm"] < SIGNIFICANT else ""
            numbers = {"percent": rate, "low": low, "high": high, "games": pair["games"], "p": pair["p_holm"]}
            cell = f"{rate:.0f}{mark}\n{low:.0f}–{high:.0f}"
            rows.append({"agent": first, "against": second, **numbers, "cell": cell})
    data = pd.DataFrame(rows)
    data = data[data["agent"].isin(order) & data["against"].isin(order)]
    names = {agent: f"{place}  {label_of(agent)}" for place, agent in enumerate(order, 1)}
    place = data["against"].map({agent: place for place, agent in enumerate(order, 1)})
    data = data.assign(agent=data["agent"].map(names), against=data["against"].map(label_of), place=place)
    titles = ("against", "")
    chart = charts.heat(data, "place", "agent", "percent", "cell", titles, (0, 100), (None, list(names.values())))
    note = "Row against column: games won, %, and Wilson's 95 % interval. * differs: p < 0.05 after Holm's correction."
    return Figure("Who beats whom", chart, data.drop(columns="cell"), note)


def rating_points(ranks: Ranks) -> Figure | None:
    """Elo with intervals; None where the game has one seat."""
    frame = ranks.ratings
    if frame["elo"].isna().all():
        return None
    data = frame[["label", "elo", "elo_low", "elo_high", "games", "live_mu", "live_sigma"]]
    chart = charts.points(data, "label", "elo", "elo_low", "elo_high", "Elo relative to the field's mean")
    note = "Bradley and Terry over all pairs of seats, 95 % intervals with pairs of games as clusters."
    return Figure("Ratings", chart, data, note)


def seat_matrix(ranks: Ranks) -> Figure | None:
    """Games won in each seat; None where the game has one seat."""
    frame = ranks.seats
    if frame.empty:
        return None
    percent = {new: 100 * frame[old] for new, old in _PERCENT.items()}
    data = frame[["label", "seat", "games"]].assign(**percent)
    names = [label_of(agent) for agent in ranking(ranks)]
    cells = [f"{v:.0f}\n{lo:.0f}–{hi:.0f}" for v, lo, hi in data[["percent", "low", "high"]].itertuples(index=False)]
    titles = ("seat", "")
    chart = charts.heat(data.assign(cell=cells), "seat", "label", "percent", "cell", titles, (0, 100), (None, names))
    return Figure("Games won by seat", chart, data, "%, with Wilson's 95 % intervals; seat 0 moves first.")


_PERCENT = {"percent": "win_rate", "low": "win_rate_low", "high": "win_rate_high"}


def pair_table(ranks: Ranks) -> pd.DataFrame:
    """Returns every pair of agents: difference with interval, p, and the number of games that would separate them."""
    frame = ranks.pairs
    single_player = bool(ranks.ratings["elo"].isna().all())
    unit = "difference, points" if single_player else "won minus lost, per game"
    seats = 1 if single_player else 2
    shown = pd.DataFrame(
        {
            "agent": frame["first"].map(label_of).map(charts.shortened),
            "against": frame["second"].map(label_of).map(charts.shortened),
            "games": frame["games"],
            "won, %": (100 * frame["win_rate"]).round(1),
            "won, 95 %": [
                interval(100 * lo, 100 * hi)
                for lo, hi in frame[["win_rate_low", "win_rate_high"]].itertuples(index=False)
            ],
            unit: frame["difference"].map(short),
            "95 %": [interval(*row) for row in frame[["difference_low", "difference_high"]].itertuples(index=False)],
            "p (Holm)": frame["p_holm"].map(lambda p: "" if math.isnan(p) else f"{p:.2g}"),
            "games to separate": [_needed(n, seats) for n in frame["needed"]],
        }
    )
    return shown


def _needed(units: float, games: int) -> str:
    return short(units * games) if not math.isnan(units) else ""
