"""Rating lists and pairwise comparisons: pandas views of frames that `matches_frame` made."""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np
import pandas as pd

from turnier.results.frames.matches import WITH_RESULT
from turnier.results.frames.meetings import Floats, Ints, Meetings, meetings_of
from turnier.results.frames.rating_list import as_rating_list, rated_by_games, rated_by_scores
from turnier.statistics.comparisons import holm, paired_differences
from turnier.statistics.intervals import points_intervals
from turnier.statistics.ratings import bradley_terry

PAIR_COLUMNS = (
    *("game", "first", "second", "games", "pairs", "wins", "draws", "losses"),
    *("points", "points_share", "points_share_low", "points_share_high", "win_rate", "win_rate_low"),
    *("win_rate_high", "difference", "difference_low", "difference_high", "p", "p_holm", "superiority"),
)


_Rated = tuple[pd.DataFrame, pd.DataFrame]  # ratings and pairs of a game


class Standings(NamedTuple):
    """Two frames.

    ratings: the rating list of each game, a row per agent, the best first; of games of several seats, the agents that
    met another one, and of single-player games of two and more agents all of them. An agent that failed in all of its
    games is not rated, and its games count for nobody. Columns:

    - game; rank (from 1); agent, label;
    - elo (Bradley-Terry, over all pairs of seats; the mean of the game's agents is 0), elo_low and elo_high (95 %,
      pairs of games as clusters), by which several seats are ranked; NaN in single-player games;
    - mean (of the scores), mean_low and mean_high (95 %, Student's t), by which single-player games are ranked; NaN in
      games of several seats;
    - games (with a result, against another agent; an agent with two seats counts twice);
    - points (1 for a win, a draw shared equally: 1/2 between two), points_share (of its games, 0 to 1) with its 95 %
      interval points_share_low and points_share_high, wins, draws, losses, draw_share (0 to 1); missing in
      single-player games;
    - superiority: the likelihood that the agent is stronger than the next in the list (single-player: that its true
      mean is larger), from the joint covariance of the ratings or means; NaN for the last;
    - group: agents of different groups are linked by no game, so that their Elo cannot be compared; 1 is the largest
      group; missing in single-player games;
    - live_mu, live_sigma (openskill, see `live_ratings`) in games of three and more seats.

    pairs: one row per two agents that met in a game, or that played a single-player game on the same seeds. Columns:

    - game, first, second (agents); games and pairs (single-player: seeds that both played);
    - wins, draws, losses of the first; its points (1, 1/2, 0 in each game, or seed), points_share with its 95 %
      interval points_share_low and points_share_high; win_rate with Wilson's 95 % interval;
    - difference, difference_low and difference_high: the mean over pairs of points won minus points lost, between -1
      and 1 (single-player: of the scores), with its 95 % interval (Student's t);
    - p (two-sided; of points as `paired_differences` says) and p_holm (corrected for all pairs of agents of the game);
    - superiority: the likelihood that the first is stronger, by the ratings of all games (single-player: that it has
      the higher mean score).
    """

    ratings: pd.DataFrame
    pairs: pd.DataFrame

    @classmethod
    def of(cls, frame: pd.DataFrame, pairs: bool = True, min_games: int = 1) -> Self:
        """Returns ratings and comparisons.

        Args:
            frame: of `matches_frame`, with all seats of its matches.
            pairs: whether every two agents are compared; otherwise that frame is empty. Of hundreds of agents it has
                tens of thousands of rows.
            min_games: agents with fewer are not listed, although their games count for the others: the best of many
                agents with a game each is the luckiest.
        """
        ratings, compared = [], []
        for game, part in frame.groupby("game", observed=True):
            rate, part = _by_scores if part["seats"].iloc[0] == 1 else _by_games, _without_unrated(part)
            found = rate(str(game), part, pairs, min_games) if len(part) else None
            if found is not None:
                ratings.append(found[0])
                compared.append(found[1].assign(game=game))
        return cls(as_rating_list(ratings), _as_pairs(compared))

    def crosstable(self) -> pd.DataFrame:
        """Returns what each agent (row) scored against each other one (column), both in the order of the ratings.

        Of games of several seats its share of the points; of single-player games the mean difference of the scores on
        the same seeds. NaN where two agents never met.
        """
        scored = bool(self.ratings["elo"].isna().all())
        order, labels = self.ratings["agent"].tolist(), self.ratings["label"].tolist()
        value, whole = ("difference", 0.0) if scored else ("points_share", 1.0)
        place = {agent: i for i, agent in enumerate(order)}
        listed = self.pairs[self.pairs["first"].isin(order) & self.pairs["second"].isin(order)]
        first, second = (listed[name].map(place).to_numpy(np.int64) for name in ("first", "second"))
        cells = np.full((len(order), len(order)), np.nan)
        cells[first, second] = listed[value].to_numpy(np.float64)
        cells[second, first] = whole - cells[first, second]
        return pd.DataFrame(cells, index=labels, columns=labels)


