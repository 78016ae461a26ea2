"""The random agent: every legal action equally likely. The smallest complete example of an agent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from turnier.agents.abi import ACT
from turnier.agents.agent import CompiledAgent
from turnier.core.kernel import kernel
from turnier.core.rng import below


@kernel(ACT)
def act_random(game, evaluator, settings, state, returns, rng, root):
    actions = np.empty(game.max_choices, np.int64)
    return actions[below(rng, game.legal(state, actions))]


@dataclass(frozen=True)
class Random(CompiledAgent):
    """Plays uniformly random legal moves."""

    name: ClassVar[str] = "random"
    act_kernel: ClassVar[Any] = act_random
    looks_ahead: ClassVar[bool] = False
