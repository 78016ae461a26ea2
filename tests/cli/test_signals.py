"""Signals that end a process: every command that runs long ends at once, with one sentence and the usual exit code."""

from __future__ import annotations

import contextlib
import os
import pty
import re
import shlex
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.cli.running import STUDIES, TURNIER, turnier
from tests.dashboards.drawn_pages import Pages
from turnier.core.errors import UserError
from turnier.dashboards.links import run_address
from turnier.results.store.progress import progress_of_runs
from turnier.results.store.store import Store
from turnier.runs.declared.kinds import KINDS

PLAY = ("--executor", "threads", "--workers", "1", "--store", "sqlite:///a.db")
SEARCH = ("tune", "tictactoe", "mc(iterations=100)", "--params", "iterations=50..400", "--against",
          "mc(iterations=150)", "--budget", "20000games")  # fmt: skip
STORING = {
    "tournament": ("tournament", "tictactoe", "random", "mc(iterations=300)", "--games", "20000"),
    "study": SEARCH,
    "front": (*SEARCH, "--objectives", "strength,certainty"),
    "certainty": ("certainty", "tictactoe", "mc(iterations=3000)", "--states", "600", "--repeats", "200"),
    "comparison": ("compare", "--game", "yavalath", "mcts(iterations=300)", "mcts(iterations=301)"),
    "race": ("compare", "--game", "yavalath", "mcts(iterations=300)", "mcts(iterations=301)", "--base", "mc"),
    "judging": ("judge", "tictactoe", "mc(iterations=20000)", "--positions", "500"),
    "replication": ("tournament", "tictactoe", "random", "mc(iterations=300)", "--times", "9", "--games", "5000"),
    "balance": (
        "tune",
        "hex(size=3)",
        "mcts(iterations=300)",
        "--parameters",
        "swap",
        "--balance",
        "5",
        "--budget",
        "40000",
    ),
    "profile": ("profile", "tictactoe", "--per-move", "300rollouts", "--steps", "2", "--games", "20000"),
}
TRAIN = ("train", "tictactoe", "ntuple(tuples=2,length=3)", "--games", "100000000", "--out", "w.npz", "--every", "100",
         "--evaluate-every", "100", "--evaluation-games", "2", "--against", "random", "--store",
         "sqlite:///a.db")  # fmt: skip
LEARNING = {"training": TRAIN, "repeated_training": (*TRAIN, "--repeats", "2")}
SCRIPT = (str(STUDIES / "cmaes_heuristics.py"), "--preset", "two_hours", "--name", "x", "--picture", ".")
SIGNALS = (signal.SIGTERM, *(pytest.param(each, marks=pytest.mark.long) for each in (signal.SIGINT, signal.SIGHUP)))
KILL = pytest.param(signal.SIGKILL, marks=pytest.mark.long)
REASONS = {
    signal.SIGINT: "Ctrl-C ended it.",
    signal.SIGTERM: "SIGTERM ended it, sent by `kill` or a scheduler.",
    signal.SIGHUP: "SIGHUP ended it: its terminal was closed.",
    signal.SIGKILL: "Its process ended without a word: it was killed, or it crashed.",
    0: "Its time was over.",
}
IN_TIME = """
import sys
from turnier.commands.command_line import at_most
import turnier
with at_most(8):
    turnier.Tournament("tictactoe", ["random", "mc(iterations=300)"], games=200000).run("a.db")
"""


def ends(
    command: list[str], folder: Path, stopped_by: signal.Signals, is_ready: Callable[[subprocess.Popen[str]], object]
) -> str:
    """Starts a command, sends the signal when it is ready; returns the last line that it says."""
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, cwd=folder, text=True, **streams) as process:  # type: ignore[call-overload]
        try:
            deadline = time.monotonic() + 120
            while not is_ready(process):
                if process.poll() is not None or time.monotonic() > deadline:
                    process.kill()
                    raise AssertionError(process.communicate())
                time.sleep(0.05)
            process.send_signal(stopped_by)
            _, told = process.communicate(timeout=30)
        finally:
            process.kill()
    assert process.returncode == (-stopped_by if stopped_by == signal.SIGKILL else 128 + stopped_by)
    assert "Traceback" not in told
    return str((told.rstrip().splitlines() or [""])[-1])


def says_why(folder: Path, stopped_by: int) -> None:
    """Asserts that the store, the list of runs, the runs themselves and their pages say why they stopped."""
    with Store.open(f"sqlite:///{folder}/a.db", read_only=True) as store:
        driven = [one for one in progress_of_runs(store) if one.state != "unknown"]
    assert {(run.state, run.reason) for run in driven} == {("stopped", REASONS[stopped_by])}
    listed = turnier("runs", "--store", "sqlite:///a.db", folder=folder)
    assert REASONS[stopped_by] in " ".join(listed.split())
    pages = Pages(f"sqlite:///{folder}/a.db")
    assert REASONS[stopped_by] in pages.look("/").text
    for run in driven:  # several trainings are trainings, too
        assert REASONS[stopped_by] in turnier("show", run.run, "--store", "sqlite:///a.db", folder=folder)
        assert REASONS[stopped_by] in pages.look(run_address(run.run)).text


