"""Tiny real games that between them show every trait of the kernel ABI.

Pig has chance, for one seat or two; Fuse three seats of which two drop out; Pennies simultaneous moves and a view that
hides them; Wander a state of 10 KB whose used part depends on a parameter, cells and symmetries.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt
from numba import types

from turnier.core.kernel import kernel
from turnier.core.parameters import parameter
from turnier.core.rng import below
from turnier.games import abi
from turnier.games.abi import CHANCE, TERMINAL
from turnier.games.game import Game
from turnier.games.setup.grids import grid_neighbours, square_symmetries

# Pig. `ROLLING` is 1 where the die is to be thrown; `TURNS` counts down all seats' turns; SCORE + seat is banked.
SEATS, TARGET, SEAT, TURNS, ROLLING, POT, SCORE = range(7)
BANK, ROLL = 0, 1
PIG_TURNS = 30


@kernel(abi.INIT)
def pig_init(state, rng):
    state[SEAT:] = 0
    state[TURNS] = PIG_TURNS


@kernel(abi.TO_MOVE)
def pig_to_move(state):
    if state[TURNS] == 0:
        return TERMINAL
    return CHANCE if state[ROLLING] else state[SEAT]


@kernel(abi.LEGAL)
def pig_legal(state, out):
    out[0], out[1] = BANK, ROLL
    return 2


@kernel(abi.OUTCOMES)
def pig_chance(state, out, probs):
    for face in range(1, 7):
        out[face - 1], probs[face - 1] = face, 1.0 / 6.0
    return 6


@kernel(abi.SAMPLE_CHANCE)
def pig_sample_chance(state, rng):
    return 1 + below(rng, 6)


@kernel(abi.STEP)
def pig_step(state, action, rewards):
    seat = state[SEAT]
    if not state[ROLLING] and action == ROLL:
        state[ROLLING] = 1
        return
    if state[ROLLING]:
        state[ROLLING] = 0
        if action != 1:
            state[POT] += action
            return
        state[POT] = 0
    state[SCORE + seat] += state[POT]
    state[POT] = 0
    state[TURNS] -= 1
    state[SEAT] = (seat + 1) % state[SEATS]
    if state[SCORE + seat] >= state[TARGET]:
        state[TURNS] = 0
        for other in range(state[SEATS]):
            rewards[other] += 1.0 if other == seat else -1.0


@dataclass(frozen=True)
class Pig(Game):
    """Pig: roll for points, bank them before a one takes them; the first at the target wins."""

    name: ClassVar[str] = "pig"
    players: int = parameter(2, "seats; one plays against the clock", low=1, high=2)
    target: int = parameter(20, "points that win", low=2, high=100)

    num_actions: ClassVar[int] = 2
    max_legal: ClassVar[int] = 2
    max_outcomes: ClassVar[int] = 6
    state_words: ClassVar[int] = SCORE + 2

    @property
    def num_seats(self) -> int:
        return self.players

    def variant_words(self) -> tuple[int, ...]:
        return (self.players, self.target)

    def build_kernels(self) -> abi.GameKernels:
        return abi.game_kernels(
            pig_init, pig_to_move, pig_legal, pig_step, chance=pig_chance, sample_chance=pig_sample_chance
        )


# Fuse. `ALIVE` has a bit for every seat still in.
LENGTH, LEFT, ALIVE, BURNER = range(4)


@kernel(abi.INIT)
def fuse_init(state, rng):
    state[LEFT], state[ALIVE], state[BURNER] = state[LENGTH], 0b111, 0


@kernel(abi.TO_MOVE)
def fuse_to_move(state):
    return state[BURNER] if state[ALIVE] & (state[ALIVE] - 1) else TERMINAL


@kernel(abi.LEGAL)
def fuse_legal(state, out):
    n = min(3, state[LEFT])
    for action in range(n):
        out[action] = action
    return n


@kernel(abi.STEP)
def fuse_step(state, action, rewards):
    seat = state[BURNER]
    state[LEFT] -= action + 1
    if state[LEFT] == 0:
        rewards[seat] += -1.0 if state[ALIVE] == 0b111 else 0.0
        state[ALIVE] &= ~(1 << seat)
        state[LEFT] = state[LENGTH]
        for other in range(3):
            if state[ALIVE] == 1 << other:
                rewards[other] += 1.0
    for _ in range(3):
        seat = (seat + 1) % 3
        if state[ALIVE] >> seat & 1:
            break
    state[BURNER] = seat


@dataclass(frozen=True)
class Fuse(Game):
    """Fuse: three seats burn one to three inches each; who burns the last one is out, and a new fuse is lit."""

    name: ClassVar[str] = "fuse"
    length: int = parameter(7, "inches of a fuse", low=1, high=50)

    num_seats: ClassVar[int] = 3
    num_actions: ClassVar[int] = 3
    max_legal: ClassVar[int] = 3
    state_words: ClassVar[int] = 4

    def variant_words(self) -> tuple[int, ...]:
        return (self.length,)

    def build_kernels(self) -> abi.GameKernels:
        return abi.game_kernels(fuse_init, fuse_to_move, fuse_legal, fuse_step)


# Matching pennies. `COIN + seat` is 0, or 1 + the side that the seat has committed to; the last commitment resolves.
ROUNDS, ROUNDS_LEFT, CHOOSER, COIN = range(4)


@kernel(abi.INIT)
def pennies_init(state, rng):
    state[ROUNDS_LEFT] = state[ROUNDS]
    state[CHOOSER:] = 0


@kernel(abi.TO_MOVE)
def pennies_to_move(state):
    return TERMINAL if state[ROUNDS_LEFT] == 0 else state[CHOOSER]


@kernel(abi.LEGAL)
def pennies_legal(state, out):
    out[0], out[1] = 0, 1
    return 2


@kernel(abi.STEP)
def pennies_step(state, action, rewards):
    seat = state[CHOOSER]
    state[COIN + seat] = 1 + action
    state[CHOOSER] = 1 - seat
    if state[COIN] and state[COIN + 1]:
        won = 1.0 if state[COIN] == state[COIN + 1] else -1.0
        rewards[0] += won
        rewards[1] -= won
        state[ROUNDS_LEFT] -= 1
        state[CHOOSER:] = 0


@kernel(abi.OBSERVE)
def pennies_observe(state, seat, view):
    """In a view, the seat that looks commits first."""
    view[:CHOOSER] = state[:CHOOSER]
    view[CHOOSER:] = 0
    view[CHOOSER] = seat


@dataclass(frozen=True)
class Pennies(Game):
    """Matching pennies: both choose a side in secret; seat 0 wins the round where they match."""

    name: ClassVar[str] = "pennies"
    rounds: int = parameter(4, "rounds of a game", low=1, high=100)

    num_seats: ClassVar[int] = 2
    num_actions: ClassVar[int] = 2
    max_legal: ClassVar[int] = 2
    state_words: ClassVar[int] = COIN + 2

    @property
    def max_return(self) -> float:
        return float(self.rounds)

    def variant_words(self) -> tuple[int, ...]:
        return (self.rounds,)

    def build_kernels(self) -> abi.GameKernels:
        return abi.game_kernels(pennies_init, pennies_to_move, pennies_legal, pennies_step, observe=pennies_observe)


# Wander. From GRID on a word for every cell, in rows of SIDE: 0 free, 1 visited, 2 where the walker is.
SIDE, WALKER, GRID = range(3)
WANDER_WORDS = 1280


@kernel(abi.INIT)
def wander_init(state, rng):
    state[WALKER:] = 0
    state[WALKER] = below(rng, state[SIDE] * state[SIDE])
    state[GRID + state[WALKER]] = 2


@kernel(types.int64(abi.State, types.int64))
def _target(state, action):
    """The cell that an action leads to, -1 where it is taken or off the grid."""
    side, cell = state[SIDE], state[WALKER]
    row, column = cell // side, cell % side
    if action == 0 or action == 3:
        row += 1 if action == 3 else -1
    else:
        column += 1 if action == 2 else -1
    free = 0 <= row < side and 0 <= column < side and state[GRID + row * side + column] == 0
    return row * side + column if free else -1


@kernel(abi.LEGAL)
def wander_legal(state, out):
    n = 0
    for action in range(4):
        if _target(state, action) >= 0:
            out[n] = action
            n += 1
    return n


@kernel(abi.TO_MOVE)
def wander_to_move(state):
    for action in range(4):
        if _target(state, action) >= 0:
            return 0
    return TERMINAL


@kernel(abi.STEP)
def wander_step(state, action, rewards):
    cell = _target(state, action)
    state[GRID + state[WALKER]] = 1
    state[GRID + cell] = 2
    state[WALKER] = cell
    rewards[0] += 1.0


@kernel(abi.CELLS)
def wander_cells(state, out):
    for cell in range(state[SIDE] * state[SIDE]):
        out[cell] = state[GRID + cell]


@dataclass(frozen=True)
class Wander(Game):
    """Wander: a walk on a square grid that never comes back; every step is a point."""

    name: ClassVar[str] = "wander"
    side: int = parameter(35, "cells a side", low=2, high=35)

    num_seats: ClassVar[int] = 1
    num_actions: ClassVar[int] = 4
    max_legal: ClassVar[int] = 4
    state_words: ClassVar[int] = WANDER_WORDS
    num_cell_values: ClassVar[int] = 3

    @property
    def num_cells(self) -> int:
        return self.side**2

    @property
    def max_return(self) -> float:
        return float(self.num_cells - 1)

    def variant_words(self) -> tuple[int, ...]:
        return (self.side,)

    def build_kernels(self) -> abi.GameKernels:
        return abi.game_kernels(wander_init, wander_to_move, wander_legal, wander_step, cells=wander_cells)

    def symmetries(self) -> npt.NDArray[np.int64]:
        return square_symmetries(self.side)

    def neighbours(self) -> tuple[tuple[int, ...], ...]:
        return grid_neighbours(self.side, self.side)


TINY_GAMES: tuple[Game, ...] = (
    Pig(),
    Pig(players=1, target=12),
    Fuse(),
    Fuse(length=1),
    Pennies(),
    Wander(),
    Wander(side=5),
)
