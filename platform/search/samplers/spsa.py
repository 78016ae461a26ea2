"""Simultaneous perturbation stochastic approximation, the usual method for tuning chess engines."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...core.parameters import parameter
from ..space import Space
from .sampler import Sampler, SteppingSearch, Vectors


@dataclass(frozen=True)
class Spsa(Sampler):
    """Steps along the difference of two mirrored perturbations of all parameters; recommends the current point.

    Source: Spall 1998, "Implementation of the simultaneous perturbation algorithm"; gains a / (A + k)^alpha and
    c / k^gamma. Differs: differences are divided by their root mean square so far, so that gains fit any values.
    """

    name = "spsa"

    pairs: int = parameter(4, "mirrored perturbations whose mean makes a step", low=1, high=10_000)
    a: float = parameter(0.5, "size of the steps", low=0.0001, high=100)
    c: float = parameter(0.15, "size of the perturbations", low=0.0001, high=0.5)
    stability: float = parameter(20.0, "A, which shortens the first steps", low=0, high=1_000_000)
    alpha: float = parameter(0.602, "how fast steps shrink", low=0, high=1)
    gamma: float = parameter(0.101, "how fast perturbations shrink", low=0, high=1)

    def begin(self, start: Sequence[float], seed: int, space: Space) -> SpsaSearch:
        return SpsaSearch(start, seed, self)


class SpsaSearch(SteppingSearch):
    def __init__(self, start: Sequence[float], seed: int, sampler: Spsa) -> None:
        super().__init__(start, seed)
        self.sampler = sampler
        self._point = self.start.copy()
        self._squares, self._steps = 0.0, 0  # mean square of all differences; steps so far

    def _signs(self) -> Vectors:
        return self.rng().choice([-1.0, 1.0], size=(self.sampler.pairs, self.size))

    def ask(self) -> Vectors:
        """Returns the perturbations and their mirror images, [2 pairs, dimensions], pairs adjacent."""
        away = self.sigma * self._signs()
        both = np.stack([self._point + away, self._point - away], axis=1)
        return np.clip(both.reshape(-1, self.size), 0, 1)

    def step(self, values: Sequence[float]) -> None:
        signs, reach, k = self._signs(), self.sigma, self._steps + 1
        ahead, behind = np.asarray(values, np.float64).reshape(-1, 2).T
        differences = ahead - behind
        self._squares += (float(np.mean(differences**2)) - self._squares) / k
        if self._squares:
            slopes = differences[:, None] / math.sqrt(self._squares) / (2 * reach) * signs
            gain = self.sampler.a / (self.sampler.stability + k) ** self.sampler.alpha
            self._point = np.clip(self._point + gain * slopes.mean(0), 0, 1)
        self._steps = k

    def recommended(self) -> list[float]:
        return [float(x) for x in self._point]

    @property
    def sigma(self) -> float:
        return float(self.sampler.c / (self._steps + 1) ** self.sampler.gamma)
