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
from turnier.arena.workers.cluster.crew import Piece
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
    """Works in Ray actors; `claims` are the named arguments of `RayActors`."""

    def __init__(self, workers: int | None = None, address: str | None = None, **claims: Any) -> None:
        self.actors = RayActors(workers, address, **claims)
        super().__init__(max(1, self.actors.workers))  # the first may still be waited for
        self._packing = Packing(self.actors.objects)
        self._batches: dict[Piece, list[Any]] = {}

    def submit(self, do: Task, batch: list[Any]) -> Any:
        luggage = self._packing.of(name for spec in batch for name in spec.names)
        work = functools.partial(_work_on, do, luggage)
        piece = self.actors.send(work, PlainRows.of(batch), len(batch))
        self._batches[piece] = batch
        return piece

    def wait(self, tickets: list[Any]) -> Iterable[tuple[Any, Done | Lost]]:
        results = self.actors.wait(tickets)
        self.workers = self.actors.workers
        return [(piece, self._done(piece, result)) for piece, result in results]

    def _done(self, piece: Piece, result: Any) -> Done | Lost:
        specs = self._batches.pop(piece)
        if isinstance(result, Lost):
            return result
        if isinstance(result, Exception):
            raise result
        records, seconds = result
        self.actors.observe(piece, len(records.rows), seconds)
        return Done([records.kind(spec, *row) for spec, row in zip(specs, records.rows, strict=False)], seconds)

    def waits(self) -> bool:
        return not self.actors.workers

    def next_speed(self) -> float:
        return self.actors.next_speed

    def idle_workers(self, flying: int) -> int:
        return self.actors.idle  # batches belong to actors: one may have two while another has none

    def close(self) -> None:
        self.actors.close()


class RayPool(Pool):
    """Searches in Ray actors as `RayExecutor` works; a search that is lost is repeated with the same seed."""

    def __init__(self, workers: int | None = None, address: str | None = None, **claims: Any) -> None:
        self.actors = RayActors(workers, address, **claims)
        super().__init__(max(1, self.actors.workers))
        self._packing = Packing(self.actors.objects)
        self._jobs: dict[Piece, SearchJob | None] = {}  # its job, or None once it was dropped

    def submit(self, job: SearchJob) -> SearchJob:
        self._jobs[self.actors.send(functools.partial(_search, self._packing.of(job.names)), job)] = job
        return job

    def wait(self, tickets: list[SearchJob]) -> Iterable[tuple[SearchJob, Decision]]:
        done: list[tuple[SearchJob, Decision]] = []
        while not done:
            # Dropped searches are waited for too, so that their workers count as free only when they are.
            for piece, result in self.actors.wait(self._jobs):
                job = self._jobs.pop(piece)
                self.workers = max(1, self.actors.workers)
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
        for piece, job in self._jobs.items():
            if job in tickets:
                self._jobs[piece] = None

    def close(self) -> None:
        self.actors.close()
