"""What `turnier compare` says: one sentence for each verdict, and numbers that agree with it."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tests.cli.running import turnier
from turnier.arena.workers.where import Where
from turnier.commands.app import app
from turnier.commands.runs.show import Shown, show_run
from turnier.core.terminal.console import Console
from turnier.results.store.store import Store
from turnier.runs.comparison import Comparison
from turnier.statistics.sprt import Verdict

CLOSE = ("mcts(iterations=16)", "mcts(iterations=17)")


def compared(
    folder: Path, *agents: str, game: str = "tictactoe", margin: float | None = None, games: int = 4000
) -> Any:
    """Returns what a comparison found, and what is printed of it."""
    comparison = Comparison(*agents, game=game, margin=margin, games=games)
    console = Console(record=True, width=160, file=io.StringIO())
    with Store.open(f"sqlite:///{folder}/a.db") as store:
        results = comparison.run(store, where=Where("serial"), progress=False)
        show_run(results, Shown(whole=True), console)
    return results, console.export_text()


def test_equal_within_a_wide_margin_and_undecided_within_a_narrow_one(tmp_path: Path) -> None:
    """The second goes on with the run of the first, and its games are those that it looked at."""
    equal, shown = compared(tmp_path, *CLOSE, margin=150)
    assert equal.verdict is Verdict.EQUAL
    assert f"{CLOSE[0]} and {CLOSE[1]} are equal at tictactoe within 150 Elo after {equal.duel.games} games" in shown
    narrow, shown = compared(tmp_path, *CLOSE, margin=1, games=300)
    assert narrow.id == equal.id and narrow.duel.games == 300
    assert "are undecided after 300 games (150 pairs): the difference is" in shown and "more games." in shown
    again, shown = compared(tmp_path, *CLOSE, margin=150)
    assert again.sentence == equal.sentence and re.search(rf"{re.escape(CLOSE[0])} .*\) +{equal.duel.games} ", shown)


def test_the_estimate_and_the_verdict_turn_with_the_agents(tmp_path: Path) -> None:
    better, shown = compared(tmp_path, "mcts(iterations=50)", "random")
    worse, _ = compared(tmp_path, "random", "mcts(iterations=50)")
    assert "mcts(iterations=50) is stronger than random at tictactoe after 64 games (32 pairs)" in shown
    assert worse.verdict is Verdict.WEAKER
    assert better.estimate["elo"] > better.estimate["elo_low"] > 100
    assert worse.estimate["elo"] < worse.estimate["elo_high"] < -100
    assert worse.estimate["share_low"] == pytest.approx(1 - better.estimate["share_high"], abs=0.1)


def test_alone_the_margin_is_a_share_of_the_mean_score(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found, shown = compared(tmp_path, "random", "greedy", game="2048(size=2)", margin=50)
    assert found.duel.test.high == 1.5
    assert "margin 50 % of its mean score" in shown and "mean score" in shown
    capsys.readouterr()
    with Store.open(f"sqlite:///{tmp_path}/a.db") as store:
        show_run(found.comparison.run(store, where=Where("serial"), progress=False), Shown(as_json=True))
    told = json.loads(capsys.readouterr().out)
    means = [row["mean"] for row in told["agents"]]
    assert told["estimate"]["difference_percent"] == pytest.approx(100 * (means[0] / means[1] - 1))
    assert told["pairs"] == told["pairs_that_count"] == told["agents"][0]["games"] == told["games"] / 2
    assert told["sentence"] == found.sentence and told["verdict"] == found.verdict.value


def test_stored_results_say_what_the_command_said(tmp_path: Path) -> None:
    found, shown = compared(tmp_path, "mcts(iterations=50)", "random", margin=30)
    words = ["show", found.id, "--store", f"sqlite:///{tmp_path}/a.db"]
    told = CliRunner().invoke(app, words, catch_exceptions=False).output
    assert found.sentence in " ".join(told.split()) and "margin 30 Elo" in told and found.sentence in shown
    rows = json.loads(CliRunner().invoke(app, [*words, "--json"], catch_exceptions=False).output)
    assert rows


def test_before_the_first_round_has_ended_only_the_sentence_is_printed(tmp_path: Path) -> None:
    comparison = Comparison(*CLOSE, game="tictactoe")
    with Store.open(f"sqlite:///{tmp_path}/turnier.db") as store:
        store.begin_run(comparison.run_id, "comparison", "tictactoe", comparison.definition)
    shown = turnier("show", comparison.run_id, folder=tmp_path)
    assert "no round of games has ended yet." in shown and "agent" not in shown
    assert json.loads(turnier("show", comparison.run_id, "--json", folder=tmp_path))["games"] == 0
