"""Boards of spe_ed from text: as `draw` prints them, or a message of the official server."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import numpy as np

from turnier.core.errors import MALFORMED, UserError
from turnier.games.registry import game_of
from turnier.games.spe_ed.board import ACTIVE, COLLISION, DIED
from turnier.games.spe_ed.messages import Ints, game_text_of, state_of

if TYPE_CHECKING:
    from turnier.games.game import Position
    from turnier.games.spe_ed.game import SpeEd

MAX_ROUNDS = 999_999  # what a board can say; no game is as long
HEADS, TRAILS = "ABCDEF", ".123456*"
_SEAT = re.compile(
    r"(?P<head>[A-F])?\s*seat (?P<seat>\d): \((?P<x>-?\d{1,9}), (?P<y>-?\d{1,9})\) (?P<direction>\w+), speed"
    r" (?P<speed>\d{1,9})(?:, out in round (?P<died>\d{1,9}))?"
)
_FORM = "the board, `round N` and a line `A seat 0: (X, Y) up, speed 1` for each seat"


def read_board(game: SpeEd, text: str, seed: int) -> Position:
    """Returns the position of a printed board before its round's choices, or of a message.

    A message may say how many rounds were played as `"rounds"`, otherwise none were. It brings its own size.
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
        state[DIED + seat] = died = int(found["died"] or 0)  # 0 where a message did not say how many rounds there were
        if died > rounds:
            raise UserError(f"seat {seat} must be out in a round from 0 to {rounds}, got {died}; correct it.")
    return _position(game, state, seed)


def _message(game: SpeEd, rows: list[str], seats: dict[int, re.Match[str]]) -> dict[str, Any]:
    """Returns what a printed board says as a message has it."""
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
        raise UserError(f"a message must be one of the official server, got {text[:60]!r}: {error}; copy it.") from None
    return _position(made, state, seed)


def _state(game: Any, message: dict[str, Any], rounds: int) -> Ints:
    """Returns the state of a message; raises UserError where rounds or players are none that the rules allow."""
    if not 0 <= rounds <= MAX_ROUNDS:
        raise UserError(f"there must be 0 to {MAX_ROUNDS:,} rounds before a board, got {rounds}; correct it.")
    return state_of(message, rounds, game.silence, beyond=1)  # who goes out ends where the last step led


def _position(game: Any, state: Ints, seed: int) -> Position:
    """Returns the position of a state with the returns of an end, if it is one."""
    position: Position = game.position(state, None, seed)
    if position.over:
        active, died = (state[field : field + game.players] for field in (ACTIVE, DIED))
        # Nobody has won where the last ones went out together; a message does not say when anybody did.
        position.returns[:] = np.where(active, 1.0, -1.0) if active.any() else np.where(died == died.max(), 0.0, -1.0)
    return position
