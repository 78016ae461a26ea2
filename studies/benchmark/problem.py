"""What a search is measured on: a space, a start, noisy games, and the truth about a recommendation."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from turnier.core.parameters import Parameter
from turnier.search.dimensions.dimension import Dimension
from turnier.search.space import Space

Floats = npt.NDArray[np.float64]


class Problem(ABC):
    """One surface. Vectors are of the unit cube, [n, dimensions]."""

    unit = 1  # games of a score
    duels = False  # whether candidates can play each other

    def __init__(self, space: Space, start: Sequence[float]) -> None:
        self.space, self.start = space, [float(x) for x in start]

    @abstractmethod
    def play(self, vectors: Floats, rng: np.random.Generator) -> Sequence[float]:
        """Returns a score for each vector, [n]: of `unit` games against the start, or of one without opponents."""

    def duel(self, vectors: Floats, rng: np.random.Generator) -> Sequence[float]:
        """Returns the shares of points, [n], of neighbours in two games against each other."""
        raise TypeError(f"candidates must be able to play each other, got {type(self).__name__}; use play.")

    @abstractmethod
    def loss(self, vector: Sequence[float]) -> float:
        """Returns what the vector lacks to the best, without noise."""


@dataclass(frozen=True)
class Table:
    """Problems of a kind, of which each table of the results has one.

    Attributes:
        name: of the table in stored results.
        title: the heading on the page.
        text: what is measured, in a sentence or two.
        make: returns the problem of a seed.
        games: budgets; every search runs anew with each of them.
        unit: what a loss is counted in.
        least: fewest problems from which something is said; bbob has a fixed number.
        needed: whether the games for 90 % of the gain are computed.
        sign: -1 if what `loss` returns is minus a number of which more is better, as the page shows it.
    """

    name: str
    title: str
    text: str
    make: Callable[[int], Problem]
    games: tuple[int, ...]
    unit: str
    needed: bool = False
    sign: int = 1


def numbers(size: int) -> list[Dimension]:
    """Returns dimensions of numbers from 0 to 1."""
    return list(Space.cube(size).dimensions)


def whole(path: str, low: int, high: int, log: bool = False) -> Dimension:
    """Returns a dimension of whole numbers."""
    return Dimension(path, int, Parameter("a whole number", low=low, high=high, log=log))


def choice(path: str, count: int) -> Dimension:
    """Returns a dimension of named choices."""
    return Dimension(path, str, Parameter("a choice", choices=tuple("abcdefgh"[:count])))


def switch(path: str) -> Dimension:
    """Returns a dimension that is true or false."""
    return Dimension(path, bool, Parameter("a switch"))


def snapped(dimensions: Sequence[Dimension], vectors: Floats) -> Floats:
    """Returns the coordinates of the values that the vectors stand for, [n, dimensions]."""
    result = np.clip(vectors, 0, 1)
    for place, dimension in enumerate(dimensions):
        if dimension.type is not float:
            result[:, place] = [dimension.encode(dimension.decode(x)) for x in result[:, place].tolist()]
    return result
