"""What every executor does: batches of work on some workers; `local` and `ray_workers` hold them, `make` makes them.

All do the same batches of about a second through the same function, so that the choice never changes a move.
Members of ensembles search in pools, which go by the same names.
"""

from __future__ import annotations

import functools
import time
from abc import ABC, abstractmethod
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from turnier.arena.match import MatchRecord, MatchSpec
from turnier.arena.play import play_matches, prepare_matches
from turnier.core.errors import UserError

TARGET_SECONDS = 1.0  # of work in a batch
IDLE_SECONDS = 0.2  # of work in a batch that nobody waits for
GROWTH = 8  # a batch is at most this many times larger than the largest before it


MAX_LOSSES = 10  # of the same work; then it is what ends the workers

S = TypeVar("S")
R = TypeVar("R")


class Work(NamedTuple, Generic[S, R]):
    """One kind of work; both are functions of a module, which Ray ships by name."""

    do: Callable[[Sequence[S], npt.NDArray[np.int64] | None], list[R]]  # once stop[0] is not 0 it leaves out the rest
    prepare: Callable[[Sequence[S]], None]  # refuses bad specs and compiles, before anything is done


class Done(NamedTuple):
    """What a batch came to: the records of its specs in order, and how long a worker took for all of it."""

    records: list[Any]
    seconds: float


Batch = Callable[..., Done]  # what a worker calls: (specs) or (specs, stop)


def do_batch(work: Work[Any, Any], specs: Sequence[Any], stop: npt.NDArray[np.int64] | None = None) -> Done:
    """Does a batch; a fresh process loads its kernels before the clock starts."""
    work.prepare(specs)
    began = time.perf_counter()
    records = work.do(specs, stop)
    return Done(records, time.perf_counter() - began)


MATCHES: Work[MatchSpec, MatchRecord] = Work(play_matches, prepare_matches)


class Lost(Exception):
    """The worker that had a batch is gone; the batch is done again elsewhere."""


class BatchSizer:
    """Chooses how many specs make about a second of work, from what earlier batches took."""

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self.seconds_each = 0.0
        self.largest = 0

    def size(self, remaining: int) -> int:
        """Returns the next batch's size; small at first, and small again at the end so that no worker idles long."""
        if self.seconds_each == 0.0:
            return 1
        wanted = int(TARGET_SECONDS / self.seconds_each)
        fair = -(-remaining // (2 * self.workers))
        return max(1, min(wanted, fair, self.largest * GROWTH))

    def idle_size(self) -> int:
        """Returns how many specs keep a worker busy without keeping others waiting."""
        return max(1, int(IDLE_SECONDS / self.seconds_each)) if self.seconds_each else 1

    def observe(self, done: int, seconds: float) -> None:
        if not done:
            return
        latest = max(seconds, 1e-6) / done
        # Agents differ, so recent batches count most; a slow one at once, lest batches grow too long.
        self.seconds_each = max(latest, 0.5 * (self.seconds_each + latest))
        self.largest = max(self.largest, done)


class Source(Generic[S]):
    """What is to be done, first come first served."""

    def __init__(self, specs: Iterable[S] = ()) -> None:
        self.waiting = deque(specs)

    def idle_specs(self, count: int) -> list[S]:
        """Returns about so many specs for a worker that would idle while others end what is waited for."""
        return []


class Executor(ABC):
    """Does work on some workers, as many as there are at the time; use it as a context manager."""

    workers: int

    def __init__(self, workers: int) -> None:
        if workers < 1:
            raise UserError(f"there must be at least 1 worker, got {workers}.")
        self.workers = workers

    def __enter__(self) -> Executor:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @abstractmethod
    def submit(self, do: Batch, batch: list[Any]) -> Any:
        """Starts a batch and returns its ticket (hashable)."""

    @abstractmethod
    def wait(self, tickets: list[Any]) -> Iterable[tuple[Any, Done | Lost]]:
        """Waits until at least one ticket is done, or there are more workers; returns what is done."""

    @abstractmethod
    def close(self) -> None:
        """Stops the workers; batches in flight are dropped."""

    def play(self, specs: Iterable[MatchSpec]) -> Iterator[list[MatchRecord]]:
        """Plays matches and yields their records, see `run`.

        Where there are fewer matches than workers, those that would idle leave their cores to members of ensembles.
        """
        matches = list(specs)
        threads = self.workers // max(1, len(matches))
        do = functools.partial(play_matches, threads=threads) if threads > 1 else play_matches
        return self.run(MATCHES._replace(do=do), matches)

    def run(self, work: Work[S, R], specs: Iterable[S]) -> Iterator[list[R]]:
        """Does work and yields its records batch by batch, in order of completion, see `serve`."""
        source = Source(specs)
        work.prepare(source.waiting)
        return self.serve(work, source)

    def serve(self, work: Work[S, R], source: Source[S]) -> Iterator[list[R]]:
        """Does what a source has, which may get more whenever records were yielded, until it has nothing.

        A lost batch is done again, what was yielded never is. At most two batches a worker are in flight. Spare work is
        only begun where a worker would idle.
        """
        sizer = BatchSizer(self.workers)
        do = functools.partial(do_batch, work)
        flying: dict[Any, list[S]] = {}
        losses: Counter[S] = Counter()
        waiting = source.waiting
        while True:
            sizer.workers = max(1, self.workers)
            while waiting and len(flying) < 2 * sizer.workers:  # also where all are lost: others will come
                batch = [waiting.popleft() for _ in range(min(len(waiting), sizer.size(len(waiting))))]
                flying[self.submit(do, batch)] = batch
            while not waiting and 0 < len(flying) < self.workers:
                if not (batch := source.idle_specs(sizer.idle_size())):
                    break
                flying[self.submit(do, batch)] = batch
            if not flying:
                return
            for ticket, result in self.wait(list(flying)):
                batch = flying.pop(ticket)
                if isinstance(result, Lost):
                    losses.update(batch)
                    if losses[batch[0]] > MAX_LOSSES:
                        raise UserError(f"workers must survive their work, but {MAX_LOSSES} ended at {batch[0]}.")
                    waiting.extendleft(reversed(batch))
                    continue
                sizer.observe(len(result.records), result.seconds)
                yield result.records
