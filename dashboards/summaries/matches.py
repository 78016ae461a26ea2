"""A run's matches condensed for pages: a few rows, whatever the number of games, computed once from the frame."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from turnier.agents.registry import label_of
from turnier.core.errors import UserError
from turnier.core.number_text import counted, estimate
from turnier.dashboards.agent_names import with_names
from turnier.games.registry import game_of
from turnier.results.alike_games import extreme_games, results_frame
from turnier.results.frames.matches import games_in, matches_frame, seat_summary, summary, times_of
from turnier.results.frames.measures import score_bounds
from turnier.results.frames.standings import Standings
from turnier.results.frames.terms import Terms
from turnier.results.match_list import full_ids
from turnier.results.store.store import Store
from turnier.statistics.comparisons import units_needed
from turnier.statistics.intervals import UNBOUNDED, Bounds

WINDOW = 40  # agents in one square of who beats whom: of more, it takes over a second to draw
MAX_BINS = 40  # of a distribution
EXTREMES = 25  # matches listed at each end
GAMES_NOTE = "95 % intervals: Student's t, wider by the skewness, for means; Wilson for shares."
POINTS = "points, %"
POINTS_NOTE = "Points: 1 for a win, 1/2 for a draw, in % of the games, with a 95 % interval."
NODES, CPU, TIME = "nodes per move", "CPU time per move, µs", "wall clock per move, µs"
COSTS = (NODES, CPU, TIME)


class Scores(NamedTuple):
    """The results of agents in some runs; every frame has the column `run`.

    summary: see `summary`. spread: the distribution of scores, see `spread`. extremes: the matches with the largest and
    the smallest scores of a game: game, match (a number, see `matches_frame`), id, seat, agent, label, score, seed.
    """

    summary: pd.DataFrame
    spread: pd.DataFrame
    extremes: pd.DataFrame


class Ranks(NamedTuple):
    """The comparison of agents in some runs; every frame has the column `run`.

    ratings, pairs, notes: see `Standings`; pairs also has `needed`, the pairs of games that separate two such agents
    with 80 % power at 5 %. seats: see `seat_summary`.
    """

    ratings: pd.DataFrame
    pairs: pd.DataFrame
    seats: pd.DataFrame
    notes: pd.DataFrame

    @property
    def crowded(self) -> bool:
        """Whether games have three and more seats."""
        return bool(len(self.seats)) and int(self.seats["seat"].max()) > 1


def scores(store: Store, run: str) -> Scores:
    """Reads a run's matches and returns the results of its agents."""
    return scores_of(store, run, results_frame(store, run))


def scores_of(store: Store, run: str, frame: pd.DataFrame) -> Scores:
    """Returns the results of a run's agents, from its frame: that of `results_frame` or of `matches_frame`."""
    far = extremes(extreme_games(store, run, EXTREMES) if "times" in frame else frame)
    parts = Scores(
        summary(frame), spread(frame), far.assign(id=far["match"].map(full_ids(store, far["match"].unique().tolist())))
    )
    return Scores(*(part.assign(run=run) for part in parts))


def ranks(store: Store, run: str) -> Ranks:
    """Reads a run's matches and returns the comparison of its agents."""
    return ranks_of(run, results_frame(store, run), Terms.of_runs(store, [run]))


def ranks_of(run: str, frame: pd.DataFrame, terms: Terms) -> Ranks:
    """Returns the comparison of a run's agents, from its frame."""
    ratings, pairs, notes = Standings.of(frame, terms=terms)
    needed = units_needed(*(pairs[name] for name in ("difference", "difference_high", "pairs")))
    parts = Ranks(ratings, pairs.assign(needed=needed), seat_summary(frame), notes)
    return Ranks(*(part.assign(run=run) for part in parts))


def ratings_of_game(store: Store, game: str) -> Ranks:
    """Rates the agents of a game over all tournaments; pairs and seats are left empty."""
    frame = matches_frame(store, kind="tournament", game=game, ids=False)
    terms = Terms.of_runs(store, map(str, frame["run"].unique()))
    rated, pairs, notes = Standings.of(frame, pairs=False, terms=terms)
    return Ranks(*with_names(rated, pairs, pd.DataFrame(), notes))


def joined(*summaries: Scores) -> Scores:
    """Returns the frames of several runs, concatenated."""
    return Scores(*(pd.concat(parts, ignore_index=True) for parts in zip(*summaries, strict=True)))


def of_game(ranks: Ranks, game: str) -> Ranks:
    """Returns the rows of one game; labels are names, see `with_names`."""
    return Ranks(*with_names(*(frame[frame["game"] == game].reset_index(drop=True) for frame in ranks)))


def of_agents(found: Scores, game: str, names: Sequence[str] | None = None) -> Scores:
    """Returns the rows of one game and, if names are given, of these agents; labels are names, see `with_names`."""
    parts = with_names(*(frame[frame["game"] == game] for frame in found))
    if names is not None:
        parts = [frame[frame["label"].isin(names)] for frame in parts]
    return Scores(*(frame.reset_index(drop=True) for frame in parts))


