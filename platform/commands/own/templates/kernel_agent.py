"""Template: plays the action with the largest immediate gain, sometimes a random one. It decides in compiled code."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from turnier import CompiledAgent, kernel, parameter
from turnier.agents.abi import ACT, VALUES, VISITS
from turnier.core.rng import below, uniform

SURPRISE = 0  # index in the settings


@kernel(ACT)
def act(game, evaluator, settings, state, returns, rng, root):
    actions, rewards = np.empty(game.max_choices, np.int64), np.empty(game.num_seats)
    seat, n = game.to_move(state), game.legal(state, actions)
    best, alike = actions[0], 0
    for i in range(n):
        after = state.copy()  # the state must stay as it is
        rewards[:] = 0.0
        game.step(after, actions[i], rewards)
        root[VISITS, actions[i]] = 1.0
        root[VALUES, actions[i]] = rewards[seat]
        if rewards[seat] > root[VALUES, best]:
            best, alike = actions[i], 1
        elif rewards[seat] == root[VALUES, best]:
            alike += 1
            if below(rng, alike) == 0:
                best = actions[i]
    return actions[below(rng, n)] if uniform(rng) < settings[SURPRISE] else best


@dataclass(frozen=True)
class Template(CompiledAgent):
    """Plays the action with the largest immediate gain, sometimes a random one."""

    act_kernel: ClassVar[Any] = act

    surprise: float = parameter(0.1, "share of actions that are drawn at random", low=0.0, high=1.0)

    def settings(self) -> tuple[float, ...]:
        return (self.surprise,)
