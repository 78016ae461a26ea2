"""The board as searches of spe_ed have it: a byte a cell, in rows with a wall as wide as the longest move behind them.

The cell (x, y) is `(y + WALL) * stride + x` with a stride of width + WALL: what lies left of a row is the wall behind
the row above. So a move is a start, a stride's multiple or one, and a number of cells, and never has to look for the
edge: it ends inside or in a wall. 0 is free, TAKEN is not.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from numba import types

from turnier.core.kernel import kernel
from turnier.games.abi import State
from turnier.games.game import Game
from turnier.games.spe_ed.board import (
    ACTIVE,
    DIRECTION,
    HEIGHT,
    MAX_SPEED,
    PLAYERS,
    ROUND,
    SPEED,
    WIDTH,
    X,
    Y,
    cell_at,
)

WALL = MAX_SPEED
TAKEN = 1
MOVES = 5
# By action: quarters of a turn to the right, and the change of speed.
TURN, FASTER = np.array([3, 1, 0, 0, 0]), np.array([0, 0, -1, 1, 0])

Field = types.Array(types.uint8, 1, "C")  # [size_of(width, height)]
Walker = types.Array(types.int64, 1, "C")  # [WALKER_WORDS]
Walkers = types.Array(types.int64, 2, "C")  # [players, WALKER_WORDS]
CELL, HEADING, PACE, ALIVE, SEAT, WALKER_WORDS = range(6)
OUT, PLAYS, STANDS = range(3)  # ALIVE: who stands is there but makes no moves in a search

MARK, QUEUE, SPACE_ROWS = range(3)
Space = types.Array(types.int32, 2, "C")  # [SPACE_ROWS, cells of the field], scratch of own_share
# A mark that is not negative is four times the steps to a cell plus whose it is: nobody's where players get there
# at the same time.
_FREE, _TAKEN = -1, -2
_OWN, _OTHERS, _NOBODY = range(3)

Bytes = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int64]


def new_field(game: Game) -> Bytes:
    """Returns a field for a game's board, not yet filled."""
    width, height = (int(word) for word in game.variant_words()[:2])
    return np.zeros((height + 2 * WALL) * (width + WALL) + WALL, np.uint8)


