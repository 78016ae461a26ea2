"""bbob-noisy: the thirty noisy functions by which the world compares optimisers, from the package coco-experiment."""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from turnier.search.space import Space
from turnier.studies.benchmark.problem import Floats, Problem

FUNCTIONS = 30
BASE = (1, 8, 1, 8, 7, 10, 14, 17, 19, 21)  # the noise-free function of each triple, for its best value
MODERATE = 2  # triples with moderate noise, whose values are raised by 10; by 1,000 after them
REPEATS = 31
NEAR = 1e-8  # from the best value, as near as any


def installed() -> bool:
    """Returns whether the package is there."""
    return importlib.util.find_spec("cocoex") is not None


def _problem(function: int, size: int) -> Any:
    import cocoex  # only there with the extra `rivals`

    # A suite of its own begins the same noise anew.
    suite = cocoex.Suite("bbob-noisy", "instances: 1", f"dimensions: {size}")
    return suite, suite.get_problem(function)


class Bbob(Problem):
    """A function of the suite, from a start in [-4, 4]; the loss is the decimal logarithm of what is left to the best.

    The third of each three functions with one truth has Cauchy noise, in a minority of evaluations: the median of its
    values is the truth.
    """

    def __init__(self, function: int, size: int) -> None:
        from cocoex.bare_problem import BareProblem

        triple = function // 3
        self._suite, self._noisy = _problem(function, size)
        self._suite_of_truth, self._truth = _problem(3 * triple + 2, size)
        self._raised = 10 if triple < MODERATE else 1000
        self._best = float(BareProblem("bbob", BASE[triple], size, 1).best_value())
        start = np.random.default_rng([14, function, size]).uniform(0.1, 0.9, size)
        super().__init__(Space.cube(size), start.tolist())

    def play(self, vectors: Floats, rng: np.random.Generator) -> Sequence[float]:
        return [-float(self._noisy(10 * vector - 5)) for vector in vectors]

    def loss(self, vector: Sequence[float]) -> float:
        point = 10 * np.array(vector) - 5
        truth = float(np.median([self._truth(point) for _ in range(REPEATS)])) - self._raised
        return math.log10(max(truth - self._best, NEAR))
