"""Executor and pool on Ray actors, see `actors`."""

from __future__ import annotations

import functools
import itertools
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ....agents.agent import Decision
from ....agents.ensembles.ensemble import Ensemble
from ....agents.ensembles.pool import Pool, SearchJob
from ....agents.registry import agent_of
from ...match import MatchRecord, MatchSpec
from ..executor import MATCHES, Done, Executor, Lost, R, S, Source, Task, Work
from .actors import RayActors
from .crew import Piece
from .head import LOCAL
from .luggage import Luggage, Packing, unpack
from .machines.trial import Trial, trial_of
from .spread import members_take_long, play_spread
from .worker import place

ROUNDS = 4  # of matches on all actors; with more of them the length of the last ones hardly matters


class PlainRows(NamedTuple):
    """Dataclass instances as plain rows, which pickle several times faster."""

    kind: type
    rows: list[tuple[Any, ...]]

    @classmethod
    def of(cls, items: Sequence[Any], first: int = 0) -> PlainRows:
        """Returns rows of the fields from number `first` on that are arguments of the class."""
        if not items:
            return cls(object, [])
        names = [field.name for field in fields(items[0]) if field.init][first:]
        values = map(attrgetter(*names), items)  # a single name gives no tuples
        return cls(type(items[0]), list(values) if len(names) > 1 else [(value,) for value in values])


class Result(NamedTuple):
    """A finished batch on its way back: records without their specs, which are their first fields."""

    records: PlainRows
    left_out: set[int]  # the numbers of specs without a record
    seconds: float
    node: str
    tried: list[str] | None  # outcomes of a trial, if there was one


_stops: dict[int, npt.NDArray[np.int64]] = {}  # in an actor: [1] for each current batch, see `Work.do`


def _work_on(do: Task, luggage: Luggage, trial: Trial | None, number: int, rows: PlainRows) -> Result:
    """Does a batch in an actor, after the games of a trial."""
    unpack(luggage)
    tried = trial and trial.played()
    specs = [rows.kind(*row) for row in rows.rows]
    done = do(specs, _stops.setdefault(number, np.zeros(1, np.int64)))
    del _stops[number]
    node, worker = place()
    records = list(done.records)
    for record in records:
        if isinstance(record, MatchRecord):
            record.worker = worker
    known = set() if len(records) == len(specs) else {record.spec for record in records}
    left_out = {place for place, spec in enumerate(specs) if known and spec not in known}
    return Result(PlainRows.of(records, 1), left_out, done.seconds, node, tried)


def _stop(number: int) -> None:
    """Ends a batch, even one that has not begun."""
    _stops.setdefault(number, np.zeros(1, np.int64))[0] = 1


def _search(luggage: Luggage, job: SearchJob) -> Decision:
    unpack(luggage)
    return job.run()


def _send_search(actors: RayActors, packing: Packing, job: SearchJob) -> Any:
    return actors.send(functools.partial(_search, packing.of(job.names)), job)


