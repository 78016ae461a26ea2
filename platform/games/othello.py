"""Othello: stones enclosed in a straight line change colour; most stones win.

The board is the upper left corner of 8 x 8 bits, bit = row * 8 + column, so that one set of shifts serves all sizes.
Lines are filled step by step in both directions at once. Action row * size + column places a stone. The last action
passes; it is the only one of a seat that cannot enclose anything while the other can.
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
from .setup.grids import grid_neighbours, square_symmetries
from .setup.notation import Sgf, cell_letters

# STONES + seat holds a seat's stones, seat 0 has black; MOVER is the seat to move or TERMINAL.
SIZE, STONES, MOVER, STATE_WORDS = 0, 1, 3, 4

_U, _WORD = np.uint64, types.uint64
_0, _1, _2, _4, _56, _7, _8, _9 = (_U(n) for n in (0, 1, 2, 4, 56, 7, 8, 9))
_PAIRS, _FOURS, _BYTES, _ONES = (_U(n * 0x0101010101010101) for n in (0x55, 0x33, 0x0F, 0x01))
# By size: the whole board, and its columns without the first and the last, across which no line continues.
BOARD = np.array([sum(((1 << n) - 1) << 8 * row for row in range(n)) for n in range(9)], np.uint64)
INNER = np.array([sum((((1 << n) - 1) >> 2 << 1) << 8 * row for row in range(n)) for n in range(9)], np.uint64)


@kernel(types.int64(_WORD))
def _count(bits):
    bits -= (bits >> _1) & _PAIRS
    bits = (bits & _FOURS) + ((bits >> _2) & _FOURS)
    return np.int64((((bits + (bits >> _4)) & _BYTES) * _ONES) >> _56)


@kernel(types.UniTuple(_WORD, 2)(_WORD, _WORD, _WORD))
def _fill(start, through, shift):
    """The unbroken lines of `through` stones that begin next to `start` stones, both ways along one direction."""
    up, down = through & (start << shift), through & (start >> shift)
    for _ in range(5):
        up |= through & (up << shift)
        down |= through & (down >> shift)
    return up, down


@kernel(_WORD(_WORD, _WORD, _WORD))
def _ends(own, through, shift):
    """The cells after lines of the opponent's stones that begin next to own ones."""
    up, down = _fill(own, through, shift)
    return (up << shift) | (down >> shift)


@kernel(_WORD(_WORD, _WORD, _WORD, _WORD))
def _enclosed(stone, own, through, shift):
    """The opponent's stones between a new stone and own ones."""
    up, down = _fill(stone, through, shift)
    if own & (up << shift) == _0:
        up = _0
    if own & (down >> shift) == _0:
        down = _0
    return up | down


@kernel(_WORD(abi.State, types.int64))
def _moves(state, seat):
    """The cells where a seat may place a stone."""
    own, other, size = _U(state[STONES + seat]), _U(state[STONES + 1 - seat]), state[SIZE]
    inner = other & INNER[size]
    ends = _ends(own, other, _8) | _ends(own, inner, _1) | _ends(own, inner, _7) | _ends(own, inner, _9)
    return ends & BOARD[size] & ~(own | other)


@kernel(_WORD(abi.State, _WORD, abi.Floats))
def _place(state, stone, rewards):
    """Places the mover's stone, or passes if 0; returns the next mover's moves; ends the game if nobody has any."""
    seat = state[MOVER]
    own, other = _U(state[STONES + seat]), _U(state[STONES + 1 - seat])
    inner = other & INNER[state[SIZE]]
    turned = _enclosed(stone, own, other, _8) | _enclosed(stone, own, inner, _1)
    turned |= _enclosed(stone, own, inner, _7) | _enclosed(stone, own, inner, _9)
    state[STONES + seat] = np.int64(own | stone | turned)
    state[STONES + 1 - seat] = np.int64(other ^ turned)
    state[MOVER] = 1 - seat
    moves = _moves(state, 1 - seat)
    if moves == _0 and _moves(state, seat) == _0:
        state[MOVER] = TERMINAL
        lead = _count(_U(state[STONES])) - _count(_U(state[STONES + 1]))
        rewards[0] += np.sign(lead)
        rewards[1] -= np.sign(lead)
    return moves


@kernel(abi.INIT)
def init(state, rng):
    corner = state[SIZE] // 2 * 9 - 9  # of the four middle cells
    state[STONES] = (1 << (corner + 1)) | (1 << (corner + 8))
    state[STONES + 1] = (1 << corner) | (1 << (corner + 9))
    state[MOVER] = 0


@kernel(abi.TO_MOVE)
def to_move(state):
    return state[MOVER]


