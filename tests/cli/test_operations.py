"""Looking after runs as people do: status from another process, killed and stopped drivers, resuming."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

import pytest
from rich.console import Console
from typer.testing import CliRunner

from tests.cli.running import TURNIER, turnier
from tests.cli.test_signals import SIGNALS
from tests.core.test_outside import BOT, FIRST, LAST
from turnier.arena.workers.where import Where
from turnier.commands.app import app, main
from turnier.commands.machine import checks
from turnier.core.errors import UserError
from turnier.results.frames.matches import matches_frame
from turnier.results.store import DEFAULT_URL
from turnier.results.store.annotations import SETTINGS
from turnier.results.store.manifest import command_line, started_with
from turnier.results.store.progress import progress_of_runs, stored_command
from turnier.results.store.store import Store
from turnier.runs.bar import run_bar
from turnier.runs.tournament import Tournament

GAMES = 1000  # several seconds
FEW = ("--games", "2", "--executor", "serial")
TOURNAMENT = ("tournament", "tictactoe", "random", "mc(iterations=300)", "--games", str(GAMES), "--seed", "3")


def start(store: str, *words: str) -> subprocess.Popen[str]:
    command = [*TURNIER, *words, "--store", store, "--executor", "threads", "--workers", "1"]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def shown(*words: str) -> str:
    result = CliRunner().invoke(app, list(words), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def status(store: str) -> dict[str, Any]:
    (found,) = json.loads(shown("runs", "--json", "--store", store))
    return dict(found)


def until_playing(process: subprocess.Popen[str], store: str) -> dict[str, Any]:
    """Waits until some games are stored."""
    deadline = time.monotonic() + 120
    while process.poll() is None and time.monotonic() < deadline:
        try:
            if (found := status(store))["stored"]:
                return found
        except (UserError, ValueError):
            pass  # the store or the run is not there yet
        time.sleep(0.05)
    raise AssertionError(f"no game was stored: {process.communicate()[1] if process.poll() is not None else ''}")


def games(store: str) -> list[list[Any]]:
    """Returns everything but clocks and whose run it was, by match."""
    with Store.open(store, read_only=True) as opened:
        frame = matches_frame(opened).sort_values(["match", "seat"])
        ids = list(frame["match"].unique())
        plies = {record.spec.id: record.plies for record in opened.records(ids)}
    table = frame.drop(columns=["seconds", "seat_seconds", "seat_cpu_seconds", "run"]).astype(object)
    return [[*row, plies[row[0]]] for row in table.where(table.notna(), None).to_numpy().tolist()]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> str:
    store = f"sqlite:///{tmp_path_factory.mktemp('whole')}/a.db"
    process = start(store, *TOURNAMENT)
    assert process.communicate(timeout=300) and process.returncode == 0
    return store


@pytest.mark.parametrize("stopped_by", [signal.SIGKILL, *SIGNALS])
def test_a_stopped_driver_is_seen_and_resumed_by_its_name(
    tmp_path: Path, undisturbed: str, stopped_by: signal.Signals
) -> None:
    store = f"sqlite:///{tmp_path}/a.db"
    process = start(store, *TOURNAMENT)
    running = until_playing(process, store)
    assert (running["state"], running["planned"]) == ("running", GAMES)
    process.send_signal(stopped_by)
    _, told = process.communicate(timeout=60)
    stopped = status(store)
    assert stopped["state"] == "stopped" and 0 < stopped["done"] == stopped["stored"] < GAMES
    if stopped_by is not signal.SIGKILL:
        assert process.returncode == 128 + stopped_by and "To resume, type: turnier tournament" in told
    resumed = start(store, "tournament", "--resume", stopped["run"][:15])
    assert resumed.communicate(timeout=300) and resumed.returncode == 0
    finished = status(store)
    assert (finished["state"], finished["done"], finished["stored"]) == ("finished", GAMES, GAMES)
    assert games(store) == games(undisturbed)


def called(*words: str) -> int:
    """Returns the exit code of a command, run in this process as a shell would."""
    with mock.patch.object(sys, "argv", ["turnier", *words]), pytest.raises(SystemExit) as ended:
        main()
    return int(ended.value.code or 0)


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with two bots of one name, and a store in which one of them has played."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    for folder, chooses in (("a", FIRST), ("b", LAST)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "bot.py").write_text(BOT)
        (tmp_path / folder / "helper.py").write_text(chooses)
    before = command_line()
    assert called("tournament", "tictactoe", "a/bot.py:Bot", "random", *FEW) == 0
    yield tmp_path
    started_with(before)


@pytest.mark.parametrize("agents", [("a/bot.py:Bot", "b/bot.py:Bot"), ("b/bot.py:Bot@PREVIOUS", "b/bot.py:Bot")])
def test_a_resumed_tournament_plays_the_versions_that_began_it(own: Path, agents: tuple[str, str]) -> None:
    assert called("tournament", "tictactoe", *agents, *FEW) == 0
    with Store.open(DEFAULT_URL, read_only=True) as store:
        begun, before = store.runs()[-1], store.match_counts()
        command = stored_command(store, begun.id)
    for folder in ("a", "b"):
        (own / folder / "bot.py").write_text(BOT + "# edited\n")
    for words in (("tournament", "--resume", begun.id), command[1:]):  # the stored command is one that people can type
        assert called(*words, "--executor", "serial") == 0
        with Store.open(DEFAULT_URL, read_only=True) as store:
            assert store.match_counts() == before


def test_a_command_that_plays_another_tournament_by_now_is_not_resumed(
    own: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """As if what was stored now meant other code."""
    with Store.open(DEFAULT_URL) as store:
        planned = Tournament("tictactoe", ["a/bot.py:Bot", "greedy"], games=2)
        run = planned.run(store, where=Where("serial"), progress=False)
        store.annotations.set(run.id, SETTINGS, json.dumps(planned.settings | {"agents": ["random", "greedy"]}))
    assert called("tournament", "--resume", run.id) == 2
    error = capfd.readouterr().err
    assert f"{run.id} goes on as it began, but as a file that it names has changed" in error, error


def test_with_ray_a_signal_to_all_processes_leaves_one_sentence(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path}/a.db"
    command = [*TURNIER, *TOURNAMENT, "--store", store, "--executor", "ray", "--workers", "1"]
    streams: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, start_new_session=True, **streams) as process:
        until_playing(process, store)
        os.killpg(process.pid, signal.SIGTERM)  # as Slurm and the end of a terminal do
        _, told = process.communicate(timeout=60)
    assert process.returncode == 128 + signal.SIGTERM
    (sentence,) = [
        line for line in told.splitlines() if line and "games/s" not in line and "tictactoe " not in line[:10]
    ]
    assert sentence.startswith("Stopped; finished games are stored. To resume, type: turnier tournament")


def test_two_users_play_into_one_server_at_once(postgres_url: str, undisturbed: str) -> None:
    """Different tournaments with some matches in common: each match is there once, and both runs have it."""
    drivers = [start(postgres_url, *TOURNAMENT[:4], *others, *TOURNAMENT[4:]) for others in ((), ("greedy",))]
    for driver in drivers:
        _, told = driver.communicate(timeout=300)
        assert driver.returncode == 0, told
    with Store.open(postgres_url, read_only=True) as store:
        assert {run.state for run in progress_of_runs(store)} == {"finished"}
        assert sorted(store.match_counts().values()) == [GAMES, 3 * GAMES]
        (mine,) = [run for run, count in store.match_counts().items() if count == GAMES]
        frame, everything = matches_frame(store, run=mine), matches_frame(store)
    assert everything["match"].nunique() == 3 * GAMES and len(everything) == 6 * GAMES
    with Store.open(undisturbed, read_only=True) as store:
        whole = matches_frame(store)
    key = ["match", "seat", "agent", "score", "decisions", "nodes"]
    assert frame[key].sort_values(key).to_numpy().tolist() == whole[key].sort_values(key).to_numpy().tolist()


def test_status_is_a_table_that_fits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    store = f"sqlite:///{tmp_path}/a.db"
    shown("tournament", "tictactoe", "random", "random", "--games", "4", "--executor", "serial", "--store", store)
    with Store.open(store) as opened:
        opened.begin_run("study:old", "study", "an old study", {})
    table = shown("runs", "--store", store)
    assert "finished" in table and "4 of 4" in table and "unknown" in table and "0 stored" in table
    assert all(run["run"] in table for run in json.loads(shown("runs", "--json", "--store", store)))
    assert max(map(len, table.splitlines())) <= 80


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--resume", "study:a"), "turnier tournament resumes a tournament or a replication, and study:a is a study"),
        (("--resume", "tournament:a"), "tournament:a cannot be resumed: its definition says too little"),
        (("--resume", "b"), "There is no run named 'b'"),
        (("2048", "random", "--resume", "study:a"), "--resume takes game and agents from the run"),
        ((), "a tournament needs game and agents"),
        (("2048",), "a tournament needs agents"),
    ],
)
def test_what_cannot_be_resumed_says_so(tmp_path: Path, words: tuple[str, ...], sentence: str) -> None:
    store = f"sqlite:///{tmp_path}/a.db"
    with Store.open(store) as opened:
        opened.begin_run("study:a", "study", "s", {})
        opened.begin_run("tournament:a", "tournament", "t", {})
    with pytest.raises(UserError) as caught:
        CliRunner().invoke(app, ["tournament", *words, "--store", store], catch_exceptions=False)
    assert sentence in str(caught.value)


def test_an_exported_run_replays_with_no_store(tmp_path: Path) -> None:
    store, out = f"sqlite:///{tmp_path}/a.db", tmp_path / "out"
    shown("tournament", "tictactoe", "random", "mc", "--games", "6", "--executor", "serial", "--store", store)
    assert "6 games" in shown("show", "tournament", "--out", str(out), "--store", store)
    (tmp_path / "a.db").unlink()
    assert "all 6 lines agree" in shown("check", str(out / "games.jsonl"))
    lines = (out / "games.jsonl").read_text().splitlines()
    wrong = json.loads(lines[3])
    wrong["scores"] = [0.5, -0.5]
    (out / "wrong.jsonl").write_text("\n".join([*lines[:3], json.dumps(wrong)]))
    result = CliRunner().invoke(app, ["check", str(out / "wrong.jsonl"), "--json"])
    assert result.exit_code == 1 and "4: the scores must be" in result.output.replace("\n", " ")
    assert json.loads((out / "run.json").read_text())["kind"] == "tournament"


def states(*words: str) -> dict[str, tuple[str, str, str]]:
    result = CliRunner().invoke(app, ["doctor", "--json", *words], catch_exceptions=False)
    found = {check["name"]: (check["state"], check["found"], check["cure"]) for check in json.loads(result.stdout)}
    assert result.exit_code == any(state == "fail" for state, _, _ in found.values())
    return found


def test_the_doctor_finds_nothing_wrong_here(tmp_path: Path) -> None:
    found = states("--store", f"sqlite:///{tmp_path}/a.db")
    assert list(found) == ["python", "packages", "machine", "clock", "kernel cache", "store", "content", "ray"]
    assert {state for state, _, _ in found.values()} <= {"ok", "warn"}
    assert "a task ran" in found["ray"][1]
    assert list(tmp_path.iterdir()) == []


def test_the_doctor_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks.metadata, "requires", lambda _: ["numpy>=99", "no-such-package", 'ruff; extra == "dev"'])
    monkeypatch.setattr(checks.shutil, "disk_usage", lambda _: SimpleNamespace(free=1e6))
    monkeypatch.setattr(checks, "memory_bytes", lambda: 1e8)
    monkeypatch.setattr(checks.time, "time", lambda: 1e9)
    found = states("--store", f"sqlite:///{tmp_path}/a.db", "--address", "127.0.0.1:1")
    assert found["packages"][0] == "fail" and found["packages"][1].startswith("numpy 2")
    assert "but >=99 is required; no-such-package is missing" in found["packages"][1]
    assert (found["store"][0], found["machine"][0], found["clock"][0]) == ("fail", "warn", "warn")
    assert found["ray"][0] == "fail" and "ray start --head" in found["ray"][2]
    assert all(cure for state, _, cure in found.values() if state != "ok")


def test_the_doctor_looks_at_a_server_and_at_old_stores(postgres_url: str) -> None:
    with Store.open(postgres_url):
        pass
    assert checks.check_store(postgres_url).state == "ok"
    with pytest.raises(UserError, match="must exist, got"):
        checks.check_store(postgres_url + "no")


def test_brackets_in_names_are_shown_as_they_are(tmp_path: Path) -> None:
    """They are no styles of the terminal's library."""
    store = f"sqlite:///{tmp_path}/a.db"
    with Store.open(store) as opened:
        opened.begin_run("study:a[/]b", "study", "a[/]b", {})
        paper = Console(file=io.StringIO(), width=100)
        with run_bar(opened, "study:a[/]b", "a[/]b", 2, paper) as bar:
            bar.note("[/] is next")
            bar.print("c[/]d")
        assert all(text in paper.file.getvalue() for text in ("a[/]b", "[/] is next", "c[/]d"))  # type: ignore[attr-defined]
    assert "study:a[/]b" in shown("runs", "--store", store)


