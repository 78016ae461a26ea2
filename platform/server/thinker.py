"""An agent in one seat of a game whose states come from elsewhere, and which it has to answer in time."""

from __future__ import annotations

import time

import numpy as np

from turnier.agents.agent import Agent, Decision
from turnier.agents.registry import AGENTS
from turnier.agents.spe_ed.player import SpeEdAgent, SpeEdPlayer
from turnier.games.game import Ints
from turnier.games.spe_ed.board import ACTIVE, SILENCE
from turnier.games.spe_ed.game import SpeEd

WARM_UP = 50_000_000  # nanoseconds


class Thinker:
    """An agent, of spe_ed or any other that can play it, in a seat; it never sees the action to give no answer."""

    def __init__(self, agent: Agent, width: int, height: int, players: int, seat: int, seed: int) -> None:
        self.agent, self.game, self.seat, self.seed = agent, SpeEd(width, height, players), seat, seed
        self.player = agent.start(self.game, seat, seed)

    def decide(self, state: Ints, ends: int) -> Decision:
        """Decides at the start of a round, before a time of `time.monotonic_ns`.

        Agents use all of it, or their own milliseconds where these are fewer. Those that know no time, such as greedy
        ones and votes, use what their parameters say.
        """
        position = self.game.position(state)
        position.state[SILENCE] = 0
        position.state = position.view(self.seat)
        if isinstance(self.agent, SpeEdAgent) and isinstance(self.player, SpeEdPlayer):
            own = self.agent.nanoseconds()
            return self.player.act_before(position, min(ends, time.monotonic_ns() + own) if own else ends)
        left = max(1, (ends - time.monotonic_ns()) // 1_000_000)
        if "ms" not in self.agent.budgets or 0 < getattr(self.agent, "milliseconds", 0) <= left:
            return self.player.act(position)
        return self.agent.within(left, "ms").start(self.game, self.seat, self.seed).act(position)


def warm_up(agent: str) -> Agent:
    """Returns the agent of a text after it decided once, so that its kernels are compiled before any clock runs."""
    made = AGENTS.make(agent)
    thinker = Thinker(made, 41, 41, 2, 0, 1)
    start = thinker.game.start(1).state
    assert np.all(start[ACTIVE : ACTIVE + 2])
    thinker.decide(start, time.monotonic_ns() + WARM_UP)
    return made
