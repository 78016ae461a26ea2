"""Random search, the baseline that every other sampler must beat."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...core.parameters import parameter
from ..space import Space
from .sampler import Sampler, Vectors
from .surface import ModelledSearch


@dataclass(frozen=True)
class RandomSampler(Sampler):
    """Uniform candidates, the start first; recommends the top of a smooth surface through all of them."""

    name = "random"

    population: int = parameter(16, "candidates per generation", low=1, high=100_000)

    def begin(self, start: Sequence[float], seed: int, space: Space) -> RandomSearch:
        return RandomSearch(start, seed, self)


class RandomSearch(ModelledSearch):
    def __init__(self, start: Sequence[float], seed: int, sampler: RandomSampler) -> None:
        super().__init__(start, seed)
        self.sampler = sampler

    def propose(self) -> Vectors:
        points = self.rng().uniform(size=(self.sampler.population, self.size))
        if self.generation == 0:
            points[0] = self.start
        return np.asarray(points)
