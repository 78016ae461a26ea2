"""The base of all executors: batches of work on workers. `local` and `cluster` have executors, `make` chooses one.

All do batches of about a second through the same function: the choice of an executor never changes a move. Members of
ensembles search in pools, which have the same names.
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
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from ...core.errors import MAX_WORKERS, UserError, require_at_most
from ..match import MatchRecord, MatchSpec
from ..play import matches_in_step, play_batch, prepare_matches
from ..played import joined
from ..repeated_search import SearchRecord, SearchSpec, prepare_searches, search_positions
from ..schedules.spec_columns import SpecColumns, SpecQueue
from .batch_sizes import MAX_BATCH, BatchSizer
from .work_done import UnderWay, WorkTime

MAX_LOSSES = 10  # of the same work; then the work itself must be ending the workers

_NUMBERS = re.compile(r"[-+.\d]+(e[-+]?\d+)?")

S = TypeVar("S")
R = TypeVar("R")


def one_at_a_time(spec: Any) -> int:
    return 1


def itself(spec: Any) -> Any:
    return spec


def words_of(spec: MatchSpec | SearchSpec) -> str:
    """Returns the texts of a spec without numbers, since candidates of a search differ in these."""
    return _words(spec.names)


@functools.lru_cache(maxsize=1 << 12)
def _words(names: tuple[str, ...]) -> str:
    return _NUMBERS.sub("", " ".join(names))


class Work(NamedTuple, Generic[S, R]):
    """One kind of work; both functions belong to a module, because Ray ships them by name."""

    do: Callable[[Sequence[S], npt.NDArray[np.int64] | None], Sequence[R]]  # leaves out the rest once stop[0] is not 0
    prepare: Callable[[Sequence[S]], None]  # refuses bad specs and compiles, before any work
    in_step: Callable[[S], int] = one_at_a_time  # number of specs like this that a worker does side by side
    kind: Callable[[S], Hashable] = itself  # preparing one spec prepares all of its kind

    def one_of_each_kind(self, specs: Iterable[S]) -> list[S]:
        some: Iterable[Any] = specs.examples() if isinstance(specs, SpecColumns) else specs
        return list({self.kind(spec): spec for spec in some}.values())


class Done(NamedTuple):
    """A finished batch: the records of its specs in order, and the worker's time for all of them."""

    records: Sequence[Any]
    seconds: float


Task = Callable[..., Done]  # called by a worker: (specs) or (specs, stop)


