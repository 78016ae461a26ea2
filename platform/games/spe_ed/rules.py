"""The rules of spe_ed as kernels; see game.py for the rules and board.py for the state's words."""

from __future__ import annotations

import numpy as np

from ...core.kernel import kernel, types
from ...core.rng import below
from .. import abi
from ..abi import TERMINAL
from .board import (
    ACTIVE,
    COLLISION,
    COMMITTED,
    DIED,
    DIRECTION,
    DOWN,
    DX,
    DY,
    HEIGHT,
    LEFT,
    MAX_SPEED,
    MOVER,
    NO_ANSWER,
    PLAYERS,
    RIGHT,
    ROUND,
    SILENCE,
    SLOW_DOWN,
    SPEED,
    SPEED_UP,
    TURN_LEFT,
    TURN_RIGHT,
    UP,
    WIDTH,
    X,
    Y,
    cell_at,
    jumps,
    put_cell,
)


@kernel(abi.INIT)
def init(state, rng):
    """Divides the board into 4 x 2 slots and gives them, the upper row first, to the players in cyclic order."""
    width, height, players = state[WIDTH], state[HEIGHT], state[PLAYERS]
    state[ROUND:] = 0
    first = below(rng, players)
    for slot in range(players):
        seat = (first + slot) % players
        x = (slot & 3) * (width >> 2) + below(rng, width >> 2)
        y = (slot >> 2) * (height >> 1) + below(rng, height >> 1)
        if x > width // 2:
            state[DIRECTION + seat] = UP if y > height // 2 else LEFT
        else:
            state[DIRECTION + seat] = RIGHT if y > height // 2 else DOWN
        state[X + seat], state[Y + seat] = x, y
        state[SPEED + seat], state[ACTIVE + seat] = 1, 1
        put_cell(state, y * width + x, 1 + seat)


@kernel(abi.TO_MOVE)
def to_move(state):
    return state[MOVER]


@kernel(abi.LEGAL)
def legal(state, out):
    n = NO_ANSWER + state[SILENCE]
    for action in range(n):
        out[action] = action
    return n


@kernel(types.void(abi.State, types.int64))
def _turn(state, seat):
    """Applies a seat's choice to direction and speed; a seat that is too fast or slow, or did not answer, is out."""
    action = state[COMMITTED + seat] - 1
    if action == TURN_LEFT:
        state[DIRECTION + seat] = (state[DIRECTION + seat] + 3) & 3
    elif action == TURN_RIGHT:
        state[DIRECTION + seat] = (state[DIRECTION + seat] + 1) & 3
    elif action == SLOW_DOWN:
        state[SPEED + seat] -= 1
    elif action == SPEED_UP:
        state[SPEED + seat] += 1
    if action == NO_ANSWER or state[SPEED + seat] < 1 or state[SPEED + seat] > MAX_SPEED:
        state[ACTIVE + seat] = 0


@kernel(types.void(abi.State, types.int64))
def _move(state, seat):
    """Moves a seat by its speed, regardless of obstacles; off the board it stops and is out."""
    width, speed = state[WIDTH], state[SPEED + seat]
    jump = jumps(state[ROUND], speed)
    for i in range(speed):
        state[X + seat] += DX[state[DIRECTION + seat]]
        state[Y + seat] += DY[state[DIRECTION + seat]]
        x, y = state[X + seat], state[Y + seat]
        if x < 0 or x >= width or y < 0 or y >= state[HEIGHT]:
            state[ACTIVE + seat] = 0
            return
        if not jump or i == 0 or i == speed - 1:
            cell = y * width + x
            put_cell(state, cell, 1 + seat if cell_at(state, cell) == 0 else COLLISION)


@kernel(types.boolean(abi.State, types.int64))
def _crashed(state, seat):
    """Whether a cell that the seat painted in this round was entered by others, or earlier."""
    speed = state[SPEED + seat]
    jump = jumps(state[ROUND], speed)
    for back in range(speed):
        if not jump or back == 0 or back == speed - 1:
            x = state[X + seat] - back * DX[state[DIRECTION + seat]]
            y = state[Y + seat] - back * DY[state[DIRECTION + seat]]
            if cell_at(state, y * state[WIDTH] + x) == COLLISION:
                return True
    return False


@kernel(types.void(abi.State, abi.Floats))
def _resolve(state, rewards):
    """Plays a round after all choices: all turn, all move, then all crash, so that the order of seats has no effect."""
    players = state[PLAYERS]
    state[ROUND] += 1
    for seat in range(players):
        if state[ACTIVE + seat]:
            _turn(state, seat)
            if state[ACTIVE + seat]:
                _move(state, seat)
    living, last = 0, 0
    for seat in range(players):
        if state[ACTIVE + seat] and _crashed(state, seat):
            state[ACTIVE + seat] = 0
        if state[ACTIVE + seat]:
            living, last = living + 1, seat
    for seat in range(players):
        if state[COMMITTED + seat]:
            state[COMMITTED + seat] = 0
            if not state[ACTIVE + seat]:
                state[DIED + seat] = state[ROUND]
                rewards[seat] -= 1.0 if living else 0.0
    if living == 1:
        rewards[last] += 1.0
    if living < 2:
        state[MOVER] = TERMINAL


@kernel(types.int64(abi.State))
def _waited_for(state):
    """The first living seat that has not chosen yet, or TERMINAL."""
    for seat in range(state[PLAYERS]):
        if state[ACTIVE + seat] and not state[COMMITTED + seat]:
            return seat
    return np.int64(TERMINAL)


@kernel(abi.STEP)
def step(state, action, rewards):
    """Notes what the mover chose; the last choice of a round plays it."""
    state[COMMITTED + state[MOVER]] = 1 + action
    state[MOVER] = _waited_for(state)
    if state[MOVER] == TERMINAL:
        state[MOVER] = 0
        _resolve(state, rewards)
        if state[MOVER] != TERMINAL:
            state[MOVER] = _waited_for(state)


@kernel(abi.CELLS)
def cells(state, out):
    for cell in range(state[WIDTH] * state[HEIGHT]):
        out[cell] = cell_at(state, cell)


@kernel(abi.OBSERVE)
def observe(state, seat, view):
    """In a view nobody has chosen yet, and its seat chooses first."""
    view[:] = state
    for other in range(state[PLAYERS]):
        view[COMMITTED + other] = 0
    view[MOVER] = seat
