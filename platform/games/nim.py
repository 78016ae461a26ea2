"""Nim: take any number from one pile; the player who takes the last one wins, or loses (misère).

Action (number - 1) * piles + pile takes a number from a pile.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from ..core.errors import UserError
from ..core.kernel import kernel
from ..core.parameters import parameter
from . import abi
from .abi import TERMINAL
from .drawing import CHANGED, INK, LINE, SEAT_COLOURS, Notes, picture, word
from .game import Game, Position
from .setup import boards

# Piles at the start begin at START, the current ones at PILE; MOVER is the seat to move or TERMINAL.
MAX_PILES = 8
PILES, MISERE, START, MOVER = 0, 1, 2, 2 + MAX_PILES
PILE, STATE_WORDS = MOVER + 1, MOVER + 1 + MAX_PILES


@kernel(abi.INIT)
def init(state, rng):
    for pile in range(MAX_PILES):
        state[PILE + pile] = state[START + pile]
    state[MOVER] = 0


@kernel(abi.TO_MOVE)
def to_move(state):
    return state[MOVER]


@kernel(abi.LEGAL)
def legal(state, out):
    n, largest = 0, 0
    for pile in range(state[PILES]):
        largest = max(largest, state[PILE + pile])
    for number in range(1, largest + 1):
        for pile in range(state[PILES]):
            if state[PILE + pile] >= number:
                out[n] = (number - 1) * state[PILES] + pile
                n += 1
    return n


@kernel(abi.STEP)
def step(state, action, rewards):
    seat = state[MOVER]
    state[PILE + action % state[PILES]] -= action // state[PILES] + 1
    state[MOVER] = 1 - seat
    for pile in range(state[PILES]):
        if state[PILE + pile] > 0:
            return
    state[MOVER] = TERMINAL
    winner = 1 - seat if state[MISERE] else seat
    rewards[winner] += 1.0
    rewards[1 - winner] -= 1.0


@kernel(abi.CELLS)
def cells(state, out):
    for pile in range(state[PILES]):
        out[pile] = state[PILE + pile]


@dataclass(frozen=True)
class Nim(Game):
    """Nim: take any number from one pile; taking the last one wins, or loses in misère play."""

    name: ClassVar[str] = "nim"
    piles: str = parameter("1;3;5;7", "sizes of up to 8 piles, 1 to 99 each, separated by semicolons")
    misere: bool = parameter(False, "whoever takes the last object loses")

    num_seats: ClassVar[int] = 2
    state_words: ClassVar[int] = STATE_WORDS
    board_help: ClassVar[str] = "1 0 5 7, seat 1 to move"

    def check(self) -> None:
        if not re.fullmatch(r"[1-9]\d?(;[1-9]\d?){0,7}", self.piles, re.ASCII):
            raise UserError(f"nim: piles must be up to {MAX_PILES} numbers from 1 to 99 like 3;4;5, got {self.piles}.")

    @property
    def sizes(self) -> tuple[int, ...]:
        return tuple(int(size) for size in self.piles.split(";"))

    @property
    def num_actions(self) -> int:  # type: ignore[override]
        return len(self.sizes) * max(self.sizes)

    @property
    def max_legal(self) -> int:  # type: ignore[override]
        return sum(self.sizes)

    @property
    def num_cells(self) -> int:  # type: ignore[override]
        """The piles, as a board in one row without neighbours."""
        return len(self.sizes)

    @property
    def num_cell_values(self) -> int:  # type: ignore[override]
        return max(self.sizes) + 1

    def variant_words(self) -> tuple[int, ...]:
        return (len(self.sizes), int(self.misere), *self.sizes, *(0,) * (MAX_PILES - len(self.sizes)))

    def build_kernels(self) -> abi.GameKernels:
        return abi.game_kernels(init, to_move, legal, step, cells=cells)

    def action_name(self, action: int) -> str:
        number, pile = divmod(action, len(self.sizes))
        return f"{number + 1} from pile {pile + 1}"

    def draw(self, state: npt.NDArray[np.int64]) -> str:
        return " ".join(str(left) for left in self.cell_values(state))

    def board_text(self, state: npt.NDArray[np.int64]) -> str:
        mover = int(state[MOVER])
        return f"{self.draw(state)}, {'over' if mover < 0 else f'seat {mover} to move'}"

    def read_board(self, text: str, seed: int) -> Position:
        """If the text does not say who is to move, seat 0 is."""
        board = boards.take_apart(self, text, 2)
        piles = [number for row in boards.read_numbers(self, board.rows) for number in row]
        if len(piles) != len(self.sizes) or any(left > size for left, size in zip(piles, self.sizes, strict=True)):
            most = " ".join(map(str, self.sizes))
            raise UserError(
                f"a board of {self} must have at most {most} in its piles, got {text.strip()!r}; correct it."
            )
        state, mover = self.new_state(), board.mover or 0
        state[PILE : PILE + len(piles)] = piles
        state[MOVER] = mover if any(piles) else TERMINAL
        winner = None if any(piles) else mover if self.misere else 1 - mover
        return self.position(state, np.array(boards.win_returns(winner)), seed)

    def svg(self, state: npt.NDArray[np.int64], changed: Collection[int] = (), notes: Notes | None = None) -> str:
        """Every pile is a column; objects that were taken are rings."""
        tall, parts = max(self.sizes), []
        for pile, (size, left) in enumerate(zip(self.sizes, self.cell_values(state), strict=True)):
            x = pile + 0.5
            for i in range(size):
                look = f'fill="{SEAT_COLOURS[0]}"' if i < left else f'fill="none" stroke="{LINE}" stroke-width="0.03"'
                parts.append(f'<circle cx="{x:g}" cy="{tall - i - 0.5:g}" r="0.36" {look}/>')
            parts.append(word(x, tall + 0.4, str(left), 0.45, CHANGED if pile in changed else INK, bold=True))
        return picture(len(self.sizes), tall + 0.8, parts)
