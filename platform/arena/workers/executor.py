"""What all executors share: batches of work on some workers. `local` and `cluster` have them, `make` chooses one.

All do batches of about a second through the same function, so that the choice of an executor never changes a move.
Members of ensembles search in pools, which have the same names.
"""

from __future__ import annotations

import functools
import gc
import itertools
import re
import time
from abc import ABC, abstractmethod
from collections import Counter, deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from turnier.arena.match import MatchRecord, MatchSpec
from turnier.arena.play import matches_in_step, play_matches, prepare_matches
from turnier.arena.repeated_search import SearchRecord, SearchSpec, prepare_searches, search_positions
from turnier.core.errors import MAX_WORKERS, UserError, require_at_most

TARGET_SECONDS = 1.0  # of work in a batch
LEAST_SECONDS = 0.05  # of work in a batch, where each worker still gets one: less costs more to send than to do
WHOLE_SECONDS = 0.005  # of work that is one batch: to store a batch takes that long by itself
IDLE_SECONDS = 0.1  # of work in a batch for a worker that would idle: the next generation waits for it
MAX_BATCH = 5000  # specs; more take memory and save no time
GROWTH = 8  # a batch is at most this many times larger than the largest before it
MAX_LOSSES = 10  # of the same work; after that the work itself must be ending the workers

_NUMBERS = re.compile(r"[-+.\d]+(e[-+]?\d+)?")

S = TypeVar("S")
R = TypeVar("R")


def one_at_a_time(spec: Any) -> int:
    return 1


def itself(spec: Any) -> Any:
    return spec


def words_of(spec: MatchSpec | SearchSpec) -> str:
    """Returns the texts of a spec without their numbers, in which candidates of a search differ."""
    return _words(spec.names)


@functools.lru_cache(maxsize=1 << 12)
def _words(names: tuple[str, ...]) -> str:
    return _NUMBERS.sub("", " ".join(names))


class Work(NamedTuple, Generic[S, R]):
    """One kind of work; both functions belong to a module, because Ray ships them by name."""

    do: Callable[[Sequence[S], npt.NDArray[np.int64] | None], list[R]]  # leaves out the rest once stop[0] is not 0
    prepare: Callable[[Sequence[S]], None]  # refuses bad specs and compiles, before any work
    in_step: Callable[[S], int] = one_at_a_time  # how many like this a worker does side by side
    kind: Callable[[S], Hashable] = itself  # what is prepared for one spec is so for all of its kind

    def one_of_each_kind(self, specs: Iterable[S]) -> list[S]:
        return list({self.kind(spec): spec for spec in specs}.values())


class Done(NamedTuple):
    """A finished batch: the records of its specs in order, and the worker's time for all of them."""

    records: list[Any]
    seconds: float


Task = Callable[..., Done]  # what a worker calls: (specs) or (specs, stop)


@functools.cache
def spare_garbage_collector() -> None:
    """Makes Python look for garbage less often, and never again among what is loaded by now: kernels and libraries.

    Played matches are many small objects; looking through everything for cycles, of which they have none, would take
    longer than making them.
    """
    gc.freeze()
    gc.set_threshold(100_000, 50, 100)


def do_batch(work: Work[Any, Any], specs: Sequence[Any], stop: npt.NDArray[np.int64] | None = None) -> Done:
    """Does a batch; a new process loads its kernels before the clock starts."""
    work.prepare(work.one_of_each_kind(specs))
    spare_garbage_collector()
    began = time.perf_counter()
    records = work.do(specs, stop)
    return Done(records, time.perf_counter() - began)


MATCHES: Work[MatchSpec, MatchRecord] = Work(play_matches, prepare_matches, matches_in_step, words_of)
SEARCHES: Work[SearchSpec, SearchRecord] = Work(search_positions, prepare_searches, kind=words_of)


class Lost(Exception):
    """The worker that had a batch is gone; another worker repeats the batch."""


