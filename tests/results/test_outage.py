"""A PostgreSQL connection that ends in the middle of a transaction: nothing is lost, and nothing is stored twice."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest
from sqlalchemy import Engine, text

from tests.results.made import made
from turnier.core.errors import UserError
from turnier.results import outage
from turnier.results.frames.matches import matches_frame
from turnier.results.store.store import Store

RECORDS = [made(seed) for seed in range(20)]


@contextmanager
def breaking(engine: Engine, committed: bool, times: int = 1) -> Iterator[list[bool]]:
    """Lets the connection end at the next commits: after the server has made them, or before."""
    dialect: Any = engine.dialect
    commit: Callable[[Any], None] = dialect.do_commit
    broken: list[bool] = []

    def break_off(connection: Any) -> None:
        if len(broken) >= times:
            return commit(connection)
        broken.append(committed)
        if committed:
            commit(connection)
        connection.dbapi_connection.close()
        raise psycopg.OperationalError("server closed the connection unexpectedly")

    dialect.do_commit = break_off
    try:
        yield broken
    finally:
        del dialect.do_commit


@pytest.fixture
def store(postgres_url: str) -> Iterator[Store]:
    with Store.open(postgres_url) as opened:
        opened.begin_run("run", "tournament", "t", {})
        yield opened


@pytest.mark.parametrize("committed", [False, True])
def test_what_is_appended_when_the_connection_ends_is_there_once(store: Store, committed: bool) -> None:
    with breaking(store.database._engine, committed) as broken:
        store.append("run", iter(RECORDS))
        assert broken == [committed]
    assert store.match_counts() == {"run": 20}
    assert sorted(matches_frame(store, "run")["match"].unique()) == sorted(record.spec.id for record in RECORDS)


@pytest.mark.parametrize("committed", [False, True])
def test_a_lock_that_is_taken_when_the_connection_ends_is_ours(store: Store, committed: bool) -> None:
    with breaking(store.database._engine, committed) as broken, store.lock("study") as lock:
        assert broken == [committed]
        lock.heartbeat()


def test_a_transaction_that_always_ends_the_connection_is_given_up(store: Store) -> None:
    with (
        breaking(store.database._engine, False, times=1000) as broken,
        pytest.raises(UserError, match="server closed the connection"),
    ):
        store.append("run", RECORDS)
    assert len(broken) == outage.ATTEMPTS
    assert store.match_counts() == {}


def test_only_an_absent_server_is_waited_for(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    """A mistake in a query, and a server that is not there to begin with, are errors at once."""
    with pytest.raises(UserError, match="must have all of Turnier's tables"), store.database.reading() as connection:
        connection.execute(text("SELECT * FROM nowhere"))
    with pytest.raises(UserError, match="must be running and reachable, got"):
        Store.open("postgresql://me@127.0.0.1:1/x")
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("seconds", ["-1", "soon", "nan"])
def test_a_wait_that_is_no_number_of_seconds(postgres_url: str, seconds: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(outage.VARIABLE, seconds)
    with pytest.raises(UserError, match="TURNIER_DATABASE_WAIT must be a number of seconds from 0 to a million"):
        Store.open(postgres_url)