def _without_unrated(part: pd.DataFrame) -> pd.DataFrame:
    """Returns the games of agents that have a valid one: who failed in all of them did not play."""
    if "failed" not in part or not part["failed"].any():
        return part
    always = part.groupby("agent", observed=True)["failed"].all()
    unrated = part["agent"].isin(always.index[always])
    return part[~part["match"].isin(part.loc[unrated, "match"])]


def _by_games(game: str, part: pd.DataFrame, compare: bool, min_games: int) -> _Rated | None:
    """Returns ratings and pairs of a game of several seats; None if no two agents met."""
    met = meetings_of(part)
    if not len(met.first):
        return None
    ratings = bradley_terry(len(met.agents), met.first, met.second, met.points, met.clusters)
    table = rated_by_games(game, part, met, ratings, min_games)
    return table, _met_pairs(met, ratings.superiority()) if compare else _as_pairs([])


def _met_pairs(met: Meetings, superiority: Floats) -> pd.DataFrame:
    n, clusters = len(met.agents), int(met.clusters.max()) + 1
    turned = met.first > met.second
    low, high = np.where(turned, met.second, met.first), np.where(turned, met.first, met.second)
    points = np.where(turned, 1 - met.points, met.points)
    pairings, pairing = np.unique(low * n + high, return_inverse=True)
    cells, cell = np.unique(pairing * clusters + met.clusters, return_inverse=True)
    units = 2 * np.bincount(cell, points) / np.bincount(cell) - 1
    pairs = _pairs(pairing, points, cells // clusters, units, len(pairings), of_points=True)
    agents, first, second = np.array(met.agents, object), pairings // n, pairings % n
    pairs = pairs.assign(first=agents[first], second=agents[second], superiority=superiority[first, second])
    return pairs.assign(p_holm=holm(pairs["p"].tolist()))


def _by_scores(game: str, part: pd.DataFrame, compare: bool, min_games: int) -> _Rated | None:
    """Returns ratings and pairs of a single-player game; None for a single agent."""
    games = part[part["termination"].isin(WITH_RESULT)]
    scores = games.pivot_table(index="seed", columns="agent", values="score", aggfunc="mean", observed=True)
    if len(scores.columns) < 2:
        return None
    return rated_by_scores(game, scores, games, min_games), _seed_pairs(scores) if compare else _as_pairs([])


def _seed_pairs(scores: pd.DataFrame) -> pd.DataFrame:
    """Compares scores [seeds, agents] on the seeds that both agents of a pair played."""
    agents = sorted(scores.columns)
    values, parts = scores[agents].to_numpy(np.float64), []
    for i, agent in enumerate(agents[:-1]):
        differences = values[:, i, None] - values[:, i + 1 :]
        seeds, other = np.nonzero(~np.isnan(differences))
        units, (others, pairing) = differences[seeds, other], np.unique(other, return_inverse=True)
        pairs = _pairs(pairing, 0.5 + 0.5 * np.sign(units), pairing, units, len(others))
        parts.append(pairs.assign(first=str(agent), second=[str(agents[i + 1 + j]) for j in others]))
    pairs = pd.concat(parts)
    return pairs.assign(p_holm=holm(pairs["p"].tolist()))


def _as_pairs(parts: list[pd.DataFrame]) -> pd.DataFrame:
    """Returns the rows of all games with the columns of `pairs`."""
    kept = [part for part in parts if len(part)]
    columns = list(PAIR_COLUMNS)
    return pd.concat(kept, ignore_index=True)[columns] if kept else pd.DataFrame(columns=columns)


def _pairs(
    pairing: Ints, points: Floats, unit_pairing: Ints, units: Floats, pairings: int, of_points: bool = False
) -> pd.DataFrame:
    """Returns a row per pairing, without its agents.

    Args:
        pairing: [games] the number of each game's pairing.
        points: [games] of the first agent.
        unit_pairing: [units] the number of each unit's pairing.
        units: [units] differences of pairs of games, or of scores on a seed.
        pairings: their number.
        of_points: whether the units are differences of points.
    """
    games = np.bincount(pairing, minlength=pairings)
    wins, draws, losses = (np.bincount(pairing[points == end], minlength=pairings) for end in (1, 0.5, 0))
    share, rate = (wins + draws / 2) / games, wins / games
    low, high = points_intervals(share, (wins + draws / 4) / games - share**2, games)
    rate_low, rate_high = points_intervals(rate, rate * (1 - rate), games)
    difference = paired_differences(units, unit_pairing, pairings, of_points)
    # Equal agents get no result of so many games with a lower probability; it tells only where units are single games.
    least = 0.5 ** (games - 1.0) if of_points else 0.0
    return pd.DataFrame(
        {
            "games": games,
            "pairs": difference.units,
            "wins": wins,
            "draws": draws,
            "losses": losses,
            "points": wins + draws / 2,
            "points_share": share,
            "points_share_low": low,
            "points_share_high": high,
            "win_rate": rate,
            "win_rate_low": rate_low,
            "win_rate_high": rate_high,
            "difference": difference.mean,
            "difference_low": difference.low,
            "difference_high": difference.high,
            "p": np.maximum(difference.p, least),
            "superiority": difference.superiority,
        }
    )
