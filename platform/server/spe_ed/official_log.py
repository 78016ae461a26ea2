"""Logs of games in the format of the official spe_ed server: a line of players, then each state as a line of JSON.

The official server compresses them (lz4); its web player reads them unpacked, as here. API keys are left out.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ...arena.match import MatchRecord
from ...arena.play import replay_positions
from ...core.errors import MALFORMED, UserError
from ...games.game import Game, Ints
from ...games.registry import game_of
from ...games.spe_ed.messages import game_text_of, message_of, require_same_game, state_of
from ...games.spe_ed.records import between_rounds, play_round, start_of

encode = json.JSONEncoder(separators=(",", ":")).encode


def official_time(seconds: float) -> str:
    """Returns a time since 1970 in the official format: whole seconds, rounded down, and a Z."""
    return datetime.fromtimestamp(int(seconds), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def final_message(state: Ints, names: Sequence[str]) -> dict[str, Any]:
    """Returns the message of a finished game, the only one with the players' names."""
    message = message_of(state, 0)
    for number, player in message["players"].items():
        player["name"] = names[int(number) - 1]
    return message


def head(names: Sequence[str], bots: Sequence[bool]) -> dict[str, Any]:
    """Returns the first line of a log."""
    players = zip(names, bots, strict=True)
    return {str(n): {"APIKey": "", "Pseudonym": name, "AI": bot} for n, (name, bot) in enumerate(players, 1)}


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """Writes the encoded lines of a log completely or not at all."""
    part = path.with_name(f".{path.name}.part")
    try:
        part.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        part.replace(path)
    except OSError as failure:
        raise UserError(f"a log must be written to a folder with room, got {failure}; choose another.") from None


def rounds_of(record: MatchRecord) -> list[Ints]:
    """Returns the states of a stored game of spe_ed: before each round, and the final one."""
    if not record.spec.game.startswith("spe_ed("):
        raise UserError(f"official logs are of the game spe_ed, got a game of {record.spec.game}.")
    return between_rounds(position.state for position in replay_positions(record.spec, record.plies))


def log_of(record: MatchRecord) -> list[dict[str, Any]]:
    """Returns the lines of a stored game's log, without deadlines, which are not stored."""
    names = record.spec.agents
    return lines_of(names, rounds_of(record), [not name.startswith("remote(") for name in names])


def lines_of(names: Sequence[str], states: Sequence[Ints], bots: Sequence[bool] = ()) -> list[dict[str, Any]]:
    """Returns the lines of a log from the states before each round and the final one."""
    *before, last = states
    return [head(names, bots or [False] * len(names)), *map(message_of, before), final_message(last, names)]


def logged_game(path: Path) -> tuple[Game, list[str], list[Ints]]:
    """Returns the game of an official log, the players' names and the states; raises UserError if it is none."""
    names, states = read_log(path)
    return game_of(game_text_of(message_of(states[0]))), names, states


def replayed_game(record: Mapping[str, Any]) -> tuple[Game, list[str], list[Ints]]:
    """Returns the same for a recorded game, see `games.spe_ed.records`; raises KeyError or the like if it is none."""
    position = start_of(record)
    states = [position.state]
    for played in record["rounds"]:
        position = play_round(position, played["actions"])
        states.append(position.state)
    return position.game, [f"player {n}" for n in record["start"]], states


def read_log(path: Path) -> tuple[list[str], list[Ints]]:
    """Returns the players' names and the states of an official log, unpacked; raises UserError if it is none."""
    try:
        first, *lines = map(json.loads, path.read_text(encoding="utf-8").splitlines())
        names = [first[str(n)]["Pseudonym"] for n in range(1, 1 + len(first))]
        known: tuple[int, ...] = ()
        for message in lines:
            known = require_same_game(message, known)
        states = [state_of(message, rounds) for rounds, message in enumerate(lines)]
        if not states:
            raise ValueError("no states")
    except (OSError, *MALFORMED) as failure:
        raise UserError(
            f"a log must be one of the official server, unpacked, got {path}: {type(failure).__name__} {failure}."
        ) from None
    return names, states
