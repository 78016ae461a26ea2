"""Short games in packed rows are what they are in match rows: the same ids, values and answers, whatever is asked."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sqlalchemy import delete, event, func, insert, select, text, update

from tests.results.made import as_version, ids, started
from turnier.agents.registry import make_agent
from turnier.arena.match import MatchRecord, Termination
from turnier.arena.play import play_matches
from turnier.arena.schedules.round_robin import MatchPlan, round_robin
from turnier.arena.workers.local import SerialExecutor, ThreadExecutor
from turnier.core.compilation.code_digest import release
from turnier.core.errors import UserError
from turnier.games.registry import make_game
from turnier.results.archive.restoring import remove_games, restore
from turnier.results.archive.writing import write_archive
from turnier.results.export import export
from turnier.results.failures import failures_text, list_failures
from turnier.results.frames.matches import matches_frame
from turnier.results.integrity.damage import Damaged
from turnier.results.match_list import full_ids, list_matches, newest_run_of
from turnier.results.other_code import games_by_release, other_code
from turnier.results.packed import layout
from turnier.results.packed.known_ids import KnownIds
from turnier.results.packed.layout import PackedGames
from turnier.results.packed.packing import Packing
from turnier.results.repair.inspection import inspect_store
from turnier.results.repair.rewriting import repair
from turnier.results.store.run_changes import (
    delete_run,
    games_of_worker,
    owned_games,
    purge_worker,
    rename_run,
)
from turnier.results.store.schema import matches, packed_games, run_matches
from turnier.results.store.store import Store
from turnier.results.upgrade.upgrade import upgrade
from turnier.results.verification import sample_of_run
from turnier.results.workers import workers_of_run
from turnier.runs.play import play_plan

AGENTS = ("random", "greedy", "mc(iterations=2)")
GAMES = 42  # of each pair
TIMES = ["seat_seconds", "seat_cpu_seconds", "seconds"]


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layout, "LEAST", 4)


def plan_of(games: int = GAMES, agents: tuple[str, ...] = AGENTS, exactly: bool = False) -> MatchPlan:
    made = [make_agent(agent) for agent in agents]
    return round_robin(make_game("tictactoe"), made, games, 7, 1, exactly=exactly, own_seeds=True)


def play(store: Store, plan: MatchPlan, run: str = "run", workers: int = 0) -> list[MatchRecord]:
    """Plays a plan into a run; returns what was played now."""
    store.begin_run(run, "tournament", run, {"run": run})
    played: list[MatchRecord] = []
    with ThreadExecutor(workers) if workers else SerialExecutor() as executor:
        for records in play_plan(store, run, plan, executor, lambda stored: None):
            played += records
    return played


def counted(store: Store) -> tuple[int, int]:
    """Returns the number of match rows, and of packed games."""
    with store.database.reading() as connection:
        rows = connection.scalar(select(func.count()).select_from(matches)) or 0
        return rows, int(connection.scalar(select(func.sum(packed_games.c.matches))) or 0)


def in_order(frame: pd.DataFrame) -> pd.DataFrame:
    """Returns rows of seats without times, by games."""
    return frame.drop(columns=TIMES).sort_values(["match", "seat"]).reset_index(drop=True)


@pytest.fixture
def packed(store: Store) -> Store:
    played = play(store, plan_of())
    rows, others = counted(store)
    assert len(played) == rows + others == len(plan_of()) and others > rows > 0
    return store


@pytest.fixture
def rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """The same run in match rows alone."""
    with monkeypatch.context() as patch, Store.open(tmp_path / "rows.db") as store:
        patch.setattr(layout, "LEAST", 10**9)
        play(store, plan_of())
        assert counted(store)[1] == 0
        yield store


def test_all_is_read_as_from_match_rows(packed: Store, rows: Store) -> None:
    for only in ({}, {"ids": True}, {"agent": "random"}):
        one, other = (in_order(matches_frame(store, run="run", **only)) for store in (packed, rows))
        pd.testing.assert_frame_equal(one, other)
    plan = [spec.id for spec in plan_of()]
    for one_record, same in zip(packed.records(plan), rows.records(plan), strict=True):
        assert _untimed(one_record) == _untimed(same)
    assert packed.match_counts() == rows.match_counts() == {"run": len(plan)}
    assert sorted(ids([r for some in packed.records_of_run("run") for r in some])) == sorted(plan)
    totals = []
    for store in (packed, rows):
        with store.database.reading() as connection:
            totals.append(store.totals.of_run(connection, "run", run_matches))
            assert sum(len(part.number) for part in store.blocks.parts_of_run(connection, "run")) == len(plan)
            assert store.blocks.games_of_run(connection, "run") == len(plan)
    assert totals[0] == totals[1] and totals[0][0] == totals[0][1]
    assert packed.annotations.agents() == rows.annotations.agents()
    assert packed.annotations.name_agent(make_agent("greedy").full_text(), "G") == 1
    assert list_failures(packed, ["run"]).games == len(plan) and failures_text(packed, "run") == ""
    assert games_by_release(packed, "run").to_dict("list") == {"release": [release()], "games": [len(plan)]}
    assert sorted(ids(sample_of_run(packed, "run", 0.3))) == sorted(ids(sample_of_run(rows, "run", 0.3)))
    assert workers_of_run(packed, "run").workers["games"].tolist() == [len(plan)]
    assert inspect_store(packed.url) == []


def _untimed(record: MatchRecord) -> Any:
    return replace(record, seconds=0.0, seat_seconds=(), seat_cpu_seconds=())


def test_single_games_are_found(packed: Store) -> None:
    plan = [spec.id for spec in plan_of()]
    for match_id in plan[:3] + plan[-3:]:
        assert packed.find_record(match_id[:14]).spec.id == packed.record(match_id).spec.id == match_id
        assert newest_run_of(packed, match_id) == "run"
    marks = {int(match_id[:15], 16): match_id for match_id in plan}
    assert full_ids(packed, [*marks, 5]) == marks
    with pytest.raises(UserError, match="several begin with ''"):
        packed.find_record("")
    for unknown in ("0" * 32, "z", plan[0] + "0"):
        with pytest.raises(UserError, match="a match must be stored to be shown"):
            packed.find_record(unknown)
    newest = list_matches(packed, "run", limit=5)
    assert len(newest) == 5 and {one.id for one in newest} <= set(plan)
    greedy, mc = make_agent("greedy").full_text(), make_agent("mc(iterations=2)").full_text()
    both = list_matches(packed, "run", [greedy, mc], limit=10**6)
    assert sorted(one.id for one in both) == sorted(spec.id for spec in plan_of() if {greedy, mc} <= {*spec.agents})


@pytest.mark.parametrize("workers", [0, 1, 2])
def test_a_repeated_command_plays_nothing_twice(packed: Store, url: str, workers: int) -> None:
    assert play(packed, plan_of(), workers=workers) == []
    more = len(plan_of(2 * GAMES)) - len(plan_of())
    with Store.open(url) as again:
        assert len(play(again, plan_of(2 * GAMES), workers=workers)) == more
        assert play(again, plan_of(2 * GAMES)) == [] and again.match_counts() == {"run": len(plan_of(2 * GAMES))}
    assert inspect_store(url) == []


def test_what_stands_in_match_rows_stays_there(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run of an earlier version goes on: its games stay where they are, and new ones are packed beside them."""
    with monkeypatch.context() as patch:
        patch.setattr(layout, "LEAST", 10**9)
        play(store, plan_of())
    before = counted(store)
    assert play(store, plan_of()) == [] and counted(store) == before == (len(plan_of()), 0)
    play(store, plan_of(2 * GAMES))
    after = counted(store)
    assert sum(after) == len(plan_of(2 * GAMES)) and after[1] > 0


