"""Games won and lost between candidates of known strength: surfaces of Elo over parameters."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

import numpy as np
from scipy.optimize import minimize

from turnier.search.dimensions.dimension import Dimension
from turnier.search.space import Space
from turnier.studies.benchmark.problem import Floats, Problem, choice, numbers, snapped, switch, whole

DRAWS = 0.33  # between equals
DEPTH = 600.0  # Elo, below which a surface is flat
MEAN = -150.0  # Elo of the whole cube, on average
MIDDLE = -72.0  # Elo that the middle of the cube has at most: who clips to the cube must not find the best by that
SAMPLE = 1000  # points by which a surface is scaled
SKEW = 0.6  # least slope on the flatter side of an axis, against the other
FACTORS = 50.0  # how much steeper a range is at its low end than at its high one, if it is one of factors


class Surface:
    """Elo of points of the unit cube, at most 0: a bowl with axes of different lengths, flat far away.

    Half of the axes, or all if `ridge`, are turned against the parameters, and one side of each is flatter. If `ends`,
    a third of the parameters matter by factors from near their low end, although they are searched evenly, and a third
    are best at an end.
    """

    def __init__(self, rng: np.random.Generator, size: int, ridge: bool = False, ends: bool = False) -> None:
        turned = size if ridge else max(2, size // 2)
        axes = np.eye(size)
        which = rng.permutation(size)[:turned]
        axes[np.ix_(which, which)] = np.linalg.qr(rng.standard_normal((turned, turned)))[0]
        lengths = rng.permutation(np.linspace(0, 1, size))
        condition = 300.0 if ridge else 30.0
        self.axes = axes * np.sqrt(condition**-lengths)[:, None]
        self.flatter = rng.uniform(SKEW, 1, size)
        # Stairs, so that small steps change nothing: a third of a ridge's parameters have ten values that differ.
        self.stairs = rng.permutation(size)[: size // 3] if ridge else np.zeros(0, np.int64)
        # None otherwise, so that the random numbers of other surfaces stay
        which = rng.permutation(size) if ends else np.zeros(0, np.int64)
        self.factors, at_end = which[: size // 3], which[size // 3 : size // 3 * 2]
        self.scale = 1.0
        sample = rng.uniform(size=(SAMPLE, size))
        while True:
            self.best = self._on_stairs(rng.uniform(0.1, 0.9, size)[None])[0]
            self.best[self.factors] = (FACTORS ** self.best[self.factors] - 1) / (FACTORS - 1)
            self.best[at_end] = rng.choice([0.0, 1.0], size=len(at_end))
            self.scale = self._scaled(sample)
            if self(np.full((1, size), 0.5))[0] <= MIDDLE:
                return

    def _scaled(self, sample: Floats) -> float:
        """Returns the scale at which the sample's mean is right."""
        squares, low, high = self._squares(sample), 1e-3, 1e6
        for _ in range(60):
            middle = (low * high) ** 0.5
            mean = float((-DEPTH * (1 - np.exp(-middle * squares))).mean())
            low, high = (middle, high) if mean > MEAN else (low, middle)
        return low

    def _on_stairs(self, points: Floats) -> Floats:
        points = points.copy()
        points[:, self.stairs] = (np.minimum(np.floor(points[:, self.stairs] * 10), 9) + 0.5) / 10
        return points

    def _evened(self, points: Floats) -> Floats:
        points = points.copy()
        points[:, self.factors] = np.log1p((FACTORS - 1) * points[:, self.factors]) / np.log(FACTORS)
        return points

    def _squares(self, points: Floats) -> Floats:
        along = (self._evened(self._on_stairs(points)) - self._evened(self.best[None])) @ self.axes.T
        return np.asarray((np.where(along < 0, along * self.flatter, along) ** 2).sum(1))

    def __call__(self, points: Floats) -> Floats:
        return np.asarray(-DEPTH * (1 - np.exp(-self.scale * self._squares(points))))

    def below(self, rng: np.random.Generator, gap: float, strength: Callable[[Floats], Floats]) -> Floats:
        """Returns a point that lies `gap` Elo below the best, in a random direction."""
        while True:
            end = rng.uniform(size=len(self.best))
            line = self.best + np.linspace(0, 1, 2001)[:, None] * (end - self.best)
            lower = strength(line) <= -gap
            if lower[-1]:
                return np.asarray(line[int(np.argmax(lower))])


