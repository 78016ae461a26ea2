"""Executor and pool on Ray actors, see `actors`."""

from __future__ import annotations

import functools
import time
from collections.abc import Iterable, Sequence
from dataclasses import fields
from operator import attrgetter
from typing import Any, NamedTuple

from turnier.agents.agent import Decision
from turnier.agents.ensembles.pool import Pool, SearchJob
from turnier.arena.match import MatchSpec
from turnier.arena.repeated_search import SearchSpec
from turnier.arena.workers.cluster.actors import RayActors
from turnier.arena.workers.executor import Done, Executor, Lost, Task
from turnier.core.outside import library
from turnier.core.outside.bundle import Bundle
from turnier.core.outside.trust import trust, trusted

GATHER_SECONDS = 0.05  # in which batches of many workers are collected
MANY = 64  # batches in flight: fewer do not keep the driver busy


class PlainRows(NamedTuple):
    """Dataclass instances as plain rows, which pickle several times faster."""

    kind: type
    rows: list[tuple[Any, ...]]

    @classmethod
    def of(cls, items: Sequence[Any], first: int = 0) -> PlainRows:
        """Returns rows of the fields from number `first` on, as far as they are arguments of the class."""
        if not items:
            return cls(object, [])
        names = [field.name for field in fields(items[0]) if field.init][first:]
        values = map(attrgetter(*names), items)  # of a single name no tuples
        return cls(type(items[0]), list(values) if len(names) > 1 else [(value,) for value in values])


def _work_on(do: Task, code: Code, specs: PlainRows) -> tuple[PlainRows, float]:
    """Does a batch in an actor; the records return without their specs, which are their first fields."""
    _learn(code)
    done = do([specs.kind(*row) for row in specs.rows])
    return PlainRows.of(done.records, 1), done.seconds


def _search(code: Code, job: SearchJob) -> Decision:
    _learn(code)
    return job.run()


class Code(NamedTuple):
    """The code of others that work needs, which travels with it, and whether it may run inside."""

    bundles: list[Bundle]
    trusted: bool


def _code_of(specs: Iterable[MatchSpec | SearchSpec | SearchJob]) -> Code:
    return Code(library.bundles_in({name for spec in specs for name in spec.names}), trusted())


def _learn(code: Code) -> None:
    trust(code.trusted)
    for bundle in code.bundles:
        library.learn(bundle)


class RayExecutor(Executor):
    """Works in Ray actors."""

    def __init__(self, workers: int | None = None, address: str | None = None) -> None:
        self.actors = RayActors(workers, address)
        super().__init__(self.actors.workers)
        self._batches: dict[Any, list[Any]] = {}
        self._returned = 0.0  # when batches were done last

    def submit(self, do: Task, batch: list[Any]) -> Any:
        ref = self.actors.send(functools.partial(_work_on, do, _code_of(batch)), PlainRows.of(batch))
        self._batches[ref] = batch
        return ref

    def wait(self, tickets: list[Any]) -> Iterable[tuple[Any, Done | Lost]]:
        if len(tickets) >= 2 * self.workers >= MANY:  # nobody idles meanwhile, and one commit stores more
            time.sleep(max(0.0, self._returned + GATHER_SECONDS - time.monotonic()))
        results = self.actors.wait(tickets)
        self.workers, self._returned = self.actors.workers, time.monotonic()
        return [(ref, self._done(ref, result)) for ref, result in results]

    def _done(self, ref: Any, result: Any) -> Done | Lost:
        specs = self._batches.pop(ref)
        if isinstance(result, Lost):
            return result
        if isinstance(result, Exception):
            raise result
        records, seconds = result
        return Done([records.kind(spec, *row) for spec, row in zip(specs, records.rows, strict=False)], seconds)

    def idle_workers(self, flying: int) -> int:
        return self.actors.idle  # batches belong to actors: one may have two while another has none

    def close(self) -> None:
        self.actors.close()


class RayPool(Pool):
    """Searches in Ray actors; a search that is lost with its actor is repeated with the same seed."""

    def __init__(self, workers: int | None = None, address: str | None = None) -> None:
        self.actors = RayActors(workers, address)
        super().__init__(self.actors.workers)
        self._jobs: dict[Any, SearchJob | None] = {}  # ref -> the job, or None once it was dropped

    def submit(self, job: SearchJob) -> SearchJob:
        self._jobs[self.actors.send(functools.partial(_search, _code_of([job])), job)] = job
        return job

    def wait(self, tickets: list[SearchJob]) -> Iterable[tuple[SearchJob, Decision]]:
        done: list[tuple[SearchJob, Decision]] = []
        while not done:
            # Dropped searches are waited for too, so that their workers count as free only when they are.
            for ref, result in self.actors.wait(list(self._jobs)):
                job = self._jobs.pop(ref)
                if job is None:
                    continue
                if isinstance(result, Lost):
                    self.lost += 1
                    self.submit(job)
                elif isinstance(result, Exception):
                    raise result
                else:
                    done.append((job, result))
        return done

    def drop(self, tickets: list[SearchJob]) -> None:
        for ref, job in self._jobs.items():
            if job in tickets:
                self._jobs[ref] = None

    def close(self) -> None:
        self.actors.close()
