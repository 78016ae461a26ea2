"""Connect four: drop stones into columns; four of your own in a line win.

A stone is the bit column * (rows + 1) + height: one bit above each column stays empty, so that no line runs over.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from ..core.errors import UserError
from ..core.kernel import kernel, types
from ..core.parameters import parameter
from ..core.rng import below
from . import abi
from .abi import TERMINAL
from .drawing import Notes, squares
from .game import Game, Position
from .setup import boards
from .setup.grids import grid_neighbours

# STONES + seat holds a seat's stones; PLAYED counts both, -1 = over.
ROWS, COLUMNS, STONES, PLAYED, STATE_WORDS = 0, 1, 2, 4, 5


@kernel(types.int64(abi.State, types.int64))
def _drop(state, column):
    """The bit of a stone dropped into a column, 0 if the column is full."""
    bottom = column * (state[ROWS] + 1)
    return ((state[STONES] | state[STONES + 1]) + (1 << bottom)) & (((1 << state[ROWS]) - 1) << bottom)


@kernel(types.boolean(types.int64, types.int64))
def _has_four(stones, rows):
    for direction in range(4):
        shift = rows - 1 + direction if direction else 1
        pairs = stones & (stones >> shift)
        if pairs & (pairs >> 2 * shift) != 0:
            return True
    return False


@kernel(abi.INIT)
def init(state, rng):
    state[STONES:] = 0


@kernel(abi.TO_MOVE)
def to_move(state):
    return TERMINAL if state[PLAYED] < 0 else state[PLAYED] & 1


@kernel(abi.LEGAL)
def legal(state, out):
    n = 0
    for column in range(state[COLUMNS]):
        if _drop(state, column) != 0:
            out[n] = column
            n += 1
    return n


@kernel(abi.STEP)
def step(state, action, rewards):
    seat = state[PLAYED] & 1
    state[STONES + seat] |= _drop(state, action)
    state[PLAYED] += 1
    if _has_four(state[STONES + seat], state[ROWS]):
        rewards[seat] += 1.0
        rewards[1 - seat] -= 1.0
        state[PLAYED] = -1
    elif state[PLAYED] == state[ROWS] * state[COLUMNS]:
        state[PLAYED] = -1


@kernel(abi.PLAYOUT)
def playout(state, depth, rng, returns):
    plies = 0
    while plies < depth and state[PLAYED] >= 0:
        column = below(rng, state[COLUMNS])
        if _drop(state, column) != 0:
            step(state, column, returns)
            plies += 1
    return plies


@kernel(abi.CELLS)
def cells(state, out):
    rows, columns = state[ROWS], state[COLUMNS]
    for cell in range(rows * columns):  # the top row first
        bit = cell % columns * (rows + 1) + rows - 1 - cell // columns
        out[cell] = ((state[STONES] >> bit) & 1) + 2 * ((state[STONES + 1] >> bit) & 1)


@dataclass(frozen=True)
class ConnectFour(Game):
    """Connect four: stones fall down columns, four in a line win; a full board is a draw."""

    name: ClassVar[str] = "connect_four"
    rows: int = parameter(6, "number of rows", low=1, high=12)
    columns: int = parameter(7, "number of columns", low=2, high=12)

    num_seats: ClassVar[int] = 2
    state_words: ClassVar[int] = STATE_WORDS
    num_cell_values: ClassVar[int] = 3
    board_help: ClassVar[str] = "....... / ....... / ....... / ....... / ....... / ...XO.."

    def check(self) -> None:
        if (self.rows + 1) * self.columns > 63:
            raise UserError(
                f"connect_four: (rows + 1) * columns must be at most 63, got {(self.rows + 1) * self.columns};"
                " choose a smaller board."
            )

    @property
    def num_actions(self) -> int:  # type: ignore[override]
        return self.columns

    @property
    def max_legal(self) -> int:  # type: ignore[override]
        return self.columns

    @property
    def num_cells(self) -> int:  # type: ignore[override]
        return self.rows * self.columns

    def variant_words(self) -> tuple[int, ...]:
        return (self.rows, self.columns)

    def build_kernels(self) -> abi.GameKernels:
        return abi.game_kernels(init, to_move, legal, step, playout=playout, cells=cells)

    def symmetries(self) -> npt.NDArray[np.int64]:
        board = np.arange(self.num_cells, dtype=np.int64).reshape(self.rows, self.columns)
        return np.stack([board.ravel(), board[:, ::-1].ravel()])

    def neighbours(self) -> tuple[tuple[int, ...], ...]:
        return grid_neighbours(self.rows, self.columns)

    def action_name(self, action: int) -> str:
        return chr(ord("a") + action)

    def draw(self, state: npt.NDArray[np.int64]) -> str:
        marks = np.array(list(".XO"))[self.cell_values(state)].reshape(self.rows, self.columns)
        names = [self.action_name(column) for column in range(self.columns)]
        return "\n".join(" ".join(row) for row in [*marks.tolist(), names])

    def read_board(self, text: str, seed: int) -> Position:
        board = boards.take_apart(self, text, 2)
        names = "".join(self.action_name(column) for column in range(self.columns))
        marks = boards.read_marks(self, board.rows, (self.columns,) * self.rows, boards.STONES, (names,))
        mover, state, values = boards.alternating_mover(self, marks, board.mover), self.new_state(), np.array(marks)
        for column, stones in enumerate(values.reshape(self.rows, self.columns)[::-1].T):
            if (np.diff((stones != 0).astype(int)) > 0).any():
                raise boards.impossible(self, f"a stone of column {self.action_name(column)} does not lie on another")
            for height in np.flatnonzero(stones):
                state[STONES + stones[height] - 1] |= 1 << (column * (self.rows + 1) + int(height))
        winner = boards.winner_of(self, [bool(_has_four(state[STONES + who], self.rows)) for who in (0, 1)], mover)
        over = winner is not None or values.all()
        state[PLAYED] = -1 if over else np.count_nonzero(values)
        return self.position(state, np.array(boards.win_returns(winner)), seed)

    def clicks(self, state: npt.NDArray[np.int64], action: int) -> tuple[tuple[int, ...], ...]:
        return (tuple(range(action, self.num_cells, self.columns)),)

    def svg(self, state: npt.NDArray[np.int64], changed: Collection[int] = (), notes: Notes | None = None) -> str:
        values = self.cell_values(state).tolist()
        return squares(values, self.columns, changed, notes, paper="#dfe8f3", rows_named=False)
