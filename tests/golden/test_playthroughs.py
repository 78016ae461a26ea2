"""Golden playthroughs: recorded games that must replay exactly, one file in playthroughs/ for every registry game.

A file holds a game, a seed and, ply by ply, who moved, what was legal, what was played, and the returns and the board
after it. To record the file of a new game, or one again after a change of rules or random numbers that is meant, run

    TURNIER_WRITE_GOLDEN=NAME pytest tests/golden

and read the difference before committing it.
"""

from __future__ import annotations

import json
import os
import random
from pathlib import Path
from typing import Any

import pytest

from turnier.games.game import Position
from turnier.games.registry import GAMES, make_game

FOLDER = Path(__file__).parent / "playthroughs"
SEED = 2048
MAX_PLIES = 400


def shown(position: Position) -> dict[str, Any]:
    """Returns what the rules say of a position; how its state is packed may change."""
    return {"returns": position.returns.tolist(), "cells": position.game.cell_values(position.state).tolist()}


def record(game_text: str) -> dict[str, Any]:
    """Plays a random game; the choice of actions does not depend on the platform's generator."""
    game = make_game(game_text)
    choose = random.Random(SEED)
    position = game.start(SEED)
    written: dict[str, Any] = {"game": game.full_text(), "seed": SEED, "start": shown(position), "plies": []}
    while not position.over and len(written["plies"]) < MAX_PLIES:
        seat, legal = position.to_move, position.legal_actions()
        action = choose.choice(legal)
        position = position.play(action)
        written["plies"].append({"seat": seat, "legal": legal, "action": action, **shown(position)})
    return written | {"over": position.over, "board": str(position).splitlines()}


def write(path: Path, written: dict[str, Any]) -> None:
    """Writes one ply a line, so that differences can be read."""
    plies = ",\n".join("  " + json.dumps(ply, separators=(",", ":")) for ply in written["plies"])
    head = {key: value for key, value in written.items() if key != "plies"}
    lines = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in head.items()]
    path.write_text("{" + ",\n".join([*lines, f'"plies": [\n{plies}\n]']) + "}\n")


@pytest.fixture(scope="module", autouse=True)
def written_again() -> None:
    name = os.environ.get("TURNIER_WRITE_GOLDEN")
    if name:
        write(FOLDER / f"{name}.json", record(name))


@pytest.mark.parametrize("name", GAMES.names())
def test_game_has_a_playthrough(name: str) -> None:
    path = FOLDER / f"{name}.json"
    assert path.exists(), f"record the missing {path.name}: TURNIER_WRITE_GOLDEN={name} pytest tests/golden"
    assert make_game(json.loads(path.read_text())["game"]).name == name


def test_every_playthrough_belongs_to_a_game() -> None:
    assert {path.stem for path in FOLDER.iterdir()} == set(GAMES.names())


def replay(golden: dict[str, Any]) -> str | None:
    """Returns the first difference as a sentence, or None."""
    position = make_game(golden["game"]).start(golden["seed"])
    if shown(position) != golden["start"]:
        return f"the start must be {golden['start']}, got {shown(position)}"
    for number, ply in enumerate(golden["plies"]):
        got = {"seat": position.to_move, "legal": position.legal_actions(), "action": ply["action"]}
        if ply["action"] not in got["legal"]:
            return f"ply {number} must be legal, one of {got['legal']}, got {ply['action']}"
        position = position.play(ply["action"])
        got |= shown(position)
        if got != ply:
            return f"ply {number} must be {ply}, got {got}"
    if [position.over, str(position).splitlines()] != [golden["over"], golden["board"]]:
        return f"the end must be {golden['board']}, got {position}"
    return None


@pytest.mark.parametrize("name", GAMES.names())
def test_playthrough_replays(name: str) -> None:
    golden = json.loads((FOLDER / f"{name}.json").read_text())
    assert golden["plies"]
    assert replay(golden) is None


@pytest.mark.parametrize("name", GAMES.names())
def test_a_changed_playthrough_is_noticed(name: str) -> None:
    for change in ("seat", "legal", "action", "returns", "cells"):
        golden = json.loads((FOLDER / f"{name}.json").read_text())
        last = len(golden["plies"]) - 1
        golden["plies"][last][change] = -1
        assert str(replay(golden)).startswith(f"ply {last} must be")
    golden = json.loads((FOLDER / f"{name}.json").read_text())
    assert str(replay(golden | {"board": []})).startswith("the end must be")