@functools.cache
def spare_garbage_collector() -> None:
    """Makes garbage collection rarer, and exempts everything loaded so far: kernels and libraries.

    Played matches are many small objects without cycles; searching all of them for cycles would take longer than making
    them.
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


MATCHES: Work[MatchSpec, MatchRecord] = Work(play_batch, prepare_matches, matches_in_step, words_of)
SEARCHES: Work[SearchSpec, SearchRecord] = Work(search_positions, prepare_searches, kind=words_of)


class Lost(Exception):
    """The worker that had a batch is gone; another worker repeats the batch."""


class Source(Generic[S]):
    """The specs to be done, in order.

    Args:
        specs: the first to be `waiting`.
        later: further specs, requested a batch at a time: it may yield any number, or look some up.
        expected: the maximum number of further specs.
    """

    def __init__(self, specs: Iterable[S] = (), later: Iterable[S] = (), expected: int = 0) -> None:
        self.waiting = deque(specs)
        self._later, self._expected = iter(later), expected

    @property
    def left(self) -> int:
        """An upper bound of the number of specs left."""
        return len(self.waiting) + self._expected

    def fill(self, count: int) -> None:
        """Makes `count` specs wait, if there are so many."""
        more = list(itertools.islice(self._later, max(0, count - len(self.waiting))))
        self.waiting.extend(more)
        self._expected = max(0, self._expected - len(more)) if len(self.waiting) >= count else 0

    def next_batch(self, count: int) -> Sequence[S]:
        """Removes and returns the next `count` waiting specs, or all."""
        return [self.waiting.popleft() for _ in range(min(len(self.waiting), count))]

    def put_back(self, batch: Sequence[S]) -> None:
        """Makes the specs of a lost batch wait again, first."""
        self.waiting.extendleft(reversed(batch))

    def idle_specs(self, count: int) -> list[S]:
        """Returns about `count` further specs, or fewer, for a worker that would idle while others finish.

        Nobody waits for these: they are withdrawn as soon as there is other work, and are not repeated.
        """
        return []


class ColumnSource(Source[MatchSpec]):
    """Specs of matches that come, and go to workers, as columns; see Source."""

    def __init__(self, later: Iterable[SpecColumns], expected: int) -> None:
        super().__init__(expected=expected)
        self.waiting: Any = SpecQueue()
        self._columns = iter(later)

    def fill(self, count: int) -> None:
        while len(self.waiting) < count and (more := next(self._columns, None)) is not None:
            self.waiting.extend(more)
            self._expected = max(0, self._expected - len(more))
        if len(self.waiting) < count:
            self._expected = 0

    def next_batch(self, count: int) -> SpecColumns:
        return self.waiting.take(count)  # type: ignore[no-any-return]

    def put_back(self, batch: Sequence[MatchSpec]) -> None:
        self.waiting.put_back(batch)


def together(batches: Iterable[Sequence[R]]) -> Iterator[Sequence[R]]:
    """Yields the records of batches in as few parts as possible, none longer than MAX_BATCH unless one batch is."""
    some: list[Sequence[R]] = []
    for records in batches:
        if some and sum(map(len, some)) + len(records) > MAX_BATCH:
            yield joined(some)
            some = []
        some.append(records)
    if some:
        yield joined(some)


class Executor(ABC):
    """Does work on its workers, whose number may change; a context manager."""

    workers: int
    more_may_join: ClassVar[bool] = True  # workers, while others work

    def __init__(self, workers: int) -> None:
        if workers < 1:
            raise UserError(f"there must be at least 1 worker, got {workers}; choose more.")
        require_at_most(MAX_WORKERS, workers, "workers")
        self.workers = workers
        self.time = WorkTime()  # of all workers so far
        self.stopping = False  # `serve` ends with KeyboardInterrupt as soon as what is finished has been yielded

    def __enter__(self) -> Executor:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @abstractmethod
    def submit(self, do: Task, batch: Sequence[Any]) -> Any:
        """Starts a batch and returns its ticket (hashable)."""

    @abstractmethod
    def wait(self, tickets: list[Any]) -> Iterable[tuple[Any, Done | Lost]]:
        """Waits until at least one ticket is done, or workers have joined; returns the finished ones."""

    def idle_workers(self, flying: int) -> int:
        """Returns the number of idle workers while some batches are in flight."""
        return max(0, self.workers - flying)

    def waits(self) -> bool:
        """Returns whether all work waits for a first worker."""
        return False

    def under_way(self) -> UnderWay:
        """Returns what is known of the batches in flight; any thread may ask."""
        return UnderWay()

    def next_speed(self) -> float:
        """Returns the speed of the worker that gets the next batch, relative to the mean of all."""
        return 1.0

    def withdraw(self, tickets: list[Any]) -> None:
        """Ends batches early if possible; `wait` still returns them, with their records so far."""
        return

    def end_early(self, tickets: list[Any]) -> Iterable[Done]:
        """Ends batches before the executor is closed; returns those that end within a moment, with their records."""
        return []

    def clock(self) -> float:
        """Returns the time in seconds, for `time`."""
        return time.monotonic()

    @abstractmethod
    def close(self) -> None:
        """Stops the workers; batches in flight are dropped."""

    def play(self, specs: Iterable[MatchSpec]) -> Iterator[Sequence[MatchRecord]]:
        """Plays matches and yields their records, see `run`.

        With fewer matches than workers, the members of ensembles use the cores of the workers that would idle.
        """
        matches = list(specs)
        threads = self.workers // max(1, len(matches))
        do = functools.partial(play_batch, threads=threads) if threads > 1 else play_batch
        return self.run(MATCHES._replace(do=do), matches)

    def play_later(self, specs: Iterable[SpecColumns], expected: int) -> Iterator[Sequence[MatchRecord]]:
        """Plays matches like `play`, but requests them a batch at a time: any number takes little memory.

        Args:
            specs: matches whose agents have been prepared.
            expected: their maximum number.
        """
        source = ColumnSource(specs, expected)
        source.fill(self.workers)
        if len(source.waiting) < self.workers:
            yield from self.play(source.waiting)
        else:
            yield from self.serve(MATCHES, source)

    def run(self, work: Work[S, R], specs: Iterable[S]) -> Iterator[Sequence[R]]:
        """Does work and yields its records batch by batch, in order of completion, see `serve`."""
        source = Source(specs)
        work.prepare(source.waiting)
        return self.serve(work, source)

    def serve(self, work: Work[S, R], source: Source[S]) -> Iterator[Sequence[R]]:
        """Does the work of a source until none is left; the source may get more after every yield.

        Lost batches are repeated, yielded ones never are. Batches that are ready together are yielded together, and
        stored in one commit: the busier the driver, the larger its commits, and no game waits for others. At most two
        batches per worker are in flight. Idle work begins only when a worker would otherwise idle, and is withdrawn
        when there is other work or none. KeyboardInterrupt ends batches early: what they have finished comes first.
        """
        spare_garbage_collector()
        service, before = _Service(self, work, source), self.clock()
        while True:
            service.begin()
            if not service.flying:
                return
            workers = self.workers
            try:
                done = service.collect()
            except KeyboardInterrupt:  # as in a notebook; commands call `stop_soon`
                yield from together(service.finished())
                raise
            before, since = self.clock(), before
            self.time = self.time.plus(workers * (before - since))
            # Before storing the records and planning more work, which take a while.
            service.spend_idle_time()
            yield from together(done)
            if self.stopping:
                yield from together(service.finished())
                raise KeyboardInterrupt
            service.require_survivors()


class _Service(Generic[S, R]):
    """The batches in flight of one call of `Executor.serve`."""

    def __init__(self, executor: Executor, work: Work[S, R], source: Source[S]) -> None:
        self.executor, self.work, self.source = executor, work, source
        self.sizer = BatchSizer(executor.workers, executor.more_may_join)
        self.do = functools.partial(do_batch, work)
        self.flying: dict[Any, Sequence[S]] = {}
        self.idle: set[Any] = set()  # tickets of idle work
        self.withdrawn: set[Any] = set()  # tickets of idle work that ends early
        self.losses: Counter[S] = Counter()
        self.lost: list[S] = []  # the first specs of recently lost batches

    @property
    def asked_for(self) -> int:
        """The number of batches in flight that are not idle work."""
        return len(self.flying) - len(self.idle) - len(self.withdrawn)

    def begin(self) -> None:
        """Begins waiting work, as far as there are workers."""
        waiting = self.source.waiting
        workers = self.sizer.workers = max(1, self.executor.workers)
        while self.asked_for < 2 * workers:  # even without any worker: new ones will join
            self.source.fill(1)
            if not waiting:
                break
            size = self.sizer.size(self.source.left, self.work.in_step(waiting[0]))
            if self.asked_for >= workers and self.sizer.is_long(size):
                break
            self._withdraw_idle_work()
            size = max(1, min(round(size * self.executor.next_speed()), MAX_BATCH))
            self.source.fill(size)
            self._submit(self.source.next_batch(size))
        if not self.asked_for:
            self._withdraw_idle_work()
        self.spend_idle_time()

    def spend_idle_time(self) -> None:
        """Begins idle work on idle workers, while others work and nothing is waiting."""
        executor = self.executor
        while not self.source.waiting and self.asked_for and executor.idle_workers(len(self.flying)) > 0:
            if not (batch := self.source.idle_specs(self.sizer.idle_size())):
                return
            self.idle.add(self._submit(batch))

    def _submit(self, batch: Sequence[S]) -> Any:
        ticket = self.executor.submit(self.do, batch)
        self.flying[ticket] = batch
        return ticket

    def _withdraw_idle_work(self) -> None:
        if self.idle:
            self.executor.withdraw(list(self.idle))
            self.withdrawn |= self.idle
            self.idle.clear()

    def collect(self) -> list[Sequence[R]]:
        """Waits until batches are done and returns their records; lost ones wait again."""
        executor, done = self.executor, []
        for ticket, result in executor.wait(list(self.flying)):
            batch, withdrawn = self.flying.pop(ticket), ticket in self.withdrawn
            idle = withdrawn or ticket in self.idle
            self.idle.discard(ticket)
            self.withdrawn.discard(ticket)
            if isinstance(result, Done):
                executor.time = executor.time.plus(**{"idle" if idle else "useful": result.seconds})
                if not withdrawn:  # such a batch has spent time on missing records
                    self.sizer.observe(len(result.records), result.seconds)
                done += [result.records] * bool(result.records)
            elif not idle:
                self.losses.update(batch)
                self.lost.append(batch[0])
                self.source.put_back(batch)
        return done

    def finished(self) -> list[Sequence[R]]:
        """Ends all batches early, as far as the executor can, and returns the records of what they have finished."""
        return [done.records for done in self.executor.end_early(list(self.flying)) if done.records]

    def require_survivors(self) -> None:
        """Raises UserError if the same work was lost too often."""
        for spec in self.lost:
            if self.losses[spec] > MAX_LOSSES:
                raise UserError(f"workers must survive their work, but {MAX_LOSSES} ended at {spec}.")
        self.lost.clear()
