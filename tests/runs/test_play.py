"""Playing into the store: nothing twice, failures again."""

from __future__ import annotations

import dataclasses
import io
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from sqlalchemy import Connection, text

from tests.postgres import stopped
from turnier.arena.match import MatchRecord, MatchSpec, Termination
from turnier.arena.play import play_match
from turnier.arena.workers.executor import Task
from turnier.arena.workers.local import SerialExecutor
from turnier.core.errors import UserError
from turnier.results.frames.matches import matches_frame
from turnier.results.store import progress
from turnier.results.store.database import clock
from turnier.results.store.progress import progress_of_runs
from turnier.results.store.run_changes import forget_run
from turnier.results.store.store import Store
from turnier.runs.bar import run_bar
from turnier.runs.play import play_into

SPECS = [MatchSpec("tictactoe", ("random", "random"), seed) for seed in range(4)]


class Counting(SerialExecutor):
    """Remembers what it was given to play."""

    def __init__(self) -> None:
        super().__init__()
        self.given: list[MatchSpec] = []

    def submit(self, do: Task, batch: list[Any]) -> int:
        self.given += batch
        return super().submit(do, batch)


def played(store: Store, specs: list[MatchSpec]) -> tuple[list[MatchRecord], list[MatchSpec]]:
    executor = Counting()
    records = [record for batch in play_into(store, "run", specs, executor) for record in batch]
    return records, executor.given


def test_what_is_stored_is_not_played_again(store: Store) -> None:
    store.begin_run("run", "tournament", "run", {})
    first, given = played(store, SPECS[:2])
    assert given == SPECS[:2]
    second, given = played(store, SPECS)
    assert given == SPECS[2:]
    assert {r.spec for r in second} == set(SPECS)
    assert {r.spec: r.plies for r in first}.items() <= {r.spec: r.plies for r in second}.items()


def test_a_match_that_an_agent_failed_in_is_played_again(store: Store) -> None:
    store.begin_run("run", "tournament", "run", {})
    good = play_match(SPECS[0])
    failed = dataclasses.replace(good, termination=Termination.ERROR, scores=(0.0, 0.0), error="it raised")
    store.append("run", [failed, play_match(SPECS[1])])
    records, given = played(store, SPECS[:2])
    assert given == SPECS[:1]
    assert {r.spec: r.scores for r in records}[SPECS[0]] == good.scores
    assert store.record(SPECS[0].id).termination is Termination.NORMAL
    assert store.match_counts() == {"run": 2}


def test_a_match_that_is_played_again_stays_in_all_its_runs(store: Store) -> None:
    for name in ("run", "finished", "other"):
        store.begin_run(name, "tournament", name, {})
    good = play_match(SPECS[0])
    failed = dataclasses.replace(good, termination=Termination.ERROR, scores=(0.0, 0.0), error="it raised")
    store.append("run", [failed])
    store.append("finished", [failed, play_match(SPECS[1])])
    store.append("other", [play_match(SPECS[1])])
    _, given = played(store, SPECS[:1])
    assert given == SPECS[:1]
    assert store.match_counts() == {"run": 1, "finished": 2, "other": 1}
    for name in ("run", "finished"):
        records = [record for some in store.records_of_run(name) for record in some]
        assert good.scores in [record.scores for record in records]
        assert set(matches_frame(store, name)["termination"]) == {Termination.NORMAL.value}


def test_a_match_that_fails_stays_stored_until_it_has_been_played_again(store: Store) -> None:
    store.begin_run("run", "tournament", "run", {})
    failed = dataclasses.replace(play_match(SPECS[0]), termination=Termination.ERROR, error="it raised")
    store.append("run", [failed])
    interrupted = play_into(store, "run", SPECS[:1], Counting())
    assert store.played([SPECS[0].id]) == set()
    interrupted.close()
    assert store.record(SPECS[0].id).error == "it raised"
    assert store.append("run", [failed]) == 0, "the same failure is no new match"
    assert store.append("run", [dataclasses.replace(failed, error="it raised again")]) == 1
    assert store.record(SPECS[0].id).error == "it raised again"
    assert store.match_counts() == {"run": 1}


def test_a_failure_that_no_run_has_is_replaced_too(store: Store) -> None:
    """As after a repair that has a command begin its run again."""
    store.begin_run("run", "tournament", "run", {})
    good = play_match(SPECS[0])
    store.append("run", [dataclasses.replace(good, termination=Termination.ERROR, error="it raised")])
    with store.database.writing() as connection:
        forget_run(connection, "run")
    store.begin_run("run", "tournament", "run", {})
    assert store.append("run", [good]) == 1
    assert store.record(good.spec.id).termination is Termination.NORMAL and store.match_counts() == {"run": 1}


