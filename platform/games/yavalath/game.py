"""Yavalath: four of your own in a row win, three without a four lose; two or three players, board sizes 3 to 8.

A move is a cell (rows from the top, each from the left) or, as the second ply only, the swap: seats change, stones keep
their colour. Lines go through the last stone; five or more count as four, and a four with a separate three wins. With
three players, if the mover or the next player could win at once, the mover must play one of those cells. A three puts
its player out (the stones stay), a four takes the best rank left, and the others play on unless `play_on` is false;
those left when the board is full, or when the game stops, share the ranks left. Returns go from 1 for the first to -1
for the last rank. Source: Weitz 2022, 2.1; rules as in Ludii.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ...core.errors import UserError
from ...core.parameters import parameter
from .. import abi
from ..drawing import HEX_ROW, Notes, hexagons
from ..game import Game, Position
from ..setup import boards
from ..setup.boards import BoardText
from .board import (
    END,
    FOUR,
    MAX_SIZE,
    MIN_SIZE,
    MOVER,
    RANK,
    SETS,
    STONES,
    SWAPPED,
    THREE,
    WORDS,
    coordinates,
    num_cells,
)
from .forced import forced_win
from .lanes import LANE_WORDS, playouts
from .records import disagreement
from .rules import DRAW, cells, init, legal, playout, playout_three, step, to_move

MARKS = ".XO#"


@dataclass(frozen=True)
class Yavalath(Game):
    """Yavalath: four of your own in a row win, three without a four lose."""

    name: ClassVar[str] = "yavalath"
    places_stones: ClassVar[bool] = True
    board_help: ClassVar[str] = "rows of X, O and dots from the top, with slashes between them, and O to move"
    size: int = parameter(5, "cells per side of the hexagon", low=MIN_SIZE, high=MAX_SIZE)
    players: int = parameter(2, "number of seats", low=2, high=3)
    swap: bool = parameter(False, "the second of two players may take over the first stone")
    play_on: bool = parameter(True, "three players: after a four, the others play on for the lower ranks")

    def check(self) -> None:
        if self.swap and self.players == 3:
            raise UserError("yavalath: swap must be false with players=3, got true; it is a rule for two players.")

    @property
    def num_seats(self) -> int:  # type: ignore[override]
        return self.players

    @property
    def num_cells(self) -> int:  # type: ignore[override]
        return num_cells(self.size)

    @property
    def num_actions(self) -> int:  # type: ignore[override]
        return self.num_cells + self.swap

    @property
    def max_legal(self) -> int:  # type: ignore[override]
        return self.num_cells

    @property
    def num_cell_values(self) -> int:  # type: ignore[override]
        return 1 + self.players

    @property
    def state_words(self) -> int:  # type: ignore[override]
        return SETS + int(WORDS[self.size]) * (1 + 3 * self.players + (3 if self.players == 3 else 0))

    @property
    def lane_words(self) -> int:  # type: ignore[override]
        return LANE_WORDS if self.players == 2 and WORDS[self.size] == 1 else 0

    def variant_words(self) -> tuple[int, ...]:
        return (self.size, self.players, int(self.swap), int(self.play_on))

    def build_kernels(self) -> abi.GameKernels:
        kernels = {"cells": cells, "playout": playout if self.players == 2 else playout_three}
        if self.players == 2:
            kernels["forced_win"] = forced_win
            if self.lane_words:
                kernels["playouts"] = playouts
        return abi.game_kernels(init, to_move, legal, step, **kernels)

    def symmetries(self) -> npt.NDArray[np.int64]:
        """Six rotations and their mirror images."""
        cells = coordinates(self.size)
        index = {cell: i for i, cell in enumerate(cells)}
        table = []
        for mirrored in (False, True):
            turned = [(r, q) if mirrored else (q, r) for q, r in cells]
            for _ in range(6):
                table.append([index[cell] for cell in turned])
                turned = [(-r, q + r) for q, r in turned]
        return np.array(table, np.int64)

    def neighbours(self) -> tuple[tuple[int, ...], ...]:
        index = {cell: i for i, cell in enumerate(coordinates(self.size))}
        around = ((0, -1), (1, -1), (-1, 0), (1, 0), (-1, 1), (0, 1))
        return tuple(tuple(index[q + dq, r + dr] for dq, dr in around if (q + dq, r + dr) in index) for q, r in index)

    def grid(self) -> npt.NDArray[np.int64]:
        return np.array([(r, q) for q, r in coordinates(self.size)], np.int64) + (self.size - 1)

    def action_name(self, action: int) -> str:
        """Columns of constant q by letter, rows from the bottom by number, as in Ludii."""
        if action == self.num_cells:
            return "swap"
        q, r = coordinates(self.size)[action]
        return chr(ord("A") + q + self.size - 1) + str(self.size - r)

    def facts(self, state: npt.NDArray[np.int64]) -> dict[str, float]:
        """The number of stones, whether the seats were swapped, and the kind of end."""
        facts: dict[str, float] = {"stones": int(state[STONES])}
        ends = {"by_four": FOUR, "by_three": THREE, "full_board": DRAW}
        facts |= {name: int(state[END] == end) for name, end in ends.items()}
        return facts | ({"swapped": int(state[SWAPPED])} if self.swap else {})

    def draw(self, state: npt.NDArray[np.int64]) -> str:
        """A hexagon; a column's letter is at its end, at the lower right."""
        n = self.size - 1
        rows: dict[int, list[str]] = {r: [] for r in range(-n, n + 2)}
        for (_, r), value in zip(coordinates(self.size), self.cell_values(state), strict=True):
            rows[r].append(MARKS[value])
        letters = [chr(ord("A") + column) for column in range(2 * n + 1)]
        rows[n + 1] = letters[:n]
        for r in range(1, n + 2):
            rows[r].append(letters[2 * n + 1 - r])
        lines = [
            f"{self.size - r if r <= n else '':>2} " + " " * (abs(r) if r <= n else n + 1) + " ".join(row)
            for r, row in rows.items()
        ]
        return "\n".join([*lines, self._caption(state)])

    def shows_all(self, state: npt.NDArray[np.int64]) -> bool:
        """With three players, only if nobody has gone out: the text does not say how."""
        return self.players == 2 or not state[RANK : RANK + self.players].any()

    def read_board(self, text: str, seed: int) -> Position:
        return _read(self, text, seed)

    def svg(self, state: npt.NDArray[np.int64], changed: Collection[int] = (), notes: Notes | None = None) -> str:
        centres = [(q + r / 2, r * HEX_ROW) for q, r in coordinates(self.size)]
        names = [self.action_name(cell) for cell in range(self.num_cells)]
        return hexagons(centres, self.cell_values(state).tolist(), changed, notes, names)

    def _caption(self, state: npt.NDArray[np.int64]) -> str:
        mover = int(state[MOVER])
        if mover < 0:
            return "over"
        colour = mover if self.players == 3 else int(state[STONES]) & 1
        return f"{MARKS[1 + colour]} to move, seat {mover}"

    def verify_record(self, record: Mapping[str, Any]) -> str | None:
        """Checks a recorded game, perft counts or a cell; records.py describes the formats."""
        return disagreement(self, record)


