"""Ratings and pairwise comparisons: pandas views of frames that `matches_frame` made."""

from __future__ import annotations

import itertools
import math
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt
import pandas as pd

from turnier.agents.registry import label_of
from turnier.results.frames.matches import WITH_RESULT
from turnier.statistics.comparisons import holm, paired_difference
from turnier.statistics.intervals import share_interval
from turnier.statistics.live_ratings import MAX_GAMES, live_ratings
from turnier.statistics.ratings import Ratings, bradley_terry

RATING_COLUMNS = ("game", "agent", "label", "games", "elo", "elo_low", "elo_high", "live_mu", "live_sigma")
PAIR_COLUMNS = (
    *("game", "first", "second", "games", "pairs", "wins", "draws", "losses", "win_rate", "win_rate_low"),
    *("win_rate_high", "difference", "difference_low", "difference_high", "p", "p_holm", "superiority"),
)


class _Meetings(NamedTuple):
    """Every two seats with different agents in every match that has a result; agents are indices into `agents`."""

    agents: list[str]
    games: list[int]  # of each agent
    first: npt.NDArray[np.int64]
    second: npt.NDArray[np.int64]
    points: npt.NDArray[np.float64]  # of the first: 1 if it scored more, 0.5 if as much, 0 if less
    clusters: npt.NDArray[np.int64]  # equal for the same agents on the same seed


def _meetings(part: pd.DataFrame) -> _Meetings:
    """Takes the rows of one game, in which the seats of a match are consecutive rows."""
    seats = int(part["seats"].iloc[0])
    codes, names = pd.factorize(part["agent"], sort=True)
    has_result = part["termination"].isin(WITH_RESULT).to_numpy(bool)[::seats]
    agents = codes.reshape(-1, seats)[has_result]
    scores = part["score"].to_numpy(np.float64).reshape(-1, seats)[has_result]
    seeds = pd.factorize(part["seed"].to_numpy()[::seats][has_result])[0]
    group = pd.factorize(np.sort(agents, axis=1) @ (len(names) ** np.arange(seats)))[0]
    cluster = pd.factorize(seeds * (group.max(initial=0) + 1) + group)[0]
    games = np.zeros(len(names), np.int64)
    for seat in range(seats):
        counted = (agents[:, :seat] == agents[:, seat, None]).any(axis=1)  # an agent that plays itself plays one game
        games += np.bincount(agents[~counted, seat], minlength=len(names))
    first, second, points, clusters = [], [], [], []
    for a, b in itertools.combinations(range(seats), 2):
        met = agents[:, a] != agents[:, b]
        first.append(agents[met, a])
        second.append(agents[met, b])
        points.append(0.5 + 0.5 * np.sign(scores[met, a] - scores[met, b]))
        clusters.append(cluster[met])
    columns = (np.concatenate(column) for column in (first, second, points, clusters))
    return _Meetings([str(name) for name in names], games.tolist(), *columns)


class Standings(NamedTuple):
    """Two frames.

    ratings: one row per agent of each game of several seats, the strongest first. Columns: game, agent, label, games
    (with a result), elo (Bradley-Terry, over all pairs of seats; the mean of the game's agents is 0), elo_low and
    elo_high (95 %, pairs of games as clusters); for games of three and more seats live_mu and live_sigma (openskill,
    see `live_ratings`).

    pairs: one row per two agents that met in a game, or that played a single-player game on the same seeds. Columns:
    game, first, second (agents); games and pairs (single-player: seeds that both played); wins, draws, losses of the
    first; win_rate with Wilson's 95 % interval; difference, difference_low and difference_high: the mean over pairs of
    points won minus points lost, between -1 and 1 (single-player: of the scores), with its 95 % interval (Student's t);
    p (two-sided) and p_holm (corrected for all pairs of agents of the game); superiority: the likelihood that the first
    is stronger, by the ratings of all games (single-player: that it has the higher mean score).
    """

    ratings: pd.DataFrame
    pairs: pd.DataFrame

    @classmethod
    def of(cls, frame: pd.DataFrame) -> Self:
        """Returns ratings and comparisons from a frame of `matches_frame` that has all seats of its matches."""
        ratings: list[dict[str, Any]] = []
        pairs: list[dict[str, Any]] = []
        for game, part in frame.groupby("game"):
            if part["seats"].iloc[0] == 1:
                compared = _compare_scores(part)
            else:
                rows, compared = _compare_meetings(part)
                ratings += [{"game": game, **row} for row in rows]
            corrected = holm([row["p"] for row in compared])
            pairs += [{"game": game, **row, "p_holm": p} for row, p in zip(compared, corrected, strict=True)]
        return cls(pd.DataFrame(ratings, columns=list(RATING_COLUMNS)), pd.DataFrame(pairs, columns=list(PAIR_COLUMNS)))


