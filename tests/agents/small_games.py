"""Games for tests only: one with secrets that `observe` hides, and an agent that plays what it sees; a long one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from turnier.agents.abi import ACT
from turnier.agents.agent import CompiledAgent
from turnier.core.kernel import kernel
from turnier.core.rng import below
from turnier.games import abi
from turnier.games.abi import TERMINAL
from turnier.games.game import Game

LONG = 5000  # plies of `long`, more than the first buffer of a compiled match holds

# State words: the seat to move (2 = over), and each seat's secret, 1 to 9.
TURN, SECRETS, STATE_WORDS = 0, 1, 3


@kernel(abi.INIT)
def init(state, rng):
    state[TURN] = 0
    state[SECRETS] = 1 + below(rng, 9)
    state[SECRETS + 1] = 1 + below(rng, 9)


@kernel(abi.TO_MOVE)
def to_move(state):
    return TERMINAL if state[TURN] == 2 else state[TURN]


@kernel(abi.LEGAL)
def legal(state, out):
    for action in range(100):
        out[action] = action
    return 100


@kernel(abi.STEP)
def step(state, action, rewards):
    rewards[state[TURN]] += float(action)
    state[TURN] += 1


@kernel(abi.OBSERVE)
def observe(state, seat, view):
    view[:] = state
    view[SECRETS + 1 - seat] = 0


@dataclass(frozen=True)
class Secrets(Game):
    """Each seat names a number once and may know its own secret only."""

    name: ClassVar[str] = "secrets"
    num_seats: ClassVar[int] = 2
    num_actions: ClassVar[int] = 100
    max_legal: ClassVar[int] = 100
    state_words: ClassVar[int] = STATE_WORDS
    max_return: ClassVar[float] = 99.0

    def build_kernels(self) -> abi.GameKernels:
        return abi.game_kernels(init, to_move, legal, step, observe=observe)


@kernel(ACT)
def act_told(game, evaluator, settings, state, returns, rng, root):
    return state[SECRETS] * 10 + state[SECRETS + 1]


@dataclass(frozen=True)
class Tells(CompiledAgent):
    """Names the secrets that it sees: seat 0's as tens, seat 1's as ones."""

    name: ClassVar[str] = "tells"
    act_kernel: ClassVar[Any] = act_told


@kernel(abi.INIT)
def init_long(state, rng):
    state[0] = LONG


@kernel(abi.TO_MOVE)
def to_move_long(state):
    return TERMINAL if state[0] == 0 else 0


@kernel(abi.LEGAL)
def legal_long(state, out):
    out[0], out[1] = 0, 1
    return 2


@kernel(abi.STEP)
def step_long(state, action, rewards):
    state[0] -= 1
    rewards[0] += float(action)


@dataclass(frozen=True)
class Long(Game):
    """One seat names 0 or 1, again and again; its score is their sum."""

    name: ClassVar[str] = "long"
    num_seats: ClassVar[int] = 1
    num_actions: ClassVar[int] = 2
    max_legal: ClassVar[int] = 2
    state_words: ClassVar[int] = 1
    max_return: ClassVar[float] = float(LONG)

    def build_kernels(self) -> abi.GameKernels:
        return abi.game_kernels(init_long, to_move_long, legal_long, step_long)
