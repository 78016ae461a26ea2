"""The searches that are compared, by name: ours with their texts, and those of others behind the same protocol."""

from __future__ import annotations

import importlib
import importlib.util
import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import optuna
from cmaes import CMA

from turnier.search.samplers.duels import Duels
from turnier.search.samplers.registry import SAMPLERS
from turnier.search.samplers.sampler import Search, SteppingSearch, Vectors
from turnier.search.space import Space
from turnier.studies.benchmark.problem import Problem


class Rival(Search):
    """Base of searches that need no more than asking and telling."""

    def estimate(self) -> float:
        return math.nan

    @property
    def sigma(self) -> float:
        return 0.0


class ChessSpsa(Rival):
    """SPSA in the form of fishtest and OpenBench: at the end the reach is a twentieth of each range, and R is 0.002.

    Args:
        start: in the unit cube.
        seed: of its random numbers.
        pairs: number of all pairs of games.
        batch: pairs that are played before a step, with the same signs.
    """

    R_END, C_END, ALPHA, GAMMA = 0.002, 0.05, 0.602, 0.101

    def __init__(self, start: Sequence[float], seed: int, pairs: int, batch: int) -> None:
        super().__init__(start, seed)
        self.duels, self.point, self.played = batch, self.start.copy(), 0
        self.stability = 0.1 * pairs
        self.c = self.C_END * pairs**self.GAMMA
        self.a = self.R_END * self.C_END**2 * (self.stability + pairs) ** self.ALPHA

    def _step(self) -> Vectors:
        signs = self.rng().choice([-1.0, 1.0], size=self.size)
        return np.asarray(signs * self.c / (self.played + 1) ** self.GAMMA)

    def ask(self) -> Vectors:
        step = self._step()
        return np.tile(np.clip([self.point + step, self.point - step], 0, 1), (self.duels, 1))

    def tell(self, values: Sequence[float]) -> None:
        won = 2 * float(np.sum(values[::2]) - np.sum(values[1::2]))  # games won minus games lost
        a = self.a / (self.stability + self.played + 1) ** self.ALPHA
        self.point = np.clip(self.point + a * won / self._step(), 0, 1)
        self.played += self.duels
        self.generation += 1

    def recommended(self) -> list[float]:
        return list(self.point.tolist())


class CmaesPackage(Rival):
    """CMA-ES of the package `cmaes`, of which the mean is recommended.

    Args:
        start: in the unit cube.
        seed: of its random numbers.
        population: of a generation; None is usual.
        sigma: at the start.
    """

    def __init__(self, start: Sequence[float], seed: int, population: int | None, sigma: float) -> None:
        super().__init__(start, seed)
        bounds = np.array([[0.0, 1.0]] * self.size)
        self.strategy = CMA(self.start, sigma, bounds, seed=seed, population_size=population)
        self.asked: list[Vectors] = []

    def ask(self) -> Vectors:
        self.asked = [self.strategy.ask() for _ in range(self.strategy.population_size)]
        return np.array(self.asked)

    def tell(self, values: Sequence[float]) -> None:
        self.strategy.tell([(x, -value) for x, value in zip(self.asked, values, strict=True)])
        self.generation += 1

    def recommended(self) -> list[float]:
        return list(np.clip(self.strategy.mean, 0, 1).tolist())


