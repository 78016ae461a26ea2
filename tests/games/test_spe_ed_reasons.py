"""Why players are out: known rounds, and every death of the official server's games has a reason."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from turnier.games.drawing import INK, SEAT_COLOURS
from turnier.games.spe_ed.board import ACTIONS, ACTIVE, NO_ANSWER, PLAYERS
from turnier.games.spe_ed.game import SpeEd
from turnier.games.spe_ed.messages import cells_of, state_of
from turnier.games.spe_ed.reasons import reasons
from turnier.games.spe_ed.records import play_round, start_of

RECORDS = Path(__file__).resolve().parents[1] / "data/spe_ed/official_server_games.jsonl.gz"
LINES = gzip.decompress(RECORDS.read_bytes()).splitlines()


def after_a_round(
    players: list[tuple[int, int, str, int]], actions: list[int], trail: tuple[int, int, int] = (0, 0, 0)
) -> dict[int, str]:
    """Returns the reasons after a round on a board of 10 x 10, in which one more cell (x, y) is a trail."""
    cells = np.zeros((10, 10), np.int64)
    for number, (x, y, _, _) in enumerate(players, 1):
        cells[y, x] = number
    cells[trail[1], trail[0]] = trail[2]
    told: dict[str, Any] = {
        str(n): {"x": x, "y": y, "direction": way, "speed": speed, "active": True}
        for n, (x, y, way, speed) in enumerate(players, 1)
    }
    message = {"width": 10, "height": 10, "cells": cells.tolist(), "players": told}
    game = SpeEd(10, 10, len(players), silence=True)
    before = after = game.position(state_of(message, 0, silence=True))
    for action in actions:
        after = after.play(action)
    return reasons(before.state, after.state)


LEFT, RIGHT, SLOWER, FASTER, ON = range(len(ACTIONS))
HERE, THERE = (2, 2, "right", 1), (7, 7, "left", 1)


@pytest.mark.parametrize(
    ("players", "actions", "trail", "expected"),
    [
        ([HERE, THERE], [ON, ON], (0, 0, 0), {}),
        ([HERE, THERE], [SLOWER, NO_ANSWER], (0, 0, 0), {0: "speed below 1", 1: "no valid answer"}),
        ([(2, 2, "right", 10), THERE], [FASTER, ON], (0, 0, 0), {0: "speed above 10"}),
        ([(0, 2, "left", 1), THERE], [ON, ON], (0, 0, 0), {0: "left the board"}),
        ([(2, 2, "right", 9), THERE], [ON, ON], (4, 2, 2), {0: "left the board"}),
        ([(2, 2, "right", 4), THERE], [ON, ON], (5, 2, 2), {0: "ran into the trail of 2"}),
        ([(2, 2, "right", 4), THERE], [ON, ON], (5, 2, 1), {0: "ran into its own trail"}),
        ([HERE, THERE], [ON, ON], (3, 2, -1), {0: "ran into the place of a crash"}),
        ([HERE, (4, 2, "left", 1)], [ON, ON], (0, 0, 0), {0: "crashed with 2", 1: "crashed with 1"}),
        (
            [HERE, (4, 2, "left", 1), (3, 3, "up", 1)],
            [ON, ON, ON],
            (0, 0, 0),
            {0: "crashed with 2 and 3", 1: "crashed with 1 and 3", 2: "crashed with 1 and 2"},
        ),
    ],
)
def test_known_ends(
    players: list[tuple[int, int, str, int]], actions: list[int], trail: tuple[int, int, int], expected: dict[int, str]
) -> None:
    assert after_a_round(players, actions, trail) == expected


def test_every_death_of_the_official_games_has_a_reason() -> None:
    deaths = 0
    for line in LINES:
        record = json.loads(line)
        position = start_of(record)
        for played in record["rounds"]:
            after = play_round(position, played["actions"])
            seats = range(int(position.state[PLAYERS]))
            gone = {s for s in seats if position.state[ACTIVE + s] and not after.state[ACTIVE + s]}
            found = reasons(position.state, after.state)
            assert found.keys() == gone
            silent = {int(n) - 1 for n, action in played["actions"].items() if action is None}
            assert {seat for seat, reason in found.items() if reason == "no valid answer"} == silent
            deaths += len(gone)
            position = after
    assert deaths > 10


def test_a_picture_has_every_cell() -> None:
    record = json.loads(LINES[0])
    position = start_of(record)
    for played in record["rounds"]:
        position = play_round(position, played["actions"])
    root = ElementTree.fromstring(position.game.svg(position.state))
    board, *runs = root.findall("{*}rect")
    assert (board.get("width"), board.get("height")) == (str(record["width"]), str(record["height"]))
    drawn = np.zeros((record["height"], record["width"]), np.int64)
    for run in runs:
        x, y, length = (int(run.get(name, "")) for name in ("x", "y", "width"))
        drawn[y, x : x + length] = -1 if run.get("fill") == INK else 1 + SEAT_COLOURS.index(run.get("fill", ""))
    assert (drawn == cells_of(position.state)).all() and (drawn == -1).any()
    living = position.state[ACTIVE : ACTIVE + len(record["start"])]
    assert len(root.findall("{*}circle")) == np.count_nonzero(living) >= 1
