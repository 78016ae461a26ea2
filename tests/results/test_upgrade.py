"""`turnier upgrade` brings stores of earlier versions to the present form; every other command names it."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import delete, func, inspect, select, text, update

from tests.results.made import DUEL, as_version, made, search_some, without_checks
from turnier.arena.match import MatchRecord
from turnier.core.compilation.code_digest import release
from turnier.core.errors import UserError
from turnier.results.repair.inspection import inspect_store
from turnier.results.repair.rewriting import repair
from turnier.results.store import manifest, schema
from turnier.results.store.annotations import ANCHOR, NOTE, SETTINGS
from turnier.results.store.curves import CurvePoint
from turnier.results.store.locks import this_process
from turnier.results.store.store import Store
from turnier.results.upgrade.rows import settings_of
from turnier.results.upgrade.upgrade import Present, upgrade

VERSIONS = range(2, schema.SCHEMA_VERSION)
AGENTS = ("random", "greedy")
RECORDS = [made(1), made(2), *(made(seed, (1.0, -1.0), AGENTS, DUEL) for seed in (3, 4))]
NEED = r"was written by an earlier Turnier; type: turnier upgrade --store \S+$"


@pytest.fixture
def run(store: Store, monkeypatch: pytest.MonkeyPatch) -> Store:
    monkeypatch.setattr(manifest, "_command", [])  # of commands that other tests have run in this process
    store.begin_run("run", "tournament", "t", {"agents": list(AGENTS)})
    store.begin_run("empty", "training", "e", {})
    store.append("run", RECORDS)
    return store


def counted(store: Store) -> list[int | None]:
    with store.database.reading() as connection:
        tables = (schema.matches, schema.seats, schema.run_matches)
        return [connection.scalar(select(func.count()).select_from(table)) for table in tables]


@pytest.mark.parametrize(
    ("url", "version"),
    [*(("sqlite", version) for version in VERSIONS), ("postgresql", 2), ("postgresql", 8)],
    indirect=["url"],
)
def test_an_upgraded_store_has_all_that_it_had_and_goes_on(run: Store, url: str, version: int) -> None:
    searches = search_some(run, "run")
    run.curves.replace_points("empty", [CurvePoint(5, 5, 1.0, 0.5)])
    before, played = run.runs(), counted(run)
    as_version(run, version)
    for read_only in (True, False):
        with pytest.raises(UserError, match=NEED):
            Store.open(url, read_only=read_only)
    with pytest.raises(UserError, match=NEED):
        inspect_store(url)
    told: list[int] = []
    done = upgrade(url, on_games=told.append)
    assert done == (version, 2, len(RECORDS)) and sum(told) == (len(RECORDS) if version < 9 else 0)
    assert inspect_store(url) == []
    with Store.open(url) as store:
        assert store.runs() == before and counted(store) == played
        for known in RECORDS:
            record = store.record(known.spec.id)
            assert same(record, known, timed=version >= 4)
            assert (record.release, bool(record.worker)) == (release() if version >= 8 else "", version >= 9)
        assert store.searches.of_run("run") == (searches if version >= 3 else [])
        assert len(store.curves.points("empty")) == (version >= 4)
        store.begin_run("run", "tournament", "t", {"agents": list(AGENTS)})
        store.append("run", [made(9)])
        assert store.match_counts() == {"run": len(RECORDS) + 1}
        with store.database.reading() as connection:
            assert len(store.blocks.of_run(connection, "run").number) == len(RECORDS) + 1
    with pytest.raises(Present, match="is of this version already"):
        upgrade(url)


def same(record: MatchRecord, known: MatchRecord, timed: bool) -> bool:
    seconds = known.seat_seconds if timed else (math.nan,) * len(known.scores)
    return repr(replace(record, release="", worker="")) == repr(replace(known, seat_seconds=seconds))


def test_what_earlier_versions_left_out_is_made(run: Store, url: str) -> None:
    """Checksums, totals and copies of games, which a run of an earlier version had not even in a store of schema 9."""
    run.annotations.set("run", NOTE, "a note")
    without_checks(run)
    with run.database.writing() as connection:
        connection.execute(delete(schema.match_columns))
    as_version(run, 9)
    upgrade(url)
    assert inspect_store(url) == []
    with Store.open(url) as store:
        assert [len(some) for some in store.records_of_run("run")] == [len(RECORDS)]
        assert store.annotations.get("run", NOTE) == "a note"
        assert json.loads(store.annotations.get("run", SETTINGS)) == {"games": 2}


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        ("UPDATE matches SET seed = 77 WHERE number = 2", "not the match of its id"),
        ("UPDATE matches SET facts = '{' WHERE number = 2", "JSONDecodeError"),
        ("DELETE FROM seats WHERE match_number = 3 AND seat = 1", "not the match of its id"),
        ("UPDATE votes SET seed = seed + 1", "not the search of its id"),
        ("UPDATE positions SET state = '[1,2]'", "not the position of its id"),
        ("UPDATE runs SET definition = '{' WHERE id = 'run'", "the command of run cannot be read"),
    ],
)
def test_damage_leaves_the_store_as_it_was(run: Store, url: str, change: str, wrong: str) -> None:
    search_some(run, "run")
    as_version(run, 6)
    with run.database.writing() as connection:
        connection.execute(text(change))
    with pytest.raises(UserError, match=wrong):
        upgrade(url)
    with run.database.reading() as connection:
        assert connection.scalars(select(schema.version.c.version)).all() == [6]
        assert schema.run_totals.name not in inspect(connection).get_table_names()


def test_a_game_that_differs_from_its_checksum_is_found(run: Store, url: str) -> None:
    as_version(run, 8)
    with run.database.writing() as connection:
        connection.execute(update(schema.matches).values(seconds=7.0))
    with pytest.raises(UserError, match="it differs from its checksum"):
        upgrade(url)


def test_a_store_in_use_or_without_results_is_left_alone(run: Store, url: str, tmp_path: Path) -> None:
    as_version(run, 9)
    values: dict[str, Any] = dict.fromkeys(("planned", "done", "rate"), 0) | {"unit": "games", "command": "[]"}
    values |= {"holder": this_process(), "state": "running", "started": "", "run_id": "run", "heartbeat": 0.0}
    with run.database.writing() as connection:
        connection.execute(schema.run_progress.insert().values(values))
    with pytest.raises(UserError, match=r"must not be in use, but .* plays into it; end it first"):
        upgrade(url)
    with pytest.raises(UserError, match="there must be a store to upgrade"):
        upgrade(f"sqlite:///{tmp_path}/new.db")
    (tmp_path / "new.db").touch()
    with pytest.raises(UserError, match="holds nothing to upgrade"):
        upgrade(f"sqlite:///{tmp_path}/new.db")
    if run.database.is_sqlite:
        with pytest.raises(UserError, match=NEED):
            repair(url)
        assert not list(tmp_path.glob("*damaged*"))


def test_what_others_keep_is_upgraded_with_it_or_not_at_all(run: Store, url: str) -> None:
    as_version(run, 9)

    def fails(*_: object) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        upgrade(url, fails)
    with pytest.raises(UserError, match=NEED):
        Store.open(url)


def test_an_upgrade_leaves_another_programs_table_alone(run: Store, url: str) -> None:
    as_version(run, 2)
    with run.database.writing() as connection:
        connection.execute(text("CREATE TABLE mine (ballot TEXT)"))
    upgrade(url)
    with Store.open(url) as store, store.database.reading() as connection:
        assert set(inspect(connection).get_table_names()) == {*schema.metadata.tables, "mine"}


@pytest.mark.parametrize(
    ("kind", "command", "kept", "settings"),
    [
        ("tournament", "tournament x a b --games 7 --seed 3", {}, {"games": 7}),
        ("tournament", "tournament x a b --games=7 --certain 0.9", {}, {"games": 7, "certainty": 0.9}),
        ("tournament", "tournament x a b", {ANCHOR: "a"}, {"anchor": "a"}),
        ("comparison", "compare a b --margin 5 --round 8", {}, {"margin": 5.0, "first_round": 8}),
        ("study", "tune x a --budget 5000games --verify 0.5", {}, {"budget": 5000, "verify": 0.5}),
        ("training", "train x n --games 200 --games many", {}, {}),
        ("certainty", "certainty x a --games 3", {}, {}),
    ],
)
def test_settings_are_those_of_the_stored_command(
    kind: str, command: str, kept: dict[str, str], settings: dict[str, Any]
) -> None:
    def unread() -> Any:
        raise AssertionError

    assert settings_of(kind, {}, command.split(), kept, unread) == settings


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
@pytest.mark.parametrize(("form", "games"), [("round_robin", 3), ("adaptive", 4)])
def test_without_a_command_the_games_tell_how_many_there_were(store: Store, form: str, games: int) -> None:
    store.begin_run("run", "tournament", "t", {})
    trio = [made(seed, (1.0, 0.0), AGENTS[:: 1 - 2 * (seed % 2)], DUEL) for seed in (1, 2, 3)]
    store.append("run", [*trio, made(4, (1.0, 0.0), ("random", "random"), DUEL)])
    with store.database.reading() as connection:
        columns = store.blocks.of_run(connection, "run")
    assert settings_of("tournament", {"format": form}, [], {}, lambda: columns) == {"games": games}
