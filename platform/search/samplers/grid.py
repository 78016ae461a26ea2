"""Grid search: all combinations of steps, then repeatedly the better half of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...core.errors import UserError
from ...core.parameters import parameter
from ..space import Space
from .sampler import Sampler, Search, Vectors

MAX_COMBINATIONS = 1_000_000
MIN_COMBINATIONS = 2  # left at the end


@dataclass(frozen=True)
class Grid(Sampler):
    """All combinations in random order, then repeatedly the better half; recommends the best mean of those left.

    Source: sequential halving, Karnin, Koren and Somekh 2013.
    """

    name = "grid"

    steps: int = parameter(4, "values per parameter", low=2, high=1000)
    population: int = parameter(16, "candidates per generation", low=1, high=100_000)

    def begin(self, start: Sequence[float], seed: int, space: Space) -> GridSearch:
        return GridSearch(start, seed, self)


class GridSearch(Search):
    def __init__(self, start: Sequence[float], seed: int, sampler: Grid) -> None:
        super().__init__(start, seed)
        self.sampler = sampler
        combinations = sampler.steps**self.size
        if combinations > MAX_COMBINATIONS:
            raise UserError(
                f"a grid must have at most {MAX_COMBINATIONS:,} combinations, got {sampler.steps} steps of {self.size}"
                " parameters; search fewer of them, or by another sampler."
            )
        self._sums, self._counts = np.zeros(combinations), np.zeros(combinations, np.int64)
        self._round = self.rng().permutation(combinations)  # those of this round, in order
        self._next = 0  # place in the round
        self._left = self._round[:0]  # survivors of the round before, all evaluated equally often

    def _vectors(self, which: Any) -> Vectors:
        steps = np.stack(np.unravel_index(which, (self.sampler.steps,) * self.size), axis=1)
        return np.asarray((steps + 0.5) / self.sampler.steps)

    def _asked(self) -> Any:
        return self._round[self._next : self._next + self.sampler.population]

    def ask(self) -> Vectors:
        return self._vectors(self._asked())

    def tell(self, values: Sequence[float]) -> None:
        asked = self._asked()
        self._sums[asked] += values
        self._counts[asked] += 1
        self._next += len(asked)
        self.generation += 1
        if self._next == len(self._round):
            kept = max(min(MIN_COMBINATIONS, len(self._round)), len(self._round) // 2)
            self._left = self._round[np.argsort(-self._means(self._round), kind="stable")[:kept]]
            self._round, self._next = self.rng().permutation(self._left), 0

    def _means(self, which: Any) -> Vectors:
        return np.asarray(self._sums[which] / np.maximum(self._counts[which], 1))

    def _best(self) -> int:
        """Returns the best survivor."""
        return int(self._left[np.argmax(self._means(self._left))])

    def recommended(self) -> list[float]:
        if not len(self._left):  # in the first round the best one is the luckiest
            return [float(x) for x in self.start]
        return [float(x) for x in self._vectors(np.array([self._best()]))[0]]

    def estimate(self) -> float:
        if not self.generation:
            return math.nan
        first_round = self._sums.sum() / self._counts.sum()  # the mean of all: nothing is known of the start
        return float(self._means(np.array([self._best()]))[0]) if len(self._left) else float(first_round)

    @property
    def sigma(self) -> float:
        """The spread of the combinations left."""
        return float(self._vectors(self._round).std(0).mean())
