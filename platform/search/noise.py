"""How often candidates play: strategies against noise, each a pure function of a generation's scores so far."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..core.errors import UserError
from ..core.parameters import Declared, Registry, parameter
from ..statistics.distributions import t_quantile

Scores = Sequence[Sequence[float]]  # of each candidate, in the order of asking
_GAMES = "games per candidate; in games with several seats, times seats and opponents"


@dataclass(frozen=True)
class Noise(Declared):
    """Base of all strategies."""

    kind: ClassVar[str] = "noise strategy"
    one_stage: ClassVar[bool] = True  # a candidate's number of games does not depend on scores

    games: int  # of each candidate, at first or at most

    @abstractmethod
    def more(self, generation: int, scores: Scores) -> list[int]:
        """Returns the further games of each candidate before the next call; all 0: the generation is complete."""

    @abstractmethod
    def max_games(self, generation: int, candidates: int) -> int:
        """Returns the maximum number of games of a generation with this many candidates."""


def _up_to(games: int, scores: Scores) -> list[int]:
    return [max(0, games - len(own)) for own in scores]


@dataclass(frozen=True)
class Fixed(Noise):
    """Every candidate plays the same number of games."""

    name = "fixed"

    games: int = parameter(1, _GAMES, low=1, high=1_000_000)

    def more(self, generation: int, scores: Scores) -> list[int]:
        return _up_to(self.games, scores)

    def max_games(self, generation: int, candidates: int) -> int:
        return candidates * self.games


@dataclass(frozen=True)
class Growing(Noise):
    """Candidates play more games with each generation, because the differences between them shrink."""

    name = "growing"

    games: int = parameter(1, f"{_GAMES}, at first", low=1, high=1_000_000)
    growth: float = parameter(1.05, "factor by which the games grow from generation to generation", low=1, high=10)
    largest: int = parameter(100, "maximum games per candidate", low=1, high=1_000_000)

    def _games(self, generation: int) -> int:
        # The exponent is bounded so that a long study does not overflow.
        grown = math.log(self.games) + generation * math.log(self.growth)
        return max(self.games, round(math.exp(min(grown, math.log(max(self.games, self.largest))))))

    def more(self, generation: int, scores: Scores) -> list[int]:
        return _up_to(self._games(generation), scores)

    def max_games(self, generation: int, candidates: int) -> int:
        return candidates * self._games(generation)


@dataclass(frozen=True)
class Reevaluated(Noise):
    """The best of a generation play again before their values count, which reduces the effect of luck."""

    name = "reevaluated"
    one_stage = False

    games: int = parameter(1, _GAMES, low=1, high=1_000_000)
    share: float = parameter(0.25, "share of the candidates that play again", low=0.01, high=1)
    again: int = parameter(1, "further games of these candidates", low=1, high=1_000_000)

    def _best(self, candidates: int) -> int:
        return max(1, round(self.share * candidates))

    def more(self, generation: int, scores: Scores) -> list[int]:
        if any(len(own) < self.games for own in scores):
            return _up_to(self.games, scores)
        # By the first games: later ones must not change the choice.
        first = [float(np.mean(own[: self.games])) for own in scores]
        best = set(np.argsort(-np.array(first), kind="stable")[: self._best(len(scores))].tolist())
        return [max(0, self.games + self.again - len(own)) if i in best else 0 for i, own in enumerate(scores)]

    def max_games(self, generation: int, candidates: int) -> int:
        return candidates * self.games + self._best(candidates) * self.again


@dataclass(frozen=True)
class Racing(Noise):
    """Candidates that a sequential test rates worse than the generation's median stop early.

    Candidates are tested whenever their games have doubled: Student's t with the generation's pooled variance, and
    alpha shared evenly among the looks, so one as good as the median stops with a probability of at most alpha.
    """

    name = "racing"
    one_stage = False

    games: int = parameter(16, f"{_GAMES}, if never stopped", low=2, high=1_000_000)
    first: int = parameter(2, "games before the first look", low=2, high=1_000_000)
    alpha: float = parameter(0.2, "probability of stopping a candidate as good as the median", low=0.001, high=1)

    def check(self) -> None:
        if self.first > self.games:
            raise UserError(f"racing: first must be at most games, got {self.first} and {self.games}.")

    @property
    def looks(self) -> list[int]:
        """Numbers of games after which candidates are tested, ascending."""
        looks = [self.first]
        while looks[-1] * 2 < self.games:
            looks.append(looks[-1] * 2)
        return looks

    def more(self, generation: int, scores: Scores) -> list[int]:
        if any(len(own) < self.first for own in scores):
            return _up_to(self.first, scores)
        reached = max(len(own) for own in scores)
        if reached >= self.games:
            return [0] * len(scores)
        kept = self._kept(reached, scores)
        return [min(2 * reached, self.games) - reached if i in kept else 0 for i in range(len(scores))]

    def _kept(self, reached: int, scores: Scores) -> set[int]:
        """Returns the candidates that have reached this number of games and do not test worse than the median."""
        means = np.array([np.mean(own) for own in scores])
        counts = np.array([len(own) for own in scores])
        freedom = int((counts - 1).sum())
        variance = float(sum(np.sum((np.asarray(own) - np.mean(own)) ** 2) for own in scores)) / freedom
        # The median's own error: pi / 2 times that of a mean of normal values.
        error = math.sqrt(variance * (1 / reached + math.pi / 2 / counts.sum()))
        least = float(np.median(means)) - float(t_quantile(1 - self.alpha / len(self.looks), freedom)) * error
        return {i for i, own in enumerate(scores) if len(own) == reached and means[i] >= least}

    def max_games(self, generation: int, candidates: int) -> int:
        return candidates * self.games


NOISES: Registry[Noise] = Registry(
    "noise strategy",
    {
        "fixed": "turnier.search.noise:Fixed",
        "growing": "turnier.search.noise:Growing",
        "racing": "turnier.search.noise:Racing",
        "reevaluated": "turnier.search.noise:Reevaluated",
    },
)
