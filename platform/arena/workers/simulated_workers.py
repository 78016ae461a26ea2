"""Simulated workers: games are played one after another, and a simulated clock gives the end of each."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from ..match import MatchRecord
from .executor import Done, Executor, Lost, Task

DECISION_SECONDS = 0.001


class SimulatedExecutor(Executor):
    """Any number of workers on one core, with a fixed time per decision, simulating a cluster."""

    def __init__(self, workers: int, decision_seconds: float = DECISION_SECONDS) -> None:
        super().__init__(workers)
        self.now = 0.0  # seconds: the simulated time
        self.games = 0
        self._decision_seconds = decision_seconds
        self._free = [(0.0, worker) for worker in range(workers)]  # a heap of the times when workers become free
        self._batches: dict[int, _Batch] = {}  # by ticket
        self._ends: list[tuple[float, int]] = []  # a heap of their ends and tickets, including ends before withdrawal
        self._tickets = itertools.count()

    def submit(self, do: Task, batch: Sequence[Any]) -> int:
        records: list[MatchRecord] = list(do(batch).records)
        free, worker = heapq.heappop(self._free)
        begins = max(self.now, free)
        seconds = (self._decision_seconds * sum(record.decisions) for record in records)
        ends = list(itertools.accumulate(seconds, initial=begins))
        heapq.heappush(self._free, (ends[-1], worker))
        ticket = next(self._tickets)
        self._batches[ticket] = _Batch(worker, records, ends)
        heapq.heappush(self._ends, (ends[-1], ticket))
        return ticket

    def withdraw(self, tickets: list[int]) -> None:
        """Ends batches now; they must be the last ones of their workers."""
        cut = {ticket: self._batches[ticket].until(self.now) for ticket in tickets}
        self._batches |= cut
        for ticket, batch in cut.items():
            heapq.heappush(self._ends, (batch.ends[-1], ticket))
        free = {batch.worker: batch.ends[-1] for batch in cut.values()}
        self._free = [(free.get(worker, time), worker) for time, worker in self._free]
        heapq.heapify(self._free)

    def wait(self, tickets: list[int]) -> Iterable[tuple[int, Done | Lost]]:
        ticket = heapq.heappop(self._ends)[1]
        while ticket not in self._batches:
            ticket = heapq.heappop(self._ends)[1]
        batch = self._batches.pop(ticket)
        self.now = batch.ends[-1]
        self.games += len(batch.records)
        return [(ticket, Done(batch.records, batch.ends[-1] - batch.ends[0]))]

    def clock(self) -> float:
        return self.now

    def close(self) -> None:
        self._batches.clear()
        self._ends.clear()


class _Batch(NamedTuple):
    """A batch, one match after another."""

    worker: int
    records: list[MatchRecord]
    ends: list[float]  # the beginning, the ends of matches, and the moment of withdrawal, if any

    def until(self, now: float) -> _Batch:
        """Returns the batch if it ends now."""
        done = sum(end <= now for end in self.ends[1:])
        return _Batch(self.worker, self.records[:done], [*self.ends[: done + 1], max(now, self.ends[0])])
