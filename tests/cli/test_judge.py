"""`turnier judge`: a table of 80 columns, data, and what it says where nobody can judge."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.cli.running import turnier
from turnier.commands.app import app
from turnier.core.errors import UserError

WORDS = ("judge", "tictactoe", "random", "perfect", "mcts(iterations=30)", "--positions", "80", "--executor", "serial")


def test_a_table_of_80_columns_has_shares_and_losses_with_their_intervals(tmp_path: Path) -> None:
    shown = turnier(*WORDS, folder=tmp_path, columns=80)
    lines = shown.splitlines()
    assert max(map(len, lines)) <= 80 and "80 positions" in shown and "search to the end" in " ".join(shown.split())
    *_, perfect = (line for line in lines if line.startswith("perfect "))
    assert perfect.split()[1].startswith("100") and perfect.split()[-3:] == ["0", "±", "0"]
    (random,) = (line for line in lines if line.startswith("random "))
    assert "±" in random and random.count("(") == 2
    assert "Random play: " in shown and "where it matters" in shown


def test_data_repeats_with_the_seed(tmp_path: Path) -> None:
    one, same, other = (json.loads(turnier(*WORDS, "--json", "--seed", seed, folder=tmp_path)) for seed in "112")
    assert one == same != other
    assert [agent["label"] for agent in one["agents"]] == ["perfect", "mcts(iterations=30)", "random"]
    random = one["agents"][-1]
    assert random["optimal_low"] < random["optimal"] < random["optimal_high"] and random["loss"] > 0
    assert random["kept"] < random["optimal"] and random["contested"] < random["positions"] == 80
    assert 0 < one["random"]["kept"] < one["random"]["optimal"] < 1 and one["judge"] == "search to the end"


def test_a_position_without_a_wrong_move_is_no_mistake(tmp_path: Path) -> None:
    """On three rows and columns nobody can have four in a line."""
    shown = turnier("judge", "connect_four(rows=3,columns=3)", "random", "--positions", "20", folder=tmp_path)
    assert "Random play: 100 % optimal in 20 positions." in " ".join(shown.split())


def test_a_game_that_nobody_can_judge_is_refused() -> None:
    with pytest.raises(UserError, match="too many boards"):
        CliRunner().invoke(app, ["judge", "hex", "random"], catch_exceptions=False)
