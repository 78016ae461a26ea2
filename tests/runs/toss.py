"""Toss: two seats name a number, then a coin falls. It alone decides, or only together with the numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from turnier.core.kernel import kernel
from turnier.core.parameters import parameter
from turnier.games import abi
from turnier.games.abi import CHANCE, TERMINAL
from turnier.games.game import Game

SWAYED, MOVES, SUM = range(3)


@kernel(abi.INIT)
def init(state, rng):
    state[MOVES:] = 0


@kernel(abi.TO_MOVE)
def to_move(state):
    return state[MOVES] if state[MOVES] < 2 else CHANCE if state[MOVES] == 2 else TERMINAL


@kernel(abi.LEGAL)
def legal(state, out):
    for number in range(8):
        out[number] = number
    return 8


@kernel(abi.OUTCOMES)
def chance(state, out, probs):
    for side in range(2):
        out[side], probs[side] = side, 0.5
    return 2


@kernel(abi.STEP)
def step(state, action, rewards):
    if state[MOVES] == 2:
        winner = (action + state[SWAYED] * state[SUM]) % 2
        rewards[winner] += 1.0
        rewards[1 - winner] -= 1.0
    state[SUM] += action
    state[MOVES] += 1


@dataclass(frozen=True)
class Toss(Game):
    """Toss: the coin decides; if swayed, the other way round if the numbers are odd."""

    name: ClassVar[str] = "toss"
    swayed: bool = parameter(False, "whether the numbers turn the coin")

    num_seats: ClassVar[int] = 2
    num_actions: ClassVar[int] = 8
    max_legal: ClassVar[int] = 8
    max_outcomes: ClassVar[int] = 2
    state_words: ClassVar[int] = 3

    def variant_words(self) -> tuple[int, ...]:
        return (int(self.swayed),)

    def build_kernels(self) -> abi.GameKernels:
        return abi.game_kernels(init, to_move, legal, step, chance=chance)
