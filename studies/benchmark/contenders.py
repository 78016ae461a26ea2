"""The searches that are compared, by name: ours with their texts, and those of others."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from turnier.search.samplers.registry import SAMPLERS
from turnier.search.samplers.sampler import Search
from turnier.studies.benchmark.problem import Problem
from turnier.studies.benchmark.rivals import ChessSpsa, CmaesPackage, NevergradSearch, OptunaSearch

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
    # A candidate that duels plays one game, of a pair's two.
    return sampler.within(games if "duels" in text else evaluations).begin(problem.start, seed, problem.space)


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
