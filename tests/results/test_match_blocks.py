"""Blocks of columns are written once they are full; large batches are copied into PostgreSQL."""

from __future__ import annotations

import dataclasses

import pytest
from sqlalchemy import event, select

from tests.results.made import DUEL, ids, made
from tests.runs.ceiling import MadeUpExecutor, plan_of
from turnier.arena.match import Termination
from turnier.results.frames.matches import matches_frame
from turnier.results.inserts import COPIED
from turnier.results.store import match_blocks
from turnier.results.store.match_blocks import TAIL
from turnier.results.store.schema import match_columns
from turnier.results.store.store import Store
from turnier.runs.play import play_plan


def parts(store: Store, run: str = "run") -> list[tuple[int, int]]:
    """Returns level and number of matches of what a run has in the table."""
    query = select(match_columns.c.level, match_columns.c.matches).where(match_columns.c.run_id == run)
    with store.database.reading() as connection:
        return sorted(map(tuple, connection.execute(query)))


def numbers(store: Store, run: str = "run") -> list[int]:
    with store.database.reading() as connection:
        return [int(number) for number in store.blocks.of_run(connection, run).number]


def test_a_block_is_written_once_it_is_full(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(match_blocks, "FULL", 10)
    store.begin_run("run", "tournament", "run", {})
    assert parts(store) == [(TAIL, 0)]
    seen = []
    for seed in range(0, 20, 4):
        store.append("run", [made(i) for i in range(seed, seed + 4)])
        seen.append(parts(store))
        assert len(numbers(store)) == seed + 4 and numbers(store) == sorted(set(numbers(store)))
    tails = [[(TAIL, 4)], [(TAIL, 8)], [(TAIL, 0), (0, 12)], [(TAIL, 4), (0, 12)], [(TAIL, 8), (0, 12)]]
    assert seen == tails
    store.append("run", [made(i) for i in range(100, 130)])
    assert parts(store) == [(TAIL, 0), (0, 12), (0, 38)]


def test_what_is_replaced_or_linked_leaves_and_joins_tails(store: Store) -> None:
    for name in ("run", "other"):
        store.begin_run(name, "tournament", name, {})
    failed = made(1, termination=Termination.ERROR, error="it raised")
    store.append("run", [failed, made(2)])
    store.link("other", ids([failed]))
    assert parts(store, "other") == [(TAIL, 1)]
    store.append("run", [made(1)])
    assert parts(store) == [(TAIL, 2)] and parts(store, "other") == [(TAIL, 1)]
    assert set(matches_frame(store, "other")["termination"]) == {"normal"}


def test_large_batches_are_stored_as_small_ones(store: Store) -> None:
    """Those that are stored already are linked, failures are replaced, and only the rest is new."""
    many = 2 * COPIED
    for name in ("run", "other"):
        store.begin_run(name, "tournament", name, {})
    records = [made(i, (1.0, -1.0), ("random", "greedy"), DUEL) for i in range(2 * many)]
    errors = [dataclasses.replace(one, termination=Termination.ERROR, error='tab\t, "\\N" and \\') for one in records]
    store.append("other", [*errors[:many], *records[many : many + 10]])
    assert store.append("run", records) == 2 * many - 10
    assert sorted(ids(store.records(ids(records)))) == sorted(ids(records))
    assert store.match_counts() == {"run": 2 * many, "other": many + 10}
    assert [len(numbers(store, run)) for run in ("run", "other")] == [2 * many, many + 10]
    store.append("other", errors)
    assert store.record(records[0].spec.id) == records[0], "what went well stays"
    assert store.append("run", [made(-i - 1, error=errors[0].error) for i in range(many)]) == many
    assert store.record(made(-1).spec.id).error == errors[0].error


def test_what_many_workers_play_takes_few_commits_and_blocks(store: Store) -> None:
    """A thousand workers end games at about the same time; each game is in the store before anybody sees it."""
    store.begin_run("run", "tournament", "run", {})
    commits = []
    event.listen(store.database._writer, "commit", commits.append)
    executor, seen, now = MadeUpExecutor(1000, 0.1, lambda: 0.0, spread=0.0), [], 0.0
    for records in play_plan(store, "run", plan_of(4000), executor, lambda stored: None):
        assert len(store.played(ids(records[-2:]))) == 2
        assert executor.now >= now
        seen += ids(records)
        now = executor.now
    assert len(seen) == len(set(seen)) == 4008 and executor.batches > 1000
    assert len(commits) < 30
    blocks = [matches for level, matches in parts(store) if level != TAIL]
    assert len(blocks) <= 4 and sum(blocks) > 4008 - match_blocks.FULL
