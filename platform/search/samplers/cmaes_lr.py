"""CMA-ES whose learning rates follow the signal-to-noise ratio, from the package `cmaes`."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...core.parameters import parameter
from ..space import Space
from .sampler import MAX_POPULATION, PopulationSampler, SteppingSearch, Vectors


@dataclass(frozen=True)
class CmaesLr(PopulationSampler):
    """CMA-ES with learning-rate adaptation, for noisy and multimodal values; recommends the distribution's mean.

    Source: Nomura, Akimoto and Ono 2023, "CMA-ES with learning rate adaptation".
    """

    name = "cmaes_lr"

    population: int = parameter(0, "candidates per generation, 0 = by the budget, at most 64", low=0, high=100_000)
    sigma: float = parameter(0.3, "standard deviation at the start", low=0.001, high=1)

    def begin(self, start: Sequence[float], seed: int, space: Space) -> CmaesLrSearch:
        return CmaesLrSearch(start, seed, self, space)


class CmaesLrSearch(SteppingSearch):
    pools = True  # or it would collapse onto one agent whose games were lucky

    def __init__(self, start: Sequence[float], seed: int, sampler: CmaesLr, space: Space) -> None:
        super().__init__(start, seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from cmaes import CMA
        self._space = space
        # The package needs two dimensions; an ignored one stands in for the second.
        wide = np.append(self.start, 0.5) if self.size == 1 else self.start
        bounds = np.array([[0.0, 1.0]] * len(wide))
        self._population = sampler.population or MAX_POPULATION
        self._strategy = CMA(wide, sampler.sigma, bounds, population_size=self._population, lr_adapt=True)
        self._asked: list[Vectors] = []

    def ask(self) -> Vectors:
        if not self._asked:
            self._strategy.reseed_rng(int(self.rng().integers(2**32)))
            if self.clips:
                self._strategy._bounds = None  # or it would draw again, and never get to the end of a range
            self._asked = [self._strategy.ask() for _ in range(self._population)]
            if self.clips:
                self._asked = list(self.clipped(np.array(self._asked), self._space))
        return np.clip(np.array(self._asked), 0, 1)[:, : self.size]

    def step(self, values: Sequence[float]) -> None:
        self._strategy.tell([(x, -value) for x, value in zip(self._asked, values, strict=True)])
        before = self.sigma * np.sqrt(np.diag(self._strategy._C))
        self._strategy._mean, deviations = self.with_margins(self._strategy._mean, before)
        if (factors := deviations / before).max() > 1:
            self._strategy._C = self._strategy._C * np.outer(factors, factors)
            self._strategy._B = self._strategy._D = None

    def tell(self, values: Sequence[float]) -> None:
        super().tell(values)
        self._asked = []

    def recommended(self) -> list[float]:
        return [float(x) for x in np.clip(self._strategy.mean[: self.size], 0, 1)]

    @property
    def sigma(self) -> float:
        return float(self._strategy._sigma)