class BatchSizer:
    """Chooses the number of specs for about one second of work, from the times of earlier batches."""

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self.seconds_each = 0.0
        self.largest = 0

    def size(self, remaining: int) -> int:
        """Returns the next batch's size: small at first, and small again at the end so that no worker idles long."""
        if self.seconds_each == 0.0:
            return 1
        target = int(TARGET_SECONDS / self.seconds_each)
        fair, half = -(-remaining // self.workers), -(-remaining // (2 * self.workers))
        least = min(max(fair, int(WHOLE_SECONDS / self.seconds_each)), int(LEAST_SECONDS / self.seconds_each))
        return max(1, min(target, max(half, least), self.largest * GROWTH, MAX_BATCH, remaining))

    def idle_size(self) -> int:
        """Returns the number of specs that keep an idle worker busy without making others wait."""
        return max(1, int(IDLE_SECONDS / self.seconds_each)) if self.seconds_each else 1

    def observe(self, done: int, seconds: float) -> None:
        if not done:
            return
        latest = max(seconds, 1e-6) / done
        # Agents differ, so recent batches count most; slow ones count fully, otherwise batches would grow too long.
        self.seconds_each = max(latest, 0.5 * (self.seconds_each + latest))
        self.largest = max(self.largest, done)


class Source(Generic[S]):
    """The specs to be done, in order.

    Args:
        specs: what is `waiting`.
        later: comes after it and is asked for a batch at a time, so it may yield any number of specs, or look some up.
        expected: the maximum number of those.
    """

    def __init__(self, specs: Iterable[S] = (), later: Iterable[S] = (), expected: int = 0) -> None:
        self.waiting = deque(specs)
        self._later, self._expected = iter(later), expected

    @property
    def left(self) -> int:
        """The number of specs to be done, or more."""
        return len(self.waiting) + self._expected

    def fill(self, count: int) -> None:
        """Lets `count` specs wait, if there are as many."""
        more = list(itertools.islice(self._later, max(0, count - len(self.waiting))))
        self.waiting.extend(more)
        self._expected = max(0, self._expected - len(more)) if len(self.waiting) >= count else 0

    def idle_specs(self, count: int) -> list[S]:
        """Returns about `count` further specs for a worker that would idle while others finish."""
        return []


def together(batches: Iterable[list[R]]) -> Iterator[list[R]]:
    """Yields the records of batches in as few lists as possible, none longer than MAX_BATCH unless one batch is."""
    some: list[R] = []
    for records in batches:
        if some and len(some) + len(records) > MAX_BATCH:
            yield some
            some = []
        some += records
    if some:
        yield some


class Executor(ABC):
    """Does work on its workers, whose number may change; a context manager."""

    workers: int

    def __init__(self, workers: int) -> None:
        if workers < 1:
            raise UserError(f"there must be at least 1 worker, got {workers}; choose more.")
        require_at_most(MAX_WORKERS, workers, "workers")
        self.workers = workers

    def __enter__(self) -> Executor:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @abstractmethod
    def submit(self, do: Task, batch: list[Any]) -> Any:
        """Starts a batch and returns its ticket (hashable)."""

    @abstractmethod
    def wait(self, tickets: list[Any]) -> Iterable[tuple[Any, Done | Lost]]:
        """Waits until at least one ticket is done, or workers have joined; returns the finished ones."""

    def idle_workers(self, flying: int) -> int:
        """Returns how many workers have nothing to do while some batches are in flight."""
        return max(0, self.workers - flying)

    @abstractmethod
    def close(self) -> None:
        """Stops the workers; batches in flight are dropped."""

    def play(self, specs: Iterable[MatchSpec]) -> Iterator[list[MatchRecord]]:
        """Plays matches and yields their records, see `run`.

        With fewer matches than workers, the members of ensembles use the cores of the workers that would idle.
        """
        matches = list(specs)
        threads = self.workers // max(1, len(matches))
        do = functools.partial(play_matches, threads=threads) if threads > 1 else play_matches
        return self.run(MATCHES._replace(do=do), matches)

    def play_later(self, specs: Iterable[MatchSpec], expected: int) -> Iterator[list[MatchRecord]]:
        """Plays matches as `play` does, but asks for them a batch at a time: any number takes little memory.

        Args:
            specs: matches whose agents have been prepared.
            expected: their maximum number.
        """
        rest = iter(specs)
        first = list(itertools.islice(rest, self.workers))
        if len(first) < self.workers:
            yield from self.play(first)
        else:
            yield from self.serve(MATCHES, Source(first, rest, expected - len(first)))

    def run(self, work: Work[S, R], specs: Iterable[S]) -> Iterator[list[R]]:
        """Does work and yields its records batch by batch, in order of completion, see `serve`."""
        source = Source(specs)
        work.prepare(source.waiting)
        return self.serve(work, source)

    def serve(self, work: Work[S, R], source: Source[S]) -> Iterator[list[R]]:
        """Does the work of a source until it has none left; it may get more whenever records have been yielded.

        Lost batches are repeated, yielded ones never are. Batches that are ready at once are yielded together, so that
        one commit stores them: the busier the driver, the larger its commits, and no game waits for others. At most two
        batches per worker are in flight. Idle work is begun only when a worker would otherwise idle.
        """
        spare_garbage_collector()
        sizer = BatchSizer(self.workers)
        do = functools.partial(do_batch, work)
        flying: dict[Any, list[S]] = {}
        losses: Counter[S] = Counter()
        waiting = source.waiting
        while True:
            sizer.workers = max(1, self.workers)
            while len(flying) < 2 * sizer.workers:  # also without any worker: new ones will join
                source.fill(1)
                size, in_step = sizer.size(source.left), work.in_step(waiting[0]) if waiting else 1
                if size < in_step:  # so few take long: none waits for a worker that is busy
                    if len(flying) >= sizer.workers:
                        break
                    size = max(size, min(in_step, -(-source.left // (sizer.workers - len(flying)))))
                source.fill(size)
                if not waiting:
                    break
                batch = [waiting.popleft() for _ in range(min(len(waiting), size))]
                flying[self.submit(do, batch)] = batch
            self._spend_idle_time(source, sizer, do, flying)
            if not flying:
                return
            done, lost = [], []
            for ticket, result in self.wait(list(flying)):
                batch = flying.pop(ticket)
                if isinstance(result, Lost):
                    losses.update(batch)
                    lost.append(batch[0])
                    waiting.extendleft(reversed(batch))
                    continue
                sizer.observe(len(result.records), result.seconds)
                done.append(result.records)
            # Before the records are stored and more work is planned, which takes a while.
            self._spend_idle_time(source, sizer, do, flying)
            yield from together(done)
            for spec in lost:
                if losses[spec] > MAX_LOSSES:
                    raise UserError(f"workers must survive their work, but {MAX_LOSSES} ended at {spec}.")

    def _spend_idle_time(self, source: Source[S], sizer: BatchSizer, do: Task, flying: dict[Any, list[S]]) -> None:
        """Begins idle work on workers that have none, while others are at work and no more is waiting."""
        while not source.waiting and flying and self.idle_workers(len(flying)) > 0:
            if not (batch := source.idle_specs(sizer.idle_size())):
                return
            flying[self.submit(do, batch)] = batch