def test_agents_that_would_repeat_one_game_are_named(tmp_path: Path) -> None:
    store = ("--store", f"sqlite:///{tmp_path}/a.db", "--executor", "serial")
    field = ("tournament", "tictactoe", "alphabeta(depth=1)", "alphabeta(depth=2)", "random", "--games")
    told = "the games of alphabeta(depth=1) and alphabeta(depth=2) at tictactoe must differ"
    assert told in shown(*field, "4", *store)
    assert told not in shown(*field, "2", *store)
    assert told not in shown(*field, "4", "--openings", "1", *store)


def test_games_that_turned_out_to_be_the_same_are_named(tmp_path: Path) -> None:
    """Whether an agent draws that the clock may stop, only its games show."""
    store = ("--store", f"sqlite:///{tmp_path}/a.db", "--executor", "serial")
    agents = ("alphabeta(depth=1,milliseconds=1000)", "greedy")
    told = " ".join(shown("tournament", "tictactoe", *agents, "--games", "10", *store).split())
    assert f"10 games, 2 different: {agents[0]} and {agents[1]} play the same game with every seed;" in told
    assert "start from positions that differ with --openings 1." in told and "must differ" not in told
    assert "different" not in shown("tournament", "tictactoe", *agents, "--games", "2", "--seed", "2", *store)
    found = json.loads(turnier("compare", *agents, "--game", "tictactoe", "--json", *store, folder=tmp_path))
    assert (found["games"], found["games_different"], found["pairs_that_count"], found["games_left"]) == (
        64,
        2,
        1,
        None,
    )
    assert [agent["different"] for agent in found["agents"]] == [2, 2] and found["verdict"] == "undecided"


def test_openings_say_how_many_games_they_make(tmp_path: Path) -> None:
    words = ("tournament", "tictactoe", "random", "greedy", "--openings", "1", "--executor", "serial")
    store = ("--store", f"sqlite:///{tmp_path}/a.db")
    told = shown(*words, *store, "--games", "7")
    assert "7 games per group are rounded up to 20: 10 openings x 2 orders of seats;" in told
    assert "rounded up" not in shown(*words, *store, "--games", "20")
