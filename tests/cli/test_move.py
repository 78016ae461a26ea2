"""`turnier move`: a legible answer, data, and sentences for mistakes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.cli.running import turnier
from turnier.commands.app import app
from turnier.core.errors import UserError

BOARD = "2 . . 2 / 4 8 . . / . . . . / . . . 16"
WON = "X X . / O O . / . . ."


def test_the_best_move_with_values_and_chances(tmp_path: Path) -> None:
    shown = turnier("move", "2048(size=3)", "2 . 2 / 4 8 . / . . 16", "--games", "3", folder=tmp_path, columns=80)
    assert max(map(len, shown.splitlines())) <= 80
    assert "Best move: " in shown and "chance of 1024" in shown and "95 % intervals" in shown
    assert shown.count(" *") == 1 and "0 % (0" in shown
    few = turnier("move", "tictactoe", WON, "--games", "1", "--top", "2", folder=tmp_path)
    assert "3 more moves; --top shows more." in few
    none = turnier("move", "2048", BOARD, "--games", "0", folder=tmp_path)
    assert "Best move: " in none and "95 %" not in none


def test_data_is_the_same_for_the_same_seed(tmp_path: Path) -> None:
    words = ("move", "tictactoe", WON, "--agent", "mcts(iterations=200)", "--games", "4", "--seconds", "1000", "--json")
    one, same, other = (json.loads(turnier(*words, "--seed", seed, folder=tmp_path)) for seed in "112")
    assert one["best"] == "c1" and one["moves"][0]["move"] == "c1" and one["goal"] == {"reach": "win"}
    assert [move["games"] for move in one["moves"]] == [4] * 5
    assert one["moves"] == same["moves"] != other["moves"]
    assert one["played_on_by"] == "mcts(iterations=50)"


def test_boards_from_standard_input_and_moves(tmp_path: Path) -> None:
    ended = CliRunner().invoke(app, ["move", "tictactoe", "-", "--games", "1", "--json"], input=WON)
    assert ended.exit_code == 0 and json.loads(ended.stdout)["to_move"] == 0
    by_moves = turnier("move", "tictactoe", "moves a1 a2", "--games", "1", "--json", folder=tmp_path)
    assert json.loads(by_moves)["board"].split()[:3] == ["X", ".", "."]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("2048", "2 4"), "must have 4 rows of 4 cells"),
        (("2048", BOARD, "--tile", "16"), "max_tile to be reached must be above 16"),
        (("tictactoe", "X X X / O O . / . . ."), "a position must not be over"),
        (("tictactoe", WON, "--agent", "human"), "a person plays at a board"),
        (("tictactoe", WON, "--games-by", "human"), "a person plays at a board"),
    ],
)
def test_mistakes_are_sentences(words: tuple[str, ...], sentence: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=sentence):
        turnier("move", *words, folder=tmp_path)