def plays(folder: Path) -> Callable[[object], bool]:
    """Returns whether anything is stored in a folder's store."""

    def is_stored(_: object) -> bool:
        try:
            with Store.open(f"sqlite:///{folder}/a.db", read_only=True) as store:
                return bool(store.stored_counts())
        except UserError:
            return False

    return is_stored


@pytest.mark.parametrize("stopped_by", SIGNALS)
@pytest.mark.parametrize("kind", [*STORING, "script"])
def test_what_plays_says_how_to_resume(kind: str, stopped_by: signal.Signals, tmp_path: Path) -> None:
    words = [*(SCRIPT if kind == "script" else STORING[kind]), *PLAY]
    command = [*([sys.executable] if kind == "script" else TURNIER), *words]
    told = ends(command, tmp_path, stopped_by, plays(tmp_path))
    typed = told.removeprefix("Stopped; finished games are stored. To resume, type: ")
    assert typed != told and shlex.split(typed)[1:] == words
    says_why(tmp_path, stopped_by)


@pytest.mark.parametrize("stopped_by", [*SIGNALS, KILL])
@pytest.mark.parametrize("kind", LEARNING)
def test_a_training_that_is_stopped_says_why(kind: str, stopped_by: signal.Signals, tmp_path: Path) -> None:
    ends([*TURNIER, *LEARNING[kind]], tmp_path, stopped_by, plays(tmp_path))
    says_why(tmp_path, stopped_by)


@pytest.mark.parametrize("kind", ["tournament", *(pytest.param(k, marks=pytest.mark.long) for k in STORING)])
def test_what_is_killed_says_so(kind: str, tmp_path: Path) -> None:
    ends([*TURNIER, *STORING[kind], *PLAY], tmp_path, signal.SIGKILL, plays(tmp_path))
    says_why(tmp_path, signal.SIGKILL)


def test_what_has_used_up_its_time_says_so(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", IN_TIME], cwd=tmp_path, check=True, capture_output=True)
    says_why(tmp_path, 0)


def test_every_kind_of_run_is_stopped_here() -> None:
    by_others = {"play", "experiment", "server"}  # of people, of scripts, and of a process that serves
    assert {*STORING, *LEARNING} - {"front"} == KINDS.keys() - by_others


def test_a_decision_that_takes_hours_is_no_reason_to_wait(tmp_path: Path) -> None:
    words = ("tournament", "tictactoe", "mc(iterations=100000000)", "random", "--games", "2", "--executor", "serial")
    url = ("--store", "sqlite:///a.db")
    began: list[float] = []

    def decides(_: object) -> bool:
        with contextlib.suppress(UserError), Store.open(f"sqlite:///{tmp_path}/a.db", read_only=True) as store:
            if store.runs():
                began.append(time.monotonic())
        return bool(began) and time.monotonic() > began[0] + 3  # the kernels are compiled, or loaded

    told = ends([*TURNIER, *words, *url], tmp_path, signal.SIGTERM, decides)
    assert told.startswith("Stopped; finished games are stored. To resume, type: ")


@pytest.mark.parametrize("stopped_by", SIGNALS)
def test_games_that_are_over_are_stored_before_a_batch_ends(stopped_by: signal.Signals, tmp_path: Path) -> None:
    words = ("tournament", "2048", "mc(iterations=60)", "mc(iterations=61)", "--games", "32", *PLAY)
    terminal, its_end = pty.openpty()  # without one there is no bar
    told, shown = b"", 0
    with subprocess.Popen([*TURNIER, *words], cwd=tmp_path, stdout=its_end, stderr=its_end) as process:
        os.close(its_end)
        while shown < 2:  # of the 32 that are played side by side
            told += os.read(terminal, 4096)
            shown = max(map(int, re.findall(rb" (\d+)/64", told)), default=0)
        process.send_signal(stopped_by)
        with contextlib.suppress(OSError):  # the end
            while rest := os.read(terminal, 4096):
                told += rest
    os.close(terminal)
    assert process.returncode == 128 + stopped_by and b"Stopped; finished games are stored" in told
    with Store.open(f"sqlite:///{tmp_path}/a.db", read_only=True) as store:
        assert shown <= sum(store.stored_counts().values()) < 64


@pytest.fixture
def silent_port() -> Iterator[int]:
    """A port at which somebody listens who never says anything."""
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        yield silent.getsockname()[1]


@pytest.mark.parametrize("stopped_by", SIGNALS)
def test_what_only_shows_or_joins_says_that_it_was_stopped(
    stopped_by: signal.Signals, silent_port: int, tmp_path: Path
) -> None:
    def serves(process: subprocess.Popen[str]) -> bool:
        assert process.stdout is not None
        return "dashboards" in process.stdout.readline()

    assert ends([*TURNIER, "dashboard"], tmp_path, stopped_by, serves) == "Stopped."

    began = time.monotonic()
    words = ("spe_ed", "join", "--key", "k", "--url", f"ws://127.0.0.1:{silent_port}/spe_ed")
    assert ends([*TURNIER, *words], tmp_path, stopped_by, lambda _: time.monotonic() > began + 5) == "Stopped."
