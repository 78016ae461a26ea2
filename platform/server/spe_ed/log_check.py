"""Checks whether the rules lead from every state of an official log to the next one."""

from __future__ import annotations

import json
from pathlib import Path

from ...core.errors import MALFORMED, UserError
from ...games.game import Game, Ints
from ...games.registry import game_of
from ...games.spe_ed.board import ACTIVE, DIRECTION, PLAYERS, ROUND, SPEED, X, Y
from ...games.spe_ed.messages import game_text_of, message_of, state_of
from ...games.spe_ed.records import play_round
from .official_log import read_log

TURNS = {1: "turn_right", 3: "turn_left"}  # by quarters to the right


def is_official_log(path: Path) -> bool:
    """Whether a file's first line names players, as in a log of the official server."""
    try:
        with path.open("rb") as file:
            return "Pseudonym" in json.loads(file.readline())["1"]
    except (OSError, *MALFORMED):
        return False


def verify_log(game: Game, path: Path) -> tuple[int, str | None]:
    """Replays an official log, with the size and number of players of the log, not of `game`.

    Returns:
        The lines read, and the first disagreement as `line: sentence`, or None if all agree.

    Raises:
        UserError: if the file is no log, or not of this game.
    """
    if game.name != "spe_ed":
        raise UserError(f"official logs are of the game spe_ed, got {game.name}; type spe_ed.")
    states = read_log(path)[1]
    first = message_of(states[0])
    position = game_of(game_text_of(first, silence=True)).position(state_of(first, rounds=0, silence=True))
    for number, after in enumerate(states[1:], 3):  # the first line names players, the second is the start
        if position.over:
            return number, f"{number}: the game is over before this round."
        position = play_round(position, actions_between(position.state, after))
        found, logged = message_of(position.state), message_of(after)
        for name in ("players", "cells", "running"):
            if found[name] != logged[name]:
                shown = f", got {logged[name]}" if name != "cells" else ""
                expected = f" {found[name]}" if name != "cells" else " as the rules leave them"
                return number, f"{number}: the {name} after round {int(after[ROUND])} must be{expected}{shown}."
    if not position.over:
        return 1 + len(states), f"{1 + len(states)}: the last state must be the end of the game."
    return 1 + len(states), None


def actions_between(before: Ints, after: Ints) -> dict[str, str | None]:
    """Returns the action of each living player (from "1") in a round, by its direction and speed; None is no answer."""
    return {
        str(1 + seat): _action(before, after, seat) for seat in range(int(before[PLAYERS])) if before[ACTIVE + seat]
    }


def _action(before: Ints, after: Ints, seat: int) -> str | None:
    turned = (int(after[DIRECTION + seat]) - int(before[DIRECTION + seat])) % 4
    faster = int(after[SPEED + seat]) - int(before[SPEED + seat])
    if turned:
        return TURNS.get(turned)
    if faster:
        return "speed_up" if faster > 0 else "slow_down"
    stands = all(after[field + seat] == before[field + seat] for field in (X, Y))
    return None if stands and not after[ACTIVE + seat] else "change_nothing"
