"""A Gaussian process: the value of a point estimated from all candidates, to smooth lucky games away.

Matérn 5/2 with a length scale for every dimension and unknown noise; the largest posterior density chooses them.
Source: Rasmussen and Williams 2006, chapters 2, 4 and 5. (Optuna's own process needs torch, some gigabytes.)
"""

from __future__ import annotations

import functools
import importlib
import math
from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy
from threadpoolctl import ThreadpoolController

from .sampler import History, Search, Vectors

FITTED = 160  # candidates for fitting hyperparameters: more of them improve little
KNOWN = 1000  # latest candidates that predictions use
REFIT = 1.25  # hyperparameters are refitted when the evaluated candidates have grown by this factor
_ROOT5 = 5**0.5


def _on_one_thread(method: Callable[..., Any]) -> Any:
    """Has a method compute on one thread, for only models compute so; the agents' own threads remain.

    For small matrices, threads mostly wait for each other, by spinning: two take two to three times the CPU time of
    one, and longer.
    """

    @functools.wraps(method)
    def alone(*arguments: Any) -> Any:
        with _libraries().limit(limits=1, user_api="blas"):
            return method(*arguments)

    return alone


@functools.cache
def _libraries() -> ThreadpoolController:
    importlib.import_module("scipy.linalg")  # only libraries that are loaded can be limited
    return ThreadpoolController()


class Surface:
    """The process given candidates and their values.

    Args:
        vectors: [n, dimensions].
        values: [n].
        hyper: logarithms of the length scales, then of the standard deviations of signal and noise (of standardised
            values), from another surface; None = choose them.
    """

    def __init__(self, vectors: Vectors, values: Vectors, hyper: Vectors | None = None) -> None:
        self.x = vectors[-KNOWN:]
        self._middle, self._scale = float(values.mean()), float(values.std()) or 1.0
        y = (values[-KNOWN:] - self._middle) / self._scale
        if hyper is None:
            rows = np.linspace(0, len(self.x) - 1, min(FITTED, len(self.x))).astype(int)
            hyper = _fit(self.x[rows], y[rows])
        self.hyper = hyper
        self._condition(y)

    def _condition(self, y: Vectors) -> None:
        self._y = y
        covariance = self._kernel(self.x, self.x) + np.exp(2 * self.hyper[-1]) * np.eye(len(self.x))
        self._factor = scipy.linalg.cholesky(covariance, lower=True)
        self._weights = scipy.linalg.cho_solve((self._factor, True), y)

    def _kernel(self, a: Vectors, b: Vectors) -> Vectors:
        r = _distances(a, b, self.hyper)
        return np.asarray(np.exp(2 * self.hyper[-2]) * _matern(r))

    def believing(self, vector: Vectors) -> Surface:
        """Returns the surface as if the vector had been evaluated with its expected value."""
        other = object.__new__(Surface)
        other.x, other.hyper = np.vstack([self.x, vector]), self.hyper
        other._middle, other._scale = self._middle, self._scale
        other._condition(np.append(self._y, self._kernel(vector[None], self.x) @ self._weights))
        return other

    def predict(self, vectors: Vectors) -> tuple[Vectors, Vectors]:
        """Returns means and standard deviations of the true values, [n] each."""
        cross = self._kernel(vectors, self.x)
        known = scipy.linalg.solve_triangular(self._factor, cross.T, lower=True)
        variance = np.exp(2 * self.hyper[-2]) - (known**2).sum(0)
        mean = self._middle + self._scale * (cross @ self._weights)
        return np.asarray(mean), self._scale * np.sqrt(np.maximum(variance, 1e-12))

    def means(self, vectors: Vectors) -> Vectors:
        return np.asarray(self._middle + self._scale * (self._kernel(vectors, self.x) @ self._weights))

    def best(self) -> tuple[list[float], float]:
        """Returns the point with the largest mean, among the evaluated ones and their surroundings, and that mean."""
        rng = np.random.default_rng(len(self.x))
        points = self.x
        for spread in (0.1, 0.03, 0.01):
            means = self.means(points)
            top = points[np.argsort(-means, kind="stable")[:8]]
            near = np.repeat(top, 32, axis=0)
            points = np.vstack([top, np.clip(near + spread * rng.standard_normal(near.shape), 0, 1)])
        means = self.means(points)
        chosen = int(np.argmax(means))
        return [float(x) for x in points[chosen]], float(means[chosen])


def _distances(a: Vectors, b: Vectors, hyper: Vectors) -> Vectors:
    scaled_a, scaled_b = a / np.exp(hyper[:-2]), b / np.exp(hyper[:-2])
    squares = (scaled_a**2).sum(1)[:, None] + (scaled_b**2).sum(1)[None] - 2 * scaled_a @ scaled_b.T
    return np.asarray(np.sqrt(np.maximum(squares, 0.0)))


def _matern(r: Vectors) -> Vectors:
    return np.asarray((1 + _ROOT5 * r + 5 / 3 * r**2) * np.exp(-_ROOT5 * r))


def _fit(x: Vectors, y: Vectors) -> Vectors:
    """Returns the hyperparameters with the largest posterior density, under weak priors."""
    dimensions = x.shape[1]
    usual = np.array([np.log(0.5)] * dimensions + [np.log(0.5), np.log(0.7)])
    squares = (x[:, None, :] - x[None, :, :]) ** 2

    def loss(hyper: Vectors) -> tuple[float, Vectors]:
        r = _distances(x, x, hyper)
        signal, noise = np.exp(2 * hyper[-2]), np.exp(2 * hyper[-1])
        smooth = signal * _matern(r)
        factor = scipy.linalg.cholesky(smooth + (noise + 1e-9) * np.eye(len(x)), lower=True)
        weights = scipy.linalg.cho_solve((factor, True), y)
        away = np.outer(weights, weights) - scipy.linalg.cho_solve((factor, True), np.eye(len(x)))
        value = 0.5 * y @ weights + np.log(np.diag(factor)).sum() + 0.5 * ((hyper - usual) ** 2).sum()
        steep = away * signal * 5 / 3 * (1 + _ROOT5 * r) * np.exp(-_ROOT5 * r)
        scales = np.einsum("ij,ijk->k", steep, squares) / np.exp(2 * hyper[:-2])
        both = np.array([2 * (away * smooth).sum(), 2 * noise * np.trace(away)])
        return float(value), -0.5 * np.concatenate([scales, both]) + hyper - usual

    bounds = [(np.log(0.03), np.log(10.0))] * dimensions + [(np.log(0.05), np.log(3.0)), (np.log(0.01), np.log(3.0))]
    options = {"maxiter": 40}
    optimum: Any = scipy.optimize.minimize(loss, usual, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    return np.asarray(optimum.x, np.float64)


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

    @_on_one_thread
    def ask(self) -> Vectors:
        if self._asked is None:
            self._asked = np.clip(self.propose(), 0, 1)
        return self._asked.copy()

    @_on_one_thread
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

    @_on_one_thread
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
