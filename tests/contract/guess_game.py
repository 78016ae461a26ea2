"""Guess, a sound game with every optional kernel, so that any of them can be replaced by a broken one.

In every round two seats commit to a number from 0 to 2 in secret, then a die that likes low numbers says which one
scores.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from turnier.core.kernel import kernel
from turnier.core.rng import below, uniform
from turnier.games import abi
from turnier.games.abi import CHANCE, TERMINAL
from turnier.games.game import Game
from turnier.games.setup.grids import grid_neighbours, square_symmetries

# `TURN` is the seat to commit, or 2 for the die; GUESS + seat is 0 or 1 + the number that the seat has committed to.
ROUNDS, LEFT, TURN, GUESS, WORDS = 0, 1, 2, 3, 5


@kernel(abi.INIT)
def init(state, rng):
    state[LEFT:] = 0
    state[LEFT] = state[ROUNDS]


@kernel(abi.TO_MOVE)
def to_move(state):
    if state[LEFT] == 0:
        return TERMINAL
    return CHANCE if state[TURN] == 2 else state[TURN]


@kernel(abi.LEGAL)
def legal(state, out):
    out[0], out[1], out[2] = 0, 1, 2
    return 3


@kernel(abi.OUTCOMES)
def chance(state, out, probs):
    out[0], out[1], out[2] = 0, 1, 2
    probs[0], probs[1], probs[2] = 0.5, 0.3, 0.2
    return 3


@kernel(abi.SAMPLE_CHANCE)
def sample_chance(state, rng):
    u = uniform(rng)
    return np.int64(u >= 0.5) + np.int64(u >= 0.8)


@kernel(abi.STEP)
def step(state, action, rewards):
    if state[TURN] == 2:
        for seat in range(2):
            rewards[seat] += 1.0 if state[GUESS + seat] == 1 + action else 0.0
        state[LEFT] -= 1
        state[TURN:] = 0
    else:
        seat = state[TURN]
        state[GUESS + seat] = 1 + action
        state[TURN] = 2 if state[GUESS + 1 - seat] else 1 - seat


@kernel(abi.PLAYOUT)
def playout(state, depth, rng, returns):
    plies = 0
    while True:
        mover = to_move(state)
        if mover == CHANCE:
            step(state, sample_chance(state, rng), returns)
        elif mover == TERMINAL or plies == depth:
            return plies
        else:
            step(state, below(rng, 3), returns)
            plies += 1


@kernel(abi.CELLS)
def cells(state, out):
    for cell in range(4):
        out[cell] = 1 if cell < state[LEFT] else 0


@kernel(abi.OBSERVE)
def observe(state, seat, view):
    view[:TURN] = state[:TURN]
    view[TURN:] = 0
    view[TURN] = seat


@dataclass(frozen=True)
class Guess(Game):
    """The sound game."""

    name: ClassVar[str] = "guess"
    num_seats: ClassVar[int] = 2
    num_actions: ClassVar[int] = 3
    max_legal: ClassVar[int] = 3
    max_outcomes: ClassVar[int] = 3
    state_words: ClassVar[int] = WORDS
    max_return: ClassVar[float] = 4.0
    num_cells: ClassVar[int] = 4
    num_cell_values: ClassVar[int] = 2

    def variant_words(self) -> tuple[int, ...]:
        return (4,)

    def build_kernels(self) -> abi.GameKernels:
        return abi.game_kernels(
            init,
            to_move,
            legal,
            step,
            chance=chance,
            cells=cells,
            sample_chance=sample_chance,
            playout=playout,
            observe=observe,
        )

    def symmetries(self) -> npt.NDArray[np.int64]:
        return square_symmetries(2)

    def neighbours(self) -> tuple[tuple[int, ...], ...]:
        return grid_neighbours(2, 2)
