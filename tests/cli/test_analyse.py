"""`turnier analyse`: a legible table, data, and the positions that can be named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.cli.running import turnier
from turnier.arena.match import MatchSpec
from turnier.arena.play import play_match
from turnier.commands.app import app
from turnier.core.errors import UserError
from turnier.games.registry import make_game
from turnier.results.store.store import Store

WON = "X X . / O O . / . . ."
BOARD = "2 . . 2 / 4 8 . . / . . . . / . . . 16"


def test_a_table_of_80_columns_says_it_all(tmp_path: Path) -> None:
    agents = ("mcts(iterations=100)", "alphabeta(depth=3)", "mc(iterations=20)", "random")
    shown = turnier("analyse", "tictactoe", *agents, "--board", WON, folder=tmp_path, columns=80)
    assert max(map(len, shown.splitlines())) <= 80
    assert "c1" in shown and "1 (" in shown and "Seat 0 is to move" in shown
    assert "mcts(iterations=100): c1, certainty 100 % (60.1 to 100) of 10 searches" in shown and "then c1" in shown
    assert shown.count("move ") >= 2  # three agents side by side, the fourth below


def test_data_has_every_move_and_the_same_seed_says_the_same(tmp_path: Path) -> None:
    words = ("analyse", "2048(size=3)", "mc(iterations=5)", "--board", "2 . . / . 4 . / . . 2", "--json")
    one, same, other = (
        json.loads(turnier(*words, "--seed", seed, "--repeats", "4", folder=tmp_path)) for seed in "112"
    )
    (agent,) = one["agents"]
    assert [move["move"] for move in agent["moves"]] == ["left", "right", "up", "down"]
    assert sum(move["votes"] for move in agent["moves"]) == agent["searches"] == 4
    assert one["board"].split() == ["2", ".", ".", ".", "4", ".", ".", ".", "2"] and one["to_move"] == 0
    assert {"normalised", "agreement", "certainty_low", "certainty_high", "line"} <= set(agent)
    assert agent["moves"] == same["agents"][0]["moves"] != other["agents"][0]["moves"]


def test_positions_of_stored_matches_and_of_standard_input(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'games.db'}"
    record = play_match(MatchSpec(make_game("tictactoe").full_text(), ("random", "random"), 3))
    with Store.open(url) as store:
        store.begin_run("tournament:1", "tournament", "t", {})
        store.append("tournament:1", [record])
    found = turnier("analyse", "random", "--match", record.spec.id[:8], "--move", "3", "--store", url, folder=tmp_path)
    assert "Seat 0 is to move" in found
    ended = CliRunner().invoke(app, ["analyse", "tictactoe", "random", "--board", "-", "--repeats", "1"], input=WON)
    assert ended.exit_code == 0 and "X X ." in ended.stdout
    with pytest.raises(UserError, match="--move must be from 1 to"):
        turnier("analyse", "random", "--match", record.spec.id[:8], "--move", "99", "--store", url, folder=tmp_path)


def test_the_best_move_with_values_and_chances(tmp_path: Path) -> None:
    words = ("analyse", "2048(size=3)", "--best", "--board", "2 . 2 / 4 8 . / . . 16", "--games", "3")
    shown = turnier(*words, folder=tmp_path, columns=80)
    assert max(map(len, shown.splitlines())) <= 80
    assert "chance of" in shown and "95 % intervals" in shown and "mcts(iterations=50)" in shown
    assert shown.count(" *") == 1 and "0 % (0" in shown and "certainty" not in shown
    few = turnier("analyse", "tictactoe", "--best", "--board", WON, "--games", "1", "--top", "2", folder=tmp_path)
    assert "3 more moves; --top shows more." in few
    none = turnier("analyse", "2048", "--best", "--board", BOARD, "--games", "0", folder=tmp_path)
    assert "expectimax(depth=3,evaluator=rows2048()): " in none and "95 %" not in none


def test_games_played_on_are_the_same_for_the_same_seed(tmp_path: Path) -> None:
    words = ("analyse", "tictactoe", "mcts(iterations=200)", "--best", "--board", WON, "--games", "4", "--json")
    one, same, other = (
        json.loads(turnier(*words, "--game-seconds", "1000", "--seed", seed, folder=tmp_path)) for seed in "112"
    )
    outlook = one["outlook"]
    assert one["agents"][0]["best"] == "c1" and outlook["goal"] == {"reach": "win"}
    assert [move["games"] for move in outlook["moves"]] == [4] * 5
    assert outlook == same["outlook"] and outlook["played_on_by"] == "mcts(iterations=50)"
    assert one["agents"][0]["moves"] == same["agents"][0]["moves"] != other["agents"][0]["moves"]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("tictactoe", "random", "--board", WON, "--moves", "a1"), "must be given once"),
        (("tictactoe", "random", "--board", "X"), "must have 3 rows, got 1"),
        ((), "needs a game"),
        (("tictactoe", "human", "--board", WON), "a person plays at a board"),
        (("tictactoe", "random", "--moves", "a1 b2 a2 b1 a3"), "a position before the end"),
        (("2048", "--best", "--board", BOARD, "--goal", "16"), "max_tile to reach must be above 16"),
        (("tictactoe", "--best", "--board", WON, "--games-by", "human"), "a person plays at a board"),
    ],
)
def test_mistakes_are_sentences(tmp_path: Path, words: tuple[str, ...], sentence: str) -> None:
    with pytest.raises(UserError, match=sentence):
        turnier("analyse", *words, folder=tmp_path)
