"""Go by area: surrounded chains are captured, stones and surrounded empty cells count, two passes end the game.

Action row * size + column places a stone; row 0 is the lowest; the last action passes. Nobody may capture their own
stones. A game also ends after three plies per cell, as it could go round in circles with a simple ko.
Source: Tromp and Taylor, "The game of Go", 1996; https://tromp.github.io/go.html.
Differs: suicide is not allowed, as engines expect.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from ...core.errors import UserError
from ...core.kernel import kernel
from ...core.parameters import parameter
from ...core.rng import below
from .. import abi
from ..abi import TERMINAL
from ..drawing import CHANGED, LABEL, LINE, Notes, cell_mark, picture, stone, word
from ..game import Game, Position
from ..setup import boards
from ..setup.grids import grid_neighbours, square_symmetries
from ..setup.notation import Sgf, cell_letters
from .board import (
    BORDER,
    CAPTURES,
    COLOUR,
    LARGEST,
    LIBERTIES_AT,
    MOVER,
    PASSES,
    PLIES,
    PLIES_PER_CELL,
    SITES,
    SIZE,
    TWICE_KOMI,
    area_lead,
    first_hash,
    may_place,
    num_words,
    place,
    root_of,
    site_of,
)

LETTERS = "ABCDEFGHJKLMNOPQRST"  # of the columns; there is no I


@kernel(abi.INIT)
def init(state, rng):
    state[MOVER:] = 0
    for site in range(SITES, first_hash(state)):
        state[site] = BORDER
    for cell in range(state[SIZE] * state[SIZE]):
        state[site_of(state, cell)] = 0


@kernel(abi.TO_MOVE)
def to_move(state):
    return state[MOVER]


@kernel(abi.LEGAL)
def legal(state, out):
    cells, n = state[SIZE] * state[SIZE], 0
    for cell in range(cells):
        if may_place(state, site_of(state, cell)):
            out[n] = cell
            n += 1
    out[n] = cells
    return n + 1


@kernel(abi.STEP)
def step(state, action, rewards):
    cells, now = state[SIZE] * state[SIZE], first_hash(state) + state[PLIES]
    if action == cells:
        state[now + 1] = state[now]
        state[PASSES] += 1
    else:
        state[now + 1] = place(state, site_of(state, action))
        state[PASSES] = 0
    state[PLIES] += 1
    state[MOVER] = 1 - state[MOVER]
    if state[PASSES] == 2 or state[PLIES] == PLIES_PER_CELL * cells:
        state[MOVER] = TERMINAL
        won = np.sign(2 * area_lead(state) - state[TWICE_KOMI])
        rewards[0] += won
        rewards[1] -= won


@kernel(abi.PLAYOUT)
def playout(state, depth, rng, returns):
    """Draws cells until one may be played, so all legal actions are equally likely."""
    cells, plies = state[SIZE] * state[SIZE], 0
    while plies < depth and state[MOVER] >= 0:
        action = below(rng, cells + 1)
        if action == cells or may_place(state, site_of(state, action)):
            step(state, action, returns)
            plies += 1
    return plies


@kernel(abi.CELLS)
def cells(state, out):
    for cell in range(state[SIZE] * state[SIZE]):
        out[cell] = state[site_of(state, cell)] & COLOUR


@dataclass(frozen=True)
class Go(Game):
    """Go by area: surround chains to capture them; the larger area wins, komi included, when both have passed."""

    name: ClassVar[str] = "go"
    size: int = parameter(9, "cells per side", low=5, high=LARGEST)
    komi: float = parameter(7.5, "added to white's area; a multiple of 0.5", low=-361.0, high=361.0)
    superko: bool = parameter(True, "no earlier position may recur; false = only the last one may not (simple ko)")

    num_seats: ClassVar[int] = 2
    num_cell_values: ClassVar[int] = 3
    board_help: ClassVar[str] = "9 rows of X, O and dots from the top, with slashes between them, and O to move"

    def check(self) -> None:
        if self.komi * 2 % 1:
            raise UserError(f"go: komi must be a multiple of 0.5, got {self.komi:g}; choose such as 7 or 7.5.")

    @property
    def num_actions(self) -> int:  # type: ignore[override]
        return self.size**2 + 1

    @property
    def max_legal(self) -> int:  # type: ignore[override]
        return self.size**2 + 1

    @property
    def state_words(self) -> int:  # type: ignore[override]
        return num_words(self.size)

    @property
    def num_cells(self) -> int:  # type: ignore[override]
        return self.size**2

    def variant_words(self) -> tuple[int, ...]:
        return (self.size, int(2 * self.komi), int(self.superko))

    def build_kernels(self) -> abi.GameKernels:
        return abi.game_kernels(init, to_move, legal, step, playout=playout, cells=cells)

    def symmetries(self) -> npt.NDArray[np.int64]:
        return square_symmetries(self.size)

    def neighbours(self) -> tuple[tuple[int, ...], ...]:
        return grid_neighbours(self.size, self.size)

    def lead(self, state: npt.NDArray[np.int64]) -> float:
        """Returns black's lead, including komi, if the game were over."""
        return float(area_lead(state.copy())) - self.komi

    def notation(self) -> Sgf:
        rules = f"area scoring, no suicide, {'positional superko' if self.superko else 'simple ko'}"
        properties = {"SZ": str(self.size), "KM": f"{self.komi:g}", "RU": rules}
        return Sgf(1, properties, self._sgf_move, lambda state: f"{abs(self.lead(state)):g}")

    def _sgf_move(self, action: int) -> str:
        row, column = divmod(action, self.size)
        return "" if action == self.num_cells else cell_letters(self.size - 1 - row, column)

    def action_name(self, action: int) -> str:
        row, column = divmod(action, self.size)
        return "pass" if action == self.num_cells else f"{LETTERS[column]}{row + 1}"

    def draw(self, state: npt.NDArray[np.int64]) -> str:
        marks = np.array(list(".XO"))[self.cell_values(state)].reshape(self.size, self.size)
        rows = [f"{row + 1:2} {' '.join(marks[row])}" for row in reversed(range(self.size))]
        return "\n".join([*rows, f"   {' '.join(LETTERS[: self.size])}"])

    def board_text(self, state: npt.NDArray[np.int64]) -> str:
        return f"{self.draw(state)}\n{boards.caption(int(state[MOVER]))}"

    def shows_all(self, state: npt.NDArray[np.int64]) -> bool:
        """False after captures, as earlier positions may not recur, and after a pass."""
        return not state[CAPTURES] and not state[PASSES]

    def read_board(self, text: str, seed: int) -> Position:
        """If the text does not say who is to move, white is if black has more stones, otherwise black.

        The position has no earlier ones.
        """
        board = boards.take_apart(self, text, 2)
        lengths = (self.size,) * self.size
        marks = boards.read_marks(self, board.rows, lengths, boards.STONES, (LETTERS[: self.size],))
        values = np.array(marks).reshape(self.size, self.size)[::-1].ravel()  # row 0 is the lowest one
        position = self.before_chance(seed)
        state = position.state
        for cell in np.flatnonzero(values):  # no order captures a chain that has a liberty in the end
            state[MOVER] = values[cell] - 1
            state[first_hash(state)] = place(state, site_of(state, cell))
        stones, left = np.flatnonzero(values).tolist(), self.cell_values(state)
        dead = [cell for cell in stones if left[cell] != values[cell] or not self._breathes(state, cell)]
        if dead:
            raise boards.impossible(self, f"the chain at {self.action_name(dead[0])} has no liberty")
        mover = int((values == 1).sum() > (values == 2).sum())
        state[MOVER] = mover if board.mover is None else board.mover
        return position

    def _breathes(self, state: npt.NDArray[np.int64], cell: int) -> bool:
        """Returns whether the chain at a cell has a liberty."""
        return bool(state[root_of(state[site_of(state, cell)])] >> LIBERTIES_AT)

    def clicks(self, state: npt.NDArray[np.int64], action: int) -> tuple[tuple[int, ...], ...]:
        return ((action,),) if action < self.num_cells else ()

    def svg(self, state: npt.NDArray[np.int64], changed: Collection[int] = (), notes: Notes | None = None) -> str:
        """Returns stones on the crossings of lines, with row 0 at the bottom."""
        last = self.size - 1
        parts = [f'<g stroke="{LINE}" stroke-width="0.03">']
        for line in range(self.size):
            parts.append(f'<path d="M0.5 {line + 0.5}h{last}M{line + 0.5} 0.5v{last}"/>')
        parts.append("</g>")
        for cell, value in enumerate(self.cell_values(state).tolist()):
            x, y = cell % self.size + 0.5, last - cell // self.size + 0.5
            if value:
                parts.append(stone(x, y, value, cell in changed, radius=0.46))
            elif cell in changed:
                parts.append(f'<circle cx="{x}" cy="{y}" r="0.12" fill="{CHANGED}"/>')
            elif notes and cell in notes:
                parts.append(word(x, y, notes[cell], 0.3, "#555"))
            clear = 'width="1" height="1" fill="none" pointer-events="all"'
            parts.append(f'<rect x="{x - 0.5:g}" y="{y - 0.5:g}" {clear}{cell_mark(cell)}/>')
        for line in range(self.size):
            parts.append(word(line + 0.5, self.size + 0.3, LETTERS[line], 0.32, LABEL))
            parts.append(word(-0.28, last - line + 0.5, str(line + 1), 0.32, LABEL))
        return picture(self.size, self.size + 0.5, parts, left=-0.5)
