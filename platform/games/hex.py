"""Hex: seat 0 connects the top with the bottom side, seat 1 the left with the right side. There are no draws.

Groups of stones are trees in the state: each stone points to one of its group, the root to itself. A stone's word is
seat + 1, the sides that its group touches (4: top or left, 8: bottom or right; kept at the root), and 16 * the cell
that it points to; 0 is an empty cell. So a stone costs six reads, regardless of the size of groups.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from ..core.kernel import kernel, types
from ..core.parameters import parameter
from ..core.rng import below
from . import abi
from .abi import TERMINAL
from .drawing import HEX_ROW, SEAT_COLOURS, Notes, hexagons
from .game import Game, Position
from .setup import boards
from .setup.notation import Sgf

SIZE, SWAP, PLAYED, CELL = 0, 1, 2, 3  # PLAYED counts the plies, -1 = over; the cells follow from CELL, row by row
SIDES = 12
BESIDE = ((-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0))


@kernel(types.int64(abi.State, types.int64))
def _root(state, cell):
    while state[CELL + cell] >> 4 != cell:
        cell = state[CELL + cell] >> 4
    return cell


@kernel(types.boolean(abi.State, types.int64, types.int64))
def _place(state, cell, seat):
    """Puts a stone on an empty cell and returns whether it connects the seat's sides."""
    size = state[SIZE]
    row, column = cell // size, cell % size
    along = column if seat else row
    sides = (4 if along == 0 else 0) | (8 if along == size - 1 else 0)
    root = cell
    state[CELL + cell] = seat + 1 | cell << 4
    for down, right in BESIDE:
        r, c = row + down, column + right
        if 0 <= r < size and 0 <= c < size and state[CELL + r * size + c] & 3 == seat + 1:
            other = _root(state, r * size + c)
            if other != root:
                sides |= state[CELL + other] & SIDES
                state[CELL + root] = seat + 1 | other << 4
                root = other
    state[CELL + root] |= sides
    return state[CELL + root] & SIDES == SIDES


@kernel(abi.INIT)
def init(state, rng):
    state[PLAYED:] = 0


@kernel(abi.TO_MOVE)
def to_move(state):
    return TERMINAL if state[PLAYED] < 0 else state[PLAYED] & 1


@kernel(abi.LEGAL)
def legal(state, out):
    n = 0
    for cell in range(state[SIZE] * state[SIZE]):
        if state[CELL + cell] == 0:
            out[n] = cell
            n += 1
    if state[SWAP] and state[PLAYED] == 1:
        out[n] = state[SIZE] * state[SIZE]
        n += 1
    return n


@kernel(abi.STEP)
def step(state, action, rewards):
    seat, size = state[PLAYED] & 1, state[SIZE]
    cell = action
    if action == size * size:  # seat 1 takes over the first stone, mirrored because the sides change too
        for first in range(size * size):
            if state[CELL + first] != 0:
                state[CELL + first] = 0
                cell = first % size * size + first // size
                break
    state[PLAYED] += 1
    if _place(state, cell, seat):
        rewards[seat] += 1.0
        rewards[1 - seat] -= 1.0
        state[PLAYED] = -1


@kernel(abi.PLAYOUT)
def playout(state, depth, rng, returns):
    num_cells = state[SIZE] * state[SIZE]
    plies = 0
    while plies < depth and state[PLAYED] >= 0:
        swap = 1 if state[SWAP] and state[PLAYED] == 1 else 0
        action = below(rng, num_cells + swap)
        if action == num_cells or state[CELL + action] == 0:
            step(state, action, returns)
            plies += 1
    return plies


@kernel(abi.CELLS)
def cells(state, out):
    for cell in range(state[SIZE] * state[SIZE]):
        out[cell] = state[CELL + cell] & 3


