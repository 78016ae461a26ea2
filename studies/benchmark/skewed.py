"""Scores as wide as their mean, of numbers, stairs, a whole number, a choice, and parameters that do not matter."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from turnier.core.parameters import Parameter
from turnier.search.dimensions.dimension import Dimension
from turnier.search.space import Space
from turnier.studies.benchmark.problem import Floats, Problem, choice, numbers, snapped, whole

SHAPE = 4.0  # of the gamma distribution: the standard deviation is half of the mean
STEPS = 8  # of the stairs
NEAR = 0.25  # of the usual distance, for a good start


class SkewedScores(Problem):
    """Three numbers, one with stairs, a whole number, a choice of three, a number that one choice needs, one idle.

    Each parameter takes a share from the score. The choice is wrong at the start, unless that is near the best. The
    loss is the missing share of the best mean.
    """

    def __init__(self, seed: int, near: bool = False) -> None:
        rng = np.random.default_rng([13, seed])
        # In the middle of the list the best one would be found by whatever avoids the ends of ranges.
        self.first, *others = rng.permutation(3).tolist()
        needed = Dimension(
            "needed", float, Parameter("a number", low=0.0, high=1.0, when={"choice": ["abc"[self.first]]})
        )
        idle = Dimension("idle", float, Parameter("a number", low=0.0, high=1.0))
        self.dimensions = [*numbers(3), whole("whole", 0, 50), choice("choice", 3), needed, idle]
        self.best = rng.uniform(0.15, 0.85, 7)
        self.best[2] = (np.floor(self.best[2] * STEPS) + 0.5) / STEPS
        self.best[3] = round(self.best[3] * 50) / 50
        self.weights = np.array([*rng.uniform(1.0, 4.0, 4), 0.0, rng.uniform(1.0, 2.0), 0.0])
        self.choices = np.ones(3)
        self.choices[others] = rng.uniform([0.45, 0.7], [0.6, 0.85])
        away = rng.choice([-1, 1], 7) * rng.uniform(0.3, 0.5, 7)
        start = np.clip(self.best + away * (NEAR if near else 1), 0.02, 0.98)
        start[4] = ((self.first if near else others[0]) + 0.5) / 3
        super().__init__(Space(tuple(self.dimensions)), snapped(self.dimensions, start[None])[0].tolist())

    def means(self, vectors: Floats) -> Floats:
        """Returns the mean scores of vectors, [n], as shares of the best."""
        points = snapped(self.dimensions, vectors)
        chosen = np.minimum((points[:, 4] * 3).astype(np.int64), 2)
        points[:, 2] = (np.minimum(np.floor(points[:, 2] * STEPS), STEPS - 1) + 0.5) / STEPS
        squares = self.weights * (points - self.best) ** 2
        squares[:, 5] *= chosen == self.first
        return np.asarray(self.choices[chosen] * np.exp(-squares.sum(1)))

    def play(self, vectors: Floats, rng: np.random.Generator) -> Sequence[float]:
        return list(rng.gamma(SHAPE, self.means(vectors) / SHAPE).tolist())

    def loss(self, vector: Sequence[float]) -> float:
        return 1 - float(self.means(np.array([vector]))[0])
