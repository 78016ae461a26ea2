"""The layout of spe_ed's states, players and cells as nibbles, for the rules and for agents.

State words: the variant, ROUND (rounds played), MOVER, then one word per seat for each of the fields X to DIED, and the
cells, row by row, sixteen to a word: 0 free, 1 + seat a trail, COLLISION a cell that was entered more than once.
"""

from __future__ import annotations

import numpy as np

from ...core.kernel import kernel, types
from ..abi import State

MIN_SIDE, MAX_SIDE, MAX_PLAYERS, MAX_SPEED = 4, 80, 6, 10
WIDTH, HEIGHT, PLAYERS, SILENCE, ROUND, MOVER, SEATS = range(7)
# Fields of a seat; COMMITTED is 0 or 1 + the action chosen in this round, DIED the round in which it went out, or 0.
X, Y, DIRECTION, SPEED, ACTIVE, COMMITTED, DIED = (SEATS + MAX_PLAYERS * field for field in range(7))
CELLS = SEATS + MAX_PLAYERS * 7

TURN_LEFT, TURN_RIGHT, SLOW_DOWN, SPEED_UP, CHANGE_NOTHING, NO_ANSWER = range(6)
ACTIONS = ("turn_left", "turn_right", "slow_down", "speed_up", "change_nothing")
UP, RIGHT, DOWN, LEFT = range(4)
DIRECTIONS = ("up", "right", "down", "left")
DX, DY = np.array([0, 1, 0, -1]), np.array([-1, 0, 1, 0])
COLLISION = 7
JUMP_EVERY, JUMP_SPEED = 6, 3  # in every sixth round, players at least this fast leave holes


@kernel(types.int64(State, types.int64))
def cell_at(state, cell):
    """The value of a cell, numbered row by row."""
    return (state[CELLS + (cell >> 4)] >> ((cell & 15) << 2)) & 15


@kernel(types.void(State, types.int64, types.int64))
def put_cell(state, cell, value):
    word, shift = CELLS + (cell >> 4), np.int64((cell & 15) << 2)
    state[word] = (state[word] & ~(15 << shift)) | (value << shift)


@kernel(types.boolean(types.int64, types.int64))
def jumps(round_number, speed):
    """Whether a move leaves holes: only its first and last cells are painted and checked."""
    return speed >= JUMP_SPEED and round_number % JUMP_EVERY == 0