def _read(game: Yavalath, text: str, seed: int) -> Position:
    """Returns the position of a board; with three players nobody may have gone out yet."""
    board, n = boards.take_apart(game, text, game.players), game.size - 1
    letters = "".join(chr(ord("A") + column) for column in range(2 * n + 1))
    lengths = [2 * n + 1 - abs(r) for r in range(-n, n + 1)]
    marks = {**boards.STONES, **({"#": 3} if game.players == 3 else {})}
    tails = letters[n + 1 :]  # from the last row upwards
    values = boards.read_marks(game, board.rows, lengths, marks, (letters[: n + 1],), tails)
    counts = [values.count(1 + colour) for colour in range(game.players)]
    played = sum(counts)
    if counts != [played // game.players + (colour < played % game.players) for colour in range(game.players)]:
        raise UserError(
            f"the colours of {game} must have placed their stones in turn, got {counts}; correct the board."
        )
    boards.require_mover(game, played % game.players, board.mark)
    stones = [[cell for cell, value in enumerate(values) if value == 1 + colour] for colour in range(game.players)]
    return _in_some_order(game, stones, _is_swapped(game, played, board), seed)


def _is_swapped(game: Yavalath, played: int, board: BoardText) -> bool:
    """Returns whether the seats were swapped, so that the seat to move has the other colour."""
    if game.players == 3 or board.seat is None:
        return False
    swapped = board.seat != played % 2
    if swapped and not (game.swap and played):
        boards.require_mover(game, played % 2, board.seat)
    return swapped


def _in_some_order(game: Yavalath, stones: list[list[int]], swapped: bool, seed: int) -> Position:
    """Places stones in turn so that only the last may make three or four, as the game would have ended earlier."""
    last = (sum(map(len, stones)) - 1) % game.players
    for turn in range(max(1, len(stones[last]))):
        own = stones[last]
        ordered = [*stones[:last], own[turn + 1 :] + own[: turn + 1], *stones[last + 1 :]]
        rounds = itertools.zip_longest(*ordered)
        plies = [cell for one in rounds for cell in one if cell is not None]
        if swapped:
            plies.insert(1, game.num_cells)
        position = _placed(game, plies, seed)
        if position is not None:
            return position
    if game.players == 3:
        raise UserError(
            f"none of three players of {game} may have gone out on a board, got three or four in a row; write the"
            " moves that led to it: moves NAME NAME ..."
        )
    raise boards.impossible(game, "somebody had three or four in a row before the last stone")


def _placed(game: Yavalath, plies: list[int], seed: int) -> Position | None:
    """Returns the position after plies that need not be legal; None if a player is out before the last one."""
    position = game.before_chance(seed)
    for ply in plies:
        if np.any(position.state[RANK : RANK + game.players]):
            return None
        position = position.stepped(ply)
    return position