class RayExecutor(Executor):
    """Works in Ray actors; `claims` are the named arguments of `RayActors`."""

    def __init__(self, workers: int | None = None, address: str | None = None, **claims: Any) -> None:
        self.actors = RayActors(workers, address, **claims)
        super().__init__(max(1, self.actors.workers))  # the first may still be starting
        self._packing = Packing(self.actors.objects)
        self._batches: dict[Piece, tuple[int, list[Any]]] = {}  # their numbers and specs
        self._numbers = itertools.count()
        self._trial: Trial | None = None

    def serve(self, work: Work[S, R], source: Source[S]) -> Iterator[Sequence[R]]:
        if self._trial is None and self.actors.address != LOCAL:
            self._trial = trial_of(work, source.waiting)
        return super().serve(work, source)

    def submit(self, do: Task, batch: Sequence[Any]) -> Any:
        batch = list(batch)
        number, trial = next(self._numbers), self._trial if self.actors.admission.unproven else None
        luggage = self._packing.of(name for spec in (*batch, *(trial.specs if trial else ())) for name in spec.names)
        work = functools.partial(_work_on, do, luggage, trial, number)
        piece = self.actors.send(work, PlainRows.of(batch), len(batch))
        self._batches[piece] = number, batch
        return piece

    def play(self, specs: Iterable[MatchSpec]) -> Iterator[Sequence[MatchRecord]]:
        """Plays matches like any executor; members of ensembles search in otherwise idle actors on all nodes.

        This applies to long searches, if there are too few matches for all actors: this process plays the last ones. If
        other agents would make it search itself, it plays no more matches than it has CPUs.
        """
        matches = list(specs)
        rest = len(matches) % self.workers if len(matches) < ROUNDS * self.workers else 0
        first, last = matches[: len(matches) - rest], matches[len(matches) - rest :]
        if 2 * rest <= self.workers and _can_spread(last):
            MATCHES.prepare(matches)
            if members_take_long(last):
                spread = play_spread(self.actors, functools.partial(_send_search, self.actors, self._packing), last)
                return itertools.chain(self.run(MATCHES, first), spread)
        return self.run(MATCHES, matches)

    def withdraw(self, tickets: list[Any]) -> None:
        for piece in tickets:
            piece.send_aside(_stop, self._batches[piece][0])

    def wait(self, tickets: list[Any]) -> Iterable[tuple[Any, Done | Lost]]:
        results = self.actors.wait(tickets)
        self.workers = self.actors.workers
        return [(piece, self._done(piece, result)) for piece, result in results]

    def _done(self, piece: Piece, result: Any) -> Done | Lost:
        _, specs = self._batches.pop(piece)
        if isinstance(result, Lost):
            return result
        if isinstance(result, Exception):
            raise result
        records, left_out, seconds, node, tried = result
        if tried is not None and self._trial:
            self.actors.prove(node, tried == self._trial.outcomes)
        if node in self.actors.admission.refused:
            return Lost()
        if not left_out:  # otherwise some time went into specs without a record
            self.actors.observe(piece, len(records.rows), seconds)
        played = [spec for place, spec in enumerate(specs) if place not in left_out]
        return Done([records.kind(spec, *row) for spec, row in zip(played, records.rows, strict=False)], seconds)

    def waits(self) -> bool:
        return not self.actors.workers

    def next_speed(self) -> float:
        return self.actors.next_speed

    def idle_workers(self, flying: int) -> int:
        return self.actors.idle  # batches belong to actors: one may have two, another none

    def close(self) -> None:
        self.actors.close()


def _can_spread(matches: Sequence[MatchSpec]) -> bool:
    """Whether all matches have ensembles, and this process has little else to search."""
    ensembles = [[isinstance(agent_of(name), Ensemble) for name in spec.agents] for spec in matches]
    here = all(map(all, ensembles)) or len(matches) <= (os.cpu_count() or 1)
    return bool(matches) and all(map(any, ensembles)) and here


class RayPool(Pool):
    """Searches in Ray actors, like `RayExecutor`; lost searches are repeated with the same seed."""

    def __init__(self, workers: int | None = None, address: str | None = None, **claims: Any) -> None:
        self.actors = RayActors(workers, address, **claims)
        super().__init__(max(1, self.actors.workers))
        self._packing = Packing(self.actors.objects)
        self._jobs: dict[Piece, SearchJob | None] = {}  # the job, or None after dropping it

    def submit(self, job: SearchJob) -> SearchJob:
        self._jobs[_send_search(self.actors, self._packing, job)] = job
        return job

    def wait(self, tickets: list[SearchJob]) -> Iterable[tuple[SearchJob, Decision]]:
        done: list[tuple[SearchJob, Decision]] = []
        while not done:
            # Waits for dropped searches too: their workers are not free before.
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
