"""A bot of known strength: bots that differ only by their numbers are equal, and their luck is their own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from turnier.agents.abi import ACT
from turnier.agents.agent import CompiledAgent
from turnier.core.kernel import kernel
from turnier.core.parameters import parameter
from turnier.core.rng import GOLDEN, MIX1, MIX2, fold, next_word
from turnier.games.game import Game

_11, _27, _30, _31, _32 = (np.uint64(n) for n in (11, 27, 30, 31, 32))


@kernel(ACT)
def act_bot(game, evaluator, settings, state, returns, rng, root):
    number, first = np.uint64(settings[0]), settings[1]
    actions = settings[2:].view(np.int64)  # its memory
    n = game.legal(state, actions)
    # Bots in the same seat on the same seed are given the same words, which each makes its own.
    word = next_word(rng) + GOLDEN * (number + np.uint64(1))
    word = fold(word, _30) * MIX1
    word = fold(word, _27) * MIX2
    word = fold(word, _31)
    other = fold(word + GOLDEN, _30) * MIX1
    other = fold(other, _27) * MIX2
    other = fold(other, _31)
    if np.float64(other >> _11) * (1.0 / 9007199254740992.0) < first:
        return actions[0]
    return actions[np.int64(((word >> _32) * np.uint64(n)) >> _32)]


@dataclass(frozen=True)
class Bot(CompiledAgent):
    """Plays the first legal action with probability `first`, otherwise a random one."""

    number: int = parameter(0, "only seeds it: bots that differ in nothing else are equal", low=0, high=2**31)
    first: float = parameter(0.0, "how often it plays the first legal action", low=0.0, high=1.0)
    name: ClassVar[str] = "bot"
    act_kernel: ClassVar[Any] = act_bot
    looks_ahead: ClassVar[bool] = False

    def settings(self) -> tuple[float, ...]:
        return (float(self.number), self.first)

    def draws_numbers(self, game: Game) -> bool:
        return self.first < 1

    def memory_words(self, game: Game) -> int:
        return game.kernels.max_choices
