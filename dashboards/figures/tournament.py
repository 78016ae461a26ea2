"""A tournament as figures and tables: the rating list, who beats whom, ratings, seats, and every two agents."""

from __future__ import annotations

from html import escape

import numpy as np
import pandas as pd

from turnier.core.number_text import interval, number, percent_sure, plus_minus
from turnier.dashboards.figures import charts
from turnier.dashboards.figures.charts import Figure
from turnier.dashboards.figures.ranked import MAX_AGENTS, MAX_TEXTS, square
from turnier.dashboards.tables import rounded
from turnier.dashboards.run_summary import Ranks
from turnier.results.frames.fields import contenders
from turnier.results.frames.rating_list import places_of

SIGNIFICANT = 0.05
MOST_SURE = 0.999  # no model of the games is more reliable than this
RANKS_NOTE = (
    "Places: those that an agent may have; all of them are right at once with 95 %. Better than next, best of all:"
    " probabilities."
)
RATED_NOTE = (
    "Elo by Bradley and Terry, with more seats by Plackett and Luce; 0 is {zero}. Points: 1 for a win, 1/2 for a draw."
    f" ± is half the 95 % interval. {RANKS_NOTE}"
)
SCORED_NOTE = f"± is half the 95 % interval of the mean score. {RANKS_NOTE}"
NASH_NOTE = " Nash: points against the mixture of agents that nobody beats, which copies of an agent do not change."
PAIR_NOTE = (
    "The stronger agent comes first. Games to separate: how many games these two would need, playing as before, to"
    " differ significantly with 80 % probability (two-sided t-test at 5 %, pairs of games as units); blank where they"
    " are equal so far, or where too few games show how much results vary."
)


def rating_list(ranks: Ranks) -> pd.DataFrame:
    """Returns the agents by rank as a table for people: Elo or mean score, points, and games won, drawn and lost."""
    frame = ranks.ratings
    rated = frame["elo"].notna().any()
    value, low, high = (frame[f"{'elo' if rated else 'mean'}{end}"] for end in ("", "_low", "_high"))
    half_width = (high - low) / 2
    shown = pd.DataFrame(
        {
            "rank": frame["rank"],
            "places": places_of(frame),
            "agent": frame["label"],
            "Elo" if rated else "mean score": rounded(value, half_width),
            "±": rounded(half_width, half_width),
            "better than next, %": (100 * frame["superiority"].clip(upper=MOST_SURE)).round(1),
            "best of all, %": (100 * frame["best_of_all"].clip(upper=MOST_SURE)).round(1),
        }
    )
    if rated:
        shown["points, %"] = (100 * frame["points_share"]).round(1)
        shown["points"] = frame["points"]
    shown["games"] = frame["games"]
    if rated:
        shown["won"], shown["drawn"], shown["lost"] = frame["wins"], frame["draws"], frame["losses"]
        shown["drawn, %"] = (100 * frame["draw_share"]).round(1)
    if frame["nash"].notna().any():
        shown["Nash, %"] = (100 * frame["nash"]).round(1)
        ends = (100 * frame[["nash_low", "nash_high"]]).itertuples(index=False)
        shown["Nash, 95 %"] = [interval(low, high) for low, high in ends]
    if _has_groups(ranks):
        shown["group"] = frame["group"]
    return shown


def leader_text(ranks: Ranks) -> str:
    """Returns who leads, by how much, and how sure that is, as one sentence in HTML."""
    first = ranks.ratings.iloc[0]
    name = "elo" if pd.notna(first["elo"]) else "mean"
    half_width = (first[f"{name}_high"] - first[f"{name}_low"]) / 2
    value = plus_minus(first[name], half_width, " Elo" if name == "elo" else " points on average", signed=name == "elo")
    points = f" and {number(100 * first['points_share'])} % of the points" if name == "elo" else ""
    text = f"<b>{escape(first['label'])}</b> leads with {value}{points} in {first['games']:,} games"
    if len(ranks.ratings) < 2 or pd.isna(first["best_of_all"]):
        return f"{text}."
    sure, others = percent_sure(first["best_of_all"]), contenders(ranks.ratings["rank_low"].to_numpy())
    return f"{text}; it is the best of these with {sure} % probability, and {others}."


def list_note(ranks: Ranks) -> str:
    """Returns what the columns of a rating list mean, and what to know of it."""
    frame = ranks.ratings
    zero = frame.loc[frame["elo_low"] == frame["elo_high"], "label"]  # only an anchor's interval has no width
    rated = RATED_NOTE.format(zero=zero.iloc[0] if len(zero) else "the mean of these agents")
    note = rated if frame["elo"].notna().any() else SCORED_NOTE
    note += NASH_NOTE if frame["nash"].notna().any() else ""
    note = " ".join([*ranks.notes.loc[ranks.notes["about"] != "leader", "note"], note])  # the page begins with that
    return f"{note} Agents in different groups have not met, even indirectly." if _has_groups(ranks) else note


def _has_groups(ranks: Ranks) -> bool:
    return bool(ranks.ratings["group"].nunique() > 1)


