"""Analyses on the board: positions from text and moves, and what agents say of them."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlencode

import pytest

from turnier.arena.analysis import analyse
from turnier.games.registry import GAMES

from .served_board import ServedBoard, served_board

FULL = {
    "2048": "2 . . 2 / 4 8 . . / . . . . / . . . 16",
    "tictactoe": "X . . / . O . / . . .",
    "connect_four": "moves a a b",
    "chess": "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1",
}


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedBoard]:
    with served_board(f"sqlite:///{tmp_path_factory.mktemp('analyses')}/games.db") as served:
        yield served


@pytest.mark.parametrize("game", FULL)
def test_positions_from_text(board: ServedBoard, game: str) -> None:
    status, found = board.ask(f"/api/position?{urlencode({'game': game, 'text': FULL[game]})}")
    assert status == 200
    position = GAMES.make(game).position_of(FULL[game])
    assert found["svg"] == position.game.svg(position.state)
    assert [move["name"] for move in found["legal"]] == [
        position.game.move_text(position.state, action) for action in position.legal_actions()
    ]


@pytest.mark.parametrize("game", ["tictactoe", "yavalath", "go(size=5)", "chess", "2048", "othello", "connect_four"])
def test_moves_on_the_board_become_text(board: ServedBoard, game: str) -> None:
    found = board.ask(f"/api/position?{urlencode({'game': game})}")[1]
    for _ in range(6):
        asked = {"game": game, "text": found["text"], "play": found["legal"][0]["name"]}
        status, following = board.ask(f"/api/position?{urlencode(asked)}")
        assert status == 200, following
        again = board.ask(f"/api/position?{urlencode({'game': game, 'text': following['text']})}")[1]
        assert again["legal"] == following["legal"]
        assert again["toMove"] == following["toMove"]
        assert again["svg"] == following["svg"]
        found = following


def test_what_agents_say(board: ServedBoard) -> None:
    asked = [("game", "tictactoe"), ("text", FULL["tictactoe"]), ("seconds", "1")]
    asked += [("agent", "mcts(iterations=100)"), ("agent", "alphabeta")]
    events = board.events(f"/api/analysis?{urlencode(asked)}")
    assert events[-1] == ("end", {})
    position = GAMES.make("tictactoe").position_of(FULL["tictactoe"])
    first = next(iter(analyse(position, ["mcts(iterations=100)", "alphabeta"], 1.0)))
    shown = events[0][1]["agents"][0]
    assert [action[2] for action in shown["actions"]] == [
        value if visits else None for value, visits in zip(first.agents[0].values, first.agents[0].visits, strict=True)
    ]
    last = events[-2][1]["agents"]
    assert [one["agent"] for one in last] == ["mcts(iterations=100)", "alphabeta"]
    assert all(one["searches"] >= 1 for one in last)
    assert 0 <= last[0]["interval"][0] <= last[0]["certainty"] <= last[0]["interval"][1] <= 1
    assert len(events) > 10


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"game": "tictactoe", "text": "X X X / . . . / . . ."}, "."),
        ({"game": "bot.py:Game"}, "only games of Turnier"),
        ({"game": "tictactoe", "play": "z9"}, "must be legal"),
    ],
)
def test_positions_that_cannot_be(board: ServedBoard, asked: dict[str, str], says: str) -> None:
    status, answer = board.ask(f"/api/position?{urlencode(asked)}")
    assert status == 400
    assert says in answer["error"]


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"seconds": "x"}, "must be a number"),
        ({"seconds": "1e9", "agent": "random"}, "at most 600 s"),
        ({}, "1 to 6 agents"),
        ({"agent": "json(command=sh)"}, "only agents of Turnier"),
        ({"agent": "mtcs"}, "mcts"),
    ],
)
def test_analyses_that_cannot_be(board: ServedBoard, more: dict[str, str], says: str) -> None:
    status, answer = board.ask(f"/api/analysis?{urlencode({'game': 'tictactoe'} | more)}")
    assert status == 400
    assert says in answer["error"]


def test_moves_follow_a_board_as_far_as_boards_can_be_written(board: ServedBoard) -> None:
    rows = "5 . . . . . / 4 . . . . . / 3 . . . . . / 2 X . . . . / 1 O . . . . / X to move"
    for played, wanted in (("E5", 200), ("B1", 400)):  # the second takes a stone, and boards have no history
        asked = {"game": "go(size=5)", "text": rows, "play": played}
        status, answer = board.ask(f"/api/position?{urlencode(asked)}")
        assert status == wanted, answer
    assert "moves from the start" in answer["error"]
