"""Searches that recommend the top of a surface through all evaluated candidates."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence

import numpy as np

from .sampler import History, Search, Vectors
from .surface import Surface

REFIT = 1.25  # hyperparameters are refitted when the evaluated candidates have grown by this factor


class ModelledSearch(Search):
    """Base of searches that propose candidates in their own ways; recommends the top of the surface."""

    def __init__(self, start: Sequence[float], seed: int) -> None:
        super().__init__(start, seed)
        self.history = History(self.size)
        self._asked: Vectors | None = None
        self._surface: Surface | None = None
        self._best: tuple[list[float], float] | None = None
        self._hyper: Vectors | None = None
        self._fitted = 0

    @abstractmethod
    def propose(self) -> Vectors:
        """Returns the generation's candidates, [n, dimensions]."""

    def ask(self) -> Vectors:
        if self._asked is None:
            self._asked = np.clip(self.propose(), 0, 1)
        return self._asked.copy()

    def tell(self, values: Sequence[float]) -> None:
        self.history.add(self.ask(), values)
        self.learn(values)
        self._asked = self._surface = self._best = None
        self.generation += 1
        if len(self.history.values) >= REFIT * self._fitted:
            # Refits must depend on the values only, not on when a recommendation is requested.
            self._fitted, self._hyper = len(self.history.values), None

    def learn(self, values: Sequence[float]) -> None:
        """Passes the values to the search's own model, if it has one."""

    def surface(self) -> Surface:
        if self._surface is None:
            if self._hyper is None:
                known = self.history.vectors[: self._fitted], self.history.values[: self._fitted]
                self._hyper = Surface(*known).hyper
            self._surface = Surface(self.history.vectors, self.history.values, self._hyper)
        return self._surface

    def best(self) -> tuple[list[float], float]:
        """Returns the top of the surface and its height."""
        if self._best is None:
            self._best = self.surface().best()
        return self._best

    def recommended(self) -> list[float]:
        return self.best()[0] if self.generation else [float(x) for x in self.start]

    def estimate(self) -> float:
        return self.best()[1] if self.generation else math.nan

    @property
    def sigma(self) -> float:
        """The spread of the latest candidates."""
        recent = self.history.vectors[-64:]
        return float(recent.std(0).mean()) if len(recent) > 1 else 0.0
