"""Rating lists and pairwise comparisons: pandas views of frames that `matches_frame` made."""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np
import pandas as pd

from ...agents.registry import label_of
from ...statistics.comparisons import holm, paired_differences
from ...statistics.distributions import Floats, Ints
from ...statistics.intervals import shares_of_units
from .fields import Note, RatedField
from .matches import counted, games_in
from .meetings import meetings_of
from .rating_list import as_rating_list, rated_by_games, rated_by_scores
from .terms import Terms

PAIR_COLUMNS = (
    *("game", "first", "second", "games", "pairs", "wins", "draws", "losses"),
    *("points", "points_share", "points_share_low", "points_share_high", "win_rate", "win_rate_low"),
    *("win_rate_high", "difference", "difference_low", "difference_high", "p", "p_holm", "superiority", "expected"),
)
NOTE_COLUMNS = ("game", "about", "note")
USUAL_TERMS = Terms()
PARTS = 7  # of `best_so_far`


class _Rated(NamedTuple):
    """The frames of one game."""

    ratings: pd.DataFrame
    pairs: pd.DataFrame
    notes: list[Note]


class Standings(NamedTuple):
    """Three frames.

    ratings: the rating list of each game, a row per agent, the best first; of games of several seats, the agents that
    met another one, and of single-player games of two and more agents all of them. An agent that failed in all of its
    games is not rated, and its games do not count. Columns:

    - game; rank (from 1); agent, label;
    - rank_low and rank_high: the places that the agent may have; those of all agents are right at once with 95 %;
    - elo (Bradley-Terry, of more seats Plackett-Luce; the mean of the game's agents is 0, or the anchor), elo_low and
      elo_high (95 %, the games of a seed as clusters), by which several seats are ranked; NaN in single-player games;
    - mean (of the scores), mean_low and mean_high (95 %, Student's t), by which single-player games are ranked; NaN in
      games of several seats;
    - games (with a result, against another agent; an agent with two seats counts twice);
    - points (1 for a win, a draw shared equally: 1/2 between two), points_share (of its games, 0 to 1) with its 95 %
      interval points_share_low and points_share_high, wins, draws, losses, draw_share (0 to 1); missing in
      single-player games;
    - superiority: the probability that the agent is stronger than the next in the list (single-player: that its true
      mean is larger), and best_of_all: that it is the best of all; see `statistics.ranks.beliefs`; NaN for the last;
    - nash, nash_low, nash_high, nash_weight: its share of the points against the mixture of agents that no agent beats,
      with a 95 % band, and its weight in it, see `statistics.nash`: if one rating does not explain the results, or
      on request; otherwise NaN;
    - fit_p, cyclic: of the whole game, see `statistics.fit.Fit`; NaN in single-player games;
    - group: agents of different groups are linked by no game, so that their Elo cannot be compared; 1 is the largest
      group; missing in single-player games;
    - live_mu, live_sigma (openskill, see `live_ratings`) in games of three and more seats.

    pairs: one row per two agents that met in a game, or that played a single-player game on the same seeds. Columns:

    - game, first, second (agents); games and pairs (single-player: seeds that both played);
    - wins, draws, losses of the first; its points (1, 1/2, 0 in each game, or seed), points_share with its 95 %
      interval points_share_low and points_share_high; win_rate with its 95 % interval (games of a seed as units);
    - difference, difference_low and difference_high: the mean over pairs of points won minus points lost, between -1
      and 1 (single-player: of the scores), with its 95 % interval (Student's t);
    - p (two-sided; of points as `paired_differences` says) and p_holm (corrected for all pairs of agents of the game);
    - superiority: the probability that the first is stronger, by all games (single-player: that it has the higher mean
      score); expected: the share of points that the ratings expect; NaN in single-player games.

    notes: what to know of a game's list, a row per sentence: game, about (see `Note`), note.
    """

    ratings: pd.DataFrame
    pairs: pd.DataFrame
    notes: pd.DataFrame

    @classmethod
    def of(cls, frame: pd.DataFrame, pairs: bool = True, min_games: int = 1, terms: Terms = USUAL_TERMS) -> Self:
        """Returns ratings and comparisons.

        Args:
            frame: of `matches_frame`, with all seats of its matches.
            pairs: whether to compare every two agents; otherwise that frame is empty. For hundreds of agents it has
                tens of thousands of rows.
            min_games: agents with fewer are not listed, although their games count for the others: the best of many
                agents with one game each is the luckiest.
            terms: whose Elo is 0, and whether results chose the games.
        """
        found: dict[str, _Rated] = {}
        for game, part in frame.groupby("game", observed=True):
            part = _without_unrated(part)
            if len(part):
                one_seat = part["seats"].iloc[0] == 1
                rated = _by_scores(part, pairs, min_games) if one_seat else _by_games(part, pairs, min_games, terms)
                found |= {str(game): rated} if rated else {}
        notes = [(game, *note) for game, rated in found.items() for note in rated.notes]
        return cls(
            as_rating_list([rated.ratings.assign(game=game) for game, rated in found.items()]),
            _as_pairs([rated.pairs.assign(game=game) for game, rated in found.items()]),
            pd.DataFrame(notes, columns=list(NOTE_COLUMNS)),
        )

    def notes_of(self, game: str) -> list[str]:
        """Returns the sentences below a game's rating list."""
        return [str(note) for note in self.notes.loc[self.notes["game"] == game, "note"]]

    def crosstable(self) -> pd.DataFrame:
        """Returns the result of each agent (row) against each other one (column), both in the order of the ratings.

        In games of several seats, its share of the points; in single-player games, the mean difference of the scores on
        the same seeds. NaN if two agents never met.
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


def best_so_far(frame: pd.DataFrame) -> pd.DataFrame:
    """Returns how probably each agent of a game is the best of all after 1/64, 1/32, ..., 1/2 and all of the games.

    These are the games of the first seeds, whichever were played first. Rows begin with all agents having played.
    Columns: agent, label, games (of all agents so far), best (see `Standings`, NaN if nothing varies yet).

    Args:
        frame: of `matches_frame`, one game; games must have been planned in advance, see `terms.CHOSEN`.
    """
    whole, rows, field = _without_unrated(frame), list[pd.DataFrame](), None
    seeds, seed = np.unique(whole["seed"].to_numpy(), return_inverse=True)
    numbers = [max(2, len(seeds) >> part) for part in range(PARTS - 1, -1, -1)]  # one seed tells no variance
    for number in sorted(set(numbers), reverse=True) if len(seeds) > 1 else []:
        part = whole[seed < number]
        best, field = _best_of(part, field)
        if best is not None and len(best) == whole["agent"].nunique():
            games = games_in(part) // int(part["seats"].iloc[0])
            rows.append(pd.DataFrame({"agent": best.index, "games": games, "best": best.to_numpy()}))
    found = pd.concat(rows[::-1], ignore_index=True) if rows else pd.DataFrame(columns=["agent", "games", "best"])
    found.insert(1, "label", [label_of(agent) for agent in found["agent"]])
    return found


def _best_of(part: pd.DataFrame, whole: RatedField | None) -> tuple[pd.Series | None, RatedField | None]:
    """Returns the probabilities by agent, None if fewer than two have met; and the field of all games, if it has one.

    Args:
        part: some of the games.
        whole: the field of all games; None if these are all.
    """
    if not counted(part).any():
        return None, whole
    if part["seats"].iloc[0] == 1:
        rated = _by_scores(part, compare=False, min_games=1)
        return None if rated is None else rated.ratings.set_index("agent")["best_of_all"], whole
    met = meetings_of(part)
    if not len(met.first):
        return None, whole
    field = RatedField.like(whole, met) if whole else RatedField.of(met)
    return pd.Series(field.beliefs.best, met.agents), whole or field


def _without_unrated(part: pd.DataFrame) -> pd.DataFrame:
    """Returns the games of agents with a valid one: those that failed in all games did not play."""
    if "failed" not in part or not part["failed"].any():
        return part
    always = part.groupby("agent", observed=True)["failed"].all()
    unrated = part["agent"].isin(always.index[always])
    return part[~part["match"].isin(part.loc[unrated, "match"])]


def _by_games(part: pd.DataFrame, compare: bool, min_games: int, terms: Terms) -> _Rated | None:
    """Returns the frames of a game of several seats; None if no two agents met."""
    met = meetings_of(part)
    if not len(met.first):
        return None
    field = RatedField.of(met, terms.nash)
    table, notes = rated_by_games(part, field, min_games, terms)
    return _Rated(table, _met_pairs(field) if compare else _as_pairs([]), notes)


def _met_pairs(field: RatedField) -> pd.DataFrame:
    met, n = field.met, len(field.met.agents)
    clusters = int(met.clusters.max()) + 1
    turned = met.first > met.second
    low, high = np.where(turned, met.second, met.first), np.where(turned, met.first, met.second)
    points = np.where(turned, 1 - met.points, met.points)
    pairings, pairing = np.unique(low * n + high, return_inverse=True)
    cells, cell = np.unique(pairing * clusters + met.clusters, return_inverse=True)
    games = np.bincount(cell).astype(np.float64)
    units, times = 2 * np.bincount(cell, points) / games - 1, np.ones(len(cells))
    times[cell] = met.times
    of_cells = _Units(cells // clusters, units, games, times)
    pairs = _pairs(pairing, points, met.clusters, of_cells, met.times, of_points=True)
    agents, first, second = np.array(met.agents, object), pairings // n, pairings % n
    expected = field.ratings.expected(met.first, met.second, met.seats)
    return pairs.assign(
        first=agents[first],
        second=agents[second],
        superiority=field.beliefs.better[first, second],
        p_holm=holm(pairs["p"].tolist()),
        expected=np.bincount(pairing, met.times * np.where(turned, 1 - expected, expected))
        / np.bincount(pairing, met.times),
    )


def _by_scores(part: pd.DataFrame, compare: bool, min_games: int) -> _Rated | None:
    """Returns the frames of a single-player game; None for a single agent."""
    games = part.loc[counted(part), ["seed", "agent", "score"]]
    scores = games.pivot_table(index="seed", columns="agent", values="score", aggfunc="mean", observed=True)
    if len(scores.columns) < 2:
        return None
    table, notes, better = rated_by_scores(scores, games, min_games)
    return _Rated(table, _seed_pairs(scores, better) if compare else _as_pairs([]), notes)


def _seed_pairs(scores: pd.DataFrame, better: pd.DataFrame) -> pd.DataFrame:
    """Compares scores [seeds, agents] on the seeds that both agents of a pair played.

    Args:
        scores: NaN if an agent has not played a seed.
        better: [agents, agents] the probability that the row's agent has the higher mean.
    """
    agents = sorted(scores.columns)
    values, parts = scores[agents].to_numpy(np.float64), []
    chances = better.reindex(index=agents, columns=agents).to_numpy(np.float64)
    for i, agent in enumerate(agents[:-1]):
        differences = values[:, i, None] - values[:, i + 1 :]
        seeds, other = np.nonzero(~np.isnan(differences))
        units, (others, pairing) = differences[seeds, other], np.unique(other, return_inverse=True)
        once = np.ones(len(units))
        pairs = _pairs(pairing, 0.5 + 0.5 * np.sign(units), seeds, _Units(pairing, units, once, once), once)
        names = [str(agents[i + 1 + j]) for j in others]
        parts.append(pairs.assign(first=str(agent), second=names, superiority=chances[i, i + 1 + others]))
    pairs = pd.concat(parts)
    return pairs.assign(p_holm=holm(pairs["p"].tolist()), expected=np.nan)


def _as_pairs(parts: list[pd.DataFrame]) -> pd.DataFrame:
    """Returns the rows of all games with the columns of `pairs`."""
    kept = [part for part in parts if len(part)]
    columns = list(PAIR_COLUMNS)
    return pd.concat(kept, ignore_index=True)[columns] if kept else pd.DataFrame(columns=columns)


class _Units(NamedTuple):
    """Independent differences between two agents."""

    pairing: Ints  # [units] the number of each one's pairing
    difference: Floats  # [units] of points, or of scores on a seed
    games: Floats  # [units] number of games averaged
    times: Floats  # [units] number of units like it


def _pairs(
    pairing: Ints, points: Floats, seeds: Ints, units: _Units, times: Floats, of_points: bool = False
) -> pd.DataFrame:
    """Returns a row per pairing, without its agents.

    Args:
        pairing: [games] the number of each game's pairing.
        points: [games] of the first agent.
        seeds: [games] the number of each game's seed.
        units: of all pairings.
        times: [games] number of seeds like theirs.
        of_points: whether the units are differences of points.
    """
    pairings = int(pairing.max(initial=-1)) + 1
    wins, draws, losses = (
        np.bincount(pairing, times * (points == end), pairings).astype(np.int64) for end in (1, 0.5, 0)
    )
    games = wins + draws + losses
    share = shares_of_units(points, seeds, pairing, pairings, times)
    rate = shares_of_units((points == 1).astype(np.float64), seeds, pairing, pairings, times)
    difference = paired_differences(units.difference, units.pairing, pairings, of_points, units.games, units.times)
    # No result of so many games of equal agents is less likely than this; it matters only if units are single games.
    least = 0.5 ** (games - 1.0) if of_points else 0.0
    return pd.DataFrame(
        {
            "games": games,
            "pairs": difference.units,
            "wins": wins,
            "draws": draws,
            "losses": losses,
            "points": wins + draws / 2,
            "points_share": share.value,
            "points_share_low": share.low,
            "points_share_high": share.high,
            "win_rate": rate.value,
            "win_rate_low": rate.low,
            "win_rate_high": rate.high,
            "difference": difference.mean,
            "difference_low": difference.low,
            "difference_high": difference.high,
            "p": np.maximum(difference.p, least),
        }
    )
