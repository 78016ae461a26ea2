"""The random agent: every legal action is equally likely. The smallest complete example of an agent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..core.kernel import kernel
from ..core.rng import below
from ..games.game import Game
from .abi import ACT
from .agent import CompiledAgent


@kernel(ACT, draws_evenly=True)
def act_random(game, evaluator, settings, state, returns, rng, root):
    actions = settings.view(np.int64)  # its memory
    return actions[below(rng, game.legal(state, actions))]


@dataclass(frozen=True)
class Random(CompiledAgent):
    """Plays uniformly random legal moves."""

    name: ClassVar[str] = "random"
    act_kernel: ClassVar[Any] = act_random
    looks_ahead: ClassVar[bool] = False

    def draws_numbers(self, game: Game) -> bool:
        return True

    def memory_words(self, game: Game) -> int:
        return game.kernels.max_choices
