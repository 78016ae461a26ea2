"""An agent in a seat of a game on another server, answering each state before a deadline."""

from __future__ import annotations

import time

import numpy as np

from ...agents.agent import Agent, Decision, decide
from ...agents.registry import AGENTS
from ...agents.spe_ed.player import SpeEdAgent, SpeEdPlayer
from ...games.game import Ints
from ...games.spe_ed.board import ACTIVE, SILENCE
from ...games.spe_ed.game import SpeEd

WARM_UP = 50_000_000  # nanoseconds


class TimedPlayer:
    """Any agent in a seat of spe_ed; the action of no answer is never offered to it."""

    def __init__(self, agent: Agent, width: int, height: int, players: int, seat: int, seed: int) -> None:
        self.agent, self.game, self.seat, self.seed = agent, SpeEd(width, height, players), seat, seed
        self.player = agent.start(self.game, seat, seed)

    def decide(self, state: Ints, ends: int) -> Decision:
        """Decides at the start of a round, before a time of `time.monotonic_ns`.

        Agents use all the time, or their own milliseconds if these are fewer. Agents without a time budget, such as
        greedy agents and majority votes, follow their parameters.
        """
        position = self.game.position(state)
        position.state[SILENCE] = 0
        position.state = position.view(self.seat)
        if isinstance(self.agent, SpeEdAgent) and isinstance(self.player, SpeEdPlayer):
            own = self.agent.nanoseconds()
            return self.player.act_before(position, min(ends, time.monotonic_ns() + own) if own else ends)
        left = max(1, (ends - time.monotonic_ns()) // 1_000_000)
        if "ms" not in self.agent.budgets or 0 < getattr(self.agent, "milliseconds", 0) <= left:
            return decide(self.player, position)
        return decide(self.agent.within(left, "ms").start(self.game, self.seat, self.seed), position)


def warm_up(agent: str) -> Agent:
    """Returns the agent after one decision, which compiles its kernels before any clock runs."""
    made = AGENTS.make(agent)
    timed_player = TimedPlayer(made, 41, 41, 2, 0, 1)
    start = timed_player.game.start(1).state
    assert np.all(start[ACTIVE : ACTIVE + 2])
    timed_player.decide(start, time.monotonic_ns() + WARM_UP)
    return made
