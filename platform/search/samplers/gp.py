"""Bayesian optimisation with a Gaussian process that models the noise."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from ...core.parameters import parameter
from ..space import Space
from .sampler import Sampler, Vectors
from .surface import KNOWN, ModelledSearch

TRIED = 512  # random points whose expected improvement is computed, and as many near the best known ones
FEW = 500  # candidates whose models take some seconds together
SECONDS = 30.0  # of a usual core, for the models of the first candidates until as many are known as predictions use


@dataclass(frozen=True)
class Gp(Sampler):
    """Expected improvement on a Gaussian process, several candidates at once; recommends the process's top.

    Until its games are played, a proposed candidate counts with its expected value (Ginsbourger 2010).
    """

    name = "gp"
    usual_noise = "fixed(games=5)"

    population: int = parameter(8, "candidates per generation", low=1, high=1000)
    startup: int = parameter(24, "first candidates, which fill the cube evenly", low=2, high=10_000)

    def warning(self, candidates: int) -> str:
        if candidates <= FEW:
            return ""
        full, more = min(candidates / KNOWN, 1), max(0, candidates - KNOWN)
        seconds = SECONDS * full**2.6 + 2.6 * SECONDS / KNOWN * more
        minutes = math.ceil(seconds / 60)
        lasts = f"{minutes:,} minute{'s' * (minutes > 1)} of one core beside their games"
        return f"{candidates:,} candidates of gp take up to {lasts}; cmaes takes seconds."

    def begin(self, start: Sequence[float], seed: int, space: Space) -> GpSearch:
        return GpSearch(start, seed, self)


class GpSearch(ModelledSearch):
    def __init__(self, start: Sequence[float], seed: int, sampler: Gp) -> None:
        super().__init__(start, seed)
        self.sampler = sampler

    def propose(self) -> Vectors:
        known, count = len(self.history.values), self.sampler.population
        if known < self.sampler.startup:
            points = scipy.stats.qmc.Sobol(self.size, rng=np.random.default_rng(self.seed)).random_base2(
                int(np.ceil(np.log2(self.sampler.startup + count)))
            )
            points[0] = self.start
            return np.asarray(points[known : known + count])
        rng, surface, chosen = self.rng(), self.surface(), []
        means = surface.means(surface.x)
        best = surface.x[np.argsort(-means, kind="stable")[:16]]
        for _ in range(count):
            near = np.repeat(best, TRIED // 16, axis=0)[:TRIED]
            spread = rng.choice([0.02, 0.05, 0.15], size=(len(near), 1))
            tried = np.clip(near + spread * rng.standard_normal(near.shape), 0, 1)
            tried = np.vstack([rng.uniform(size=(TRIED, self.size)), tried])
            mean, sd = surface.predict(tried)
            ahead = (mean - means.max()) / sd
            point = tried[int(np.argmax(sd * (ahead * scipy.stats.norm.cdf(ahead) + scipy.stats.norm.pdf(ahead))))]
            chosen.append(point)
            surface = surface.believing(point)
        return np.array(chosen)