def test_runs_that_replay_each_others_failures_wait_for_each_other(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each has removed the other's failure before either attaches its own."""
    first, second = (play_match(spec) for spec in SPECS[:2])
    with Store.open(postgres_url) as store:
        for run, record in (("a", first), ("b", second)):
            store.begin_run(run, "tournament", run, {})
            store.append(run, [dataclasses.replace(record, termination=Termination.ERROR, error="it raised")])
        remove = store.blocks.remove
        monkeypatch.setattr(store.blocks, "remove", lambda *given: (remove(*given), time.sleep(0.5)))
        with ThreadPoolExecutor(2) as threads:
            appended = [threads.submit(store.append, run, [record]) for run, record in (("b", first), ("a", second))]
            assert [one.result(60) for one in appended] == [1, 1]
        assert store.match_counts() == {"a": 2, "b": 2}


def test_what_is_stored_may_be_counted_without_being_read(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    store.begin_run("run", "tournament", "run", {})
    played(store, SPECS[:3])
    monkeypatch.setattr(store, "records", None)
    skipped: list[int] = []
    batches = list(play_into(store, "run", SPECS, Counting(), skipped.append))
    assert skipped == [3]
    assert [record.spec for batch in batches for record in batch] == SPECS[3:]


def drive(store: Store, specs: list[MatchSpec]) -> Iterator[int]:
    """Plays as a command does, and says after each batch how many matches are there."""
    bar = run_bar(store, "run", "run", len(specs), Console(file=io.StringIO()))
    with bar as running:
        for records in play_into(store, "run", specs, Counting(), running.skip):
            running.advance(len(records))
            yield running.done


def state(store: Store) -> tuple[str, int | None]:
    (found,) = progress_of_runs(store)
    return found.state, found.done


MANY = [MatchSpec("tictactoe", ("random", "random"), seed) for seed in range(300)]


def test_a_full_disk_stops_a_run_which_resumes_when_there_is_room(tmp_path: Path) -> None:
    with Store.open(f"sqlite:///{tmp_path}/a.db") as store:
        store.begin_run("run", "tournament", "run", {})

        def limit(more: int) -> None:
            with store.database.writing() as connection:
                pages = connection.scalar(text("PRAGMA page_count")) or 0
                connection.execute(text(f"PRAGMA max_page_count = {pages + more}"))

        driving = drive(store, MANY)
        next(driving)
        limit(2)
        with pytest.raises(UserError, match=r"must be on a disk with room left.*make room and repeat the command.*\.$"):
            list(driving)
        stopped_at = state(store)[1]
        assert state(store)[0] == "stopped" and 0 < (stopped_at or 0) < 300
        limit(10_000)
        assert next(drive(store, MANY)) > (stopped_at or 0)
        assert list(drive(store, MANY))[-1] == 300
        assert state(store) == ("finished", 300)
        assert store.match_counts() == {"run": 300}


def test_a_server_that_stays_away_ends_a_run_which_resumes_when_it_is_back(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TURNIER_DATABASE_WAIT", "1")
    with Store.open(postgres_url) as store:
        store.begin_run("run", "tournament", "run", {})
        driving = drive(store, MANY)
        next(driving)
        with (
            stopped(postgres_url),
            pytest.raises(UserError, match=r"reachable again within 1 s, got: .*repeat the command to resume\.$"),
        ):
            list(driving)
        assert capsys.readouterr().err.count("does not answer; waiting up to 1 s") == 1
        assert 0 < store.match_counts()["run"] < 300
        assert list(drive(store, MANY))[-1] == 300
        assert state(store) == ("finished", 300)


def test_the_end_of_a_run_is_stored_although_the_connection_ends_within(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def end_connection(connection: Connection) -> float:
        monkeypatch.setattr(progress, "clock", clock)
        connection.execute(text("SELECT pg_terminate_backend(pg_backend_pid())"))
        return 0.0

    with Store.open(postgres_url) as store:
        store.begin_run("run", "tournament", "run", {})
        with run_bar(store, "run", "run", 300, Console(file=io.StringIO())) as bar:
            bar.advance(300)
            monkeypatch.setattr(progress, "clock", end_connection)
        assert state(store) == ("finished", 300)


@pytest.mark.parametrize("seconds", [0.0, 2.0])
def test_a_run_outlasts_a_restart_of_the_server(
    postgres_url: str, seconds: float, capsys: pytest.CaptureFixture[str]
) -> None:
    with Store.open(postgres_url) as store:
        store.begin_run("run", "tournament", "run", {})
        driving = drive(store, MANY)
        next(driving)

        def restart() -> None:
            with stopped(postgres_url):
                time.sleep(seconds)

        restarting = threading.Thread(target=restart)
        restarting.start()
        assert list(driving)[-1] == 300
        restarting.join()
        assert state(store) == ("finished", 300)
        assert {r.spec: r.scores for r in store.records([spec.id for spec in MANY])} == {
            spec: play_match(spec).scores for spec in MANY
        }
    told = capsys.readouterr().err
    assert told.count("does not answer") == told.count("answers again") <= 2 and "secret" not in told
