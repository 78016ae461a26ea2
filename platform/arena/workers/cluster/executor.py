"""Executor and pool on Ray actors, see `actors`."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from dataclasses import fields
from operator import attrgetter
from typing import Any, NamedTuple

from turnier.agents.agent import Decision
from turnier.agents.ensembles.pool import Pool, SearchJob
from turnier.arena.workers.cluster.actors import RayActors
from turnier.arena.workers.cluster.luggage import Luggage, Packing, unpack
from turnier.arena.workers.executor import Done, Executor, Lost, Task


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


def _work_on(do: Task, luggage: Luggage, specs: PlainRows) -> tuple[PlainRows, float]:
    """Does a batch in an actor; the records return without their specs, which are their first fields."""
    unpack(luggage)
    done = do([specs.kind(*row) for row in specs.rows])
    return PlainRows.of(done.records, 1), done.seconds


def _search(luggage: Luggage, job: SearchJob) -> Decision:
    unpack(luggage)
    return job.run()


class RayExecutor(Executor):
    """Works in Ray actors."""

    def __init__(self, workers: int | None = None, address: str | None = None) -> None:
        self.actors = RayActors(workers, address)
        super().__init__(self.actors.workers)
        self._packing = Packing(self.actors.objects)
        self._batches: dict[Any, list[Any]] = {}

    def submit(self, do: Task, batch: list[Any]) -> Any:
        luggage = self._packing.of(name for spec in batch for name in spec.names)
        ref = self.actors.send(functools.partial(_work_on, do, luggage), PlainRows.of(batch))
        self._batches[ref] = batch
        return ref

    def wait(self, tickets: list[Any]) -> Iterable[tuple[Any, Done | Lost]]:
        results = self.actors.wait(tickets)
        self.workers = self.actors.workers
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
        self._packing = Packing(self.actors.objects)
        self._jobs: dict[Any, SearchJob | None] = {}  # ref -> the job, or None once it was dropped

    def submit(self, job: SearchJob) -> SearchJob:
        self._jobs[self.actors.send(functools.partial(_search, self._packing.of(job.names)), job)] = job
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
