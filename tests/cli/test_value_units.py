"""Wherever people read an agent's values, they are in its unit."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path

from rich.console import Console
from typer.testing import CliRunner

from tests.cli.running import turnier
from tests.playing import played
from turnier.agents.registry import make_agent
from turnier.arena.analysis import analyse
from turnier.arena.analysis.reanalysis import Reanalysis
from turnier.commands.app import app
from turnier.commands.runs.shown_match import show_match
from turnier.games.registry import make_game
from turnier.server.analysis_data import analysis_data
from turnier.server.board.analyses import analyses
from turnier.server.board.opinions import opinions

GAME = make_game("2048")
AGENT = "expectimax(depth=1)"  # by its score
BOARD = "2 2 4 8 / . . . . / . . . . / . . . 4, score 100"
LEFT = 0  # merges the two 2


def test_in_analyses(tmp_path: Path) -> None:
    position = GAME.position_of(BOARD)
    *_, found = analyse(position, [AGENT], repeats=1, line=0)
    assert analysis_data(found)["agents"][0]["moves"][LEFT]["value"] == 104
    *_, shown = analyses(position, [AGENT], 0.01)
    assert shown["agents"][0]["actions"][LEFT][2] == 104
    assert "104 (1) *" in turnier("analyse", "2048", AGENT, "--board", BOARD, "--repeats", "1", folder=tmp_path)


def test_in_shown_and_replayed_matches() -> None:
    """A decision is worth what the score is at the next one."""
    agent = make_agent(AGENT)
    record = played(GAME, agent)
    review = Reanalysis(record)
    points, name = review.moments[10].position.returns[0], GAME.action_name(review.moments[9].action)
    assert points > 0
    printed = io.StringIO()
    show_match(Console(file=printed, width=200), GAME, [agent], 1, every_move=True)
    lines = [line for line in printed.getvalue().splitlines() if line.startswith("seat 0: ")]
    assert lines[9].startswith(f"seat 0: {name} ") and f"{name} {points:g} (1)" in lines[9]
    (tenth,) = (opinion for opinion in opinions(record) if opinion["move"] == 9)
    assert (name, 1, points) in [action[:3] for action in tenth["actions"]]


def test_it_is_said_of_whom_values_are_no_results(tmp_path: Path) -> None:
    field, agents = "spe_ed(width=8,height=8)", ("minimax(depth=1)", "mcts(iterations=2,evaluator=survivors)")
    ranks = "numbers that only rank moves"
    both = f"Values: {ranks} ({agents[0]}); -1 is lost, 1 is won (mcts(iterations=2,evaluator=survivors()))."
    assert both in turnier("analyse", field, *agents, "--repeats", "1", folder=tmp_path)
    one = json.loads(turnier("analyse", field, agents[0], "--repeats", "1", "--json", folder=tmp_path))
    assert one["agents"][0]["unit"] == ranks
    printed = io.StringIO()
    players = [make_agent(agents[0])] * 2
    show_match(
        Console(file=printed, width=200), make_game("spe_ed(players=2,width=4,height=4)"), players, 1, every_move=True
    )
    assert f"Values: {ranks}. In brackets" in printed.getvalue()


def test_in_hints(tmp_path: Path) -> None:
    words = ["play", "2048(size=2)", "human", "--store", f"sqlite:///{tmp_path / 'games.db'}", "--seed", "1"]
    ended = CliRunner().invoke(app, words, input=f"hint {AGENT}\nquit\n", env={"COLUMNS": "80"})
    assert ended.exit_code == 0
    assert re.search(r"expectimax\(depth=1\): \w+ [04] \(1 visits\)", ended.stdout)