def board_numbers(cells: Ints, stride: int) -> Ints:
    """Returns the numbers, row by row, that cells of a field have on the board."""
    return (cells // stride - WALL) * (stride - WALL) + cells % stride


def on_board(values: npt.NDArray[np.float64], stride: int) -> npt.NDArray[np.float64]:
    """Returns values of a field's cells as the board has them, [height, width]."""
    return values[: values.size // stride * stride].reshape(-1, stride)[WALL:-WALL, :-WALL]


@kernel(types.int64(State))
def stride_of(state):
    return state[WIDTH] + WALL


@kernel(types.void(State, Field))
def fill_field(state, field):
    """Writes a state's board into a field."""
    width, stride = state[WIDTH], stride_of(state)
    field[:] = TAKEN
    for y in range(state[HEIGHT]):
        for x in range(width):
            if cell_at(state, y * width + x) == 0:
                field[(y + WALL) * stride + x] = 0


@kernel(types.void(State, types.int64, Walker))
def read_walker(state, seat, walker):
    """Writes where a seat is and how it moves."""
    walker[CELL] = (state[Y + seat] + WALL) * stride_of(state) + state[X + seat]
    walker[HEADING], walker[PACE] = state[DIRECTION + seat], state[SPEED + seat]
    walker[ALIVE], walker[SEAT] = state[ACTIVE + seat], seat


@kernel(types.int64(types.int64, types.int64))
def offset_of(heading, stride):
    """How far the next cell in a direction lies: up, right, down, left."""
    return (heading - 1) * stride if heading % 2 == 0 else 2 - heading


@kernel(types.boolean(Field, types.int64, types.int64, types.int64, types.boolean))
def is_free(field, cell, offset, speed, jump):
    """Whether a move of `speed` cells from `cell` enters only free ones; speeds out of range never do."""
    if speed < 1 or speed > MAX_SPEED or field[cell + offset] != 0 or field[cell + speed * offset] != 0:
        return False
    if not jump:
        for i in range(2, speed):
            if field[cell + i * offset] != 0:
                return False
    return True


@kernel(types.void(Field, types.int64, types.int64, types.int64, types.boolean, types.uint8))
def paint(field, cell, offset, speed, jump, value):
    """Writes a value into the cells that a move enters."""
    field[cell + offset] = value
    field[cell + speed * offset] = value
    if not jump:
        for i in range(2, speed):
            field[cell + i * offset] = value


@kernel(types.int64(types.int64, types.boolean))
def num_entered(speed, jump):
    return min(speed, 2) if jump else speed


@kernel(types.int64(Field, types.int64, Walker))
def reachable(field, stride, walker):
    """How many free cells hang together with a player's place, by sides."""
    seen, queue = field.copy(), np.empty(field.size, np.int32)
    queue[0], filled = walker[CELL], 1
    cells = 0
    while cells < filled:
        cell = np.int64(queue[cells])
        cells += 1
        for heading in range(4):
            beside = cell + offset_of(heading, stride)
            if seen[beside] == 0:
                seen[beside] = TAKEN
                queue[filled] = beside
                filled += 1
    return filled - 1


@kernel(types.float64(Field, types.int64, Walkers, Space))
def own_share(field, stride, walkers, space):
    """The share of the reachable cells that player 0 reaches first, by steps to the side; own places count, 0 to 1.

    This is the document's wish for play that shuts others in (Brot 2021, 7.4): a move that cuts others off from cells
    makes these one's own. Speeds and jumps are left out of it.
    """
    for place in range(field.size):
        space[MARK, place] = _FREE if field[place] == 0 else _TAKEN
    filled = 0
    for who in range(walkers.shape[0]):
        if walkers[who, ALIVE] != OUT:
            start = walkers[who, CELL]
            space[MARK, start] = _OWN if who == 0 else _OTHERS
            space[QUEUE, filled] = start
            filled += 1
    own, owned, done = 0, 0, 0
    while done < filled:
        cell = np.int64(space[QUEUE, done])
        done += 1
        mark = space[MARK, cell]
        whose = mark & 3
        own += int(whose == _OWN)
        owned += int(whose != _NOBODY)
        nearest = (mark | 3) + 1  # a step further, nobody's marks are smaller
        for heading in range(4):
            beside = cell + offset_of(heading, stride)
            known = space[MARK, beside]
            if known == _FREE:
                space[MARK, beside] = nearest + whose
                space[QUEUE, filled] = beside
                filled += 1
            elif known >= nearest and known != nearest + whose:
                space[MARK, beside] = nearest + _NOBODY
    return own / owned


def places(walker: Ints, actions: npt.NDArray[np.int8], stride: int) -> Ints:
    """Returns the cells in which a player is before and after each of some actions, [1 + actions]."""
    headings = (walker[HEADING] + np.cumsum(TURN[actions])) & 3
    paces = walker[PACE] + np.cumsum(FASTER[actions])
    offsets = np.array([offset_of(heading, stride) for heading in range(4)])[headings]
    return np.cumsum([walker[CELL], *(paces * offsets)])


def weighted_distance(state: Ints, one: int, other: int) -> float:
    """Returns how far two seats are from each other, by their speeds. Source: Brot 2021, 5.1, d / (v1 v2)."""
    apart = math.hypot(state[X + one] - state[X + other], state[Y + one] - state[Y + other])
    return apart / max(1, int(state[SPEED + one] * state[SPEED + other]))


def nearest(state: Ints, seat: int) -> list[tuple[float, int]]:
    """Returns the other living seats with their weighted distances, the nearest first."""
    others = [other for other in range(int(state[PLAYERS])) if other != seat and state[ACTIVE + other]]
    return sorted((weighted_distance(state, seat, other), other) for other in others)


def next_round(state: Ints) -> int:
    """Returns the number of the round that is being chosen for, from 1, on which the jumps depend."""
    return int(state[ROUND]) + 1


def walkers_of(state: Ints, seats: list[int]) -> Ints:
    """Returns [seats, WALKER_WORDS] of some seats."""
    walkers = np.zeros((len(seats), WALKER_WORDS), np.int64)
    for walker, seat in zip(walkers, seats, strict=True):
        read_walker(state, seat, walker)
    return walkers
