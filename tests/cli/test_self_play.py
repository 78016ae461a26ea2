"""`turnier train GAME puct` as people use it: stopped, resumed, refused."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.cli.running import TURNIER
from turnier.commands.app import app
from turnier.runs.self_play.loop import games_of

AGENT = "puct(iterations=30,selection=gumbel,evaluator=ntuple(tuples=6,length=4))"
SMALL = "self_play(generation=50,window=200)"


def words(out: Path, games: int) -> list[str]:
    return [
        *("train", "tictactoe", AGENT, "--learning", SMALL, "--games", str(games), "--out", str(out)),
        *("--store", f"sqlite:///{out.with_suffix('.db')}", "--executor", "threads", "--workers", "2"),
    ]


def test_a_signal_leaves_a_checkpoint_and_the_command_resumes(tmp_path: Path) -> None:
    """Whatever the moment: the file ends as that of a training that nobody stopped, to the byte."""
    whole, out, games = tmp_path / "whole.npz", tmp_path / "stopped.npz", 5000
    subprocess.run([*TURNIER, *words(whole, games)], check=True, capture_output=True, timeout=120)
    with subprocess.Popen([*TURNIER, *words(out, games)], stderr=subprocess.PIPE, text=True) as process:
        while not out.exists() and process.poll() is None:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=60)
    assert process.returncode == 130 and "Traceback" not in told
    done = games_of(out)
    assert 0 < done < games and done % 50 == 0
    assert f"Stopped; {out} has {done:,} games. To resume, type: " in told
    ended = subprocess.run([*TURNIER, *words(out, games)], check=True, capture_output=True, timeout=120, text=True)
    assert f"{done:,} games were stored already and not played again." in ended.stdout
    assert out.read_bytes() == whole.read_bytes()
    again = CliRunner().invoke(app, words(out, games))
    assert again.exit_code == 0 and f"has {games:,} games already; resume with more --games." in again.output


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        (["--hours", "1"], "self-play with search takes no hours; leave it out."),
        (["--threads", "2"], "self-play with search takes no threads; leave it out."),
        (["--begins", "a.npz"], "self-play with search takes no begins; leave it out."),
        (["--executor", "rye"], "executor"),
        (["--learning", "td"], "puct must learn by self_play, got td"),
    ],
)
def test_options_of_other_trainings_are_refused(more: list[str], reason: str, tmp_path: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["turnier"])
        ended = CliRunner().invoke(app, [*words(tmp_path / "z.npz", 10), *more])
    assert ended.exit_code != 0 and reason in str(ended.exception or ended.output)
    assert not (tmp_path / "z.npz").exists()


def test_parameters_of_a_residual_network_are_listed() -> None:
    shown = CliRunner().invoke(app, ["list", "residual"], env={"COLUMNS": "160"}).stdout
    rows = {row.split()[0]: row for row in shown.splitlines() if len(row.split()) > 2}
    assert "0 to 40" in rows["blocks"] and "16 to 512" in rows["filters"] and {"file", "digest"} <= rows.keys()


@pytest.mark.parametrize("network", ["ntuple", "dqn"])
@pytest.mark.parametrize("option", [["--workers", "2"], ["--executor", "ray"], ["--address", "auto"]])
def test_other_trainings_refuse_where_to_play(network: str, option: list[str], tmp_path: Path) -> None:
    ended = CliRunner().invoke(app, ["train", "tictactoe", network, "--out", str(tmp_path / "w.npz"), *option])
    assert "takes no executor and no workers, as it plays in threads of its own; leave them out." in str(
        ended.exception
    )
    assert ended.exit_code != 0 and not list(tmp_path.iterdir())
