"""Scores of a training's games, as points of its curve."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt


@dataclass
class Points:
    """Scores of the games so far, gathered in points of `every` games, in whatever order they end."""

    every: int
    sums: npt.NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 3)))  # [points, 3]: games, sum, squares

    def add(self, first: int, scores: npt.NDArray[np.float32]) -> None:
        """Adds the scores [games] of games from number `first` on."""
        point = (first + np.arange(len(scores))) // self.every
        missing = int(point[-1]) + 1 - len(self.sums)
        if missing > 0:
            self.sums = np.concatenate([self.sums, np.zeros((missing, 3))])
        exact = scores.astype(np.float64)
        for column, values in enumerate((np.ones(len(scores)), exact, exact**2)):
            np.add.at(self.sums[:, column], point, values)

    def curve(self) -> npt.NDArray[np.float64]:
        """Returns [points, 4]: the games up to a point's end, its games, their mean score and standard deviation."""
        games = np.maximum(self.sums[:, 0], 1)
        mean = self.sums[:, 1] / games
        variance = np.maximum(self.sums[:, 2] / games - mean**2, 0.0) * games / np.maximum(games - 1, 1)
        ends = np.arange(1, len(games) + 1) * self.every
        return np.column_stack([ends, self.sums[:, 0], mean, np.sqrt(variance)])

    def newest(self, games: int) -> tuple[int, float, float]:
        """Returns the number, mean score and estimated variance of at least the newest games, in whole points."""
        counts = np.cumsum(self.sums[::-1, 0])
        points = int(np.searchsorted(counts, games)) + 1
        count, total, squares = self.sums[-points:].sum(axis=0)
        mean = total / max(count, 1.0)
        return int(count), float(mean), max(float(squares - count * mean**2), 0.0) / max(int(count) - 1, 1)
