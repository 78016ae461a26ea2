"""The board for searches of spe_ed: a byte per cell, in rows each followed by a wall as wide as the longest move.

The cell (x, y) is `(y + WALL) * stride + x` with a stride of width + WALL: the wall after the row above is to the left
of a row. So a move is a start, an offset and a number of cells, and need not check for the edge: it ends inside or in a
wall. 0 is free, TAKEN is not.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from ....core.kernel import kernel, types
from ....games.abi import State
from ....games.game import Game
from ....games.spe_ed.board import ACTIVE, DIRECTION, HEIGHT, MAX_SPEED, PLAYERS, ROUND, SPEED, WIDTH, X, Y, cell_at

WALL = MAX_SPEED
TAKEN = 1
MOVES = 5
# By action: quarters of a turn to the right, and the change of speed.
TURN, FASTER = np.array([3, 1, 0, 0, 0]), np.array([0, 0, -1, 1, 0])

Field = types.Array(types.uint8, 1, "C")  # [size_of(width, height)]
Walker = types.Array(types.int64, 1, "C")  # [WALKER_WORDS]
Walkers = types.Array(types.int64, 2, "C")  # [players, WALKER_WORDS]
CELL, HEADING, PACE, ALIVE, SEAT, WALKER_WORDS = range(6)
OUT, PLAYS, STANDS = range(3)  # ALIVE: STANDS is in the search but makes no moves

Bytes = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int64]


def new_field(game: Game) -> Bytes:
    """Returns a field for a game's board, not yet filled."""
    width, height = (int(word) for word in game.variant_words()[:2])
    return np.zeros((height + 2 * WALL) * (width + WALL) + WALL, np.uint8)


def board_numbers(cells: Ints, stride: int) -> Ints:
    """Returns the numbers of cells of a field on the board, row by row."""
    return (cells // stride - WALL) * (stride - WALL) + cells % stride


def on_board(values: npt.NDArray[np.float64], stride: int) -> npt.NDArray[np.float64]:
    """Returns values of a field's cells in the form of the board, [height, width]."""
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
    """Writes a seat's place and motion."""
    walker[CELL] = (state[Y + seat] + WALL) * stride_of(state) + state[X + seat]
    walker[HEADING], walker[PACE] = state[DIRECTION + seat], state[SPEED + seat]
    walker[ALIVE], walker[SEAT] = state[ACTIVE + seat], seat


@kernel(types.int64(types.int64, types.int64))
def offset_of(heading, stride):
    """The distance of the next cell in a direction: up, right, down, left."""
    return (heading - 1) * stride if heading % 2 == 0 else 2 - heading


@kernel(types.boolean(Field, types.int64, types.int64, types.int64, types.boolean), inline=True)
def is_free(field, cell, offset, speed, jump):
    """Whether a move of `speed` cells from `cell` enters only free ones; false for speeds out of range."""
    if (
        speed < 1
        or speed > MAX_SPEED
        or field[np.uint64(cell + offset)] != 0
        or field[np.uint64(cell + speed * offset)] != 0
    ):
        return False
    if not jump:
        for i in range(2, speed):
            if field[np.uint64(cell + i * offset)] != 0:
                return False
    return True


@kernel(types.void(Field, types.int64, types.int64, types.int64, types.boolean, types.uint8), inline=True)
def paint(field, cell, offset, speed, jump, value):
    """Writes a value into the cells that a move enters."""
    field[np.uint64(cell + offset)] = value
    field[np.uint64(cell + speed * offset)] = value
    if not jump:
        for i in range(2, speed):
            field[np.uint64(cell + i * offset)] = value


@kernel(types.int64(types.int64, types.boolean))
def num_entered(speed, jump):
    return min(speed, 2) if jump else speed


def places(walker: Ints, actions: npt.NDArray[np.int8], stride: int) -> Ints:
    """Returns a player's cells before and after each of some actions, [1 + actions]."""
    headings = (walker[HEADING] + np.cumsum(TURN[actions])) & 3
    paces = walker[PACE] + np.cumsum(FASTER[actions])
    offsets = np.array([offset_of(heading, stride) for heading in range(4)])[headings]
    return np.cumsum([walker[CELL], *(paces * offsets)])


def weighted_distance(state: Ints, one: int, other: int) -> float:
    """Returns the distance of two seats, weighted by their speeds. Source: Brot 2021, 5.1, d / (v1 v2)."""
    apart = math.hypot(state[X + one] - state[X + other], state[Y + one] - state[Y + other])
    return apart / max(1, int(state[SPEED + one] * state[SPEED + other]))


def nearest(state: Ints, seat: int) -> list[tuple[float, int]]:
    """Returns the other living seats with their weighted distances, the nearest first."""
    others = [other for other in range(int(state[PLAYERS])) if other != seat and state[ACTIVE + other]]
    return sorted((weighted_distance(state, seat, other), other) for other in others)


def next_round(state: Ints) -> int:
    """Returns the number of the coming round, from 1, on which jumps depend."""
    return int(state[ROUND]) + 1


def walkers_of(state: Ints, seats: list[int]) -> Ints:
    """Returns the walkers of some seats, [seats, WALKER_WORDS]."""
    walkers = np.zeros((len(seats), WALKER_WORDS), np.int64)
    for walker, seat in zip(walkers, seats, strict=True):
        read_walker(state, seat, walker)
    return walkers
