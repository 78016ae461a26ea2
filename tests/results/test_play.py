"""Playing into the store: nothing twice, failures again."""

from __future__ import annotations

import dataclasses
from typing import Any

from turnier.arena.executors import Batch, SerialExecutor
from turnier.arena.match import play_match
from turnier.arena.spec import MatchRecord, MatchSpec, Termination
from turnier.results.play import play_into
from turnier.results.store import Store

SPECS = [MatchSpec("tictactoe", ("random", "random"), seed) for seed in range(4)]


class Counting(SerialExecutor):
    """Remembers what it was given to play."""

    def __init__(self) -> None:
        super().__init__()
        self.given: list[MatchSpec] = []

    def submit(self, do: Batch, batch: list[Any]) -> int:
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
