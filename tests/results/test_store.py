"""The store keeps facts: what went in comes out, once, whole, and from many processes at a time; on both databases."""

from __future__ import annotations

import os
import threading
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import optuna
import pytest
from sqlalchemy import func, inspect, select, text, update

from tests.results.made import (
    BATCH,
    DUEL,
    GAME,
    append_all,
    append_forever,
    ids,
    made,
    message_from,
    started,
)
from turnier.arena.match import MatchSpec, Termination
from turnier.arena.play import play_matches, replay
from turnier.core.errors import UserError
from turnier.results.repair.inspection import inspect_store
from turnier.results.store import schema
from turnier.results.store.store import Store


@pytest.fixture
def run(store: Store) -> Store:
    """A store in which the runs `run` and `other` have begun."""
    store.begin_run("run", "tournament", "a tournament", {"seed": 1})
    store.begin_run("other", "study", "a study", {"seed": 2})
    return store


def counts(store: Store) -> tuple[int, int, int]:
    """Returns the stored numbers of matches, seats and links."""
    tables = (schema.matches, schema.seats, schema.run_matches)
    with store.database.reading() as connection:
        found = [connection.scalar(select(func.count()).select_from(table)) for table in tables]
    return found[0] or 0, found[1] or 0, found[2] or 0


def test_the_schema_has_its_tables_and_version(store: Store) -> None:
    with store.database.reading() as connection:
        names = set(inspect(connection).get_table_names())
        version = connection.scalars(text("SELECT version FROM turnier_version")).all()
    matches = {"turnier_version", "runs", "matches", "seats", "run_matches", "match_columns", "packed_games", "locks"}
    training = {"training_points", "training_evaluations", "run_progress", "run_annotations", "run_totals"}
    assert names == matches | {"positions", "votes", "run_votes"} | training
    assert version == [schema.SCHEMA_VERSION] == [11]


def test_sqlite_is_set_up_for_a_writer_and_many_readers(tmp_path: object) -> None:
    with Store.open(f"sqlite:///{tmp_path}/a.db") as store, store.database.reading() as connection:
        settings = {
            name: connection.scalar(text(f"PRAGMA {name}"))
            for name in ("journal_mode", "busy_timeout", "foreign_keys", "synchronous")
        }
    assert settings == {"journal_mode": "wal", "busy_timeout": 30_000, "foreign_keys": 1, "synchronous": 1}


@pytest.mark.parametrize("optuna_first", [True, False])
def test_optuna_lives_in_the_same_database(url: str, optuna_first: bool) -> None:
    if not optuna_first:
        Store.open(url).close()
    # Optuna has no psycopg 3 default; `url` of an open store is what it takes on both databases.
    plain = url.replace("postgresql://", "postgresql+psycopg://")
    study = optuna.create_study(storage=plain, study_name="s", direction="maximize")
    study.optimize(lambda trial: trial.suggest_float("x", 0, 1), n_trials=2)
    with Store.open(url) as store:
        assert store.url == plain
        store.begin_run("run", "study", "s", {})
        assert store.append("run", [made(1)]) == 1
    study.optimize(lambda trial: trial.suggest_float("x", 0, 1), n_trials=1)
    assert len(optuna.load_study(storage=plain, study_name="s").trials) == 3
    with Store.open(url, read_only=True) as store:
        assert store.played(ids([made(1)])) == set(ids([made(1)]))


def test_played_matches_come_back_as_they_were_and_replay(run: Store) -> None:
    specs = [MatchSpec(GAME, ("random",), 2**63 - 1), MatchSpec(GAME, ("random",), 5, max_plies=20)]
    specs += [MatchSpec(DUEL, ("random", "mc(iterations=3)"), seed) for seed in (0, 6)]
    specs += [MatchSpec(DUEL, ("random", "random"), 3, opening=(4, 0))]
    records = play_matches(specs)
    assert run.append("run", records) == 5
    stored = run.records(ids(records))
    assert stored == records
    assert [record.termination for record in stored] == ["normal", "limit", *["normal"] * 3]
    for record in stored:
        position = replay(record.spec, record.plies)
        assert tuple(position.returns) == record.scores
        assert position.game.facts(position.state) == record.facts
    assert run.record(records[1].spec.id) == records[1]