def _rating_rows(part: pd.DataFrame, met: _Meetings, ratings: Ratings) -> list[dict[str, Any]]:
    live = _live(part[part["termination"].isin(WITH_RESULT)]) if part["seats"].iloc[0] > 2 else {}
    rows, half_widths = [], ratings.half_widths()
    for i in np.argsort(-ratings.elo, kind="stable"):
        elo, half, agent = ratings.elo[i], half_widths[i], met.agents[i]
        mu, sigma = live.get(agent, (math.nan, math.nan))
        rows.append(
            {
                "agent": agent,
                "label": label_of(agent),
                "games": met.games[i],
                "elo": elo,
                "elo_low": elo - half,
                "elo_high": elo + half,
                "live_mu": mu,
                "live_sigma": sigma,
            }
        )
    return rows


def _live(part: pd.DataFrame) -> dict[str, Any]:
    seats = int(part["seats"].iloc[0])
    first = np.argsort(part["match"].to_numpy()[::seats], kind="stable")[:MAX_GAMES]
    some = part.take((first[:, None] * seats + np.arange(seats)).ravel())
    agents = some["agent"].astype(object).to_numpy().reshape(-1, seats).tolist()
    scores = some["score"].to_numpy(np.float64).reshape(-1, seats).tolist()
    return dict(live_ratings(zip(agents, scores, strict=True)))


def _compare_meetings(part: pd.DataFrame) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Returns the rows of ratings and of pairs of one game."""
    met = _meetings(part)
    if not len(met.first):
        return [], []
    ratings = bradley_terry(len(met.agents), met.first, met.second, met.points, met.clusters)
    superiority = ratings.superiority()
    turned = met.first > met.second
    low, high = np.where(turned, met.second, met.first), np.where(turned, met.first, met.second)
    points = np.where(turned, 1 - met.points, met.points)
    rows = []
    for i, j in itertools.combinations(range(len(met.agents)), 2):
        these = np.flatnonzero((low == i) & (high == j))
        if not len(these):
            continue
        won, cell = points[these], pd.factorize(met.clusters[these])[0]
        units = (2 * np.bincount(cell, won) / np.bincount(cell) - 1).tolist()
        row = _pair_row(met.agents[i], met.agents[j], won, units)
        rows.append(row | {"superiority": float(superiority[i, j])})
    return _rating_rows(part, met, ratings), rows


def _compare_scores(part: pd.DataFrame) -> list[dict[str, Any]]:
    """Returns the rows of pairs of a single-player game: scores on the seeds that both agents played."""
    with_result = part[part["termination"].isin(WITH_RESULT)]
    scores = with_result.pivot_table(index="seed", columns="agent", values="score", aggfunc="mean")
    rows = []
    for first, second in itertools.combinations(sorted(scores.columns), 2):
        both = scores[[first, second]].dropna().sort_index().to_numpy(np.float64)
        if len(both):
            differences = both[:, 0] - both[:, 1]
            rows.append(_pair_row(str(first), str(second), 0.5 + 0.5 * np.sign(differences), differences.tolist()))
    return rows


def _pair_row(first: str, second: str, points: npt.NDArray[np.float64], units: list[float]) -> dict[str, Any]:
    wins, draws, losses = (int((points == result).sum()) for result in (1.0, 0.5, 0.0))
    rate, low, high = share_interval(wins, len(points))
    difference = paired_difference(units)
    return {
        "first": first,
        "second": second,
        "games": len(points),
        "pairs": difference.units,
        "wins": wins,
        "draws": draws,
        "losses": losses,
        "win_rate": rate,
        "win_rate_low": low,
        "win_rate_high": high,
        "difference": difference.mean,
        "difference_low": difference.low,
        "difference_high": difference.high,
        "p": difference.p,
        "superiority": difference.superiority,
    }
