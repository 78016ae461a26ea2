"""Simulated workers: games are played one after another, and a clock says when each would have ended."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterable
from typing import Any

from turnier.arena.match import MatchRecord
from turnier.arena.workers.executor import Done, Executor, Lost, Task

DECISION_SECONDS = 0.001


class SimulatedExecutor(Executor):
    """Any number of workers on one core, with a fixed time per decision: what a cluster would have done."""

    def __init__(self, workers: int, decision_seconds: float = DECISION_SECONDS) -> None:
        super().__init__(workers)
        self.now = self.busy = 0.0  # seconds: the simulated time, and the working time of all workers
        self.games = 0
        self._decision_seconds = decision_seconds
        self._free = [0.0] * workers  # when each worker will be
        self._ends: list[tuple[float, int, Done]] = []
        self._tickets = itertools.count()

    @property
    def busy_share(self) -> float:
        """The share of the workers' time in which they worked, until the latest batch was done."""
        return self.busy / (self.workers * self.now) if self.now else 0.0

    def submit(self, do: Task, batch: list[Any]) -> int:
        records: list[MatchRecord] = do(batch).records
        seconds = self._decision_seconds * sum(sum(record.decisions) for record in records)
        begins = max(self.now, heapq.heappop(self._free))
        heapq.heappush(self._free, begins + seconds)
        ticket = next(self._tickets)
        heapq.heappush(self._ends, (begins + seconds, ticket, Done(records, seconds)))
        self.busy += seconds
        self.games += len(records)
        return ticket

    def wait(self, tickets: list[Any]) -> Iterable[tuple[Any, Done | Lost]]:
        self.now, ticket, done = heapq.heappop(self._ends)
        return [(ticket, done)]

    def close(self) -> None:
        self._ends.clear()
