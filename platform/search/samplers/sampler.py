"""The protocol of samplers: declared parameters, and a search that proposes candidates and learns their values.

A search's state is a pure function of its start, its seed and the values of its candidates: random
numbers depend only on the seed and the generation, so replaying the stored values rebuilds it exactly.
"""

from __future__ import annotations

import math
import shlex
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from ...core.errors import UserError
from ...core.parameters import Declared, parameters_of
from .. import EVEN_EDITION, FIRST_EDITION
from ..dimensions.dimension import Dimension
from ..space import Space

Vectors = npt.NDArray[np.float64]
MAX_POPULATION = 64  # candidates per generation: under noise many candidates with few games learn fastest
MIN_POPULATION = 6
BEYOND = 0.05  # of a range, on either side: so far away the mean may be, or no mean of candidates would reach an end
REACH = 1.645  # standard deviations from a mean within which other values stay: of a switch 5 % of the candidates
GENERATIONS = 30  # affordable with a small budget, see docs/results/search_benchmark.md


class Search(ABC):
    """A search over the unit cube for values to maximise, a generation at a time."""

    pools = False  # whether candidates that are the same agent count with their common mean
    duels = 0  # of the first candidates of this generation, this many pairs of neighbours play each other
    looks_ahead = False  # whether it asks for a generation before it is told the values of the one before

    def __init__(self, start: Sequence[float], seed: int) -> None:
        self.start = np.array(start, np.float64)
        self.seed = seed
        self.generation = 0

    @property
    def size(self) -> int:
        return len(self.start)

    def rng(self, ahead: int = 0) -> np.random.Generator:
        """Returns the generation's own random numbers, or those of one that is so many ahead."""
        return np.random.default_rng([self.seed, self.generation + ahead])

    @abstractmethod
    def ask(self) -> Vectors:
        """Returns the generation's candidates, [n, dimensions]; asking again before telling gives the same."""

    def ask_ahead(self) -> Vectors:
        """Returns as many candidates of the next one, which `ask` gives after `tell`; none if it looks at one only."""
        return np.empty((0, self.size))

    def duelling(self, ahead: bool = False) -> int:
        """Returns how many pairs of this generation, or of the next one, play each other."""
        return self.duels

    @abstractmethod
    def tell(self, values: Sequence[float]) -> None:
        """Takes the candidates' values in the order of `ask` and moves on to the next generation."""

    @abstractmethod
    def recommended(self) -> list[float]:
        """Returns the vector that the search recommends: never the luckiest candidate."""

    @abstractmethod
    def estimate(self) -> float:
        """Returns the search's estimate of the recommendation's value; NaN before the first generation."""

    @property
    @abstractmethod
    def sigma(self) -> float:
        """The spread of the search's samples, as a standard deviation in the unit cube."""

    def facts(self) -> dict[str, float]:
        """Returns the facts of the search's state to store after each generation."""
        return {"sigma": self.sigma}


class SteppingSearch(Search):
    """Base of searches that step from a point or a distribution to the next, which they recommend.

    They stay where they are if all candidates of a generation have the same value: a step would be random.
    """

    stays = True  # False in studies of the first edition
    clips = True  # candidates at the ends of ranges are learned as such; False in studies of the first three editions
    alive: Sequence[Dimension] = ()  # of which no value may die out; none in studies of the first two editions

    def __init__(self, start: Sequence[float], seed: int) -> None:
        super().__init__(start, seed)
        self._latest_mean = math.nan  # mean of the latest generation's values

    def as_in(self, edition: int) -> None:
        """Makes the search, before its first generation, what it was in studies of an edition."""
        self.stays, self.clips = edition > FIRST_EDITION, edition > EVEN_EDITION

    def with_margins(self, mean: Vectors, deviations: Vectors) -> tuple[Vectors, Vectors]:
        """Returns a distribution's mean and standard deviations, changed so that other values stay within reach.

        A distribution that had become narrower than a value of a switch, a choice or a whole number would never find
        another one again. The mean's own value stays.

        Source: the margin of Hamano et al. 2022, "CMA-ES with margin", for any list of values.

        Args:
            mean: [dimensions], in the unit cube.
            deviations: [dimensions].
        """
        mean, deviations = mean.copy(), deviations.copy()
        for place, dimension in enumerate(self.alive):
            below, above = dimension.edges(float(mean[place]))
            if not math.isinf(above - below):
                deviations[place] = max(deviations[place], (above - below) / 2 / REACH)
            reach = REACH * deviations[place]
            lowest, highest = above - reach, below + reach
            mean[place] = max(mean[place], lowest) if math.isfinite(lowest) else mean[place]
            mean[place] = min(mean[place], highest) if math.isfinite(highest) else mean[place]
        return mean, deviations

    def clipped(self, vectors: Vectors, space: Space) -> Vectors:
        """Returns points of a distribution moved to the ends of ranges, or for numbers to a little beyond.

        A distribution that learned of points far outside, which are all the same candidate, would not get narrower.

        Args:
            vectors: [n, dimensions]; one of a single dimension may have a second, which is ignored.
            space: what is searched.
        """
        beyond = np.zeros(vectors.shape[1])
        beyond[: self.size] = [BEYOND * (d.type is float and not d.options) for d in space.dimensions]
        return np.clip(vectors, -beyond, 1 + beyond)

    @abstractmethod
    def step(self, values: Sequence[float]) -> None:
        """Learns from the candidates' values."""

    def tell(self, values: Sequence[float]) -> None:
        if not self.stays or len(set(values)) > 1:
            self.step(values)
        self._latest_mean = float(np.mean(values))
        self.generation += 1

    def estimate(self) -> float:
        """Returns the mean of the latest generation, whose candidates lie around the recommendation."""
        return self._latest_mean


