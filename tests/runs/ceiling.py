"""How many workers one driver can serve, with made-up games: its loop, its look-ups and its store are real.

    python -m tests.runs.ceiling --workers 1000 --seconds 0.1 --games 40000 [--store URL]

The clock counts the driver's CPU time and skips the time in which it would wait for workers, so that other work on the
machine changes nothing. Of a server, add the CPU time that `ps` shows: the driver waits for it.
"""

from __future__ import annotations

import argparse
import heapq
import itertools
import random
import resource
import tempfile
import time
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from turnier.agents.registry import AGENTS
from turnier.arena.match import MatchRecord, MatchSpec, Termination, pack_plies
from turnier.arena.schedules.round_robin import MatchPlan, round_robin
from turnier.arena.workers.executor import Done, Executor, Lost, Task
from turnier.games.registry import GAMES
from turnier.results.store.store import Store
from turnier.runs.play import play_plan

GATHER_SECONDS = 0.05  # as on Ray, where every worker has two batches
PLIES = pack_plies(np.array([4, 0, 8, 2, 6, 1, 7], np.int64))


def made_up(spec: MatchSpec, seconds: float) -> MatchRecord:
    n, score = len(spec.agents), spec.seed % 3 - 1.0
    each, nodes = (seconds / n,) * n, (spec.seed % 50, 7)
    return MatchRecord(spec, Termination.NORMAL, (score, -score), (4, 3), nodes, each, seconds, PLIES, {}, "", each)


class MadeUpExecutor(Executor):
    """Workers that would play games of two seats of about `seconds` each; `clock` has the time that the driver takes.

    With `alone`, results are taken one at a time.
    """

    def __init__(
        self, workers: int, seconds: float, clock: Callable[[], float], spread: float = 0.2, alone: bool = False
    ) -> None:
        super().__init__(workers)
        self.batches = 0
        self._seconds, self._clock, self._spread, self._alone = seconds, clock, spread, alone
        self._began: float | None = None  # with the first batch
        self._skipped = self._returned = self._assigned = self._last = 0.0
        self._free = [0.0] * workers  # when each worker will be
        self._ends: list[tuple[float, int, list[Any], float]] = []
        self._rng = random.Random(1)

    @property
    def now(self) -> float:
        if self._began is None:
            self._began = self._clock()
        return self._clock() - self._began + self._skipped

    @property
    def share(self) -> float:
        """The share of the workers' time in which they worked, until the last batch was sent."""
        after = sum(max(0.0, free - self._last) for free in self._free)
        return (self._assigned - after) / (self.workers * self._last)

    def submit(self, do: Task, batch: list[Any]) -> int:
        seconds = self._seconds * (1 + self._spread * self._rng.uniform(-1, 1)) * len(batch)
        end = max(self.now, heapq.heappop(self._free)) + seconds
        heapq.heappush(self._free, end)
        heapq.heappush(self._ends, (end, self.batches, batch, seconds))
        self._last, self._assigned, self.batches = self.now, self._assigned + seconds, self.batches + 1
        return self.batches - 1

    def wait(self, tickets: list[Any]) -> Iterable[tuple[Any, Done | Lost]]:
        until = self._returned + GATHER_SECONDS if len(tickets) >= 2 * self.workers and not self._alone else 0.0
        self._skipped += max(0.0, until - self.now, self._ends[0][0] - self.now)
        self._returned = now = self.now
        done: list[tuple[Any, Done]] = []
        while self._ends and self._ends[0][0] <= now and not (self._alone and done):
            _, ticket, batch, seconds = heapq.heappop(self._ends)
            done.append((ticket, Done([made_up(spec, self._seconds) for spec in batch], seconds)))
        return done

    def close(self) -> None:
        self._ends.clear()


def plan_of(games: int) -> MatchPlan:
    agents = [AGENTS.make(name) for name in ("random", "greedy", "mc(iterations=5)", "mc(iterations=6)")]
    pairs = len(list(itertools.combinations(agents, 2)))
    return round_robin(GAMES.make("tictactoe"), agents, -(-games // pairs), 1)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--workers", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=0.1)
    parser.add_argument("--games", type=int, default=40_000)
    parser.add_argument("--store")
    parser.add_argument("--alone", action="store_true")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, Store.open(chosen.store or f"sqlite:///{folder}/s.db") as store:
        store.begin_run("run", "tournament", "run", {})
        executor = MadeUpExecutor(chosen.workers, chosen.seconds, time.process_time, alone=chosen.alone)
        played = play_plan(store, "run", plan_of(chosen.games), executor, lambda stored: None)
        games, commits, began = len(next(played)), 1, time.process_time()
        for records in played:
            games, commits = games + len(records), commits + 1
        seconds = time.process_time() - began
        assert store.match_counts() == {"run": games}
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"{chosen.workers:,} workers, games of {chosen.seconds:g} s: {games:,} games in {executor.batches:,} batches"
        f" and {commits:,} commits; {executor.share:.0%} served; CPU {seconds:.1f} s; {memory:.0f} MB"
    )


if __name__ == "__main__":
    main()