def crosstable(ranks: Ranks, first: int = 1) -> Figure:
    """Rows against columns: points, % (single-player games: of seeds, by the larger score).

    Args:
        ranks: of one game.
        first: the first place that is shown, where there are more agents than one chart can show.
    """
    agents = len(ranks.ratings)
    last = min(agents, first + MAX_AGENTS - 1)
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
        "share": [f"{row.points:.0f}{'*' if row.p < SIGNIFICANT else ''}" for row in records],
        "interval": [f"{row.low:.0f}–{row.high:.0f}" for row in records],
        "points, %": [f"{row.points:.1f} ({row.low:.0f} to {row.high:.0f})" for row in records],
        "won-drawn-lost": [f"{row.won}-{row.drawn}-{row.lost}" for row in records],
    }
    chart = square(data.drop(columns=["low", "high", "won", "drawn", "lost", "p"]).assign(**texts))
    what = "games (a draw is half a win)" if ranks.ratings["elo"].notna().any() else "seeds (the larger score wins)"
    note = f"Row against column: points, % of the {what}, with a 95 % interval; from dark (0) to light (100)."
    few = last - first < MAX_TEXTS
    note += " * marks p < 0.05 after Holm's correction." if few else " Point at a cell to see its numbers."
    if last - first + 1 < agents:
        note += f" Shown: places {first} to {last} of {agents}."
    return Figure("Who beats whom", chart, data, note)


def both_sides(ranks: Ranks) -> pd.DataFrame:
    """Returns every pair twice, as both agents see it, with labels and places: agent and place, against and so on."""
    pairs = ranks.pairs
    turned = pairs.rename(columns={"first": "second", "second": "first", "wins": "losses", "losses": "wins"})
    for name in ("points_share", "superiority"):
        turned[name] = 1 - pairs[name]
    turned["difference"] = -pairs["difference"]
    for name, whole in (("points_share", 1), ("difference", 0)):
        turned[f"{name}_low"], turned[f"{name}_high"] = whole - pairs[f"{name}_high"], whole - pairs[f"{name}_low"]
    sides = pd.concat([pairs, turned], ignore_index=True)
    ranked = ranks.ratings.set_index("agent")
    for agent, place, name in (("first", "place", "agent"), ("second", "against_place", "against")):
        sides[place] = sides[agent].map(ranked["rank"]).astype(int)
        sides[name] = sides[agent].map(ranked["label"])
    return sides.sort_values(["place", "against_place"], ignore_index=True)


def rating_points(ranks: Ranks) -> Figure | None:
    """Elo with intervals; None where the game has one seat."""
    frame = ranks.ratings
    if frame["elo"].isna().all():
        return None
    data = frame[["rank", "label", "elo", "elo_low", "elo_high", "games", "live_mu", "live_sigma"]]
    drawn = data.assign(label=[f"{rank}  {label}" for rank, label in data[["rank", "label"]].itertuples(index=False)])
    chart = charts.points(drawn[:MAX_AGENTS], "label", "elo", "elo_low", "elo_high", "Elo")
    note = "Bradley and Terry, or Plackett and Luce; 95 % intervals with the games of a seed as clusters."
    if len(data) > MAX_AGENTS:
        note += f" Shown: the first {MAX_AGENTS} of {len(data)} agents."
    return Figure("Ratings", chart, data, note)


def seat_points(ranks: Ranks) -> Figure | None:
    """Points in each seat; None where the game has one seat."""
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
    cells = [f"{v:.0f}\n{lo:.0f}–{hi:.0f}" for v, lo, hi in shown[["points", "low", "high"]].itertuples(index=False)]
    names = shown["label"].unique().tolist()
    titles = ("seat", "")
    chart = charts.heat(shown.assign(cell=cells), "seat", "label", "points", "cell", titles, (0, 100), (None, names))
    note = "Points in %, with 95 % intervals; seat 0 moves first."
    if len(shown) < len(data):
        note += f" Shown: the first {MAX_TEXTS} of {len(places)} agents; the CSV has all."
    return Figure("Points by seat", chart, data, note)


def pair_table(ranks: Ranks) -> pd.DataFrame:
    """Returns every two agents, the best first: points, the difference with its interval, p, and games to separate."""
    several = ranks.ratings["elo"].notna().any()
    frame = both_sides(ranks)
    frame = frame[frame["place"] < frame["against_place"]]
    half_width = (frame["difference_high"] - frame["difference_low"]) / 2
    scores = {"difference of scores": rounded(frame["difference"], half_width), "±": rounded(half_width, half_width)}
    needed = frame["needed"].replace(np.inf, np.nan) * (2 if several else 1)
    return pd.DataFrame(
        {
            "rank": frame["place"],
            "agent": frame["agent"],
            "rank of other": frame["against_place"],
            "against": frame["against"],
            "games" if several else "seeds": frame["games"],
            "points, %": (100 * frame["points_share"]).round(1),
            "from, %": (100 * frame["points_share_low"]).round(1),
            "to, %": (100 * frame["points_share_high"]).round(1),
            "won": frame["wins"],
            "drawn": frame["draws"],
            "lost": frame["losses"],
            **({} if several else scores),
            "p (Holm)": rounded(frame["p_holm"], digits=2),
            "games to separate": rounded(needed),
        }
    ).reset_index(drop=True)
