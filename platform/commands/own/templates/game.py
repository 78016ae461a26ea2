"""Template: take one to three stones from a heap; the player who takes the last one wins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from turnier import TERMINAL, Game, Ints, kernel, parameter
from turnier.games import abi

# A state is an array of whole numbers. Its first word gives the variant and never changes; action 0 takes one stone.
STONES, LEFT, SEAT, STATE_WORDS = 0, 1, 2, 3
MOST = 3  # stones that may be taken at once


@kernel(abi.INIT)
def init(state, rng):
    state[LEFT] = state[STONES]
    state[SEAT] = 0


@kernel(abi.TO_MOVE)
def to_move(state):
    return TERMINAL if state[LEFT] == 0 else state[SEAT]


@kernel(abi.LEGAL)
def legal(state, out):
    n = min(MOST, state[LEFT])
    for action in range(n):
        out[action] = action
    return n


@kernel(abi.STEP)
def step(state, action, rewards):
    seat = state[SEAT]
    state[LEFT] -= action + 1
    state[SEAT] = 1 - seat
    if state[LEFT] == 0:
        rewards[seat] += 1.0
        rewards[1 - seat] -= 1.0


@dataclass(frozen=True)
class Template(Game):
    """Take one to three stones from a heap; the player who takes the last one wins."""

    num_seats: ClassVar[int] = 2
    num_actions: ClassVar[int] = MOST
    max_legal: ClassVar[int] = MOST
    state_words: ClassVar[int] = STATE_WORDS
    phase_name: ClassVar[str] = "stones left"

    stones: int = parameter(15, "stones at the start", low=1, high=1000)

    def variant_words(self) -> tuple[int, ...]:
        return (self.stones,)

    def build_kernels(self) -> abi.GameKernels:
        return abi.game_kernels(init, to_move, legal, step)

    def action_name(self, action: int) -> str:
        return f"take {action + 1}"

    def phase(self, state: Ints) -> int:
        return int(state[LEFT])

    def draw(self, state: Ints) -> str:
        return f"{state[LEFT]} stones left"
