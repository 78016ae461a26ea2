"""Repeated searches in the store: stored once and whole, never searched twice."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import func, select

from turnier.arena.match import MatchSpec
from turnier.arena.play import play_match
from turnier.arena.positions import choose_positions, search_specs
from turnier.arena.repeated_search import SearchRecord, SearchSpec, SeenPosition, search_positions
from turnier.arena.workers.executor import Task
from turnier.arena.workers.local import SerialExecutor
from turnier.core.errors import UserError
from turnier.results.store import schema
from turnier.results.store.store import Store
from turnier.runs.play import search_into

SEARCH = "mc(iterations=2,rollout_depth=3)"


def specs(game: str = "tictactoe", states: int = 2, repeats: int = 3) -> list[SearchSpec]:
    seats = 1 if game.startswith("2048") else 2
    match = play_match(MatchSpec(game, ("random",) * seats, 4))
    chosen = choose_positions([match], states, seed=1)
    return [spec for positions in chosen.values() for spec in search_specs(positions, SEARCH, repeats, seed=2)]


@pytest.fixture
def run(store: Store) -> Store:
    store.begin_run("run", "certainty", "a certainty", {"seed": 1})
    store.begin_run("other", "experiment", "an experiment", {"seed": 2})
    return store


def search_ids(records: list[SearchRecord]) -> list[str]:
    return [record.spec.id for record in records]


def counts(store: Store) -> tuple[int, ...]:
    tables = (schema.positions, schema.votes, schema.run_votes)
    with store.database.reading() as connection:
        return tuple(connection.scalar(select(func.count()).select_from(table)) or 0 for table in tables)


def test_searches_come_back_as_they_were(run: Store) -> None:
    records = search_positions(specs("2048") + specs())
    odd = replace(records[0], spec=replace(records[0].spec, seed=2**63 - 1), values=(math.inf, -1e-300, 0.1)[:2])
    records.append(odd)
    assert run.searches.append("run", records) == len(records)
    assert run.searches.records(search_ids(records)) == records
    assert sorted(search_ids(run.searches.of_run("run"))) == sorted(search_ids(records))
    backwards = [*search_ids(records)[::-1], "0" * 32]
    assert run.searches.records(backwards) == records[::-1]
    assert run.searches.stored(backwards) == set(search_ids(records))
    searched = {record.spec.position for record in records}
    assert counts(run) == (len(searched), len(records), len(records))


def test_the_same_searches_twice_change_nothing_and_belong_to_every_run(run: Store) -> None:
    records = search_positions(specs())
    assert run.searches.append("run", records[:5]) == 5
    slower = [replace(record, seconds=9.0) for record in records]
    assert run.searches.append("other", [*slower, slower[0]]) == len(records) - 5
    assert run.searches.records(search_ids(records)) == records[:5] + slower[5:]
    run.searches.link("run", search_ids(records))
    assert run.searches.counts() == {"run": len(records), "other": len(records)}
    with pytest.raises(UserError, match=r"searches must be stored to be linked to run 'run', but 1 are not\."):
        run.searches.link("run", ["0" * 32, *search_ids(records)])


def test_an_append_that_fails_stores_nothing(run: Store) -> None:
    records = search_positions(specs())
    large = replace(records[0], spec=replace(records[0].spec, seed=2**63))
    with pytest.raises(UserError, match="63 bits"):
        run.searches.append("run", [*records, large])
    with pytest.raises(UserError, match="begin the run"):
        run.searches.append("nowhere", records)
    assert counts(run) == (0, 0, 0)


class Counting(SerialExecutor):
    """Remembers what it was given to do, and may be stopped."""

    def __init__(self, limit: int = 1_000_000) -> None:
        super().__init__()
        self.given: list[Any] = []
        self.limit = limit

    def submit(self, do: Task, batch: list[Any]) -> int:
        if len(self.given) + len(batch) > self.limit:
            raise KeyboardInterrupt
        self.given += batch
        return super().submit(do, batch)


def test_a_killed_measurement_resumes_where_it_stopped(run: Store) -> None:
    requested = specs()
    killed = Counting(limit=7)
    with pytest.raises(KeyboardInterrupt):
        list(search_into(run, "run", requested, killed))
    stored = run.searches.stored(spec.id for spec in requested)
    assert 0 < len(stored) <= 7
    resumed = Counting()
    records = [record for batch in search_into(run, "run", requested, resumed) for record in batch]
    assert {spec.id for spec in resumed.given} == {spec.id for spec in requested} - stored
    assert sorted(search_ids(records)) == sorted(spec.id for spec in requested)
    last = Counting()
    assert sum(len(batch) for batch in search_into(run, "run", requested, last)) == len(requested)
    assert last.given == []


def test_positions_differ_by_state_and_returns() -> None:
    seen = SeenPosition("2048(size=4)", (4, 1, 0, 0), (0.0,), (0, 1), 14)
    assert seen.id != replace(seen, returns=(4.0,)).id != replace(seen, state=(4, 2, 0, 0)).id
    assert len({SearchSpec(seen, agent, seed).id for agent in ("random", "greedy") for seed in (1, 2)}) == 4
