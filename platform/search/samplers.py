"""CMA-ES by ask and tell, a generation at a time, with random numbers that depend on seed and generation only.

So the search state is a pure function of the seed and of the values told: asking again and telling the stored values
rebuilds it exactly, whatever happened to the process before.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # cma remarks on optional plotting packages
    import cma

Vectors = npt.NDArray[np.float64]


class CmaEs:
    """Covariance matrix adaptation evolution strategy (pycma) over the unit cube, for values to maximise.

    Source: Hansen 2016, "The CMA evolution strategy: a tutorial"; use in Kutsch 2017, 7.1.2.
    """

    def __init__(self, start: Sequence[float], sigma: float, population: int, seed: int) -> None:
        self.seed = seed
        self.generation = 0
        self._rng = np.random.default_rng([seed, 0])
        self._asked: list[npt.NDArray[np.float64]] = []
        options: dict[str, Any] = {
            "bounds": [0, 1],
            "popsize": population,
            "randn": lambda *shape: self._rng.standard_normal(shape),
            "seed": np.nan,  # leaves numpy's global generator alone
            "verbose": -9,
            "verb_log": 0,
            # A noisy search runs for its budget; stagnation and tolerances would end it early.
            "maxiter": np.inf,
            "tolfun": 0,
            "tolx": 0,
            "tolfunhist": 0,
            "tolflatfitness": np.inf,
            "tolstagnation": np.inf,
        }
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self._strategy = cma.CMAEvolutionStrategy(list(start), sigma, options)

    def ask(self) -> Vectors:
        """Returns the generation's candidates, [population, dimensions]."""
        self._rng = np.random.default_rng([self.seed, self.generation])
        self._asked = self._strategy.ask()
        return np.array(self._asked)

    def tell(self, values: Sequence[float]) -> None:
        """Takes the candidates' values in the order of `ask` and moves on to the next generation."""
        self._strategy.tell(self._asked, [-value for value in values])
        self.generation += 1

    @property
    def mean(self) -> list[float]:
        """The distribution's mean: the recommendation under noise."""
        return [float(x) for x in self._strategy.result.xfavorite]

    @property
    def sigma(self) -> float:
        return float(self._strategy.sigma)

    @property
    def axis_ratio(self) -> float:
        """Longest over shortest axis of the distribution."""
        return float(self._strategy.D.max() / self._strategy.D.min())
