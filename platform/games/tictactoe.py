"""Tic-tac-toe: three stones in a row win. The smallest complete example of a game."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from ..core.kernel import kernel, types
from . import abi
from .abi import TERMINAL
from .drawing import Notes, squares
from .game import Game, Position
from .setup import boards
from .setup.grids import grid_neighbours, square_symmetries

# State words: the stones of seat 0 and of seat 1 as bits 0..8 (row-major cells), and the stones played, -1 = over.
PLAYED, STATE_WORDS = 2, 3
FULL = 0b111111111
LINES = np.array([0o007, 0o070, 0o700, 0o111, 0o222, 0o444, 0o421, 0o124], np.int64)


@kernel(types.boolean(types.int64))
def _has_line(stones):
    for line in LINES:
        if stones & line == line:
            return True
    return False


@kernel(abi.INIT)
def init(state, rng):
    state[:] = 0


@kernel(abi.TO_MOVE)
def to_move(state):
    return TERMINAL if state[PLAYED] < 0 else state[PLAYED] & 1


@kernel(abi.LEGAL)
def legal(state, out):
    n = 0
    for cell in range(9):
        if ((state[0] | state[1]) >> cell) & 1 == 0:
            out[n] = cell
            n += 1
    return n


@kernel(abi.STEP)
def step(state, action, rewards):
    seat = state[PLAYED] & 1
    state[seat] |= 1 << action
    state[PLAYED] += 1
    if _has_line(state[seat]):
        rewards[seat] += 1.0
        rewards[1 - seat] -= 1.0
        state[PLAYED] = -1
    elif state[0] | state[1] == FULL:
        state[PLAYED] = -1


@kernel(abi.CELLS)
def cells(state, out):
    for cell in range(9):
        out[cell] = ((state[0] >> cell) & 1) + 2 * ((state[1] >> cell) & 1)


@dataclass(frozen=True)
class TicTacToe(Game):
    """Tic-tac-toe: three stones in a row win; a full board is a draw."""

    name: ClassVar[str] = "tictactoe"
    num_seats: ClassVar[int] = 2
    num_actions: ClassVar[int] = 9
    max_legal: ClassVar[int] = 9
    state_words: ClassVar[int] = STATE_WORDS
    num_cells: ClassVar[int] = 9
    num_cell_values: ClassVar[int] = 3
    places_stones: ClassVar[bool] = True
    board_help: ClassVar[str] = "X . O / . X . / . . ."

    def build_kernels(self) -> abi.GameKernels:
        return abi.game_kernels(init, to_move, legal, step, cells=cells)

    def symmetries(self) -> npt.NDArray[np.int64]:
        return square_symmetries(3)

    def neighbours(self) -> tuple[tuple[int, ...], ...]:
        return grid_neighbours(3, 3)

    def action_name(self, action: int) -> str:
        return "abc"[action % 3] + str(action // 3 + 1)

    def draw(self, state: npt.NDArray[np.int64]) -> str:
        marks = [".XO"[value] for value in self.cell_values(state)]
        return "\n".join(" ".join(marks[row : row + 3]) for row in (0, 3, 6))

    def read_board(self, text: str, seed: int) -> Position:
        board = boards.take_apart(self, text, 2)
        values = np.array(boards.read_marks(self, board.rows, (3, 3, 3), boards.STONES))
        mover, state = boards.alternating_mover(self, values.tolist(), board.mover), self.new_state()
        state[:2] = [int((values == colour) @ (1 << np.arange(9))) for colour in (1, 2)]
        winner = boards.winner_of(self, [bool(_has_line(state[who])) for who in (0, 1)], mover)
        over = winner is not None or 0 not in values
        state[PLAYED] = -1 if over else np.count_nonzero(values)
        return self.position(state, np.array(boards.win_returns(winner)), seed)

    def svg(self, state: npt.NDArray[np.int64], changed: Collection[int] = (), notes: Notes | None = None) -> str:
        return squares(self.cell_values(state).tolist(), 3, changed, notes)