class OptunaSearch(Rival):
    """A sampler of Optuna, which sees whole numbers and choices as such; its best trial is recommended.

    Args:
        start: in the unit cube; the first trial.
        seed: of the sampler.
        space: what is searched.
        sampler: the name of its class.
    """

    def __init__(self, start: Sequence[float], seed: int, space: Space, sampler: str) -> None:
        super().__init__(start, seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # some are called experimental
            chosen = getattr(optuna.samplers, sampler)(seed=seed)
        self.study = optuna.create_study(direction="maximize", sampler=chosen)
        self.space, self.distributions = space, space.distributions()
        self.study.enqueue_trial({d.path: d.decode(x) for d, x in zip(space.dimensions, start, strict=True)})
        self.trial: Any = None

    def _vector(self, values: dict[str, Any]) -> list[float]:
        return [d.encode(values[d.path]) for d in self.space.dimensions]

    def ask(self) -> Vectors:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.trial = self.study.ask(self.distributions)
        return np.array([self._vector(self.trial.params)])

    def tell(self, values: Sequence[float]) -> None:
        self.study.tell(self.trial, values[0])
        self.generation += 1

    def recommended(self) -> list[float]:
        return self._vector(self.study.best_params) if self.generation else self.start.tolist()


class NevergradSearch(Rival):
    """An optimiser of Nevergrad.

    Args:
        start: in the unit cube.
        seed: of its random numbers.
        evaluations: number of all evaluations.
        optimiser: its name.
    """

    def __init__(self, start: Sequence[float], seed: int, evaluations: int, optimiser: str) -> None:
        super().__init__(start, seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            nevergrad = importlib.import_module("nevergrad")
            cube = nevergrad.p.Array(init=self.start, lower=0.0, upper=1.0)
            cube.random_state.seed(seed)
            self.optimiser = nevergrad.optimizers.registry[optimiser](cube, budget=evaluations)
        self.asked: Any = None

    def ask(self) -> Vectors:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.asked = self.optimiser.ask()
        return np.array([self.asked.value])

    def tell(self, values: Sequence[float]) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.optimiser.tell(self.asked, -values[0])
        self.generation += 1

    def recommended(self) -> list[float]:
        return [float(x) for x in self.optimiser.provide_recommendation().value]


Begin = Callable[[Problem, int, int, int], Search]  # problem, seed, evaluations and games -> search


@dataclass(frozen=True)
class Contender:
    """A search that is compared.

    Attributes:
        label: its name on the page and in stored results.
        begin: makes it.
        noise: the strategy of how often candidates play.
        candidates: at most so many, which share the games evenly; 0 = any number.
        package: what must be installed.
        duels: whether its candidates play each other.
        ours: whether it is a sampler of Turnier.
    """

    label: str
    begin: Begin
    noise: str = "fixed"
    candidates: int = 0
    package: str = ""
    duels: bool = False
    ours: bool = False

    @property
    def installed(self) -> bool:
        return not self.package or importlib.util.find_spec(self.package) is not None

    def noise_for(self, evaluations: int) -> str:
        """Returns the strategy for a budget."""
        return f"fixed(games={max(1, evaluations // self.candidates)})" if self.candidates else self.noise


def _sampler(text: str, problem: Problem, seed: int, evaluations: int, games: int) -> Search:
    sampler = SAMPLERS.make(text)
    if isinstance(sampler, Duels):  # a candidate plays one game of a pair's two, or a unit against the start
        evaluations = int(games / (1 + sampler.share * (problem.unit - 1)))
    search = sampler.within(evaluations).begin(problem.start, seed, problem.space)
    if isinstance(search, SteppingSearch):
        search.alive = problem.space.dimensions  # as in studies
    return search


def _cmaes(population: int | None, sigma: float, problem: Problem, seed: int, evaluations: int, games: int) -> Search:
    return CmaesPackage(problem.start, seed, population, sigma)


def _optuna(name: str, problem: Problem, seed: int, evaluations: int, games: int) -> Search:
    return OptunaSearch(problem.start, seed, problem.space, name)


def _nevergrad(name: str, problem: Problem, seed: int, evaluations: int, games: int) -> Search:
    return NevergradSearch(problem.start, seed, evaluations, name)


def _chess(batch: int, problem: Problem, seed: int, evaluations: int, games: int) -> Search:
    return ChessSpsa(problem.start, seed, games // 2, batch)


def _ours(text: str, noise: str = "fixed", candidates: int = 0) -> Contender:
    label = text if noise == "fixed" else f"{text}, {noise} noise"
    return Contender(label, partial(_sampler, text), noise, candidates, duels="duels" in text, ours=True)


CONTENDERS = (
    _ours("duels"),
    _ours("duels(share=0)"),
    _ours("cmaes"),
    _ours("cmaes", "growing"),
    _ours("cmaes", "racing"),
    _ours("cmaes_lr"),
    _ours("spsa"),
    _ours("gp", candidates=80),
    _ours("tpe", candidates=250),
    _ours("random"),
    Contender("package cmaes, 64, mean", partial(_cmaes, 64, 0.3)),
    Contender("package cmaes, usual, mean", partial(_cmaes, None, 1 / 6)),
    Contender("fishtest's SPSA", partial(_chess, 1), duels=True),
    Contender("OpenBench's SPSA", partial(_chess, 8), duels=True),
    Contender("Optuna CMA-ES", partial(_optuna, "CmaEsSampler"), candidates=2000),
    Contender("Optuna TPE", partial(_optuna, "TPESampler"), candidates=250),
    Contender("Optuna GP", partial(_optuna, "GPSampler"), candidates=80, package="torch"),
    Contender("Nevergrad TBPSA", partial(_nevergrad, "TBPSA"), package="nevergrad"),
)
