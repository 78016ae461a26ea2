"""Samplers that each break one law of the contract, and a sound one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from turnier.commands.own.templates.sampler import Template, TemplateSearch
from turnier.search.samplers.sampler import Search, Vectors
from turnier.search.space import Space


@dataclass(frozen=True)
class Sound(Template):
    """Keeps every law: what `turnier new sampler` writes."""

    name = "sound"
    search = TemplateSearch

    def begin(self, start: Sequence[float], seed: int, space: Space) -> Search:
        return self.search(start, seed, self)


class _Outside(TemplateSearch):
    def ask(self) -> Vectors:
        return super().ask() + 0.5


class _AsksAnew(TemplateSearch):
    def ask(self) -> Vectors:
        return np.clip(np.random.default_rng().uniform(size=(8, self.size)), 0, 1)


class _LooksTooFarAhead(TemplateSearch):
    looks_ahead = True

    def ask_ahead(self) -> Vectors:
        return self.ask()


class _ChangesItsMind(TemplateSearch):
    looks_ahead = True

    def _drawn(self, ahead: int) -> Vectors:
        return self.rng(ahead).uniform(size=(8, self.size))

    def ask(self) -> Vectors:
        return self._drawn(0)

    def ask_ahead(self) -> Vectors:
        return self._drawn(1)

    def duelling(self, ahead: bool = False) -> int:
        return 1 + ahead


class _RemembersQuestions(TemplateSearch):
    questions = 0

    def estimate(self) -> float:
        self.questions += 1
        return super().estimate() + self.questions


class _UsesNumpysGenerator(TemplateSearch):
    def ask(self) -> Vectors:
        np.random.seed(self.generation)
        return np.random.uniform(size=(8, self.size))


class _RecommendsArrays(TemplateSearch):
    def recommended(self) -> list[float]:
        return super().recommended()[:1] * 4


class _LearnsNothing(TemplateSearch):
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
class LooksTooFarAhead(Sound):
    """Says that it looks ahead, but learns the latest values first."""

    search = _LooksTooFarAhead


@dataclass(frozen=True)
class ChangesItsMind(Sound):
    """Says of a generation that one more pair duels than when it is played."""

    search = _ChangesItsMind


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
