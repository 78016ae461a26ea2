"""The agents tried in a search for a front, each with the means of all of its trials: one trial is luck."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import optuna
from optuna.trial import FrozenTrial

from .points import beaten

AgentOf = Callable[[FrozenTrial], str]  # the full text of a trial's agent


class Tried(NamedTuple):
    """An agent with the means of its trials, which have equally many games."""

    agent: str
    values: tuple[float, float]  # strength, and the second objective
    trials: tuple[FrozenTrial, ...]

    @property
    def usual(self) -> FrozenTrial:
        """The trial whose strength is nearest to the mean."""
        return min(self.trials, key=lambda trial: abs(trial.values[0] - self.values[0]))


def pooled(trials: Sequence[FrozenTrial], agent_of: AgentOf) -> list[Tried]:
    """Returns the agents of finished trials, in the order in which they were first tried."""
    by_agent: dict[str, list[FrozenTrial]] = {}
    for trial in trials:
        by_agent.setdefault(agent_of(trial), []).append(trial)
    return [
        Tried(agent, (float(means[0]), float(means[1])), tuple(own))
        for agent, own in by_agent.items()
        for means in [np.mean([trial.values for trial in own], axis=0)]
    ]


def in_layers(tried: Sequence[Tried], sign: int) -> list[list[Tried]]:
    """Returns the undominated agents, then those that only they dominate, and so on.

    Args:
        tried: any agents.
        sign: 1 if more of the second objective is better, otherwise -1.
    """
    left, layers = list(tried), list[list[Tried]]()
    while left:
        behind = beaten(np.array([(one.values[0], sign * one.values[1]) for one in left])).tolist()
        layers.append([one for one, worse in zip(left, behind, strict=True) if not worse])
        left = [one for one, worse in zip(left, behind, strict=True) if worse]
    return layers


class PooledParents:
    """Chooses the parents of NSGA-II's next generation by the means of agents, not by their luckiest trials.

    Args:
        population: number of parents.
        agent_of: the text of a trial's agent.
    """

    def __init__(self, population: int, agent_of: AgentOf) -> None:
        self._population, self._agent_of = population, agent_of

    def __call__(self, study: optuna.Study, trials: list[FrozenTrial]) -> list[FrozenTrial]:
        means = {one.agent: one for one in pooled(_finished(study), self._agent_of)}
        known = [means[agent] for agent in dict.fromkeys(map(self._agent_of, trials))]
        sign = 1 if study.directions[1] == optuna.study.StudyDirection.MAXIMIZE else -1
        chosen: list[FrozenTrial] = []
        for layer in in_layers(known, sign):
            chosen += [one.usual for one in _most_apart(layer)]
        spare = [trial for trial in trials if trial not in chosen]  # crossover needs two, and there may be one agent
        return [*chosen, *spare][: self._population]


def _most_apart(layer: Sequence[Tried]) -> list[Tried]:
    """Returns the agents of a layer by their distance to their neighbours, the ends first (Deb et al. 2002)."""
    ordered = sorted(layer, key=lambda one: one.values)
    values = np.array([one.values for one in ordered])
    apart = np.full(len(ordered), np.inf)
    spread = np.maximum(np.ptp(values, axis=0), 1e-12)
    apart[1:-1] = (np.abs(values[2:] - values[:-2]) / spread).sum(1)
    return [ordered[i] for i in np.argsort(-apart, kind="stable").tolist()]


def _finished(study: optuna.Study) -> list[FrozenTrial]:
    return study.get_trials(deepcopy=False, states=(optuna.trial.TrialState.COMPLETE,))
