"""States of spe_ed from and to the official server's JSON messages, as pure functions.

A message is `{"width", "height", "cells": [row, ...], "players": {"1": {"x", "y", "direction", "speed", "active"}},
"you", "running"}`; cells are 0, the number of a player or -1, players count from 1. It lacks the number of rounds
played, on which the jumps depend: readers of messages must count them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from ...core.errors import UserError
from ..abi import STATE_DTYPE, TERMINAL
from .board import (
    ACTIVE,
    CELLS,
    COLLISION,
    DIED,
    DIRECTION,
    DIRECTIONS,
    HEIGHT,
    MAX_PLAYERS,
    MAX_SIDE,
    MAX_SPEED,
    MIN_SIDE,
    MOVER,
    PLAYERS,
    ROUND,
    SILENCE,
    SPEED,
    WIDTH,
    X,
    Y,
)

Ints = npt.NDArray[np.int64]


def cells_of(state: Ints) -> Ints:
    """Returns the cells as in messages, [height, width], -1 = a collision."""
    nibbles = state[CELLS:, None] >> np.arange(0, 64, 4) & 15
    width, height = int(state[WIDTH]), int(state[HEIGHT])
    values = nibbles.reshape(-1)[: width * height].reshape(height, width)
    return np.where(values == COLLISION, -1, values)


def message_of(state: Ints, you: int = 0) -> dict[str, Any]:
    """Returns the message of a state for the player `you` (from 1; 0 = nobody, as in logs), without a deadline."""
    players = {
        str(1 + seat): {
            "x": int(state[X + seat]),
            "y": int(state[Y + seat]),
            "direction": DIRECTIONS[state[DIRECTION + seat]],
            "speed": int(state[SPEED + seat]),
            "active": bool(state[ACTIVE + seat]),
        }
        for seat in range(int(state[PLAYERS]))
    }
    return {
        "width": int(state[WIDTH]),
        "height": int(state[HEIGHT]),
        "cells": cells_of(state).tolist(),
        "players": players,
        "you": you,
        "running": bool(state[MOVER] != TERMINAL),
    }


def game_text_of(message: Mapping[str, Any], silence: bool = False) -> str:
    """Returns the text form of a message's game."""
    width, height, players = int(message["width"]), int(message["height"]), len(message["players"])
    return f"spe_ed(width={width},height={height},players={players},silence={'true' if silence else 'false'})"


def state_of(message: Mapping[str, Any], rounds: int, silence: bool = False, beyond: int = MAX_SPEED) -> Ints:
    """Returns the state of a message before its round's choices; the first living seat is to choose.

    Args:
        message: as sent by an official server.
        rounds: number of rounds played before it.
        silence: the game's parameter.
        beyond: largest distance from the board of players who are out.

    Raises:
        UserError: if the game cannot have these sizes, players or cells, since kernels index with them.
    """
    width, height, players = int(message["width"]), int(message["height"]), message["players"]
    if not (MIN_SIDE <= width <= MAX_SIDE and MIN_SIDE <= height <= MAX_SIDE and 2 <= len(players) <= MAX_PLAYERS):
        raise UserError(
            f"a board must have {MIN_SIDE} to {MAX_SIDE} cells a side and 2 to {MAX_PLAYERS} players, got {width} x"
            f" {height} and {len(players)}."
        )
    cells = np.array(message["cells"], np.int64)
    if cells.shape != (height, width) or cells.min() < -1 or cells.max() > len(players):
        raise UserError(f"cells must be {height} rows of {width} numbers from -1 to {len(players)}, got others.")
    words = -(-width * height // 16)
    state = np.zeros(CELLS + words, STATE_DTYPE)
    state[[WIDTH, HEIGHT, PLAYERS, SILENCE, ROUND]] = width, height, len(players), int(silence), rounds
    for seat in range(len(players)):
        player = players[str(1 + seat)]
        _require_possible(player, 1 + seat, width, height, beyond)
        state[X + seat], state[Y + seat] = player["x"], player["y"]
        state[SPEED + seat], state[DIRECTION + seat] = player["speed"], DIRECTIONS.index(player["direction"])
        state[ACTIVE + seat] = active = int(player.get("active", True))
        state[DIED + seat] = 0 if active else rounds
    nibbles = np.zeros(16 * words, np.int64)
    nibbles[: width * height] = np.where(cells < 0, COLLISION, cells).reshape(-1)
    state[CELLS:] = (nibbles.reshape(words, 16) << np.arange(0, 64, 4)).sum(axis=1)
    living = np.flatnonzero(state[ACTIVE : ACTIVE + len(players)])
    state[MOVER] = living[0] if len(living) > 1 else TERMINAL
    return state


def require_same_game(message: Mapping[str, Any], before: tuple[int, ...]) -> tuple[int, ...]:
    """Returns width, height, players and `you` of a message; raises UserError if they differ from those before."""
    found = int(message["width"]), int(message["height"]), len(message["players"]), int(message.get("you", 0))
    if before and found != before:
        raise UserError(
            "width, height, number of players and `you` must stay as they are during a game, got"
            f" {', '.join(map(str, found))} after {', '.join(map(str, before))}; begin another game."
        )
    return found


def _require_possible(player: Mapping[str, Any], number: int, width: int, height: int, beyond: int) -> None:
    """Raises UserError if a player is impossible; one who is out may be `beyond` cells off the board."""
    beyond *= not player.get("active", True)
    where = all(-beyond <= player[axis] < side + beyond for axis, side in (("x", width), ("y", height)))
    lowest, highest = (0, 1 + MAX_SPEED) if beyond else (1, MAX_SPEED)
    if not where or not lowest <= player["speed"] <= highest or player["direction"] not in DIRECTIONS:
        raise UserError(
            f"player {number} must be on the board{' or beside it' if beyond else ''} with a speed from {lowest} to"
            f" {highest} and one of the directions {', '.join(DIRECTIONS)}, got {player}; correct it."
        )
