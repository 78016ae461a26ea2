"""`turnier train` as people use it: killed at any time it goes on with the same command, and others play the result."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from turnier.agents.ntuple.weights import load_weights
from turnier.agents.registry import make_agent
from turnier.arena.match import MatchSpec
from turnier.commands.app import app
from turnier.core.errors import UserError
from turnier.core.outputs import only_writer
from turnier.games.registry import make_game

QUICKLY = "t.CHECKPOINT_SECONDS = 0.1"  # instead of every few seconds, so that a kill finds some
ONCE = "t.CHECKPOINT_SECONDS, t.CHECKPOINT_SHARE = 0.3, 1e-9"  # a first one, and another at the end
GAMES = 12_000  # two seconds, so that each kill comes long before the end
NETWORK = "ntuple(network=cells,cells=0.1.2.3/4.5.6.7)"


def command(out: Path, games: int, checkpoints: str = QUICKLY) -> list[str]:
    code = f"import turnier.agents.learning.loop as t; {checkpoints}; from turnier.commands.app import main; main()"
    return [
        *(sys.executable, "-c", code, "train", "2048", NETWORK, "--games", str(games), "--out", str(out)),
        *("--store", f"sqlite:///{out.with_suffix('.db')}"),
    ]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The file of a training that nobody disturbed."""
    out = tmp_path_factory.mktemp("whole") / "whole.npz"
    subprocess.run(command(out, GAMES), check=True, capture_output=True, timeout=120)
    return out.read_bytes()


def test_killed_training_goes_on_bit_for_bit(whole: bytes, tmp_path: Path) -> None:
    """Kill -9 after a checkpoint, twice: the file is that of a run that nobody disturbed."""
    out = tmp_path / "killed.npz"
    for _ in range(2):
        before = out.stat().st_mtime_ns if out.exists() else 0
        process = subprocess.Popen(command(out, GAMES), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while process.poll() is None:
            if out.exists() and out.stat().st_mtime_ns != before:
                break
            time.sleep(0.02)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    assert 0 < load_weights(out).training["done"] < GAMES
    subprocess.run(command(out, GAMES), check=True, capture_output=True, timeout=120)
    assert load_weights(out).training["done"] == GAMES
    assert out.read_bytes() == whole
    assert [path.name for path in tmp_path.glob(".*")] == []


@pytest.mark.parametrize("stopped_by", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_stores_every_game_and_says_how_many(stopped_by: signal.Signals, whole: bytes, tmp_path: Path) -> None:
    """Resumed, the file is as without it, to the byte. While games are played the file has no other writer."""
    out = tmp_path / "stopped.npz"
    with subprocess.Popen(
        command(out, GAMES, ONCE), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as process:
        while not out.exists() and process.poll() is None:
            time.sleep(0.02)
        named = rf"stopped.npz must have one writer at a time, but process {process.pid} on \S+ has trained ntuple"
        with pytest.raises(UserError, match=named), only_writer(out, "waits"):
            pass
        before = load_weights(out).training["done"]
        time.sleep(0.2)  # for more games
        process.send_signal(stopped_by)
        _, told = process.communicate(timeout=60)
    assert process.returncode == 128 + stopped_by and "Traceback" not in told
    done = load_weights(out).training["done"]
    assert before < done < GAMES and f"Stopped; {out} has {done:,} games. To resume, type: " in told
    subprocess.run(command(out, GAMES), check=True, capture_output=True, timeout=120)
    assert out.read_bytes() == whole


def test_more_games_go_on_and_the_file_plays(tmp_path: Path) -> None:
    """A second command with more games goes on; match ids depend on what the file holds."""
    out, ids = tmp_path / "w.npz", set()
    for games in (100, 200):
        shown = CliRunner().invoke(app, command(out, games)[3:])
        assert shown.exit_code == 0 and f"{games} games" in re.sub(r"\s+", " ", shown.output), shown.output
        agent = make_agent(f"greedy(evaluator=ntuple(file={out}))")
        assert load_weights(out).digest in agent.full_text()
        ids.add(MatchSpec("2048", (agent.full_text(),), 1).id)
    assert len(ids) == 2
    assert agent.seat_kernels(make_game("2048")) is not None
    old = make_agent(agent.full_text().replace(load_weights(out).digest, "0" * 16))
    with pytest.raises(UserError, match="must have the digest 0000000000000000"):
        old.seat_kernels(make_game("2048"))


def test_learning_that_diverges_ends_in_a_sentence(tmp_path: Path) -> None:
    """Steps far too large make values grow without bound; nobody is to play with what comes of it."""
    options = ["train", "2048", "ntuple(tuples=8,length=2)", "--learning", "td(alpha=10,coherence=false)"]
    out = ["--out", str(tmp_path / "w.npz"), "--store", f"sqlite:///{tmp_path / 'w.db'}"]
    shown = CliRunner().invoke(app, [*options, "--games", "300", *out])
    assert isinstance(shown.exception, UserError)
    assert re.search(r"must stay within the returns of 2048, got \S+ after \d+ games", str(shown.exception))
    assert "an alpha below 10" in str(shown.exception)


def test_a_broken_file_is_named_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "w.npz").write_bytes(b"PK nothing")
    for text in (f"ntuple(file={tmp_path / 'w.npz'})", f"ntuple(file={tmp_path / 'none.npz'})"):
        with pytest.raises(UserError, match="weights must be a"):
            make_agent(f"greedy(evaluator={text})")


def test_evaluations_on_the_way_are_shown_and_stored(tmp_path: Path) -> None:
    """The same command again plays nothing and shows the same figures; the run's games are in the store."""
    options = ["--evaluate-every", "20", "--evaluation-games", "4"]
    shown = [CliRunner().invoke(app, [*command(tmp_path / "w.npz", 40)[3:], *options]) for _ in range(2)]
    assert [s.exit_code for s in shown] == [0, 0], shown[0].output + shown[1].output
    tables = [re.findall(r"^ +(\d+) +([\d,.]+ \(.*\)) +(\d+)\s*$", s.output, re.MULTILINE) for s in shown]
    assert tables[0] == tables[1] and [(row[0], row[2]) for row in tables[0]] == [("20", "4"), ("40", "4")]
    store = ["--store", f"sqlite:///{tmp_path / 'w.db'}"]
    resumed = CliRunner().invoke(app, ["train", "--resume", "last", "--games", "60", *store])
    assert resumed.exit_code == 0, resumed.output
    (run,) = set(re.findall(r"\((training:\w+)\)", shown[0].output + resumed.output))
    (tmp_path / "w.npz").unlink()
    (stored,) = json.loads(CliRunner().invoke(app, ["show", run, *store, "--json"]).stdout)
    assert [(row["games"], row["matches"]) for row in stored["evaluations"]] == [(20, 4), (40, 4), (60, 4)]
    assert sum(row["count"] for row in stored["curve"]) == 60
    refused = CliRunner().invoke(app, [*command(tmp_path / "w.npz", 40)[3:], "--against", "random"])
    assert isinstance(refused.exception, UserError) and "evaluate_every" in str(refused.exception)
