"""spe_ed: players leave permanent trails; those who enter one, or leave the board, are out; the last one left wins.

All players choose one of five actions at once; then all turn or change their speed, move as many cells, and crash. A
crash eliminates all players who entered an occupied cell in this round, but not the owner of an older trail. In every
sixth round, a player with speed 3 or more jumps: only the first and the last cell of the move are painted and checked.
Speeds go from 1 to 10; asking for another eliminates a player. Choices are made seat by seat inside the state, and the
last one plays the round; no seat sees the others' choices. The winner gets 1, an eliminated player -1; if the last
players go out in the same round, nobody wins and they get 0. Source: the task of the InformatiCup 2021 and its server.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ...core.errors import MALFORMED, UserError
from ...core.parameters import parameter
from .. import abi
from ..drawing import INK, PAPER, SEAT_COLOURS, Notes, Overlay, picture, stone
from ..game import Game, Position
from ..registry import game_of
from ..setup.grids import grid_neighbours, square_symmetries
from .board import (
    ACTIONS,
    ACTIVE,
    CELLS,
    COLLISION,
    COMMITTED,
    DIED,
    DIRECTION,
    DIRECTIONS,
    MAX_PLAYERS,
    MAX_SIDE,
    MIN_SIDE,
    ROUND,
    SPEED,
    X,
    Y,
)
from .messages import game_text_of, state_of
from .overlay import legend, lines, shades
from .reasons import general, reasons
from .records import disagreement
from .rules import cells, init, legal, observe, step, to_move

MAX_ROUNDS = 999_999  # of a board text; no game is as long
HEADS, TRAILS = "ABCDEF", ".123456*"
_SEAT = re.compile(
    r"(?P<head>[A-F])?\s*seat (?P<seat>\d): \((?P<x>-?\d{1,9}), (?P<y>-?\d{1,9})\) (?P<direction>\w+), speed"
    r" (?P<speed>\d{1,9})(?:, out in round (?P<died>\d{1,9}))?"
)
_FORM = "the board, `round N` and a line `A seat 0: (X, Y) up, speed 1` for each seat"


@dataclass(frozen=True)
class SpeEd(Game):
    """spe_ed: trails that stay, growing speeds, and jumps in every sixth round; the last player left wins."""

    name: ClassVar[str] = "spe_ed"
    width: int = parameter(41, "columns; 41 to 80 on the official server", low=MIN_SIDE, high=MAX_SIDE)
    height: int = parameter(41, "rows; 41 to 80 on the official server", low=MIN_SIDE, high=MAX_SIDE)
    players: int = parameter(2, "number of seats", low=2, high=MAX_PLAYERS)
    silence: bool = parameter(
        False, "add a sixth action, a missing or invalid answer, which eliminates a seat; needed on servers"
    )

    num_cell_values: ClassVar[int] = COLLISION + 1
    out_fact: ClassVar[str] = "died_"
    board_help: ClassVar[str] = (
        "the board, its round and a line for each seat as printed; or an official message in JSON"
    )

    @property
    def num_seats(self) -> int:  # type: ignore[override]
        return self.players

    @property
    def num_actions(self) -> int:  # type: ignore[override]
        return len(ACTIONS) + self.silence

    @property
    def max_legal(self) -> int:  # type: ignore[override]
        return self.num_actions

    @property
    def num_cells(self) -> int:  # type: ignore[override]
        return self.width * self.height

    @property
    def state_words(self) -> int:  # type: ignore[override]
        return CELLS + -(-self.num_cells // 16)

    def variant_words(self) -> tuple[int, ...]:
        return (self.width, self.height, self.players, int(self.silence))

    def build_kernels(self) -> abi.GameKernels:
        return abi.game_kernels(init, to_move, legal, step, cells=cells, observe=observe)

    def symmetries(self) -> npt.NDArray[np.int64]:
        """A half turn and two reflections; on square boards also quarter turns and diagonals."""
        if self.width == self.height:
            return square_symmetries(self.width)
        board = np.arange(self.num_cells, dtype=np.int64).reshape(self.height, self.width)
        return np.stack([turned.ravel() for turned in (board, board[::-1], board[:, ::-1], board[::-1, ::-1])])

    def neighbours(self) -> tuple[tuple[int, ...], ...]:
        return grid_neighbours(self.height, self.width)

    def action_name(self, action: int) -> str:
        return ACTIONS[action] if action < len(ACTIONS) else "no_answer"

    def shows(self, state: npt.NDArray[np.int64]) -> bool:
        """Returns whether the state is between two rounds: nobody has chosen yet."""
        return self.shows_all(state)

    def reasons(self, before: npt.NDArray[np.int64], after: npt.NDArray[np.int64]) -> dict[int, str]:
        """Returns the reasons why seats went out in a round, without other players' numbers."""
        return {seat: general(reason) for seat, reason in reasons(before, after).items()}

    def facts(self, state: npt.NDArray[np.int64]) -> dict[str, float]:
        """The number of rounds, and the round in which each seat went out, 0 = never."""
        died: dict[str, float] = {f"died_{seat}": int(state[DIED + seat]) for seat in range(self.players)}
        return {"rounds": int(state[ROUND])} | died

    def draw(self, state: npt.NDArray[np.int64]) -> str:
        """The board with trails as digits, crashes as stars and the living as capitals, and a line for each seat."""
        rows = [
            [TRAILS[value] for value in row]
            for row in self.cell_values(state).reshape(self.height, self.width).tolist()
        ]
        seats = []
        for seat in range(self.players):
            x, y, direction, speed = (int(state[field + seat]) for field in (X, Y, DIRECTION, SPEED))
            end = f", out in round {state[DIED + seat]}"
            if state[ACTIVE + seat]:
                rows[y][x], end = HEADS[seat], ""
            seats.append(f"{HEADS[seat]} seat {seat}: ({x}, {y}) {DIRECTIONS[direction]}, speed {speed}{end}")
        return "\n".join([*map("".join, rows), f"round {state[ROUND]}", *seats])

    def shows_all(self, state: npt.NDArray[np.int64]) -> bool:
        """False once seats have chosen in this round, as their choices are not shown."""
        return not state[COMMITTED : COMMITTED + self.players].any()

    def read_board(self, text: str, seed: int) -> Position:
        return _read(self, text, seed)

    def svg(self, state: npt.NDArray[np.int64], changed: Collection[int] = (), notes: Notes | None = None) -> str:
        """Trails in the colours of their seats, crashes black, and a ring with the seat's number for the living."""
        return self.overlaid_svg(state, Overlay())

    def overlaid_svg(self, state: npt.NDArray[np.int64], overlay: Overlay, changed: Collection[int] = ()) -> str:
        """Shares shade the free cells, routes are lines, and a legend is below the board."""
        below, high = legend(overlay, self.width, self.height)
        parts = [*below, f'<rect width="{self.width}" height="{self.height}" fill="{PAPER}"/>']
        values = self.cell_values(state)
        if overlay.shares is not None:
            parts += shades(np.where(values == 0, overlay.shares, 0.0).reshape(self.height, self.width))
        for cell, value in enumerate(values.tolist()):
            if value:
                fill = INK if value == COLLISION else SEAT_COLOURS[value - 1]
                y, x = divmod(cell, self.width)
                parts.append(f'<rect x="{x}" y="{y}" width="1" height="1" fill="{fill}"/>')
        parts += lines(overlay.routes, self.width)
        for seat in range(self.players):
            if state[ACTIVE + seat]:
                column, row = (float(state[field + seat]) + 0.5 for field in (X, Y))
                parts.append(stone(column, row, seat + 1, True, radius=0.9))
        return picture(self.width, self.height + high, parts, margin=0.45)  # stones are larger than their cells

    def verify_record(self, record: Mapping[str, Any]) -> str | None:
        """Replays a game of the official server; records.py describes the format."""
        return disagreement(self, record)


