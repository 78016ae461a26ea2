"""Recorded games of the official spe_ed server, and the check that the rules agree with every round.

A record has `width`, `height`, `start` (player -> x, y, direction, speed), `rounds` and `winner` (null = nobody). A
round has the `actions` of the living (null = none or an invalid one), the `players` after it as [x, y, direction,
speed, active], and `cells_sha256`: the first 16 hex digits of the SHA-256 of the rows of cells, cells joined by commas,
rows by newlines.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from ..game import Game, Position
from ..registry import game_of
from .board import ACTIONS, ACTIVE, COMMITTED, NO_ANSWER, PLAYERS
from .messages import cells_of, game_text_of, message_of, state_of

Record = Mapping[str, Any]


def start_of(record: Record) -> Position:
    """Returns the start of a recorded game, in the variant that allows missing answers."""
    players = record["start"]
    game_of(game_text_of({"width": record["width"], "height": record["height"], "players": players}))  # checks the size
    cells = np.zeros((record["height"], record["width"]), np.int64)
    for number, player in players.items():
        cells[player["y"], player["x"]] = int(number)
    message = {"width": record["width"], "height": record["height"], "players": players, "cells": cells}
    return game_of(game_text_of(message, silence=True)).position(state_of(message, rounds=0, silence=True))


def play_round(position: Position, actions: Mapping[str, str | None]) -> Position:
    """Returns the position after a round with the action of each living player (from "1"); None: no valid answer."""
    for number in sorted(actions, key=int):
        name = actions[number]
        position = position.play(NO_ANSWER if name is None else ACTIONS.index(name))
    return position


def between_rounds(states: Iterable[npt.NDArray[np.int64]]) -> list[npt.NDArray[np.int64]]:
    """Returns a game's states before each round, without any choice, and the final one."""
    return [state for state in states if not state[COMMITTED : COMMITTED + state[PLAYERS]].any()]


def digest_of(state: npt.NDArray[np.int64]) -> str:
    rows = "\n".join(",".join(map(str, row)) for row in cells_of(state).tolist())
    return hashlib.sha256(rows.encode()).hexdigest()[:16]


def disagreement(game: Game, record: Record) -> str | None:
    """Returns the first disagreement as a sentence, or None; raises KeyError and the like if it is not such a record.

    A record contains its variant, so every variant verifies every file.
    """
    position = start_of(record)
    for number, played in enumerate(record["rounds"], 1):
        living = {str(1 + seat) for seat in range(int(position.state[PLAYERS])) if position.state[ACTIVE + seat]}
        if position.over or living != set(played["actions"]):
            return f"the players who choose in round {number} must be {sorted(played['actions'])}, got {sorted(living)}"
        position = play_round(position, played["actions"])
        players = {n: list(player.values()) for n, player in message_of(position.state)["players"].items()}
        if players != played["players"]:
            return f"the players after round {number} must be {played['players']}, got {players}"
        if digest_of(position.state) != played["cells_sha256"]:
            return f"the cells after round {number} must have the digest {played['cells_sha256']}, got others"
    winner = str(1 + int(position.returns.argmax())) if position.returns.max() > 0 else None
    if not position.over or winner != record["winner"]:
        return f"the winner must be {record['winner']}, got {winner}, over: {position.over}"
    return None