def test_repeated_matches_of_a_plan_are_stored_once(store: Store) -> None:
    plan = plan_of(10, ("random", "random", "greedy"), exactly=True)
    different = {spec.id for spec in plan}
    assert not plan.has_no_repeats and len(different) < len(plan)
    play(store, plan)
    assert store.match_counts() == {"run": len(different)} == {"run": sum(counted(store))}


def test_another_run_with_the_same_games_has_them_too(packed: Store) -> None:
    """Their rows are unpacked: a packed game has one run."""
    frame = in_order(matches_frame(packed, run="run", ids=True))
    some = plan_of(agents=AGENTS[:2])
    assert play(packed, some, "other") == []
    assert packed.match_counts() == {"run": len(plan_of()), "other": len(some)}
    assert sum(counted(packed)) == len(plan_of())
    pd.testing.assert_frame_equal(in_order(matches_frame(packed, run="run", ids=True)), frame)
    assert sorted(ids([r for part in packed.records_of_run("other") for r in part])) == sorted(s.id for s in some)
    assert owned_games(packed, packed.run("other")) == (0, len(some))
    assert inspect_store(packed.url) == []
    assert packed.append("other", play_matches(list(plan_of())[-6:])) == 0
    assert packed.played([spec.id for spec in plan_of()]) == {spec.id for spec in plan_of()}