@kernel(abi.LEGAL)
def legal(state, out):
    size, moves = state[SIZE], _moves(state, state[MOVER])
    n = 0
    for cell in range(size * size):
        if (moves >> _U(cell // size * 8 + cell % size)) & _1 != _0:
            out[n] = cell
            n += 1
    if n == 0:
        out[0] = size * size
        n = 1
    return n


@kernel(abi.STEP)
def step(state, action, rewards):
    size = state[SIZE]
    stone = _1 << _U(action // size * 8 + action % size) if action < size * size else _0
    _place(state, stone, rewards)


@kernel(abi.PLAYOUT)
def playout(state, depth, rng, returns):
    if state[MOVER] < 0:
        return 0
    moves = _moves(state, state[MOVER])
    plies = 0
    while plies < depth and state[MOVER] >= 0:
        if moves != _0:
            for _ in range(below(rng, _count(moves))):
                moves &= moves - _1
        moves = _place(state, moves & (~moves + _1), returns)
        plies += 1
    return plies


@kernel(abi.CELLS)
def cells(state, out):
    size, black, white = state[SIZE], _U(state[STONES]), _U(state[STONES + 1])
    for cell in range(size * size):
        bit = _U(cell // size * 8 + cell % size)
        out[cell] = np.int64((black >> bit) & _1) + 2 * np.int64((white >> bit) & _1)


@dataclass(frozen=True)
class Othello(Game):
    """Othello: enclose stones to turn them over; when nobody can move, the player with the most stones wins."""

    name: ClassVar[str] = "othello"
    size: int = parameter(8, "cells per side, an even number", low=4, high=8)

    num_seats: ClassVar[int] = 2
    state_words: ClassVar[int] = STATE_WORDS
    num_cell_values: ClassVar[int] = 3
    board_help: ClassVar[str] = "8 rows of X, O and dots from the top, with slashes between them, and O to move"

    def check(self) -> None:
        if self.size % 2:
            raise UserError(f"othello: size must be even, got {self.size}; choose 4, 6 or 8.")

    @property
    def num_actions(self) -> int:  # type: ignore[override]
        return self.size**2 + 1

    @property
    def max_legal(self) -> int:  # type: ignore[override]
        return self.size**2 - 4

    @property
    def num_cells(self) -> int:  # type: ignore[override]
        return self.size**2

    def variant_words(self) -> tuple[int, ...]:
        return (self.size,)

    def build_kernels(self) -> abi.GameKernels:
        return abi.game_kernels(init, to_move, legal, step, playout=playout, cells=cells)

    def symmetries(self) -> npt.NDArray[np.int64]:
        return square_symmetries(self.size)

    def neighbours(self) -> tuple[tuple[int, ...], ...]:
        return grid_neighbours(self.size, self.size)

    def notation(self) -> Sgf:
        return Sgf(2, {"SZ": str(self.size)}, self._sgf_move)

    def _sgf_move(self, action: int) -> str:
        return "" if action == self.num_cells else cell_letters(*divmod(action, self.size))

    def action_name(self, action: int) -> str:
        row, column = divmod(action, self.size)
        return "pass" if action == self.num_cells else f"{'abcdefgh'[column]}{row + 1}"

    def draw(self, state: npt.NDArray[np.int64]) -> str:
        marks = np.array(list(".XO"))[self.cell_values(state)].reshape(self.size, self.size)
        return "\n".join(" ".join(row) for row in marks)

    def board_text(self, state: npt.NDArray[np.int64]) -> str:
        return f"{self.draw(state)}\n{boards.caption(int(state[MOVER]))}"

    def read_board(self, text: str, seed: int) -> Position:
        """If the text does not say who is to move, the number of stones decides, as if nobody had passed."""
        board = boards.take_apart(self, text, 2)
        values = np.array(boards.read_marks(self, board.rows, (self.size,) * self.size, boards.STONES))
        middle = values.reshape(self.size, self.size)[self.size // 2 - 1 : self.size // 2 + 1, :]
        if not middle[:, self.size // 2 - 1 : self.size // 2 + 1].all():
            raise boards.impossible(self, "one of the four middle cells is empty, but stones stay there")
        state, cells = self.new_state(), np.arange(self.num_cells)
        bits = np.left_shift(1, (cells // self.size * 8 + cells % self.size).astype(np.uint64), dtype=np.uint64)
        for colour in (1, 2):
            state[STONES + colour - 1] = bits[values == colour].sum(dtype=np.uint64).astype(np.int64)
        state[MOVER] = np.count_nonzero(values) % 2 if board.mover is None else board.mover
        if any(_moves(state, seat) for seat in (0, 1)):
            return self.position(state, None, seed)
        state[MOVER] = TERMINAL
        lead = int((values == 1).sum()) - int((values == 2).sum())
        return self.position(state, np.array(boards.win_returns(None if lead == 0 else int(lead < 0))), seed)

    def clicks(self, state: npt.NDArray[np.int64], action: int) -> tuple[tuple[int, ...], ...]:
        return ((action,),) if action < self.num_cells else ()

    def svg(self, state: npt.NDArray[np.int64], changed: Collection[int] = (), notes: Notes | None = None) -> str:
        return squares(self.cell_values(state).tolist(), self.size, changed, notes, paper="#dcebdc")
