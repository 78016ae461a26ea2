"""Means and shares of points from an archive, a part at a time: a hundred million games in the memory of one part.

Only a row per seed and agent is kept, since games of a seed are not independent.
"""

from __future__ import annotations

import math
from collections import defaultdict
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ...agents.registry import label_of
from ...arena.match import Termination
from ...statistics.intervals import half_width_of_mean, shares_of_cells
from ..store.columns import Array
from .reading import Archive, Scores

COLUMNS = (
    *("game", "agent", "label", "games", "mean", "half_width", "std", "best"),
    *("points_share", "points_share_low", "points_share_high", "wins", "draws", "losses"),
)
_Cell = tuple[Array, Array, Array]  # seeds, games, points
_WITH_RESULT = [termination.value for termination in Termination if termination.has_result]


def means_of(archive: Archive) -> pd.DataFrame:
    """Returns a row per game and agent, the best first, with COLUMNS as in `frames.matches.summary`.

    `games` counts those with a result. Games that repeat others by construction count, too: only `summary`, with all
    games at once, can leave them out.
    """
    known: dict[tuple[str, str], int] = {}
    moments, cells = _Moments(), _Cells()
    for part in archive.scores():
        columns = _Part.of(part, known)
        moments.add(columns, len(known))
        cells.add(columns)
    rows = moments.rows(list(known)) | cells.rows(len(known))
    table = pd.DataFrame({name: rows[name] for name in COLUMNS})
    ends = ["wins", "draws", "losses"]  # of games of several seats
    table[ends] = table[ends].astype("Int64").where(table["points_share"].notna())
    return table.sort_values(["game", "points_share", "mean"], ascending=[True, False, False], ignore_index=True)


class _Part(NamedTuple):
    """The seats of a part's games with a result."""

    key: Array  # [seats] number of game and agent
    seed: Array  # [seats]
    score: Array  # [seats]
    points: Array  # [seats] NaN in games of one seat

    @classmethod
    def of(cls, columns: Scores, known: dict[tuple[str, str], int]) -> _Part:
        counts = columns.seats.astype(np.int64)
        of_match = np.repeat(np.arange(len(counts)), counts)
        first = np.cumsum(counts) - counts
        best = columns.score == np.maximum.reduceat(columns.score, first)[of_match]
        sharing = np.add.reduceat(best.astype(np.int64), first)[of_match]
        points = np.where(counts[of_match] > 1, best / sharing, math.nan)
        games, agents = columns.game.values.tolist(), columns.agent.values.tolist()
        pair = columns.game.codes[of_match].astype(np.int64) * len(agents) + columns.agent.codes
        valid = columns.termination.are(_WITH_RESULT)[of_match]
        pairs, place = np.unique(pair[valid], return_inverse=True)
        numbers = [known.setdefault((games[p // len(agents)], agents[p % len(agents)]), len(known)) for p in pairs]
        key = np.array(numbers, np.int64)[place]
        return cls(key, columns.seed[of_match][valid], columns.score[valid], points[valid])


class _Moments:
    """Number, mean, largest value and central moments by key, added up without cancellation (Chan, Pebay)."""

    def __init__(self) -> None:
        self.n, self.mean, self.second, self.third = (np.zeros(0) for _ in range(4))
        self.best = np.zeros(0)
        self.ends = np.zeros((3, 0), np.int64)  # wins, draws, losses

    def add(self, part: _Part, number: int) -> None:
        key, grown = part.key, number - len(self.n)
        self.n, self.mean, self.second, self.third = (
            np.append(each, np.zeros(grown)) for each in (self.n, self.mean, self.second, self.third)
        )
        self.best = np.append(self.best, np.full(grown, -np.inf))
        self.ends = np.append(self.ends, np.zeros((3, grown), np.int64), axis=1)
        n = np.bincount(key, minlength=number).astype(np.float64)
        mean = np.bincount(key, part.score, number) / np.maximum(n, 1)
        off = part.score - mean[key]
        square = off * off
        second, third = np.bincount(key, square, number), np.bincount(key, square * off, number)
        total, delta = np.maximum(self.n + n, 1), mean - self.mean
        both = self.n * n / total
        self.third += third + delta**3 * both * (self.n - n) / total
        self.third += 3 * delta * (self.n * second - n * self.second) / total
        self.second += second + delta**2 * both
        self.mean += delta * n / total
        self.n += n
        np.maximum.at(self.best, key, part.score)
        several = ~np.isnan(part.points)
        ends = (part.points == 1, (part.points > 0) & (part.points < 1), part.points == 0)
        self.ends += np.array([np.bincount(key[end & several], minlength=number) for end in ends])

    def rows(self, known: list[tuple[str, str]]) -> dict[str, Any]:
        with np.errstate(divide="ignore", invalid="ignore"):
            deviation = np.sqrt(self.second / (self.n - 1))
            skewness = self.third / self.n / (self.second / self.n) ** 1.5
            skewness *= np.sqrt(self.n * (self.n - 1)) / (self.n - 2)
        widths = zip(self.n.astype(int).tolist(), deviation.tolist(), np.nan_to_num(skewness).tolist(), strict=True)
        return {
            "game": [game for game, _ in known],
            "agent": [agent for _, agent in known],
            "label": [label_of(agent) for _, agent in known],
            "games": self.n.astype(np.int64),
            "mean": self.mean,
            "half_width": [half_width_of_mean(*width) for width in widths],
            "std": deviation,
            "best": self.best,
            **dict(zip(("wins", "draws", "losses"), self.ends, strict=True)),
        }


class _Cells:
    """Games and points by key and seed, collected from the parts and added up key by key."""

    def __init__(self) -> None:
        self.of_key: dict[int, list[_Cell]] = defaultdict(list)

    def add(self, part: _Part) -> None:
        several = ~np.isnan(part.points)
        key, seed, points = part.key[several], part.seed[several], part.points[several]
        for each in np.unique(key).tolist():
            mine = key == each
            self.of_key[each].append(_added_up(seed[mine], np.ones(int(mine.sum()), np.int32), points[mine]))

    def rows(self, number: int) -> dict[str, Any]:
        shares = np.full((3, number), math.nan)
        for key in list(self.of_key):
            _, games, points = _added_up(*map(np.concatenate, zip(*self.of_key.pop(key), strict=True)))
            of = np.zeros(len(games), np.int64)
            shares[:, key] = np.ravel(shares_of_cells(of, games.astype(np.float64), points / games, 1))
        return dict(zip(("points_share", "points_share_low", "points_share_high"), shares, strict=True))


def _added_up(seed: Array, games: Array, points: Array) -> _Cell:
    """Returns a row per seed with the sums of games and points."""
    order = np.argsort(seed)
    seed = seed[order]
    begins = np.flatnonzero(np.append(True, np.diff(seed) != 0))
    return seed[begins], np.add.reduceat(games[order], begins), np.add.reduceat(points[order], begins)