def _read(game: SpeEd, text: str, seed: int) -> Position:
    """Returns the position of a printed board before its round's choices, or of a message.

    A message may have the number of rounds played as `"rounds"`, 0 by default. It has its own size.
    """
    if text.lstrip().startswith("{"):
        return _of_message(game, text, seed)
    lines = [line.strip() for line in text.strip().splitlines() if line.strip()]
    rounds = next((int(line.split()[1]) for line in lines if re.fullmatch(r"round \d{1,6}", line)), None)
    seats = {int(found["seat"]): found for line in lines if (found := _SEAT.fullmatch(line))}
    rows = [line for line in lines if not _SEAT.fullmatch(line) and not line.startswith("round ")]
    if rounds is None or sorted(seats) != list(range(game.players)):
        raise UserError(f"a board of {game} must be {_FORM}, got {len(seats)} seats and round {rounds}; complete it.")
    message = _message(game, rows, seats)
    state = _state(game, message, rounds)
    for seat, found in seats.items():
        state[DIED + seat] = died = int(found["died"] or 0)  # 0 if a message did not have the number of rounds
        if died > rounds:
            raise UserError(f"seat {seat} must be out in a round from 0 to {rounds}, got {died}; correct it.")
    return _position(game, state, seed)


def _message(game: SpeEd, rows: list[str], seats: dict[int, re.Match[str]]) -> dict[str, Any]:
    """Returns a printed board as a message."""
    if len(rows) != game.height or any(len(row) != game.width for row in rows):
        sizes = sorted({len(row) for row in rows})
        raise UserError(
            f"a board of {game} must have {game.height} rows of {game.width} cells, got {len(rows)} of {sizes};"
            " complete it or name the game's width and height."
        )
    values = {mark: -1 if value == COLLISION else value for value, mark in enumerate(TRAILS)}
    values |= {head: 1 + seat for seat, head in enumerate(HEADS)}
    unknown = next((sign for row in rows for sign in row if sign not in values), None)
    if unknown is not None:
        raise UserError(f"a cell of {game} must be one of {TRAILS}{HEADS}, got {unknown!r}; correct it.")
    players = {
        str(1 + seat): {
            "x": int(found["x"]),
            "y": int(found["y"]),
            "direction": found["direction"],
            "speed": int(found["speed"]),
            "active": found["died"] is None,
        }
        for seat, found in seats.items()
    }
    cells = [[values[sign] for sign in row] for row in rows]
    return {"width": game.width, "height": game.height, "cells": cells, "players": players}


