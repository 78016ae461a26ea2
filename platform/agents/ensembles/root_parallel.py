"""Root parallelisation: several searches of the same position, added up at the root."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...core.parameters import parameter
from ..agent import Agent, Decision, Floats
from ..mctse.agent import Mctse
from .ensemble import Ensemble, Rng


@dataclass(frozen=True)
class RootParallel(Ensemble):
    """Adds up the members' visits and values at the root and plays the best action by the sums.

    Every member is a new player of the inner agent, so even mcts with reuse=true starts a new tree. If
    no member has visits (as with the random agent), the first member's action is played. Source: Chaslot, Winands and
    van den Herik, "Parallel Monte-Carlo Tree Search", 2008 (root parallelization).
    """

    name: ClassVar[str] = "root_parallel"

    agent: Agent = parameter(Mctse(), "the agent that searches")
    members: int = parameter(2, "number of searches", low=1, high=100, search=(1, 16))
    final: str = parameter("max", "the action played: best mean or most visits", choices=("max", "robust"))

    def combine(self, found: list[Decision], rng: Rng) -> tuple[int, Floats, Floats]:
        visits = np.sum([decision.visits for decision in found], axis=0)
        totals = np.sum([decision.visits * decision.values for decision in found], axis=0)
        values = np.divide(totals, visits, out=np.zeros_like(totals), where=visits > 0)
        if not visits.any():
            return found[0].action, visits, values
        tried = np.flatnonzero(visits)
        means = values[tried]
        # lexsort sorts by its last key first; the negative index prefers the first of equals.
        keys = (-tried, means, visits[tried]) if self.final == "robust" else (-tried, means)
        return int(tried[np.lexsort(keys)[-1]]), visits, values
