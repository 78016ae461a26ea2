"""The rules of spe_ed one by one on drawn boards, its starts, its messages and its drawing."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import numpy as np
import pytest

from turnier.core.errors import UserError
from turnier.games.game import Position
from turnier.games.registry import make_game
from turnier.games.spe_ed.board import ACTIONS, ACTIVE, DIRECTION, DIRECTIONS, NO_ANSWER, SPEED, X, Y
from turnier.games.spe_ed.messages import game_text_of, message_of, state_of

LEFT, RIGHT, SLOW, FAST, ON = range(5)


def board(rounds: int, *players: tuple[int, int, str, int], walls: str = "", size: int = 12) -> Position:
    """Returns a position of players (x, y, direction, speed) before a round, with trails of player 1 at "x,y x,y"."""
    cells = np.zeros((size, size), np.int64)
    for wall in walls.split():
        x, y = map(int, wall.split(","))
        cells[y, x] = 1
    for number, (x, y, *_) in enumerate(players, 1):
        cells[y, x] = number
    told = {
        str(number): {"x": x, "y": y, "direction": direction, "speed": speed, "active": True}
        for number, (x, y, direction, speed) in enumerate(players, 1)
    }
    message = {"width": size, "height": size, "cells": cells.tolist(), "players": told}
    return make_game(game_text_of(message, silence=True)).position(state_of(message, rounds, silence=True))


def play(position: Position, *actions: int) -> dict[str, Any]:
    """Returns the message after a round, with `returns`."""
    for action in actions:
        position = position.play(action)
    return message_of(position.state) | {"returns": position.returns.tolist()}


def living(message: dict[str, Any]) -> list[bool]:
    return [player["active"] for player in message["players"].values()]


FAR = (0, 11, "right", 1)


def test_all_directions_and_turns() -> None:
    for number, direction in enumerate(DIRECTIONS):
        for action, turn in ((LEFT, 3), (RIGHT, 1), (ON, 0)):
            after = play(board(0, (5, 5, direction, 2), FAR), action, ON)["players"]["1"]
            turned = (number + turn) % 4
            dx, dy = ((0, -1), (1, 0), (0, 1), (-1, 0))[turned]
            assert after == {
                "x": 5 + 2 * dx,
                "y": 5 + 2 * dy,
                "direction": DIRECTIONS[turned],
                "speed": 2,
                "active": True,
            }


@pytest.mark.parametrize(("speed", "action", "out"), [(10, FAST, 11), (1, SLOW, 0)])
def test_illegal_speeds_stay_visible_and_nothing_moves(speed: int, action: int, out: int) -> None:
    after = play(board(0, (0, 5, "right", speed), FAR), action, ON)
    assert after["players"]["1"] == {"x": 0, "y": 5, "direction": "right", "speed": out, "active": False}
    assert sum(map(bool, after["cells"][5])) == 1 and after["returns"] == [-1, 1]


def test_no_answer_is_out_at_once() -> None:
    after = play(board(0, (5, 5, "up", 3), FAR), NO_ANSWER, ON)
    assert after["players"]["1"] == {"x": 5, "y": 5, "direction": "up", "speed": 3, "active": False}


def test_leaving_the_board_stops_outside_and_paints_what_is_inside() -> None:
    after = play(board(0, (2, 5, "left", 5), FAR), ON, ON)
    assert after["players"]["1"]["x"] == -1 and living(after) == [False, True]
    assert after["cells"][5][:4] == [1, 1, 1, 0] and not after["running"]


def test_who_leaves_the_board_still_kills_on_the_way() -> None:
    after = play(board(0, (2, 5, "left", 5), (0, 4, "down", 1), FAR), ON, ON, ON)
    assert living(after) == [False, False, True] and after["cells"][5][:3] == [-1, 1, 1]


def test_a_whole_move_is_made_after_a_crash_with_an_old_trail() -> None:
    """FAQ 39: the first dies at an old trail, and takes along whom it crosses behind it."""
    after = play(board(0, (2, 5, "right", 4), (5, 3, "down", 2), FAR, walls="3,5"), ON, ON, ON)
    assert living(after) == [False, False, True]
    assert after["cells"][5][2:7] == [1, -1, 1, -1, 1] and after["players"]["1"]["x"] == 6


def test_all_in_one_cell_die_and_older_owners_do_not() -> None:
    assert living(play(board(0, (4, 5, "right", 1), (6, 5, "left", 1), FAR), ON, ON, ON)) == [False, False, True]
    assert living(play(board(0, (9, 9, "down", 1), (6, 5, "left", 1), walls="5,5"), ON, ON)) == [True, False]


def test_head_on_into_each_others_cell() -> None:
    """Both enter where the other one was, which are old trails: both die, and nobody wins."""
    after = play(board(0, (4, 5, "right", 1), (5, 5, "left", 1)), ON, ON)
    assert living(after) == [False, False] and after["returns"] == [0, 0] and not after["running"]


@pytest.mark.parametrize(("rounds", "speed", "lives"), [(5, 3, True), (11, 3, True), (5, 2, False), (4, 3, False)])
def test_jumps_come_in_every_sixth_round_from_speed_three_on(rounds: int, speed: int, lives: bool) -> None:
    after = play(board(rounds, (2, 5, "right", speed), FAR, walls=f"{1 + speed},5"), ON, ON)
    assert living(after)[0] == (lives and speed > 2)
    if lives:
        assert after["cells"][5][2:6] == [1, 1, 1, 1]


def test_the_speed_of_the_jump_is_the_new_one() -> None:
    assert living(play(board(5, (2, 5, "right", 2), FAR, walls="4,5"), FAST, ON)) == [True, True]
    assert living(play(board(5, (2, 5, "right", 3), FAR, walls="4,5"), SLOW, ON)) == [False, True]


def test_jumpers_land_on_what_is_there_and_cross_in_holes() -> None:
    assert living(play(board(5, (2, 5, "right", 4), FAR, walls="6,5"), ON, ON)) == [False, True]
    after = play(board(5, (2, 5, "right", 4), (4, 3, "down", 4)), ON, ON)
    assert living(after) == [True, True] and after["cells"][5][4] == 0


def test_the_dead_do_not_choose_and_early_deaths_cost_even_in_a_draw() -> None:
    position = board(0, (0, 5, "left", 1), (4, 8, "right", 1), (7, 8, "left", 1))
    for action in (ON, ON, ON):
        position = position.play(action)
    assert position.to_move == 1 and position.returns.tolist() == [-1, 0, 0] and not position.over
    position = position.play(ON).play(ON)
    assert position.over and position.returns.tolist() == [-1, 0, 0]
    assert position.game.facts(position.state) == {"rounds": 2, "died_0": 1, "died_1": 2, "died_2": 2}


@pytest.mark.parametrize("players", range(2, 7))
def test_starts_are_those_of_the_official_server(players: int) -> None:
    """Seats lie in the first slots in cyclic order, every offset occurs, and directions look at the far sides."""
    game = make_game(f"spe_ed(width=42,height=57,players={players})")
    firsts: Counter[int] = Counter()
    for seed in range(150):
        state = game.start(seed).state
        slots = {}
        for seat in range(players):
            x, y = int(state[X + seat]), int(state[Y + seat])
            slots[x // 10 + 4 * (y // 28)] = seat
            wanted = ("up" if y > 28 else "left") if x > 21 else ("right" if y > 28 else "down")
            assert (DIRECTIONS[state[DIRECTION + seat]], state[SPEED + seat], state[ACTIVE + seat]) == (wanted, 1, 1)
            assert game.cell_values(state)[y * 42 + x] == 1 + seat
        first = slots[0]
        assert slots == {slot: (first + slot) % players for slot in range(players)}
        firsts[first] += 1
    assert set(firsts) == set(range(players)) and min(firsts.values()) > 150 / players / 3


def test_messages_and_states_are_the_same() -> None:
    position = make_game("spe_ed(width=11,height=9,players=4)").start(3)
    for ply, action in enumerate([ON, LEFT, FAST, ON, RIGHT, ON, ON, FAST, ON, ON, ON, ON]):
        if ply % 4 == 0:
            told = json.loads(json.dumps(message_of(position.state, you=2)))
            assert told["you"] == 2 and list(told["players"]) == ["1", "2", "3", "4"]
            assert (state_of(told, rounds=ply // 4) == position.state).all()
            assert game_text_of(told) == position.game.full_text()
        position = position.play(action)


@pytest.mark.parametrize(
    "change", [{"width": 100}, {"cells": [[0] * 11] * 8}, {"cells": [[9] * 11] * 9}, {"players": {}}]
)
def test_messages_that_are_none_are_refused(change: dict[str, Any]) -> None:
    told = message_of(make_game("spe_ed(width=11,height=9,players=4)").start(3).state) | change
    with pytest.raises(UserError, match="must"):
        state_of(told, 0)


def test_drawing() -> None:
    position = board(0, (1, 1, "right", 1), (2, 3, "up", 2), walls="0,0", size=4)
    for action in (ON, ON):
        position = position.play(action)
    assert str(position).splitlines() == [
        "1...",
        ".1*.",
        "..2.",
        "..2.",
        "round 1",
        "A seat 0: (2, 1) right, speed 1, out in round 1",
        "B seat 1: (2, 1) up, speed 2, out in round 1",
    ]
    assert [position.game.action_name(action) for action in range(5)] == list(ACTIONS)
    assert "B" in str(board(0, (1, 1, "right", 1), (2, 3, "up", 2), size=4)).splitlines()[3]


def test_a_view_shows_no_choice() -> None:
    position = make_game("spe_ed(players=3)").start(1)
    views = [position.play(action).view(1).tolist() for action in range(5)]
    assert all(view == views[0] for view in views)
    assert position.game.position(np.array(views[0])).to_move == 1