class KnownFirst(Search):
    """Tries known points in the first generation, and begins another search at the best of them and the start.

    In a search of duels they play the start, and one that wins most is the best.
    """

    def __init__(
        self, start: Sequence[float], seed: int, points: Sequence[Sequence[float]], begin: Callable[[Any], Search]
    ) -> None:
        """Begins the search.

        Args:
            start: [dimensions], in the unit cube.
            seed: of the search.
            points: [n, dimensions].
            begin: makes the other search from a start.
        """
        super().__init__(start, seed)
        self._begin, self._then = begin, begin(start)
        self._known = [np.array(point, np.float64) for point in points]
        size, duelling = len(self._then.ask()), bool(self._then.duels)
        group = [each for point in self._known for each in (point, self.start)] if duelling else []
        group = group or [self.start, *self._known]
        self._first = np.array(group * max(1, size // len(group)))
        self.duels = len(self._first) // 2 if duelling else 0
        self._best = math.nan  # the value of the point where the other search began

    def ask(self) -> Vectors:
        return self._then.ask() if self.generation else self._first.copy()

    def ask_ahead(self) -> Vectors:
        return self._then.ask_ahead()

    def duelling(self, ahead: bool = False) -> int:
        self.duels = self._then.duelling() if self.generation else self.duels
        return self._then.duelling(ahead) if self.generation else self.duels

    def tell(self, values: Sequence[float]) -> None:
        if self.generation:
            self._then.tell(values)
        else:
            means = {tuple(x): float(np.mean(own)) for x, own in self._by_point(values).items()}
            if self.duels:  # the start's share is that of all its duels
                means[tuple(self.start)] = 0.5
            best = max(means, key=lambda x: (means[x], x == tuple(self.start)))
            self._best, self._then = means[best], self._begin(list(best))
            self.duels, self.pools, self.looks_ahead = self._then.duels, self._then.pools, self._then.looks_ahead
        self.generation += 1

    def _by_point(self, values: Sequence[float]) -> dict[tuple[float, ...], list[float]]:
        found: dict[tuple[float, ...], list[float]] = {}
        for vector, value in zip(self._first.tolist(), values, strict=True):
            found.setdefault(tuple(vector), []).append(value)
        return found

    def recommended(self) -> list[float]:
        return self._then.recommended()

    def estimate(self) -> float:
        latest = self._then.estimate()
        return self._best if math.isnan(latest) else latest

    @property
    def sigma(self) -> float:
        return self._then.sigma

    def facts(self) -> dict[str, float]:
        return self._then.facts()


@dataclass(frozen=True)
class Sampler(Declared):
    """Base of all samplers."""

    kind: ClassVar[str] = "sampler"
    usual_noise: ClassVar[str] = "fixed"  # by default
    open: ClassVar[tuple[str, ...]] = ()  # parameters that suit the search, or the edition, if they have their defaults

    @abstractmethod
    def begin(self, start: Sequence[float], seed: int, space: Space) -> Search:
        """Returns a new search from a start in the unit cube."""

    def within(self, evaluations: int, workers: int = 1) -> Self:
        """Returns the sampler with its open parameters chosen for a total number of evaluations, and for workers."""
        return self

    def warning(self, candidates: int) -> str:
        """Returns a sentence on the time that models of so many candidates take; empty if they take little."""
        return ""

    def is_closed(self, typed: Sampler) -> bool:
        """Whether it is another one with open parameters chosen."""
        defaults = {field.name: field.default for field, _ in parameters_of(type(self)) if field.name in self.open}
        left = {name: value for name, value in defaults.items() if getattr(typed, name, None) == value}
        return self.replace(**left) == typed

    def as_first(self, typed: Self) -> Self:
        """Returns the sampler with the parameters that earlier versions lacked taken from the typed one."""
        later = [field.name for field, declared in parameters_of(type(self)) if declared.later]
        return self.replace(**{name: getattr(typed, name) for name in later})


@dataclass(frozen=True)
class PopulationSampler(Sampler):
    """Base of samplers that choose a `population` of 0 by the budget."""

    open = ("population",)

    population: int

    def within(self, evaluations: int, workers: int = 1) -> Self:
        if self.population:
            return self
        return self.replace(population=max(MIN_POPULATION, min(MAX_POPULATION, evaluations // GENERATIONS)))

    def check(self) -> None:
        if 0 < self.population < 4:
            raise UserError(f"a population must have at least 4 candidates, got {self.population}.")


class History:
    """All evaluated candidates, for searches that learn from all of them."""

    def __init__(self, size: int) -> None:
        self.vectors: Vectors = np.zeros((0, size))
        self.values: Vectors = np.zeros(0)

    def add(self, vectors: Vectors, values: Sequence[float]) -> None:
        self.vectors = np.concatenate([self.vectors, vectors])
        self.values = np.concatenate([self.values, np.asarray(values, np.float64)])


@contextmanager
def calling(sampler: Sampler, method: str) -> Iterator[None]:
    """Turns whatever a sampler of others raises into UserError with the sampler's name."""
    try:
        yield
    except UserError:
        raise
    except Exception as failure:
        got = f"{type(failure).__name__}: {failure}" if str(failure) else type(failure).__name__
        raise UserError(f"{method} of {sampler} must work, got {got}; {_look(sampler)}.") from failure


def _look(sampler: Sampler) -> str:
    return f"see what a sampler has to do with turnier check {shlex.quote(str(sampler))}"


def began(sampler: Sampler, start: Sequence[float], seed: int, space: Space) -> Search:
    """Returns a sampler's search; raises UserError if it is none."""
    with calling(sampler, "begin"):
        search = sampler.begin(start, seed, space)
    if not isinstance(search, Search):
        raise UserError(f"begin of {sampler} must return a Search, got {search!r}; {_look(sampler)}.")
    return search


def asked(sampler: Sampler, search: Search, size: int, ahead: bool = False) -> Vectors:
    """Returns the candidates of the generation, or of the next one, [n, size].

    Raises UserError if they are no such vectors in the unit cube.
    """
    with calling(sampler, "ask"):
        vectors = search.ask_ahead() if ahead else search.ask()
    if got := wrong_shape(vectors, size):
        raise UserError(f"ask of {sampler} must return an array of shape [n, {size}], got {got}; {_look(sampler)}.")
    if not ((vectors >= 0) & (vectors <= 1)).all():  # true for nan
        outside = vectors[~((vectors >= 0) & (vectors <= 1))][0]
        raise UserError(f"candidates of {sampler} must be from 0 to 1, got {outside:g}; {_look(sampler)}.")
    return vectors


def wrong_shape(vectors: object, size: int) -> str:
    """Returns what was got instead of an array [n, size] of numbers with n from 1 up; otherwise nothing."""
    if not isinstance(vectors, np.ndarray):
        return repr(vectors)
    fits = vectors.ndim == 2 and vectors.shape[1] == size and len(vectors) and vectors.dtype.kind in "fiu"
    return "" if fits else f"an array of shape {vectors.shape} and type {vectors.dtype}"


def recommended(sampler: Sampler, search: Search, size: int) -> list[float]:
    """Returns the vector that a search recommends; raises UserError if it is none in the unit cube."""
    with calling(sampler, "recommended"):
        vector = search.recommended()
        if len(vector) == size and all(0 <= float(value) <= 1 for value in vector):
            return vector
    raise UserError(
        f"recommended of {sampler} must return a list of {size} numbers from 0 to 1, got {vector}; {_look(sampler)}."
    )


def require_sound(sampler: Sampler, start: Sequence[float], seed: int, space: Space) -> None:
    """Raises UserError if a sampler cannot search, or asks differently after the same values."""
    first, second = (began(sampler, start, seed, space) for _ in range(2))
    for _ in range(2):
        recommended(sampler, first, space.size)
        vectors, others = asked(sampler, first, space.size), asked(sampler, second, space.size)
        if not np.array_equal(vectors, others):
            raise UserError(
                f"{sampler} must ask for the same candidates after the same values, got {vectors[0]} and then"
                f" {others[0]}; draw random numbers from self.rng() only, and {_look(sampler)}."
            )
        for search in (first, second):
            with calling(sampler, "tell"):
                search.tell([float(value) for value in range(len(vectors))])
