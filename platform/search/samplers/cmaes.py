"""CMA-ES from pycma, a generation at a time, with optional restarts."""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np

from ...core.parameters import parameter
from ..space import Space
from .sampler import MAX_POPULATION, PopulationSampler, SteppingSearch, Vectors


@cache
def pycma() -> Any:
    """Returns the package, without what only its plots and surrogate models need, which take half a second each."""
    without = {"matplotlib", "scipy.stats"} - sys.modules.keys()
    sys.modules.update(dict.fromkeys(without))  # type: ignore[arg-type]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns that it cannot plot
        import cma
    for name in without:
        del sys.modules[name]
    return cma


@dataclass(frozen=True)
class Cmaes(PopulationSampler):
    """Covariance matrix adaptation evolution strategy; recommends the distribution's mean.

    Source: Hansen 2016, "The CMA evolution strategy: a tutorial"; use in Kutsch 2017, 7.1.2. Restarts with a larger
    population: Auger and Hansen 2005 (IPOP).
    """

    name = "cmaes"

    population: int = parameter(0, "candidates per generation, 0 = by the budget, at most 64", low=0, high=100_000)
    sigma: float = parameter(0.3, "standard deviation at the start", low=0.001, high=1)
    restart: float = parameter(0.0, "restart when sigma falls below this, 0 = never", low=0, high=1)
    growth: float = parameter(2.0, "factor by which the population grows at a restart", low=1, high=10)

    def begin(self, start: Sequence[float], seed: int, space: Space) -> CmaesSearch:
        return CmaesSearch(start, seed, self, space)


class CmaesSearch(SteppingSearch):
    """A run of pycma's strategy, or several in sequence."""

    pools = True  # or it would collapse onto one agent whose games were lucky

    def __init__(self, start: Sequence[float], seed: int, sampler: Cmaes, space: Space) -> None:
        super().__init__(start, seed)
        self.sampler, self._space = sampler, space
        self._wide = max(2, self.size)  # pycma needs two dimensions; a second one is ignored
        self.population = sampler.population or MAX_POPULATION
        self._rng = self.rng()
        self._asked: list[Any] = []
        self._ended: tuple[float, list[float]] | None = None  # the best run before a restart: its estimate and mean

    @cached_property
    def _strategy(self) -> Any:
        return self._new(np.append(self.start, [0.5] * (self._wide - self.size)))

    def _new(self, start: Vectors) -> Any:
        options: dict[str, Any] = {
            "bounds": [None, None] if self.clips else [0, 1],  # pycma folds what is outside, and gets no narrower
            "popsize": self.population,
            "randn": lambda *shape: self._rng.standard_normal(shape),
            "seed": np.nan,  # leaves numpy's global generator alone
            "verbose": -9,
            "verb_log": 0,
            # A noisy search runs for its budget; stagnation and tolerances would end it early.
            "maxiter": np.inf,
            "tolfun": 0,
            "tolx": 0,
            "tolfunhist": 0,
            "tolflatfitness": np.inf,
            "tolstagnation": np.inf,
        }
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return pycma().CMAEvolutionStrategy(list(start), self.sampler.sigma, options)

    def ask(self) -> Vectors:
        if not self._asked:
            self._rng = self.rng()
            self._asked = self._strategy.ask()
            if self.clips:
                self._asked = list(self.clipped(np.array(self._asked), self._space))
        asked: Vectors = np.array(self._asked)
        return np.clip(asked, 0, 1)[:, : self.size]

    def step(self, values: Sequence[float]) -> None:
        self._strategy.tell(self._asked, [-value for value in values])
        self._keep_alive()

    def _keep_alive(self) -> None:
        mean, before = np.array(self._strategy.gp.pheno(self._strategy.mean)), np.array(self._strategy.stds)
        moved, deviations = self.with_margins(mean, before)
        if (moved != mean).any():
            self._strategy.mean = np.array(self._strategy.gp.geno(moved))
        for place in np.flatnonzero(deviations > before):
            self._strategy.sigma_vec._init_(self._wide)
            factor = deviations[place] / before[place]
            self._strategy.sigma_vec.set_i(place, self._strategy.sigma_vec.scaling[place] * factor)
            self._strategy.pc2[place] *= factor

    def tell(self, values: Sequence[float]) -> None:
        super().tell(values)
        self._asked = []
        if self.sigma < self.sampler.restart:
            self._restart()

    def _restart(self) -> None:
        """Begins again at a random point, with a larger population; the result so far is kept."""
        self._ended = (self.estimate(), self.recommended())
        self.population = round(self.population * self.sampler.growth)
        self._strategy, self._latest_mean = self._new(self.rng().uniform(size=self._wide)), math.nan

    def recommended(self) -> list[float]:
        """Returns the distribution's mean, that of the run with the largest estimate."""
        if self._ended and not self._latest_mean >= self._ended[0]:
            return self._ended[1]
        return [float(x) for x in np.clip(self._strategy.result.xfavorite[: self.size], 0, 1)]

    def estimate(self) -> float:
        """Returns the mean of the latest generation, or of the last one of a better run before."""
        latest = super().estimate()
        return self._ended[0] if self._ended and not latest >= self._ended[0] else latest

    @property
    def sigma(self) -> float:
        return float(self._strategy.sigma)

    def facts(self) -> dict[str, float]:
        return super().facts() | {"axis_ratio": float(self._strategy.D.max() / self._strategy.D.min())}
