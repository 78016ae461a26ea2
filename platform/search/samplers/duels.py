"""Mirrored candidates that play each other: the fastest way to win more games."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from ...core.errors import UserError
from ...core.parameters import parameter
from .. import EVEN_EDITION, STEADY_EDITION
from ..dimensions.dimension import Dimension
from ..space import Space
from .sampler import Sampler, SteppingSearch, Vectors

MIN_PAIRS = 16  # of a generation
MIN_GENERATIONS = 20  # of a search, however many workers there are
AHEAD_WORKERS = 8  # from which on a generation begins early, or too many would wait for the last games of another
USUAL_PAIRS = 1000  # of a whole search, if nobody says how many there will be
USUAL_REACH = 0.2  # for so many pairs and parameters
USUAL_PARAMETERS = 6  # at most; of the more there are, the less each matters alone
FIRST_REACH, LAST_REACH = 1.8, 0.8  # parts of the reach: wide candidates know the way, close ones where it ends
USUAL_DISTANCE = 0.11  # root of the mean square of what has changed, in ranges: larger steps follow from more
LATE = 0.5  # power of the pairs played by which later points count more in the mean
EVEN_MAX_STEP = 4.0  # MAX_STEP in studies of the first three editions
MAX_STEP = 8.0  # of a generation, in reaches, if the same side won every duel: large generations would overshoot
AHEAD_MAX_STEP = 5.0  # that of generations that begin before the latest step is known
NEAR = 0.15  # to an end of a range: a start nearer than this is moved here, by bending the range
MAX_BEND = 1.5
CHOICE_GAIN = 0.5  # of the log weights of choices, against the gain of a number in reaches
MOST_OTHERS = 15 / 16  # of the pairs, which play the opponents if these and the duels certainly disagree
DOUBTED, CERTAIN = 1.28, 3.09  # standard deviations of chance by which they disagree: more such pairs from there, most
TESTED = 10  # such pairs from which on disagreement can be told from chance
FACTORS = np.linspace(0, 1, 11)[:, None, None]  # of the slope against opponents, relative to that of duels
KEPT = 0.1  # probability that choices share evenly, whatever their weights: none dies out


@dataclass(frozen=True)
class Duels(Sampler):
    """Averaged stochastic approximation with duels: candidates on both sides of a point play each other.

    The point moves towards the winners. A duel measures the difference between two candidates directly: its signal is
    twice, and its noise half that of two games against others, so it takes a quarter of the games. The mean of all
    points, late ones a little more than early ones, is recommended. Candidates come closer during the search, and steps
    grow with the distance from the start, at first. Numbers move along their ranges, in finer steps near an end if they
    start there; whole ones are rounded up or down at random, so that their mean stays; choices are drawn by weights.

    What beats its like need not beat the opponents. So some pairs play these instead; the less, beyond chance, they
    lead where the duels do, the more of them there are.

    Sources: Spall 1992, simultaneous perturbation; Polyak and Juditsky 1992, averaging; Shamir and Zhang 2013, later
    points; Ivgi, Hinder and Carmon 2023, steps by distance.
    """

    name = "duels"
    open = ("pairs", "share", "length", "ahead")

    pairs: int = parameter(0, "pairs of a generation, 0 = by the budget and the workers", low=0, high=50_000)
    reach: float = parameter(
        0.0,
        f"distance of candidates from the point, in ranges, {FIRST_REACH} times as far at first and {LAST_REACH} times"
        " at the end; 0 = by the budget and the number of parameters, about a fifth",
        low=0,
        high=0.5,
    )
    gain: float = parameter(
        3.0, "step after a pair, in reaches, times the root of 1,000 pairs of the whole search", low=0.01, high=1000
    )
    share: float = parameter(
        0.06,
        "pairs that play the opponents instead, if opponents are named; more, the more certainly these favour others",
        low=0,
        high=0.75,
    )
    length: int = parameter(0, "pairs of the whole search, 0 = by the budget", low=0, high=10**9)
    ahead: bool = parameter(
        False,
        f"whether a generation begins before the last games of another have ended; always with {AHEAD_WORKERS} workers"
        " or more, if the budget allows",
        later=True,
    )

    def begin(self, start: Sequence[float], seed: int, space: Space) -> DuelsSearch:
        return DuelsSearch(start, seed, self, space)

    def within(self, evaluations: int, workers: int = 1) -> Self:
        length = max(1, evaluations // 2)
        pairs = self.pairs or max(MIN_PAIRS, min(workers, length // MIN_GENERATIONS))
        ahead = self.ahead or (workers >= AHEAD_WORKERS and length >= MIN_GENERATIONS * pairs)
        return self.replace(pairs=pairs, length=self.length or length, ahead=ahead)

    def check(self) -> None:
        if self.pairs and self.pairs * (1 - self.share) < 1:
            raise UserError(f"at least one pair of a generation must duel, got {self.pairs}; raise pairs.")


class DuelsSearch(SteppingSearch):
    def __init__(self, start: Sequence[float], seed: int, sampler: Duels, space: Space) -> None:
        super().__init__(start, seed)
        self.sampler = sampler
        self.pairs = sampler.pairs or MIN_PAIRS
        self.duels = self.pairs - round(sampler.share * self.pairs)
        self.looks_ahead = sampler.ahead
        self._drawn: list[_Drawn] = []  # of this generation, and the next if it looks ahead
        self._axes: list[_Number | _Choice] = [
            (_Choice if dimension.is_choice else _Number)(dimension, x)
            for dimension, x in zip(space.dimensions, start, strict=True)
        ]
        self._length = length = sampler.length or USUAL_PAIRS
        self._steady = False  # in all that follows, as in studies of the first four editions
        numbers = max(USUAL_PARAMETERS, sum(isinstance(axis, _Number) for axis in self._axes))
        # The more pairs there are, the smaller the noise that wide candidates and large steps are good against.
        self._gain = sampler.gain / math.sqrt(USUAL_PAIRS) * (USUAL_PAIRS / length) ** 0.25
        self._usual_reach = sampler.reach or min(0.3, USUAL_REACH * (USUAL_PAIRS / length) ** 0.125)
        self._reach = sampler.reach or self._usual_reach * (numbers / USUAL_PARAMETERS) ** 0.25
        self._max_step = AHEAD_MAX_STEP if sampler.ahead else MAX_STEP
        self.growth = 1.0  # of the steps of numbers, by the distance of the recommendation from the start
        self._squares = [0.0, 0.0]  # sums of squared differences in duels and against opponents
        self._numbers = [0, 0]  # of these pairs
        self._owed = 0.0  # pairs that should have played the opponents
        self._disagreement = _Disagreement(self._axes)
        self._played = 0  # pairs
        self._means = self._starts = [axis.point for axis in self._axes]  # of each axis's points after all generations
        self._agreement: list[float] = []  # products of both gradients, by generation, in earlier editions

    def as_in(self, edition: int) -> None:
        super().as_in(edition)
        if edition <= STEADY_EDITION:
            self._steady, self._reach = True, self._usual_reach
            self._gain = self.sampler.gain / math.sqrt(self._length)
        if edition <= EVEN_EDITION:
            self._max_step = EVEN_MAX_STEP
            for axis in self._axes:
                if isinstance(axis, _Number):
                    axis.straighten()
            self._means = [axis.point for axis in self._axes]

    @property
    def _left(self) -> float:
        """The share of the search that is left."""
        return max(0.0, 1 - self._played / self._length)

    @property
    def reach(self) -> float:
        """The distance of the next candidates from the point."""
        return self._reach * (1.0 if self._steady else LAST_REACH + (FIRST_REACH - LAST_REACH) * self._left)

    def _draws(self, ahead: int = 0) -> _Drawn:
        while len(self._drawn) <= max(ahead, self.looks_ahead):
            rng, duels = self.rng(len(self._drawn)), self.pairs - self._others()
            self._drawn.append(_Drawn(duels, [axis.draw(rng, self.pairs, self.reach) for axis in self._axes]))
        self.duels = self._drawn[0].duels
        return self._drawn[ahead]

    def _others(self) -> int:
        """Returns how many pairs of the next generation to be drawn play the opponents."""
        share = self.sampler.share
        if self._steady or not share:
            return round(share * self.pairs)
        doubt = min(1.0, max(0.0, (self._disagreement.deviations - DOUBTED) / (CERTAIN - DOUBTED)))
        self._owed = self._owed % 1 + (share + max(0.0, MOST_OTHERS - share) * doubt) * self.pairs
        return min(self.pairs - 1, int(self._owed))

    def ask(self) -> Vectors:
        """Returns the pairs, [2 pairs, dimensions]: the duels first, then those that play the opponents."""
        return self._draws().vectors()

    def ask_ahead(self) -> Vectors:
        return self._draws(1).vectors()

    def duelling(self, ahead: bool = False) -> int:
        return self._draws(ahead).duels

    def tell(self, values: Sequence[float]) -> None:
        self._draws()  # the next generation, too, knows nothing of these values
        super().tell(values)
        del self._drawn[0]

    def step(self, values: Sequence[float]) -> None:
        ahead, behind = np.asarray(values, np.float64).reshape(-1, 2).T
        differences = ahead - behind
        drawn = self._draws()
        parts = [slice(0, drawn.duels), slice(drawn.duels, self.pairs)]
        scaled = np.zeros(self.pairs)
        for which, part in enumerate(parts):
            self._squares[which] += float((differences[part] ** 2).sum())
            self._numbers[which] += part.stop - part.start
            if self._squares[which]:
                scaled[part] = differences[part] / math.sqrt(self._squares[which] / self._numbers[which])
        gradients = [[directions[part].T @ scaled[part] for part in parts] for _, directions in drawn.axes]
        if self._steady:
            self._agreement.append(sum(float(one @ other) for one, other in gradients))
        elif self.sampler.share:
            directions = np.hstack([directions for _, directions in drawn.axes])
            self._disagreement.add([(directions[part], scaled[part]) for part in parts])
        late = 0.0 if self._steady else LATE
        growth, reach = 1 + (self.growth - 1) * self._left, self.reach
        for axis, (one, other) in zip(self._axes, gradients, strict=True):
            gain = self._gain * (growth if isinstance(axis, _Number) else 1.0)
            axis.move(min(gain, self._max_step / self.pairs) * (one + other), self._reach**2 / reach)
        self._played += self.pairs
        share = (1 + late) * self.pairs / (self._played + late * self.pairs)  # of this generation among all so far
        centres = [axis.point if self._steady else axis.centre(reach) for axis in self._axes]
        self._means = [mean + share * (centre - mean) for mean, centre in zip(self._means, centres, strict=True)]
        squares = [
            float(mean[0] - start[0]) ** 2
            for axis, mean, start in zip(self._axes, self._means, self._starts, strict=True)
            if isinstance(axis, _Number)
        ]
        if squares and not self._steady:
            distance = math.sqrt(sum(squares) / len(squares))
            self.growth = max(self.growth, math.sqrt(distance / USUAL_DISTANCE))

    def recommended(self) -> list[float]:
        """Returns the mean of the points after all generations."""
        return [axis.coordinate(mean) for axis, mean in zip(self._axes, self._means, strict=True)]

    @property
    def sigma(self) -> float:
        return self.reach

    def facts(self) -> dict[str, float]:
        known = super().facts()
        if not self._steady:
            deviations = self._disagreement.deviations
            return known | ({"agreement": -deviations} if self._disagreement.known else {})
        agreement = np.array(self._agreement)
        error = float(agreement.std(ddof=1)) / math.sqrt(len(agreement)) if len(agreement) > 1 else 0.0
        return known | ({"agreement": float(agreement.mean()) / error} if error else {})


@dataclass(frozen=True)
class _Drawn:
    """The pairs of a generation: how many of them duel, and of each axis coordinates, [pairs, 2], and directions."""

    duels: int
    axes: list[tuple[Vectors, Vectors]]

    def vectors(self) -> Vectors:
        """Returns the candidates, [2 pairs, dimensions]."""
        return np.stack([coordinates for coordinates, _ in self.axes], axis=2).reshape(-1, len(self.axes))


class _Disagreement:
    """Whether games against the opponents lead where duels do, by linear models of all pairs so far.

    If only strength decides, the slope against opponents is that of duels, but weaker: a duel shows twice the
    difference, and opponents of other strength show less. What no such factor explains is compared with chance,
    in all directions and in the opposite one.
    """

    def __init__(self, axes: Sequence[_Number | _Choice]) -> None:
        size = sum(len(axis.point) for axis in axes)
        self._rank = sum(1 if isinstance(axis, _Number) else len(axis.point) - 1 for axis in axes)
        self._sums, self._squares, self._pairs = np.zeros((2, size)), np.zeros((2, size, size)), [0, 0]
        self.deviations = 0.0  # normal ones; chance exceeds 1.28 in a tenth of all cases

    @property
    def known(self) -> bool:
        return min(self._pairs) >= TESTED

    def add(self, kinds: Sequence[tuple[Vectors, Vectors]]) -> None:
        """Takes directions, [pairs, size], and differences in units of their deviation: of duels, and of the others."""
        for kind, (directions, differences) in enumerate(kinds):
            self._sums[kind] += directions.T @ differences
            self._squares[kind] += directions.T @ directions
            self._pairs[kind] += len(differences)
        if self.known:
            self.deviations = self._left()

    def _left(self) -> float:
        size = len(self._sums[0])
        little = 1e-9 * np.eye(size)  # the weights of a choice say nothing together
        duels, others = self._squares
        slopes = np.linalg.solve(duels + little * max(self._pairs), np.column_stack([self._sums[0], others]))
        left = self._sums[1] - FACTORS[:, 0] * (others @ slopes[:, 0])
        covariance = others + FACTORS**2 * (others @ slopes[:, 1:]) + little * max(self._pairs)
        least = float((left * np.linalg.solve(covariance, left[:, :, None])[:, :, 0]).sum(1).min())
        # A chi-squared number as a normal one, by Wilson and Hilferty 1931
        degrees = min(self._rank, self._pairs[1])
        anywhere = ((least / degrees) ** (1 / 3) - 1 + 2 / (9 * degrees)) / math.sqrt(2 / (9 * degrees))
        spread = float(slopes[:, 0] @ others @ slopes[:, 0])
        opposite = -float(slopes[:, 0] @ self._sums[1]) / math.sqrt(spread) if spread > 0 else 0.0
        return float(max(anywhere, opposite))


class _Number:
    """A parameter whose values are in order; its point is a coordinate.

    A start near an end says that values near this end matter: they get a larger part of the coordinates, by a power,
    so that candidates on both sides of the start differ from it by factors rather than by a part of the whole range.
    """

    def __init__(self, dimension: Dimension, start: float) -> None:
        self.start, self.upper, distance = start, start > 0.5, min(start, 1 - start)
        self.bend = min(MAX_BEND, max(1.0, math.log(distance) / math.log(NEAR))) if distance > 0 else 1.0
        self.dimension, self.point = dimension, self._bent(np.array([start]), 1 / self.bend)

    def straighten(self) -> None:
        """Takes even steps everywhere; to be called before the first step."""
        self.bend, self.point = 1.0, np.array([self.start])

    def _bent(self, points: Vectors, power: float) -> Vectors:
        """Returns points to a power of their distance from the end that the start is near."""
        if self.bend == 1:
            return points
        return np.asarray(1 - (1 - points) ** power if self.upper else points**power)

    def draw(self, rng: np.random.Generator, pairs: int, reach: float) -> tuple[Vectors, Vectors]:
        signs = rng.choice([-1.0, 1.0], size=(pairs, 1))
        both = self._bent(np.clip(self.point + reach * signs * [1, -1], 0, 1), self.bend)
        up = rng.random(pairs)  # of both sides, or rounding would add noise to their difference
        if self.dimension.options or self.dimension.type is int:
            both = np.array(
                [[self.dimension.rounded(x, u) for x in pair] for pair, u in zip(both.tolist(), up, strict=True)]
            )
        return both, signs

    def move(self, step: Vectors, reach: float) -> None:
        self.point = np.clip(self.point + reach * step, 0, 1)

    def centre(self, reach: float) -> Vectors:
        """Returns the middle of the point's candidates, at most twice as far from an end of the range as the point.

        They win equally often if the best is in their middle, which is not the point if the end cuts one of them off.
        At the end itself, to which the point also goes if the best lies there, it stays.
        """
        distance = np.minimum(self.point, 1 - self.point)
        inward = np.minimum(distance, np.maximum(reach - distance, 0) / 2)
        return np.asarray(self.point + np.where(self.point < 0.5, inward, -inward))

    def coordinate(self, point: Vectors) -> float:
        return float(self._bent(point, self.bend)[0])


class _Choice:
    """A parameter whose values have no order; its point is the log weight of each."""

    def __init__(self, dimension: Dimension, start: float) -> None:
        self.dimension, n = dimension, len(dimension.options)
        self.coordinates = np.array([dimension.encode(value) for value in dimension.options])
        self.point = np.zeros(n)
        self.point[int(np.argmin(np.abs(self.coordinates - start)))] = 1e-9  # the start wins ties

    def draw(self, rng: np.random.Generator, pairs: int, reach: float) -> tuple[Vectors, Vectors]:
        weights = np.exp(self.point - self.point.max())
        weights = (1 - KEPT) * weights / weights.sum() + KEPT / len(weights)
        # The two largest of the log weights with Gumbel noise are two draws without replacement.
        both = np.argsort(-(np.log(weights) + rng.gumbel(size=(pairs, len(weights)))), axis=1)[:, :2]
        both = np.where(rng.random((pairs, 1)) < 0.5, both, both[:, ::-1])
        directions = np.zeros((pairs, len(weights)))
        np.put_along_axis(directions, both, np.array([[1.0, -1.0]] * pairs), axis=1)
        return self.coordinates[both], directions

    def move(self, step: Vectors, reach: float) -> None:
        self.point = self.point + CHOICE_GAIN * step

    def centre(self, reach: float) -> Vectors:
        return self.point

    def coordinate(self, point: Vectors) -> float:
        return float(self.coordinates[int(np.argmax(point))])
