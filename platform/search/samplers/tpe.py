"""Optuna's tree-structured Parzen estimator by ask and tell, a generation at a time."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...core.errors import UserError
from ...core.parameters import parameter
from ..space import Space
from .sampler import Sampler, Vectors
from .surface import ModelledSearch

if TYPE_CHECKING:
    import optuna
    from optuna.trial import FrozenTrial

BEST = 25  # maximum number of candidates that TPE counts as good
KNOWN = 250  # candidates to keep by default: the cost of a proposal grows with their number


@dataclass(frozen=True)
class Tpe(Sampler):
    """Optuna's TPE; candidates without a value count as bad. Recommends the top of a smooth surface.

    Source: Bergstra et al. 2011; Watanabe 2023, "Tree-structured Parzen estimator".
    """

    name = "tpe"
    open = ("known",)
    usual_noise = "fixed(games=5)"

    population: int = parameter(8, "candidates per generation", low=1, high=1000)
    startup: int = parameter(24, "number of random candidates at the start", low=1, high=10_000)
    multivariate: bool = parameter(True, "propose dimensions together")
    known: int = parameter(
        0,
        f"at twice as many candidates keep only this many, the {BEST} best and the latest; 0 = keep all",
        low=0,
        high=1_000_000,
        later=True,
    )

    def within(self, evaluations: int, workers: int = 1) -> Tpe:
        return self if self.known else self.replace(known=KNOWN)

    def check(self) -> None:
        if 0 < self.known < 2 * BEST:
            raise UserError(f"tpe: known must be 0 or at least {2 * BEST}, got {self.known}.")

    def begin(self, start: Sequence[float], seed: int, space: Space) -> TpeSearch:
        return TpeSearch(start, seed, self)


class TpeSearch(ModelledSearch):
    def __init__(self, start: Sequence[float], seed: int, sampler: Tpe) -> None:
        super().__init__(start, seed)
        from optuna.distributions import BaseDistribution, FloatDistribution

        self.sampler = sampler
        self._names = [f"x{i:03}" for i in range(self.size)]
        self._distributions: dict[str, BaseDistribution] = {name: FloatDistribution(0, 1) for name in self._names}
        self._study = _study()
        self._study.enqueue_trial(dict(zip(self._names, self.start.tolist(), strict=True)))
        self._trials: list[optuna.Trial] = []

    def propose(self) -> Vectors:
        from optuna.samplers import TPESampler

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # multivariate and constant_liar are called experimental
            self._study.sampler = TPESampler(
                n_startup_trials=self.sampler.startup,
                multivariate=self.sampler.multivariate,
                constant_liar=True,
                seed=int(self.rng().integers(2**32)),
            )
        self._trials = [self._study.ask(self._distributions) for _ in range(self.sampler.population)]
        return np.array([[trial.params[name] for name in self._names] for trial in self._trials])

    def learn(self, values: Sequence[float]) -> None:
        for trial, value in zip(self._trials, values, strict=True):
            self._study.tell(trial, value)
        finished = self._study.get_trials(deepcopy=False)
        if 0 < 2 * self.sampler.known <= len(finished):
            self._study = _study()
            self._study.add_trials(kept_trials(finished, self.sampler.known))


def _study() -> optuna.Study:
    import optuna

    return optuna.create_study(direction="maximize")


def kept_trials(trials: Sequence[FrozenTrial], count: int) -> list[FrozenTrial]:
    """Returns the best trials and the latest of the others, in order."""
    by_value = sorted(trials, key=lambda trial: -trial.values[0])
    latest = sorted(by_value[BEST:], key=lambda trial: trial.number)[BEST - count :]
    return sorted([*by_value[:BEST], *latest], key=lambda trial: trial.number)