class WonGames(Problem):
    """Candidates that win by Elo; what a search loses is counted in Elo, too.

    Args:
        seed: of the surface.
        size: number of parameters.
        gap: Elo that the start lacks.
        ridge: a narrow ridge across all parameters, and stairs.
        ends: the best is at or near the ends of ranges.
        circle: Elo by which some candidates beat others beyond their strength, so that games are not transitive. The
            loss then counts against the start.
    """

    unit = 2
    duels = True

    def __init__(
        self,
        seed: int,
        size: int,
        gap: float = 60.0,
        ridge: bool = False,
        circle: float = 0.0,
        ends: bool = False,
    ) -> None:
        rng = np.random.default_rng([11, seed, size])
        self.surface = Surface(rng, size, ridge, ends)
        self.circle = circle
        self.turns = np.linalg.qr(rng.standard_normal((size, 2)))[0]
        dimensions = self._dimensions(size)
        super().__init__(Space(tuple(dimensions)), self._start(rng, gap))
        self.best = self._best(rng) if circle else 0.0

    def _dimensions(self, size: int) -> list[Dimension]:
        return numbers(size)

    def _start(self, rng: np.random.Generator, gap: float) -> Sequence[float]:
        return list(self.surface.below(rng, gap, self.strength))

    def strength(self, vectors: Floats) -> Floats:
        """Returns the Elo of vectors, [n]."""
        return self.surface(vectors)

    def ahead(self, one: Floats, other: Floats) -> Floats:
        """Returns by how many Elo vectors, [n, dimensions], are ahead of others."""
        gained = self.strength(one) - self.strength(other)
        if not self.circle:
            return gained
        (a, b), (c, d) = (((vectors - 0.5) @ self.turns).T for vectors in (one, other))
        return np.asarray(gained + self.circle * 4 * (a * d - b * c))

    def _best(self, rng: np.random.Generator) -> float:
        """Returns the most Elo ahead of the start that there is."""
        start = np.array(self.start)[None]

        def behind(x: Floats) -> float:
            return -float(self.ahead(x[None], start)[0])

        sample = np.vstack([rng.uniform(size=(2000, len(self.start))), self.surface.best])
        first = sample[np.argsort(-self.ahead(sample, np.repeat(start, len(sample), axis=0)))[:5]]
        return -min(float(minimize(behind, x, bounds=[(0, 1)] * len(x)).fun) for x in first)

    def _games(self, ahead: Floats, rng: np.random.Generator) -> Floats:
        """Returns the shares of points in two games."""
        expected = 1 / (1 + 10 ** (-ahead / 400))
        drawn = 4 * DRAWS * expected * (1 - expected)
        luck = rng.random((2, len(ahead)))
        won = expected - drawn / 2
        return np.asarray(((luck < won) + 0.5 * ((luck >= won) & (luck < won + drawn))).mean(0))

    def play(self, vectors: Floats, rng: np.random.Generator) -> Sequence[float]:
        start = np.repeat(np.array(self.start)[None], len(vectors), axis=0)
        return list(self._games(self.ahead(vectors, start), rng).tolist())

    def duel(self, vectors: Floats, rng: np.random.Generator) -> Sequence[float]:
        won = self._games(self.ahead(vectors[::2], vectors[1::2]), rng)
        return list(np.stack([won, 1 - won], axis=1).ravel().tolist())

    def loss(self, vector: Sequence[float]) -> float:
        points = np.array([vector, self.start])
        return self.best - float(self.ahead(points[:1], points[1:])[0] if self.circle else self.strength(points[:1])[0])


class MixedGames(WonGames):
    """Eight parameters: three numbers, three whole numbers of which one by factors, a choice of three and a switch."""

    def __init__(self, seed: int, gap: float = 60.0) -> None:
        rng = np.random.default_rng([12, seed])
        self.worth = np.array([0.0, -rng.uniform(8, 15), -rng.uniform(15, 25)])  # Elo of the choices
        self.best_choice, self.best_switch = int(rng.integers(3)), int(rng.integers(2))
        self.switched = -rng.uniform(10, 20)
        super().__init__(seed, 6, gap)

    def _dimensions(self, size: int) -> list[Dimension]:
        kinds = [*numbers(3), whole("whole", 0, 20), whole("few", 1, 8), whole("log", 1, 256, log=True)]
        self._numbers = kinds
        self.surface.best = snapped(kinds, self.surface.best[None])[0]
        return [*kinds, choice("choice", 3), switch("switch")]

    def _start(self, rng: np.random.Generator, gap: float) -> Sequence[float]:
        wrong = (self.best_choice + 2) % 3, 1 - self.best_switch
        ends = [(wrong[0] + 0.5) / 3, (wrong[1] + 0.5) / 2]
        left = gap + float(self.worth[2] + self.switched)
        numeric = self.surface.below(rng, left, lambda points: self.surface(snapped(self._numbers, points)))
        return [*snapped(self._numbers, numeric[None])[0].tolist(), *ends]

    def strength(self, vectors: Floats) -> Floats:
        chosen = np.minimum((np.clip(vectors[:, 6:], 0, 1) * [3, 2]).astype(np.int64), [2, 1])
        choices = self.worth[(chosen[:, 0] - self.best_choice) % 3]
        switches = np.where(chosen[:, 1] == self.best_switch, 0, self.switched)
        return np.asarray(self.surface(snapped(self._numbers, vectors[:, :6])) + choices + switches)


@functools.lru_cache(maxsize=256)
def won(
    seed: int, size: int, gap: float = 60.0, ridge: bool = False, circle: float = 0.0, ends: bool = False
) -> WonGames:
    """Returns a problem, see `WonGames`; kept, since all searches have the same."""
    return WonGames(seed, size, gap, ridge, circle, ends)


@functools.lru_cache(maxsize=256)
def mixed(seed: int) -> MixedGames:
    """Returns a problem, see `MixedGames`."""
    return MixedGames(seed)
