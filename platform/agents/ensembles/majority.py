"""Majority vote: several searches of the same position, and the action named by most of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...core.parameters import parameter
from ...core.rng import below
from ..agent import Agent, Decision, Floats
from ..mctse.agent import Mctse
from .ensemble import Ensemble, Rng


def decided_after(votes: Sequence[int]) -> int:
    """Returns the number of votes after which the rest can neither change the winner nor make a tie."""
    counts: Counter[int] = Counter()
    for cast, vote in enumerate(votes, 1):
        counts[vote] += 1
        most, second, *_ = *(count for _, count in counts.most_common(2)), 0
        if most > second + len(votes) - cast:
            return cast
    return len(votes)


@dataclass(frozen=True)
class Majority(Ensemble):
    """Plays the action that most members name; ties are broken at random. Source: Kutsch 2017, 7.2.

    Every member is a new player of the inner agent, so even mcts with reuse=true starts a new tree. Votes count in the
    members' order; once the vote is decided, the remaining members do not search. Visits are votes; the value of an
    action is the mean over the members that voted for it.
    """

    name: ClassVar[str] = "majority"

    agent: Agent = parameter(Mctse(), "the agent that votes")
    members: int = parameter(5, "number of voters", low=1, high=100, search=(1, 16))

    def needed(self, found: Sequence[Decision | None]) -> int:
        """The vote is decided soonest if all remaining members name the same action, one named before."""
        votes = [None if decision is None else decision.action for decision in found]
        named = {vote for vote in votes if vote is not None} or {0}
        return min(decided_after([action if vote is None else vote for vote in votes]) for action in named)

    def combine(self, found: list[Decision], rng: Rng) -> tuple[int, Floats, Floats]:
        votes, values = np.zeros((2, found[0].visits.size))
        for decision in found:
            votes[decision.action] += 1
        winners = np.flatnonzero(votes == votes.max())
        action = winners[below(rng, winners.size) if winners.size > 1 else 0]
        for voted in np.flatnonzero(votes):
            said = [decision.values[voted] for decision in found if decision.visits[voted] > 0]
            values[voted] = np.mean(said) if said else 0.0
        return int(action), votes, values
