"""The progress of runs: reported by drivers, read by any process; a silent or dead driver is never running."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from sqlalchemy import select, text, update

from tests.results.made import made
from turnier.core.errors import UserError
from turnier.results.integrity.checksums import checksum
from turnier.results.store import manifest
from turnier.results.store import progress as run_progress
from turnier.results.store.annotations import NOTE, REASON
from turnier.results.store.locks import this_process
from turnier.results.store.progress import RunProgress, checked_values, progress_of_runs, stored_command
from turnier.results.store.schema import run_progress as table
from turnier.results.store.store import Store
from turnier.runs.bar import Bar, game_bar, run_bar

RUN = "tournament:0123456789abcdef"


@pytest.fixture
def run(store: Store) -> Store:
    store.begin_run(RUN, "tournament", "a tournament", {"seed": 1})
    return store


def shown(store: Store) -> RunProgress:
    (found,) = progress_of_runs(store)
    return found


def bar(store: Store, total: int = 10) -> Any:
    return run_bar(store, RUN, "test", total, Console(file=io.StringIO()))


def change_row(store: Store, **changes: Any) -> None:
    """Changes what the driver said last."""
    with store.database.writing() as connection:
        connection.execute(update(table).values(changes))
        for row in connection.execute(select(table)).all():
            mine = table.c.run_id == row.run_id
            connection.execute(update(table).where(mine).values(checksum=checksum(*checked_values(row))))


def eventually(store: Store, done: int) -> RunProgress:
    deadline = time.monotonic() + 30
    while (found := shown(store)).done != done:
        assert time.monotonic() < deadline, found
        time.sleep(0.01)
    return found


def test_another_reader_sees_a_run_begin_advance_and_end(run: Store, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_progress, "BEAT_SECONDS", 0.02)
    with Store.open(url, read_only=True) as reader:
        assert (shown(reader).state, shown(reader).done, shown(reader).stored) == ("unknown", None, 0)
        with bar(run) as running:
            running.skip(3)
            before = eventually(reader, 3)
            assert (before.state, before.planned, before.rate, before.seconds_left) == ("running", 10, None, None)
            assert before.holder == this_process() and before.ended is None
            running.advance(5)
            later = eventually(reader, 8)
            assert later.rate is not None and later.rate > 0
            running.waits = lambda: True  # its workers are gone, or have not come yet
            deadline = time.monotonic() + 30
            while shown(reader).state != "waiting":
                assert time.monotonic() < deadline
                time.sleep(0.01)
            running.waits = lambda: False
            assert later.seconds_left == pytest.approx(2 / later.rate)
            running.expect(4, "searches")
            running.advance(6)
        end = shown(reader)
        assert (end.state, end.done, end.planned, end.unit) == ("finished", 14, 14, "searches")
        assert end.rate is end.seconds_left is None and end.ended is not None
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("progress")]


def test_a_run_that_fails_is_stopped_with_what_is_stored_and_resumes(run: Store) -> None:
    def fails() -> None:
        with bar(run) as running:
            run.append(RUN, [made(seed) for seed in range(4)])
            running.advance(2)  # two more were stored than its driver came to say
            raise ZeroDivisionError("the file\nis empty")

    with pytest.raises(ZeroDivisionError):
        fails()
    assert (shown(run).state, shown(run).done, shown(run).stored) == ("stopped", 4, 4)
    assert shown(run).reason == "ZeroDivisionError: the file is empty"
    with bar(run):
        assert (shown(run).state, shown(run).reason) == ("running", "")
    assert (shown(run).state, shown(run).reason) == ("finished", "")
    with contextlib.suppress(UserError), bar(run):
        raise UserError("postgresql://me:secret@host must answer.")
    assert shown(run).reason == "postgresql://me:***@host must answer."
    assert run.annotations.get(RUN, REASON) and not run.annotations.get(RUN, NOTE)


@pytest.mark.parametrize(("seconds", "state"), [(25.0, "running"), (31.0, "stopped"), (-31.0, "stopped")])
def test_a_driver_that_is_silent_for_thirty_seconds_has_stopped(run: Store, seconds: float, state: str) -> None:
    with bar(run):
        change_row(run, heartbeat=table.c.heartbeat - seconds, holder="another-machine:1")
        assert shown(run).state == state


def test_a_driver_of_this_machine_that_has_ended_has_stopped(run: Store) -> None:
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    with bar(run):
        change_row(run, holder=this_process().replace(str(os.getpid()), str(process.pid)))
        assert shown(run).state == "running"
        process.kill()
        process.communicate()
        told = shown(run)
        assert (told.state, told.reason) == ("stopped", run_progress.KILLED) and told.ended is not None


def test_a_run_of_an_earlier_version_that_ended_without_a_word_may_have_ended_in_any_way(run: Store) -> None:
    with bar(run):
        change_row(run, holder=this_process().replace(str(os.getpid()), str(2**22 + 1)))
        assert shown(run).reason == run_progress.KILLED
        for earlier in ("", "Interrupted."):  # this one of an earlier stop
            run.annotations.set(RUN, REASON, earlier)
            assert shown(run).reason == run_progress.UNKNOWN_END


@pytest.mark.parametrize("hour", [-3600.0, 3600.0])
def test_a_wall_clock_that_is_set_does_not_stop_a_run(run: Store, monkeypatch: pytest.MonkeyPatch, hour: float) -> None:
    monkeypatch.setattr(run_progress, "BEAT_SECONDS", 0.02)
    real = time.time
    with bar(run) as running:
        running.advance(1)
        eventually(run, 1)
        monkeypatch.setattr(time, "time", lambda: real() + hour)
        running.advance(1)
        found = eventually(run, 2)
        assert found.state == "running" and 0 < (found.rate or 0) < 1e6


def test_a_store_that_fails_does_not_hide_why_a_run_ended(tmp_path: Path) -> None:
    def fails(store: Store) -> None:
        with bar(store), store.database.writing() as connection:
            connection.execute(text("DROP TABLE run_progress"))
            connection.commit()
            raise ZeroDivisionError("the file\nis empty")

    with Store.open(f"sqlite:///{tmp_path}/a.db") as store:
        store.begin_run(RUN, "tournament", "t", {})
        with pytest.raises(ZeroDivisionError):
            fails(store)


@pytest.fixture
def command_line() -> Iterator[None]:
    before = manifest.command_line()
    yield
    manifest.started_with(before)


def test_the_command_is_stored_without_where_it_plays(run: Store, command_line: None) -> None:
    words = ["tournament", "2048", "random", "greedy(evaluator=ntuple(file=w.npz))", "--games", "5"]
    places = ["--store", "postgresql://me:secret@host/x", "--workers=3", "--address=1.2.3.4:5", "--executor", "ray"]
    manifest.started_with(["/home/me/.venv/bin/turnier", *places, *words])
    run.begin_run("other", "tournament", "other", {})
    with bar(run):
        assert stored_command(run, RUN) == ("turnier", *words)
    environment = json.dumps(run.run("other").environment)
    assert run.run("other").environment["command"] == ["turnier", *words]
    assert not any(hidden in environment for hidden in ("secret", "1.2.3.4", "/home"))


def test_the_commit_is_that_of_the_packages_own_checkout(tmp_path: Path) -> None:
    def git(*words: str) -> None:
        name = ("-c", "user.name=x", "-c", "user.email=x")
        subprocess.run(["git", "-C", str(tmp_path), *name, *words], check=True, capture_output=True)

    git("init")
    own, installed = tmp_path / "own.py", tmp_path / "venv.py"
    for file in (own, installed):
        file.write_text("1")
    git("add", "own.py")
    git("commit", "-m", "x")
    clean = manifest._git_state(own)
    assert clean is not None and len(clean["commit"]) == 40 and clean["dirty"] is False
    assert manifest._git_state(installed) is None
    own.write_text("2")
    assert manifest._git_state(own) == clean | {"dirty": True}


@pytest.mark.parametrize(
    ("typed", "found"),
    [(RUN, RUN), ("tournament:01", RUN), ("01", RUN), ("study", "study:a"), ("study:a", "study:a"), ("ab", "study:ab")],
)
def test_a_run_is_found_by_the_beginning_of_its_id(run: Store, typed: str, found: str) -> None:
    for name in ("a", "ab"):
        run.begin_run(f"study:{name}", "study", name, {})
    if typed == "study":
        with pytest.raises(
            UserError, match=r"must be named unambiguously, got 'study', which begins study:a, study:ab"
        ):
            run.find_run(typed)
        return
    assert run.find_run(typed).id == found


def test_a_run_that_is_not_there_suggests_the_closest(run: Store) -> None:
    for typed in ("tournament:9", ""):
        with pytest.raises(UserError, match="There is no run named"):
            run.find_run(typed)


def test_many_threads_advance_one_bar() -> None:
    with game_bar("x", 8000, Console(file=io.StringIO())) as counting:

        def advance(counting: Bar) -> None:
            for _ in range(1000):
                counting.advance(1)

        threads = [threading.Thread(target=advance, args=(counting,)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert counting.done == 8000


def test_games_of_people_are_finished_as_they_are_stored(store: Store) -> None:
    """Nobody drives their run: it has what was played."""
    store.begin_run("play:0123456789abcdef", "play", "tictactoe", {"game": "tictactoe", "agents": ["random"]})
    store.append("play:0123456789abcdef", [made(1), made(2)])
    (played,) = progress_of_runs(store)
    assert (played.state, played.done, played.planned, played.unit) == ("finished", 2, 2, "games")