def _of_message(game: SpeEd, text: str, seed: int) -> Position:
    try:
        message = json.loads(text)
        made = game_of(game_text_of(message, game.silence))
        state = _state(made, message, int(message.get("rounds", 0)))
    except MALFORMED as error:
        raise UserError(f"a message must be from the official server, got {text[:60]!r}: {error}; copy one.") from None
    return _position(made, state, seed)


def _state(game: Any, message: dict[str, Any], rounds: int) -> npt.NDArray[np.int64]:
    """Returns the state of a message; raises UserError if the rules do not allow its rounds or players."""
    if not 0 <= rounds <= MAX_ROUNDS:
        raise UserError(f"there must be 0 to {MAX_ROUNDS:,} rounds before a board, got {rounds}; correct it.")
    return state_of(message, rounds, game.silence, beyond=1)  # an eliminated player stays where the last step led


def _position(game: Any, state: npt.NDArray[np.int64], seed: int) -> Position:
    """Returns the position of a state, with final returns if the game is over."""
    position: Position = game.position(state, None, seed)
    if position.over:
        active, died = (state[field : field + game.players] for field in (ACTIVE, DIED))
        # Nobody wins if the last players go out together; a message does not tell when players went out.
        position.returns[:] = np.where(active, 1.0, -1.0) if active.any() else np.where(died == died.max(), 0.0, -1.0)
    return position
