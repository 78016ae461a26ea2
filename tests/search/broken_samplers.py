"""Samplers that each break one law of the contract, and a sound one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from turnier.search.samplers.sampler import History, Sampler, Search, Vectors


class Narrowing(Search):
    """Draws around the mean of the better half of all candidates."""

    def __init__(self, start: Sequence[float], seed: int) -> None:
        super().__init__(start, seed)
        self.history = History(len(start))

    def ask(self) -> Vectors:
        drawn = self.rng().normal(self.recommended(), self.sigma, (8, self.size))
        return np.clip(drawn, 0.0, 1.0)

    def tell(self, values: Sequence[float]) -> None:
        self.history.add(self.ask(), values)
        self.generation += 1

    def recommended(self) -> list[float]:
        if not self.generation:
            return [float(value) for value in self.start]
        better = self.history.vectors[self.history.values >= np.median(self.history.values)]
        return [float(value) for value in better[-24:].mean(0)]

    def estimate(self) -> float:
        return float(np.median(self.history.values)) if self.generation else float("nan")

    @property
    def sigma(self) -> float:
        return float(0.3 / (1 + self.generation / 10))


@dataclass(frozen=True)
class Sound(Sampler):
    """Keeps every law."""

    name = "sound"
    search = Narrowing

    def begin(self, start: Sequence[float], seed: int) -> Search:
        return self.search(start, seed)


class _Outside(Narrowing):
    def ask(self) -> Vectors:
        return super().ask() + 0.5


class _AsksAnew(Narrowing):
    def ask(self) -> Vectors:
        return np.clip(np.random.default_rng().uniform(size=(8, self.size)), 0, 1)


class _RemembersQuestions(Narrowing):
    questions = 0

    def estimate(self) -> float:
        self.questions += 1
        return super().estimate() + self.questions


class _UsesNumpysGenerator(Narrowing):
    def ask(self) -> Vectors:
        np.random.seed(self.generation)
        return np.random.uniform(size=(8, self.size))


class _RecommendsArrays(Narrowing):
    def recommended(self) -> list[float]:
        return super().recommended()[:1] * 4


class _LearnsNothing(Narrowing):
    def recommended(self) -> list[float]:
        return [float(value) for value in self.start]


@dataclass(frozen=True)
class Outside(Sound):
    """Leaves the cube."""

    search = _Outside


@dataclass(frozen=True)
class AsksAnew(Sound):
    """Draws other candidates at every question."""

    search = _AsksAnew


@dataclass(frozen=True)
class RemembersQuestions(Sound):
    """Counts how often it was asked for its estimate."""

    search = _RemembersQuestions


@dataclass(frozen=True)
class UsesNumpysGenerator(Sound):
    """Seeds the generator that everybody shares."""

    search = _UsesNumpysGenerator


@dataclass(frozen=True)
class RecommendsArrays(Sound):
    """Recommends four numbers whatever the number of dimensions."""

    search = _RecommendsArrays


@dataclass(frozen=True)
class LearnsNothing(Sound):
    """Recommends the start for ever."""

    search = _LearnsNothing