def spread(frame: pd.DataFrame) -> pd.DataFrame:
    """Returns the distribution of scores, in bins shared by all agents of a game; below: the share below a bin."""
    rows = []
    for game, part in frame.groupby("game"):
        every, all_times = part["score"].to_numpy(np.float64), times_of(part)
        edges = edges_of(every, _bins(part))
        for agent, games in part.groupby("agent", observed=True).indices.items():
            scores, times = every[games], all_times[games]
            counts = np.histogram(scores, edges, weights=times)[0].astype(np.int64)
            share = counts / times.sum()
            one = {"game": game, "agent": agent, "label": label_of(str(agent)), "low": edges[:-1], "high": edges[1:]}
            rows.append(pd.DataFrame(one | {"games": counts, "share": share, "below": np.cumsum(share) - share}))
    columns = ["game", "agent", "label", "low", "high", "games", "share", "below"]
    return pd.concat(rows, ignore_index=True) if rows else pd.DataFrame(columns=columns)


def edges_of(scores: npt.NDArray[np.float64], bins: int) -> npt.NDArray[np.float64]:
    """Returns the edges of at most so many bins of one width; whole scores have round edges, and begin their bins."""
    if (scores != np.round(scores)).any():
        return np.asarray(np.histogram_bin_edges(scores, bins), np.float64)
    least, end = float(scores.min()), float(scores.max()) + 1  # a score at an edge counts above it
    if bins == 1:
        return np.array([least, end])
    width = _round_up((end - least) / bins)
    while (number := math.ceil(end / width) - (first := math.floor(least / width))) > bins:
        width = _round_up(width + 1)
    return np.asarray(width * np.arange(first, first + number + 1), np.float64)


def _round_up(width: float) -> float:
    """Returns the least whole 1, 2, 2.5, 5 or 10 times a power of ten that is not smaller."""
    ten = 10.0 ** math.floor(math.log10(max(1.0, width)))
    return next(step * ten for step in (1, 2, 2.5, 5, 10) if step * ten >= width and (step * ten).is_integer())


def _bins(part: pd.DataFrame) -> int:
    """Returns the number of bins for the games of a game's rarest agent, by Rice's rule (D. Lane)."""
    fewest = min(games_in(games) for _, games in part.groupby("agent"))
    return max(1, min(MAX_BINS, math.ceil(2 * math.cbrt(fewest))))


def extremes(frame: pd.DataFrame) -> pd.DataFrame:
    """Returns the matches with the largest and the smallest scores of every game, the largest first."""
    columns = ["game", "match", "seat", "agent", "label", "score", "seed"]
    parts = []
    for _, part in frame[columns].groupby("game"):
        largest = part.nlargest(EXTREMES, "score")
        parts.append(pd.concat([largest, part.nsmallest(EXTREMES, "score")[::-1]]).drop_duplicates(["match", "seat"]))
    return pd.concat(parts, ignore_index=True) if parts else frame[columns]


def named(frame: pd.DataFrame) -> pd.DataFrame:
    """Returns a frame with a `name` for each row: the agent's label, with its run if several runs have the agent."""
    if "run" not in frame or frame.empty:
        return frame.assign(name=frame["label"])
    several = frame.groupby("agent")["run"].transform("nunique") > 1
    runs = " · " + frame["run"].astype(str).str.partition(":")[2].str[:8]
    return frame.assign(name=frame["label"].where(~several, frame["label"] + runs))


def value_of(summary: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """Returns the summary with value, low and high, the best first: points, % with several seats, or mean scores."""
    if summary["points_share"].notna().any():
        ends = {"value": "points_share", "low": "points_share_low", "high": "points_share_high"}
        frame, unit = summary.assign(**{new: 100 * summary[old] for new, old in ends.items()}), POINTS
    else:
        low, high = bounds_of(summary).around(summary["mean"], summary["half_width"])
        frame, unit = summary.assign(value=summary["mean"], low=low, high=high), "mean score, points"
    return frame.sort_values("value", ascending=False, kind="stable", ignore_index=True), unit


def bounds_of(frame: pd.DataFrame) -> Bounds:
    """Returns the bounds of scores in a frame with the column `game`; without any if this version lacks a game."""
    with contextlib.suppress(UserError):
        of_games = [score_bounds(game_of(str(game))) for game in frame["game"].unique()]
        if of_games:
            return Bounds(min(one.least for one in of_games), max(one.most for one in of_games))
    return UNBOUNDED


def costs_of(summary: pd.DataFrame) -> pd.DataFrame:
    """Returns the costs of a move for every row: COSTS, nodes first, because time depends on the machine."""
    nodes, cpu = summary["nodes_per_decision"], 1e6 * summary["cpu_seconds_per_decision"]
    rate = summary["decisions_per_second"].where(summary["decisions_per_second"] > 0)  # 0 if an agent never decided
    return pd.DataFrame({NODES: nodes, CPU: cpu, TIME: 1e6 / rate})


def both_sides(ranks: Ranks) -> pd.DataFrame:
    """Returns every pair twice, from both agents' view, with labels and places: agent and place, against and so on."""
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


def met(sides: pd.DataFrame, alone: bool, first: str, second: str) -> str:
    """Returns the result of an agent against another in a sentence; empty if they did not meet."""
    found = sides[(sides["agent"] == first) & (sides["against"] == second)]
    if found.empty:
        return ""
    row = found.iloc[0]
    if alone:
        apart = estimate(*(row[f"difference{end}"] for end in ("", "_low", "_high")), signed=True)
        return f"{apart} points on average on {counted(row['games'], 'common seed')}."
    value, low, high = (100 * row[f"points_share{end}"] for end in ("", "_low", "_high"))
    share = estimate(value, low, high, " %")
    ends = f"{row['wins']:,} won, {row['draws']:,} drawn, {row['losses']:,} lost"
    return f"{share} of the points in {counted(row['games'], 'game')}: {ends}."