@dataclass(frozen=True)
class Hex(Game):
    """Hex: connect your two sides of a rhombus of hexagons; seat 0 top and bottom, seat 1 left and right."""

    name: ClassVar[str] = "hex"
    size: int = parameter(11, "cells per side", low=2, high=19)
    swap: bool = parameter(False, "seat 1 may take over the first stone")

    num_seats: ClassVar[int] = 2
    num_cell_values: ClassVar[int] = 3
    places_stones: ClassVar[bool] = True
    board_help: ClassVar[str] = "11 rows of X, O and dots from the top, with slashes between them, and X to move"

    @property
    def num_actions(self) -> int:  # type: ignore[override]
        return self.size**2 + self.swap

    @property
    def max_legal(self) -> int:  # type: ignore[override]
        return self.size**2

    @property
    def state_words(self) -> int:  # type: ignore[override]
        return CELL + self.size**2

    @property
    def num_cells(self) -> int:  # type: ignore[override]
        return self.size**2

    def variant_words(self) -> tuple[int, ...]:
        return (self.size, int(self.swap))

    def build_kernels(self) -> abi.GameKernels:
        return abi.game_kernels(init, to_move, legal, step, playout=playout, cells=cells)

    def symmetries(self) -> npt.NDArray[np.int64]:
        board = np.arange(self.num_cells, dtype=np.int64)
        return np.stack([board, board[::-1]])

    def neighbours(self) -> tuple[tuple[int, ...], ...]:
        inside = range(self.size)
        return tuple(
            tuple((r + dr) * self.size + c + dc for dr, dc in BESIDE if r + dr in inside and c + dc in inside)
            for r in inside
            for c in inside
        )

    def notation(self) -> Sgf:
        """Returns SGF; the swap is written as the one that mirrors the stone."""
        swap = self.num_cells
        return Sgf(
            11, {"SZ": str(self.size)}, lambda action: "swap-pieces" if action == swap else self.action_name(action)
        )

    def action_name(self, action: int) -> str:
        row, column = divmod(action, self.size)
        return "swap" if action == self.num_cells else f"{chr(ord('a') + column)}{row + 1}"

    def draw(self, state: npt.NDArray[np.int64]) -> str:
        marks = np.array(list(".XO"))[self.cell_values(state)].reshape(self.size, self.size)
        return "\n".join(" " * row + " ".join(line) for row, line in enumerate(marks))

    def board_text(self, state: npt.NDArray[np.int64]) -> str:
        return f"{self.draw(state)}\n{boards.caption(int(to_move(state)))}"

    def read_board(self, text: str, seed: int) -> Position:
        board = boards.take_apart(self, text, 2)
        values = boards.read_marks(self, board.rows, (self.size,) * self.size, boards.STONES)
        swapped = self.swap and self._was_swapped(values, board.mover)
        # After a swap the first stone counts for both: as the ply of seat 0 and as the swap of seat 1.
        counted = [*values, 1] if swapped else values
        mover, state = boards.alternating_mover(self, counted, board.mover), self.new_state()
        won = [False, False]
        for cell, value in enumerate(values):
            if value:
                won[value - 1] |= bool(_place(state, cell, value - 1))
        winner = boards.winner_of(self, won, mover)
        state[PLAYED] = -1 if winner is not None else sum(value > 0 for value in counted)
        return self.position(state, np.array(boards.win_returns(winner)), seed)

    def _was_swapped(self, values: list[int], said: int | None) -> bool:
        """Returns whether seat 1 took over the first stone, from the numbers of stones and the seat to move."""
        first, second = values.count(1), values.count(2)
        return first == second - 1 or (first == second > 0 and said == 1)

    def svg(self, state: npt.NDArray[np.int64], changed: Collection[int] = (), notes: Notes | None = None) -> str:
        """Seat 0's sides are at the top and bottom, seat 1's left and right."""
        centres = [(column + row / 2, row * HEX_ROW) for row in range(self.size) for column in range(self.size)]
        names = [self.action_name(cell) for cell in range(self.num_cells)]
        ends = [centres[cell] for cell in (0, self.size - 1, self.num_cells - 1, self.num_cells - self.size)]
        sides = [
            f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="{SEAT_COLOURS[side % 2]}" stroke-width="1.5"/>'
            for side, ((x1, y1), (x2, y2)) in enumerate(itertools.pairwise([*ends, ends[0]]))
        ]
        return hexagons(centres, self.cell_values(state).tolist(), changed, notes, names, sides)