def test_records_keep_the_order_of_the_ids_and_leave_out_the_unknown(run: Store) -> None:
    records = [made(seed, (float(seed),)) for seed in range(1200)]  # more than one query's worth
    run.append("run", records)
    requested = ids(records)[::-1]
    requested.insert(3, "0" * 32)
    assert run.records(requested) == records[::-1]
    with pytest.raises(UserError, match=r"a match must be stored to be shown, but '0+' is not; .*\.$"):
        run.record("0" * 32)


def test_played_is_the_stored_part_of_the_ids(run: Store) -> None:
    records = [made(seed) for seed in range(3000)]
    run.append("run", records[::2])
    assert run.played(ids(records)) == set(ids(records[::2]))
    assert run.played([]) == set()


def test_the_same_match_twice_changes_nothing(run: Store) -> None:
    first, second = made(1), made(2)
    assert run.append("run", [first]) == 1
    slower = replace(first, seconds=9.0, scores=(7.0,), facts={})
    assert run.append("run", [slower, slower, second, second]) == 1
    assert run.append("run", []) == 0
    assert run.records(ids([first, second])) == [first, second]
    assert counts(run) == (2, 2, 2)


def test_a_match_belongs_to_every_run_that_has_it(run: Store) -> None:
    records = [made(seed) for seed in range(3)]
    run.append("run", records[:2])
    assert run.append("other", records[1:]) == 1
    run.link("other", ids(records))
    run.link("other", ids(records))
    assert run.match_counts() == {"run": 2, "other": 3}
    assert counts(run) == (3, 3, 5)


def test_only_stored_matches_are_linked_all_or_none(run: Store) -> None:
    run.append("run", [made(1)])
    with pytest.raises(UserError, match=r"matches must be stored to be linked to run 'other', but 2 are not"):
        run.link("other", ids([made(1), made(2), made(3)]))
    assert run.match_counts() == {"run": 1}


@pytest.mark.parametrize("bad", ["unknown run", "large seed"])
def test_an_append_that_fails_stores_nothing(run: Store, bad: str) -> None:
    records = [made(seed) for seed in range(3)]
    if bad == "large seed":
        records.append(made(2**63))
    reason = "63 bits" if bad == "large seed" else "begin the run or append the match first"
    with pytest.raises(UserError, match=reason):
        run.append("nowhere" if bad == "unknown run" else "run", records)
    assert counts(run) == (0, 0, 0)
    assert run.append("run", records[:3]) == 3


def test_failures_are_stored_with_their_error_whatever_is_in_it(run: Store) -> None:
    record = made(1, termination=Termination.ERROR, error="ValueError: Zug \0 \udcff ♞")
    run.append("run", [record])
    assert run.record(record.spec.id) == replace(record, error="ValueError: Zug � ? ♞")


def test_a_run_is_begun_once(run: Store) -> None:
    run.begin_run("run", "tournament", "renamed", {"seed": 1})
    first, second = run.runs()
    assert (first.id, first.kind, first.name, first.definition) == ("run", "tournament", "a tournament", {"seed": 1})
    assert second.id == "other"
    assert timedelta(0) <= datetime.now(UTC) - first.created < timedelta(minutes=5)
    versions = {"turnier", "python", "numpy", "numba", "llvmlite", "ray"}
    assert set(first.environment) == versions | {"machine", "cpu", "cpus", "memory_gb", "git", "command"}
    assert first.environment["memory_gb"] > 0 and first.environment["cpus"] == os.cpu_count()
    assert run.run("other") == second


@pytest.mark.parametrize(
    ("kind", "definition", "difference"),
    [
        ("tournament", {"seed": 2}, "must keep its definition, got seed = 2 where 1 is stored"),
        ("tournament", {"games": 3, "seed": 1}, "got games = 3 where nothing is stored"),
        ("tournament", {}, "got seed = nothing where 1 is stored"),
        ("study", {"seed": 1}, "must stay a tournament, got a study"),
    ],
)
def test_a_run_keeps_its_definition(run: Store, kind: str, definition: dict[str, int], difference: str) -> None:
    with pytest.raises(UserError, match=difference):
        run.begin_run("run", kind, "a tournament", definition)
    assert run.run("run").definition == {"seed": 1}


