"""2048 as a game: its kernels, its drawing, and its recorded boards."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ...core.errors import UserError
from ...core.parameters import parameter
from .. import abi
from ..drawing import CHANGED, INK, Notes, picture
from ..drawing import word as written
from ..game import Game, Position
from ..setup import boards
from ..setup.grids import grid_neighbours, square_symmetries
from .board import legal_mask_any
from .lanes import LANE_WORDS, playouts
from .playout import playout
from .rules import (
    BOARD,
    HIGH,
    MOVES,
    PENDING,
    STATE_WORDS,
    cells,
    chance,
    duel_init,
    duel_legal,
    duel_step,
    duel_to_move,
    init,
    legal,
    sample_chance,
    step,
    to_move,
)

ACTION_NAMES = ("left", "right", "up", "down")
# By exponent, from light to dark, distinct to every eye (the map YlGnBu).
TILE_COLOURS = (
    "#e4dfd5", "#fcfed3", "#f4fbc0", "#e9f7b1", "#d6efb3", "#c2e7b4",
    "#a0dab8", "#7cccbb", "#5fc1c0", "#40b5c4", "#2fa4c2", "#1f93c0",
    "#1f7ab5", "#2262aa", "#234da0", "#253896", "#1a2b7e", "#0d2161",
)  # fmt: skip


@dataclass(frozen=True)
class Twenty48(Game):
    """2048: slide and merge tiles on a square board; the score counts."""

    name: ClassVar[str] = "2048"
    size: int = parameter(4, "cells per side", low=2, high=4)

    num_seats: ClassVar[int] = 1
    num_actions: ClassVar[int] = 4
    max_legal: ClassVar[int] = 4
    state_words: ClassVar[int] = STATE_WORDS
    num_cell_values: ClassVar[int] = 18
    board_help: ClassVar[str] = "2 . . 2 / 4 8 . . / . . 16 . / . . . ., score 100"
    lane_words: ClassVar[int] = LANE_WORDS
    milestones: ClassVar[Mapping[str, tuple[int, ...]]] = {"max_tile": (1024, 2048, 4096, 8192, 16384, 32768)}

    @property
    def max_outcomes(self) -> int:  # type: ignore[override]
        return 2 * self.size**2

    @property
    def num_cells(self) -> int:  # type: ignore[override]
        return self.size**2

    @property
    def max_return(self) -> float:  # type: ignore[override]
        """The published bound of the score, 3,932,156 on the 4x4 board (Kutsch 2017, 5); no game can exceed it."""
        return float((self.num_cells - 1) * 2 ** (self.num_cells + 2) - 4)

    @property
    def min_return(self) -> float:
        return 0.0

    def variant_words(self) -> tuple[int, ...]:
        return (self.size,)

    def build_kernels(self) -> abi.GameKernels:
        return abi.game_kernels(
            init,
            to_move,
            legal,
            step,
            chance=chance,
            sample_chance=sample_chance,
            playout=playout,
            playouts=playouts,
            cells=cells,
        )

    def symmetries(self) -> npt.NDArray[np.int64]:
        return square_symmetries(self.size)

    def neighbours(self) -> tuple[tuple[int, ...], ...]:
        return grid_neighbours(self.size, self.size)

    def action_name(self, action: int) -> str:
        return ACTION_NAMES[action]

    def outcome_name(self, outcome: int) -> str:
        row, column = divmod(outcome // 2, self.size)
        return f"{2 + 2 * (outcome & 1)} at row {row + 1}, column {column + 1}"

    def facts(self, state: npt.NDArray[np.int64]) -> dict[str, float]:
        return self.facts_of(state[None])[0]

    def facts_of(self, states: npt.NDArray[np.int64]) -> list[dict[str, float]]:
        board, high = (states[:, [word]].astype(np.uint64) for word in (BOARD, HIGH))
        cells = np.arange(0, 4 * self.num_cells, 4, dtype=np.uint64)
        exponents = (board >> cells & np.uint64(15)) + (high >> cells & np.uint64(1)) * np.uint64(16)
        return [{"max_tile": 1 << exponent} for exponent in exponents.max(axis=1).tolist()]

    def draw(self, state: npt.NDArray[np.int64]) -> str:
        tiles = [str(2**e) if e else "." for e in self.cell_values(state)]
        rows = [tiles[i : i + self.size] for i in range(0, len(tiles), self.size)]
        return "\n".join(" ".join(f"{tile:>6}" for tile in row) for row in rows)

    def svg(self, state: npt.NDArray[np.int64], changed: Collection[int] = (), notes: Notes | None = None) -> str:
        parts = [f'<rect width="{self.size}" height="{self.size}" rx="0.1" fill="#c9c4ba"/>']
        for cell, power in enumerate(self.cell_values(state).tolist()):
            row, column = divmod(cell, self.size)
            x, y, look = column + 0.05, row + 0.05, f'rx="0.06" fill="{TILE_COLOURS[power]}"'
            look += f' stroke="{CHANGED}" stroke-width="0.04"' if cell in changed and power else ""
            parts.append(f'<rect x="{x:g}" y="{y:g}" width="0.9" height="0.9" {look}/>')
            text = str(1 << power) if power else (notes or {}).get(cell, "")
            size = (0.42, 0.42, 0.42, 0.36, 0.3, 0.24, 0.2)[len(text)]
            parts.append(written(column + 0.5, row + 0.5, text, size, "#fff" if power > 8 else INK, bold=True))
        return picture(self.size, self.size, parts)

    @property
    def default_agent(self) -> str:  # type: ignore[override]
        """A strong agent for 4x4 boards, the general one for others."""
        return "expectimax(depth=3,evaluator=rows2048)" if self.size == 4 else Game.default_agent

    def read_board(self, text: str, seed: int) -> Position:
        """If the text has no score, it is 0."""
        score = re.search(r"\bscore\s+(\d{1,7})\b", text, re.IGNORECASE)
        text = text if score is None else text[: score.start()] + text[score.end() :]
        rows = boards.read_numbers(self, [row for row in re.split(r"[\n/]", text) if row.strip(" ,")])
        if len(rows) == 1 and len(rows[0]) == self.num_cells:
            rows = [rows[0][i : i + self.size] for i in range(0, self.num_cells, self.size)]
        if len(rows) != self.size or any(len(row) != self.size for row in rows):
            got = " / ".join(" ".join(map(str, row)) for row in rows)
            raise UserError(
                f"a board of {self} must have {self.size} rows of {self.size} cells, got {got}; complete it."
            )
        if not any(map(any, rows)):
            raise UserError(f"a board of {self} must have a tile, got none; add one.")
        try:
            state = self.position_from_tiles(rows)
        except ValueError as error:
            raise UserError(f"{error}; correct it.") from None
        # The largest board that moves can lead to is full, with one tile of every power from 4 up: its sum is 4 less.
        total, end = sum(map(sum, rows)), 2 ** (self.num_cells + 2)
        if total >= end:
            raise UserError(f"the tiles of {self} must have a sum below {end:,}, got {total:,}; correct the board.")
        return self.position(state, np.array([float(score[1]) if score else 0.0]), seed)

    def position_from_tiles(self, board: list[list[int]]) -> npt.NDArray[np.int64]:
        """Returns the state with the given tile values and the player to move (or over)."""
        if len(board) != self.size or any(len(row) != self.size for row in board):
            raise ValueError(f"a board must have {self.size} rows of {self.size} tiles, got {board}")
        state = self.new_state()
        packed = high = 0
        for cell, tile in enumerate(tile for row in board for tile in row):
            exponent = tile.bit_length() - 1 if tile else 0
            if tile and (tile != 1 << exponent or not 1 <= exponent <= 17):
                raise ValueError(f"a tile must be 0 or a power of two from 2 to 131072, got {tile}")
            packed |= (exponent & 15) << 4 * cell
            high |= (exponent >> 4) << 4 * cell
        state[BOARD:PENDING] = np.array([packed, high], np.uint64).astype(np.int64)
        legal_actions = legal_mask_any(np.uint64(packed), np.uint64(high), self.size)
        state[PENDING] = 0 if legal_actions else -1
        return state

    def verify_record(self, record: Mapping[str, Any]) -> str | None:
        """Checks `{"board": rows, "moves": {name: {"after": rows, "reward": points}}}`, every legal move of a board."""
        state = self.position_from_tiles(record["board"])
        position = self.position(state)
        got = {}
        for action in position.legal_actions():
            after = position.play(action, draw_chance=False)
            rows = [
                [int(2**e) if e else 0 for e in row] for row in self.cell_values(after.state).reshape(self.size, -1)
            ]
            got[ACTION_NAMES[action]] = {"after": rows, "reward": int(after.returns[0])}
        return None if got == record["moves"] else f"the moves must be {record['moves']}, got {got}"


@dataclass(frozen=True)
class Duel2048(Twenty48):
    """2048 against a second player, who places a 2 or a 4 on any empty cell and loses the points that are made.

    Source: Kutsch 2017, 4.5, which names a player that places tiles where they harm most, but has not built it.
    """

    name: ClassVar[str] = "duel2048"

    num_seats: ClassVar[int] = 2
    max_outcomes: ClassVar[int] = 1
    lane_words: ClassVar[int] = 0
    default_agent: ClassVar[str] = Game.default_agent

    @property
    def num_actions(self) -> int:  # type: ignore[override]
        return MOVES + 2 * self.num_cells

    @property
    def max_legal(self) -> int:  # type: ignore[override]
        return 2 * (self.num_cells - 1)  # a move leaves at least one tile

    @property
    def min_return(self) -> float:
        return -self.max_return

    def build_kernels(self) -> abi.GameKernels:
        return abi.game_kernels(duel_init, duel_to_move, duel_legal, duel_step, cells=cells)

    def action_name(self, action: int) -> str:
        return ACTION_NAMES[action] if action < MOVES else self.outcome_name(action - MOVES)

    def board_text(self, state: npt.NDArray[np.int64]) -> str:
        mover = int(duel_to_move(state))
        return f"{self.draw(state)}\n{'over' if mover < 0 else f'seat {mover} to move'}"

    def read_board(self, text: str, seed: int) -> Position:
        """If the text has no score, it is 0; if it does not say who is to move, the first seat is."""
        board = boards.take_apart(self, text, self.num_seats)
        position = super().read_board("\n".join(board.rows), seed)
        state, score = position.state.copy(), position.returns[0]
        if board.mover == 1:
            if not (self.cell_values(state) == 0).any():
                raise boards.impossible(self, "there is no free cell for a tile")
            state[PENDING] = 1
        return self.position(state, np.array([score, -score]), seed)
