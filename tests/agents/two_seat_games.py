"""Two-seat games for search tests: one whose states lie at many plies and that sees forced wins, one with points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from turnier.core.kernel import kernel
from turnier.core.parameters import parameter
from turnier.games import abi
from turnier.games.abi import NO_WIN, TERMINAL
from turnier.games.game import Game

# Takeaway. State words: the heap at the start, the heap, the seat to move.
START, HEAP, SEAT = range(3)


@kernel(abi.INIT)
def takeaway_init(state, rng):
    state[HEAP], state[SEAT] = state[START], 0


@kernel(abi.TO_MOVE)
def takeaway_to_move(state):
    return state[SEAT] if state[HEAP] > 0 else TERMINAL


@kernel(abi.LEGAL)
def takeaway_legal(state, out):
    n = min(3, state[HEAP])
    for action in range(n):
        out[action] = action
    return n


@kernel(abi.STEP)
def takeaway_step(state, action, rewards):
    state[HEAP] -= action + 1
    if state[HEAP] == 0:
        rewards[state[SEAT]] += 1.0
        rewards[1 - state[SEAT]] -= 1.0
    state[SEAT] = 1 - state[SEAT]


@kernel(abi.FORCED_WIN)
def takeaway_forced_win(state, depth):
    left = state[HEAP] % 4
    return left - 1 if left > 0 and (state[HEAP] + 3) // 4 <= depth else NO_WIN


@dataclass(frozen=True)
class Takeaway(Game):
    """One heap; a seat takes one to three, who takes the last one wins."""

    name: ClassVar[str] = "takeaway"
    heap: int = parameter(11, "what lies there", low=1, high=100)

    num_seats: ClassVar[int] = 2
    num_actions: ClassVar[int] = 3
    max_legal: ClassVar[int] = 3
    state_words: ClassVar[int] = 3

    def variant_words(self) -> tuple[int, ...]:
        return (self.heap,)

    def build_kernels(self) -> abi.GameKernels:
        return abi.game_kernels(
            takeaway_init, takeaway_to_move, takeaway_legal, takeaway_step, forced_win=takeaway_forced_win
        )


# Coins. State words: coins at the start, the first one left, the one after the last, the seat to move.
LENGTH, FIRST, END, TAKER = range(4)


@kernel(abi.INIT)
def coins_init(state, rng):
    state[FIRST], state[END], state[TAKER] = 0, state[LENGTH], 0


@kernel(abi.TO_MOVE)
def coins_to_move(state):
    return state[TAKER] if state[FIRST] < state[END] else TERMINAL


@kernel(abi.LEGAL)
def coins_legal(state, out):
    out[0], out[1] = 0, 1
    return 2 if state[END] - state[FIRST] > 1 else 1


@kernel(abi.STEP)
def coins_step(state, action, rewards):
    if action == 0:
        coin = state[FIRST]
        state[FIRST] += 1
    else:
        state[END] -= 1
        coin = state[END]
    worth = (7 * coin * coin + 3 * coin) % 11
    rewards[state[TAKER]] += float(worth)
    if worth % 3 > 0:
        state[TAKER] = 1 - state[TAKER]


@dataclass(frozen=True)
class Coins(Game):
    """A row of coins; a seat takes the first or the last, and once more after one worth a multiple of three."""

    name: ClassVar[str] = "coins"
    length: int = parameter(10, "coins in the row", low=1, high=40)

    num_seats: ClassVar[int] = 2
    num_actions: ClassVar[int] = 2
    max_legal: ClassVar[int] = 2
    state_words: ClassVar[int] = 4

    @property
    def max_return(self) -> float:
        return 10.0 * self.length

    def variant_words(self) -> tuple[int, ...]:
        return (self.length,)

    def build_kernels(self) -> abi.GameKernels:
        return abi.game_kernels(coins_init, coins_to_move, coins_legal, coins_step)