def test_an_unknown_run_suggests_the_closest(run: Store) -> None:
    with pytest.raises(UserError, match=r"There is no run named 'othre'; the nearest is other"):
        run.run("othre")


def test_two_processes_make_the_store_and_append_the_same_matches(url: str) -> None:
    workers = [started(append_all, url, seeds) for seeds in (range(0, 400), range(200, 600))]
    assert [message_from(connection) for _, connection in workers] == ["ready", "ready"]
    for _, connection in workers:
        connection.send("go")
    new = [message_from(connection) for _, connection in workers]
    for process, _ in workers:
        process.join(30)
    records = [made(seed) for seed in range(600)]
    with Store.open(url) as store:
        assert sum(new) == 600
        assert counts(store) == (600, 600, 600)
        assert store.records(ids(records)) == records


def test_the_same_matches_in_opposite_orders_do_not_wait_for_each_other(run: Store, url: str) -> None:
    gate = threading.Barrier(2)

    def append(order: int) -> int:
        with Store.open(url) as store:
            new = 0
            for first in range(0, 4000, 400):
                records = [made(seed) for seed in range(first, first + 400)]
                gate.wait(30)
                new += store.append("run", records[::order])
        return new

    with ThreadPoolExecutor(2) as pool:
        assert sum(pool.map(append, (1, -1))) == 4000
    assert counts(run) == (4000, 4000, 4000)


def test_a_reader_sees_whole_batches_and_a_killed_writer_leaves_them(url: str) -> None:
    Store.open(url).close()
    writer, connection = started(append_forever, url)
    assert message_from(connection) == "begun"
    seen: list[int] = []
    with Store.open(url, read_only=True) as reader:
        while len(set(seen)) < 5:
            matches, seats, links = counts(reader)
            assert (matches % BATCH, seats, links) == (0, 2 * matches, matches)
            seen.append(matches)
        assert writer.is_alive()
        writer.kill()
        writer.join(30)
    assert seen == sorted(seen)
    with Store.open(url) as store:
        matches, seats, links = counts(store)
        assert (matches % BATCH, seats, links) == (0, 2 * matches, matches)
        assert matches >= seen[-1]
        assert store.append("run", [made(-1)]) == 1


def test_a_cut_connection_is_opened_again(postgres_url: str) -> None:
    with Store.open(postgres_url) as store, Store.open(postgres_url) as other:
        store.begin_run("run", "tournament", "t", {})
        with other.database.writing() as connection:
            cut = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = current_database()"
            assert connection.scalar(text(f"{cut} AND pid <> pg_backend_pid()")) == 1
        assert store.append("run", [made(1)]) == 1


def test_a_game_says_which_machine_of_a_cluster_played_it(run: Store, url: str) -> None:
    run.append("run", [made(1, worker="w1/10.77.0.11")])
    assert run.record(made(1).spec.id).worker == "w1/10.77.0.11" and inspect_store(url) == []
    with run.database.writing() as connection:
        connection.execute(update(schema.matches).values(worker="w2/10.77.0.12"))
    with pytest.raises(UserError, match="differs from its checksum"):
        run.record(made(1).spec.id)


def test_storing_and_linking_at_once_in_one_run_both_succeed(postgres_url: str) -> None:
    """The one that links comes while the other has changed some of the run's rows and not yet all."""
    shared, own = [made(seed) for seed in range(5)], [made(seed) for seed in range(100, 105)]
    with Store.open(postgres_url) as one, Store.open(postgres_url) as other, ThreadPoolExecutor(1) as thread:
        for run_id in ("other", "run"):
            one.begin_run(run_id, "tournament", "t", {})
        one.append("other", shared)
        one.append("run", [made(50)])
        add, linking = one.blocks.add, []

        def add_while_another_links(*arguments: Any) -> None:
            add(*arguments)
            if not linking:
                linking.append(thread.submit(other.link, "run", [record.spec.id for record in shared]))
                wait(linking, 0.5)

        one.blocks.add = add_while_another_links  # type: ignore[method-assign]
        assert one.append("run", own) == 5
        linking[0].result(60)
        assert one.match_counts() == {"other": 5, "run": 11} and inspect_store(postgres_url) == []
