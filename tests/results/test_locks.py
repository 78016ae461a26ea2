"""A lock has one holder; it is taken over only from one that is dead or silent."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from typing import Any

import pytest
from sqlalchemy import select, update

from turnier.core.errors import UserError
from turnier.results.store import locks
from turnier.results.store.schema import locks as table
from turnier.results.store.store import Store


def stored(store: Store, name: str) -> tuple[str, float] | None:
    with store.database.reading() as connection:
        row = connection.execute(select(table.c.holder, table.c.heartbeat).where(table.c.name == name)).one_or_none()
    return None if row is None else (row.holder, row.heartbeat)


def age(store: Store, name: str, seconds: float) -> None:
    """Makes a lock's last heartbeat older."""
    with store.database.writing() as connection:
        connection.execute(update(table).where(table.c.name == name).values(heartbeat=table.c.heartbeat - seconds))


def test_a_lock_is_refused_to_others_until_it_is_given_back(store: Store, url: str) -> None:
    held = store.lock("study", "alice")
    with Store.open(url) as other:
        for another in (store, other):
            with pytest.raises(
                UserError, match=r"'study' must have one driver at a time, but alice \(\w+\) has it .*\.$"
            ):
                another.lock("study", "alice")  # one name, two drivers
        other.lock("another study", "bob").unlock()
        held.unlock()
        held.unlock()
        assert other.lock("study", "bob").holder.startswith("bob")


def test_the_context_manager_beats_and_unlocks(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locks, "BEAT_SECONDS", 0.01)
    with store.lock("study") as held:
        age(store, "study", 25.0)
        aged = (stored(store, "study") or ("", 0.0))[1]
        deadline = time.monotonic() + 30
        while (stored(store, "study") or ("", 0.0))[1] < aged + 20:
            assert time.monotonic() < deadline, "no heartbeat"
            time.sleep(0.01)
        held.heartbeat()
    assert stored(store, "study") is None
    assert not [thread for thread in threading.enumerate() if thread.name == "lock study"]


def test_a_failing_block_unlocks_and_keeps_its_error(store: Store) -> None:
    with pytest.raises(ZeroDivisionError), store.lock("study"):
        raise ZeroDivisionError
    assert stored(store, "study") is None


@pytest.mark.parametrize("hour", [-3600.0, 3600.0])
def test_a_wall_clock_that_is_set_takes_no_lock_away(
    store: Store, monkeypatch: pytest.MonkeyPatch, hour: float
) -> None:
    held = store.lock("study", "elsewhere:1")
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() + hour)
    with pytest.raises(UserError, match="must have one driver at a time"):
        store.lock("study", "bob")
    held.heartbeat()


def test_a_heartbeat_from_before_the_machine_started_again_is_stale(store: Store) -> None:
    store.lock("study", "elsewhere:1")
    age(store, "study", -100.0)  # the clock of SQLite begins anew with the machine
    assert store.lock("study", "bob").holder.startswith("bob")


@pytest.mark.parametrize(("seconds", "free"), [(29.0, False), (31.0, True)])
def test_a_silent_holder_loses_the_lock_after_thirty_seconds(store: Store, seconds: float, free: bool) -> None:
    loser = store.lock("study", "elsewhere:1")
    age(store, "study", seconds)
    # Where the machine is slow, 29 s become 30 s: the heartbeat's age decides, not our clock.
    if not free:
        with pytest.raises(UserError, match=r"heartbeat \d+ s ago"):
            store.lock("study", "bob")
        return
    winner = store.lock("study", "bob")
    with pytest.raises(UserError, match=rf"must stay locked by its driver, but {winner.holder.split()[0]} \(\w+\) has"):
        loser.heartbeat()
    loser.unlock()
    assert (stored(store, "study") or ("",))[0] == winner.holder
    winner.heartbeat()


def test_a_dead_process_of_this_machine_loses_the_lock_at_once(store: Store) -> None:
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    mine = locks.this_process()
    assert mine.endswith(f":{os.getpid()}")
    holder = store.lock("study", mine.replace(str(os.getpid()), str(process.pid))).holder
    with pytest.raises(UserError, match="must have one driver at a time") as caught:
        store.lock("study")
    assert holder in str(caught.value)
    process.kill()
    process.communicate()
    assert store.lock("study").holder.startswith(f"{mine} (")


def test_a_dead_process_of_another_machine_is_not_known(store: Store) -> None:
    store.lock("study", "another-machine:999999999")
    with pytest.raises(UserError, match="another-machine"):
        store.lock("study")


def test_who_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A suspended driver is not, however long it says nothing; one from before the machine started again is."""
    ours, now = locks.this_process(), 1000.0
    for beat in (now, now - 3600, now + 3600):
        assert not locks.is_gone(ours, beat, now)
    earlier = ours.replace("/", "/0")
    assert not locks.is_gone(earlier, now - 1, now) and locks.is_gone(earlier, now - 3600, now)
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    assert locks.is_dead(ours.replace(str(os.getpid()), str(ended.pid)))


def test_containers_of_one_name_do_not_know_each_others_processes(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    of_this = locks.this_process().replace(str(os.getpid()), str(ended.pid))
    assert locks.is_dead(of_this)
    monkeypatch.setattr(os, "readlink", lambda _: "pid:[1]")
    locks._machine.cache_clear()
    try:
        assert locks.this_process().split("/")[0] == of_this.split("/")[0]
        assert not locks.is_dead(of_this)
    finally:
        locks._machine.cache_clear()


def test_one_of_many_gets_the_lock(url: str) -> None:
    Store.open(url).close()
    gate = threading.Barrier(6)
    got: list[str] = []
    refused: list[str] = []

    def take() -> None:
        with Store.open(url) as store:
            gate.wait(30)
            try:
                got.append(store.lock("study").holder)
            except UserError as error:
                refused.append(str(error))

    threads = [threading.Thread(target=take) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert (len(got), len(refused)) == (1, 5)
    assert all(got[0] in message for message in refused)


def test_many_take_over_a_stale_lock_and_one_has_it(url: str) -> None:
    with Store.open(url) as store:
        store.lock("study", "elsewhere:1")
        age(store, "study", 100.0)
    test_one_of_many_gets_the_lock(url)


def test_a_lock_that_is_given_back_while_another_one_asks_is_free(postgres_url: str) -> None:
    with Store.open(postgres_url) as first, Store.open(postgres_url) as second:
        held, insert = first.lock("study"), second.database.insert_many

        def refused_and_given_back(*arguments: Any) -> int:
            inserted = insert(*arguments)
            held.unlock()
            return inserted

        second.database.insert_many = refused_and_given_back  # type: ignore[method-assign]
        taken = second.lock("study")
        assert (stored(first, "study") or ("",))[0] == taken.holder != held.holder
