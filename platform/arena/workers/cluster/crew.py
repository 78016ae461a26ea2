"""The workers of a driver, with their speeds; finding the least busy one takes constant time."""

from __future__ import annotations

import concurrent.futures
import math
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from .worker import ask

NEWEST = 0.15  # weight of a worker's newest batch; small, since games differ
SPEEDS = 0.2, 5.0  # the slowest and the fastest believable
LEAST_BATCHES = 20  # for the mean; more with more workers


@dataclass(eq=False, repr=False)
class Piece:
    """A piece of work of `count` games or searches, until its result is fetched."""

    do: Callable[[Any], Any]
    argument: Any
    count: int
    worker: Worker | None = None
    future: concurrent.futures.Future[Any] | None = None

    def when_done(self, call: Callable[[Piece], object]) -> None:
        """Calls a function with the piece, on another thread, when it is done."""
        if self.future:
            self.future.add_done_callback(lambda _: call(self))

    def send_aside(self, do: Callable[[Any], Any], argument: Any) -> None:
        """Makes the actor of the piece call a function beside its work."""
        if self.worker and self.future and not self.future.done():
            ask(self.worker.actor.aside, do, argument)


@dataclass(eq=False, repr=False)
class Worker:
    """An actor and what is known about it."""

    actor: Any
    node: str = ""
    ping: concurrent.futures.Future[Any] | None = None  # unanswered
    last_answer: float = field(default_factory=time.monotonic)
    pieces: dict[Piece, None] = field(default_factory=dict)  # unfinished, in order of sending
    log_speed: float = 0.0

    @property
    def speed(self) -> float:
        """Its speed relative to the mean of all."""
        return min(max(math.exp(self.log_speed), SPEEDS[0]), SPEEDS[1])


class Crew:
    """The workers that can get work."""

    def __init__(self) -> None:
        self._by_load: list[OrderedDict[Worker, None]] = [OrderedDict()]  # by number of pieces, in order of arrival
        self._count = 0
        self._log_each: float | None = None  # seconds of a game or search: the geometric mean of the latest batches

    def __len__(self) -> int:
        return self._count

    def __contains__(self, worker: Worker) -> bool:
        load = len(worker.pieces)
        return load < len(self._by_load) and worker in self._by_load[load]

    def __iter__(self) -> Iterator[Worker]:
        """Yields all workers, the least busy first."""
        return (worker for same in self._by_load for worker in same)

    @property
    def idle(self) -> int:
        """The number of workers that have no work."""
        return len(self._by_load[0])

    def least_busy(self) -> Worker:
        """Returns the worker that gets the next work; there must be one."""
        return next(iter(self))

    def add(self, worker: Worker) -> None:
        self._put(worker)
        self._count += 1

    def remove(self, worker: Worker) -> None:
        del self._by_load[len(worker.pieces)][worker]
        self._count -= 1

    def clear(self) -> None:
        self._by_load, self._count = [OrderedDict()], 0

    def give(self, worker: Worker, piece: Piece) -> None:
        """Notes that a worker has received a piece of work."""
        del self._by_load[len(worker.pieces)][worker]
        if not worker.pieces:
            worker.last_answer = time.monotonic()  # silence counts from now
        worker.pieces[piece] = None
        self._put(worker)

    def take(self, worker: Worker, piece: Piece) -> None:
        """Notes that a worker, which may have left the crew, no longer has this piece of work."""
        is_ours = worker in self
        if is_ours:
            del self._by_load[len(worker.pieces)][worker]
        worker.pieces.pop(piece, None)
        if is_ours:
            self._put(worker)

    def _put(self, worker: Worker) -> None:
        load = len(worker.pieces)
        while len(self._by_load) <= load:
            self._by_load.append(OrderedDict())
        self._by_load[load][worker] = None

    def observe(self, worker: Worker, units: int, seconds: float) -> None:
        """Updates a worker's relative speed by a batch of `units` games or searches."""
        if not units or seconds <= 0.0:
            return
        log_each = math.log(seconds / units)
        if self._log_each is None:
            self._log_each = log_each
        self._log_each += (log_each - self._log_each) / max(LEAST_BATCHES, self._count)
        worker.log_speed += NEWEST * (self._log_each - log_each - worker.log_speed)