def test_void_games_in_match_rows_are_replaced(store: Store) -> None:
    store.begin_run("run", "tournament", "run", {"run": "run"})
    broken = [
        replace(record, termination=Termination.ERROR, error="the rules are broken")
        for record in play_matches(list(plan_of())[5:100])
    ]
    store.append("run", broken)
    play(store, plan_of())
    assert store.match_counts() == {"run": len(plan_of())} == {"run": sum(counted(store))}
    frame = matches_frame(store, run="run")
    assert set(frame["termination"]) == {"normal"} and play(store, plan_of()) == []


def test_changes_of_runs(packed: Store) -> None:
    n = len(plan_of())
    worker = str(packed.records([next(iter(plan_of())).id])[0].worker)
    assert owned_games(packed, packed.run("run")) == (n, 0)
    assert games_of_worker(packed, packed.run("run"), worker) == {"run": n}
    rename_run(packed, packed.run("run"), "renamed")
    play(packed, plan_of(agents=("random", "random")), "other")
    purge_worker(packed, packed.run("run"), worker)
    assert packed.match_counts() == {"other": len(plan_of(agents=("random", "random")))}
    assert inspect_store(packed.url) == []
    assert len(play(packed, plan_of())) == n
    delete_run(packed, packed.run("run"))
    assert [run.id for run in packed.runs()] == ["other"] and inspect_store(packed.url) == []
    assert packed.played([spec.id for spec in plan_of()]) == set()
    assert len(play(packed, plan_of())) == n, "the memory of what was stored does not outlast it"


def test_archives_and_exports_have_all(packed: Store, rows: Store, tmp_path: Path) -> None:
    before = in_order(matches_frame(packed, run="run", ids=True))
    for store, name in ((packed, "packed"), (rows, "rows")):
        export(store, store.run("run"), tmp_path / f"{name}.csv")
    one, other = (
        pd.read_csv(tmp_path / f"{name}.csv").drop(columns=TIMES).sort_values(["match", "seat"], ignore_index=True)
        for name in ("packed", "rows")
    )
    pd.testing.assert_frame_equal(one, other)
    archive = write_archive(packed, packed.run("run"), tmp_path / "run.parquet")
    remove_games(packed, packed.run("run"), archive)
    assert counted(packed) == (0, 0) and inspect_store(packed.url) == []
    assert in_order(matches_frame(packed, run="run", ids=True)).equals(before)
    restore(packed, archive)
    assert counted(packed) == (len(plan_of()), 0) and inspect_store(packed.url) == []
    assert in_order(matches_frame(packed, run="run", ids=True)).equals(before)
    assert play(packed, plan_of()) == []


def test_an_unpacked_row_is_what_was_packed(packed: Store) -> None:
    known = packed.records([spec.id for spec in plan_of()])
    with packed.database.writing() as connection:
        numbers = list(connection.scalars(select(packed_games.c.number)))
        packed.packed.unpack_rows(connection, numbers, packed._attach_unpacked)
    assert counted(packed) == (len(plan_of()), 0) and inspect_store(packed.url) == []
    again = packed.records([spec.id for spec in plan_of()])
    assert repr(again) == repr(known)


