"""Template: draws candidates around the mean of the better half of earlier ones, closer and closer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from turnier import History, Sampler, Search, Space, Vectors, parameter

REMEMBERED = 24  # latest candidates of the better half; their mean is the centre


@dataclass(frozen=True)
class Template(Sampler):
    """Draws candidates around the mean of the better half of earlier ones, closer and closer."""

    population: int = parameter(8, "candidates per generation", low=4, high=1000)

    def begin(self, start: Sequence[float], seed: int, space: Space) -> Search:
        return TemplateSearch(start, seed, self)


class TemplateSearch(Search):
    """A search in the unit cube for the largest value: every vector consists of numbers from 0 to 1."""

    def __init__(self, start: Sequence[float], seed: int, sampler: Template) -> None:
        super().__init__(start, seed)
        self.sampler = sampler
        self.history = History(self.size)

    def ask(self) -> Vectors:
        drawn = self.rng().normal(self.recommended(), self.sigma, (self.sampler.population, self.size))
        return np.clip(drawn, 0.0, 1.0)

    def tell(self, values: Sequence[float]) -> None:
        self.history.add(self.ask(), values)
        self.generation += 1

    def recommended(self) -> list[float]:
        if not self.generation:
            return [float(value) for value in self.start]
        return [float(value) for value in self._better()[0].mean(0)]

    def estimate(self) -> float:
        return float(self._better()[1].mean()) if self.generation else float("nan")

    @property
    def sigma(self) -> float:
        return 0.3 / (1 + self.generation / 10)

    def _better(self) -> tuple[Vectors, Vectors]:
        """Returns the latest candidates of the better half, and their values."""
        better = self.history.values >= np.median(self.history.values)
        return self.history.vectors[better][-REMEMBERED:], self.history.values[better][-REMEMBERED:]