def test_games_of_other_code_are_played_again(packed: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    with packed.database.writing() as connection:
        for row in connection.execute(select(packed_games)).all():
            games = PackedGames.from_row(row)
            texts = {**games.texts, "release": "0.0.9"}
            values = dict(zip(layout.COLUMNS, games._replace(texts=texts).values(), strict=True))
            connection.execute(update(packed_games).where(packed_games.c.number == row.number).values(values))
    others = counted(packed)[1]
    assert dict(games_by_release(packed, "run").itertuples(index=False)) == {
        "0.0.9": others,
        release(): len(plan_of()) - others,
    }
    found = other_code(packed, "run")
    assert found and found.games == {"0.0.9": others} and len(found.again) > 5 and not found.differing


@pytest.mark.parametrize("column", ["game", "ids", "games", "seats", "plies", "texts", "matches", "checksum"])
def test_every_changed_value_is_noticed(packed: Store, column: str) -> None:
    with packed.database.writing() as connection:
        row = connection.execute(select(packed_games).limit(1)).one()
        value = row._mapping[column]
        changed: Any = value + 1 if isinstance(value, int) else value[1:]
        if isinstance(value, bytes):
            changed = bytes([value[0] ^ 1]) + changed
        chosen = packed_games.c.number == row.number
        connection.execute(update(packed_games).where(chosen).values({column: changed}))
    with pytest.raises(Damaged):
        matches_frame(packed, run="run")
    with pytest.raises(Damaged):
        list(packed.records_of_run("run"))
    wrong: list[Any] = []
    rest = [r for some in packed.records_of_run("run", wrong.append) for r in some]
    assert wrong and len(rest) < len(plan_of())
    assert any("packed games" in finding.where for finding in inspect_store(packed.url))


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
def test_flipped_bits_of_packed_games_are_noticed_and_repaired(packed: Store, url: str) -> None:
    plan = {spec.id for spec in plan_of()}
    frame = in_order(matches_frame(packed, run="run", ids=True))
    random = np.random.default_rng(5)
    with packed.database.reading() as connection:
        known = connection.execute(select(packed_games)).all()
    for _ in range(25):
        row = known[random.integers(len(known))]
        column = ("ids", "games", "seats", "plies")[random.integers(4)]
        data = bytearray(row._mapping[column])
        data[random.integers(len(data))] ^= 1 << int(random.integers(8))
        with packed.database.writing() as connection:
            connection.execute(
                update(packed_games).where(packed_games.c.number == row.number).values({column: bytes(data)})
            )
        with pytest.raises(Damaged):
            matches_frame(packed, run="run")
        with packed.database.writing() as connection:
            chosen = packed_games.c.number == row.number
            connection.execute(update(packed_games).where(chosen).values({column: row._mapping[column]}))
    with packed.database.writing() as connection:
        connection.execute(
            update(packed_games).where(packed_games.c.number == known[0].number).values(plies=b"x" + known[0].plies)
        )
    packed.close()
    assert inspect_store(url) and repair(url).found and inspect_store(url) == []
    with Store.open(url) as store:
        assert len(store.played(plan)) == len(plan) - known[0].matches
        again = play(store, plan_of())
        assert len(again) == known[0].matches and store.match_counts() == {"run": len(plan)}
        assert in_order(matches_frame(store, run="run", ids=True)).equals(frame)
    assert inspect_store(url) == []


def test_a_lost_or_repeated_row_is_noticed(packed: Store) -> None:
    with packed.database.writing() as connection:
        row = connection.execute(select(packed_games).limit(1)).one()
        values = row._asdict() | {"number": row.number + 1000}
        connection.execute(insert(packed_games).values(values))
    with pytest.raises(Damaged):
        matches_frame(packed, run="run")
    assert any("stored twice" in finding.wrong for finding in inspect_store(packed.url))
    with packed.database.writing() as connection:
        gone = packed_games.c.number.in_([row.number, row.number + 1000])
        connection.execute(delete(packed_games).where(gone))
    with pytest.raises(Damaged):
        matches_frame(packed, run="run")
    assert any("rows" in finding.wrong for finding in inspect_store(packed.url))


def test_a_stop_at_any_commit_loses_what_was_not_committed_alone(store: Store, url: str) -> None:
    """Whatever commit a kill prevents: what was stored before stays, and the rest is played again."""
    plan, stop = plan_of(), 0
    while True:
        with Store.open(url) as other:
            left = stop

            def fail(_: Any) -> None:
                nonlocal left
                left -= 1
                if left < 0:
                    raise KeyboardInterrupt

            event.listen(other.database._writer, "commit", fail)
            try:
                play(other, plan)
                break
            except KeyboardInterrupt:
                pass
        assert inspect_store(url) == []
        stop += 1
    assert stop > 5 and store.match_counts() == {"run": len(plan)} == {"run": sum(counted(store))}
    assert sorted(ids([r for part in store.records_of_run("run") for r in part])) == sorted(s.id for s in plan)


def _play_until_killed(connection: Any, url: str) -> None:
    layout.LEAST = 4
    with Store.open(url) as store:
        connection.send("ready")
        play(store, plan_of(3000), workers=1)
    connection.send("done")


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
def test_a_killed_driver_loses_only_games_in_flight(store: Store, url: str) -> None:
    seen = 0
    for _ in range(4):
        process, end = started(_play_until_killed, url)
        assert end.recv() == "ready"
        while process.is_alive() and sum(counted(store)) <= seen:
            time.sleep(0.01)
        os.kill(process.pid or 0, signal.SIGKILL)
        process.join()
        assert sum(counted(store)) >= seen
        seen = sum(counted(store))
        assert inspect_store(url) == []
    play(store, plan_of(3000))
    assert store.match_counts() == {"run": len(plan_of(3000))} == {"run": sum(counted(store))}


def test_two_drivers_store_every_game_once(store: Store, url: str) -> None:
    """Whether both have the same run or other ones, and one stores match rows."""
    plan = plan_of(200)
    with Store.open(url) as other, Store.open(url) as third:
        for one in (store, other, third):
            one.begin_run("run", "tournament", "run", {"run": "run"})
            one.begin_run("rows", "tournament", "rows", {"run": "rows"})
        failures: list[BaseException] = []

        def work(one: Store, run: str) -> None:
            try:
                if run == "rows":
                    some = play_matches(list(plan)[::3])
                    for first in range(0, len(some), 50):
                        one.append("rows", some[first : first + 50])
                else:
                    play(one, plan, run)
            except BaseException as failure:
                failures.append(failure)

        threads = [
            threading.Thread(target=work, args=arguments)
            for arguments in ((store, "run"), (other, "run"), (third, "rows"))
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not failures
    n = len(plan)
    assert sum(counted(store)) == n and store.match_counts() == {"run": n, "rows": len(list(plan)[::3])}
    assert inspect_store(url) == []


def test_an_earlier_store_gets_the_table(store: Store, url: str) -> None:
    play(store, plan_of(10))
    with store.database.writing() as connection:
        numbers = list(connection.scalars(select(packed_games.c.number)))
        store.packed.unpack_rows(connection, numbers, store._attach_unpacked)
    as_version(store, 10)
    with pytest.raises(UserError, match="turnier upgrade"):
        Store.open(url)
    upgrade(url)
    with Store.open(url) as again:
        play(again, plan_of())
        assert again.match_counts() == {"run": len(plan_of())} and counted(again)[1] > 0
    assert inspect_store(url) == []


def test_numbers_of_deleted_rows_are_not_used_again(packed: Store) -> None:
    """What knows which rows it has read goes by their numbers."""
    with packed.database.reading() as connection:
        last = connection.scalar(select(func.max(packed_games.c.number))) or 0
    delete_run(packed, packed.run("run"))
    play(packed, plan_of())
    with packed.database.reading() as connection:
        assert (connection.scalar(select(func.min(packed_games.c.number))) or 0) > last


def test_known_ids() -> None:
    random = np.random.default_rng(3)
    known, expected = KnownIds(), {}
    known.left_out |= {3, 30}
    for number in range(1, 60):
        some = random.bytes(16 * int(random.integers(1, 40)))
        known.read(some, number)
        if number not in known.left_out:
            expected |= {some[i : i + 16]: number for i in range(0, len(some), 16)}
        wanted = [
            *expected,
            some[:16],
            *(random.bytes(16) for _ in range(50)),
            *(one[:8] + bytes(8) for one in expected),
        ]
        found = known.find(np.frombuffer(b"".join(wanted), "V16")).tolist()
        assert found == [expected.get(one, 0) for one in wanted] and known.last == number
    assert KnownIds().find(np.frombuffer(bytes(16), "V16")).tolist() == [0]


def test_what_cannot_be_packed_is_stored_as_match_rows(store: Store) -> None:
    """Agents that fail, and those that decide in Python."""
    store.begin_run("run", "tournament", "run", {"run": "run"})
    records = play_matches(list(plan_of())[:20])
    packing = Packing(store, "run")
    assert packing.append(records) == 20 and counted(store) == (20, 0)
    assert packing.append(records) == 0
    with store.database.reading() as connection:
        assert connection.scalar(text("SELECT count(*) FROM packed_games")) == 0
