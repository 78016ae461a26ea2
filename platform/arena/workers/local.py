"""Executors in this process: the calling thread, or one thread per core."""

from __future__ import annotations

import concurrent.futures
import os
import threading
import weakref
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ...agents.engines.pool import end_idle_programs
from ..step_kernel import DECIDED, NUM_SIGNALS, OVER, STOP
from .executor import Done, Executor, Lost, Task
from .work_done import UnderWay

MOMENT = 2.0  # s, by which matches under way have made their next decision


class SerialExecutor(Executor):
    """Works in the calling thread."""

    more_may_join = False

    def __init__(self, workers: int | None = None) -> None:
        super().__init__(1)
        self._done: dict[int, Done] = {}

    def submit(self, do: Task, batch: Sequence[Any]) -> int:
        ticket = len(self._done)
        self._done[ticket] = do(batch)
        return ticket

    def wait(self, tickets: list[Any]) -> Iterable[tuple[Any, Done | Lost]]:
        done, self._done = self._done, {}
        return done.items()

    def close(self) -> None:
        self._done.clear()
        end_idle_programs()


class ThreadExecutor(Executor):
    """Works in threads of this process; compiled code runs without the GIL."""

    more_may_join = False

    def __init__(self, workers: int | None = None) -> None:
        super().__init__(os.cpu_count() or 1 if workers is None else workers)
        self._pool = concurrent.futures.ThreadPoolExecutor(self.workers, "turnier")
        self._owner = threading.current_thread()
        _OPEN.add(self)
        self._stops: dict[concurrent.futures.Future[Done], npt.NDArray[np.int64]] = {}  # [NUM_SIGNALS] for each batch

    def submit(self, do: Task, batch: Sequence[Any]) -> concurrent.futures.Future[Done]:
        stop = np.zeros(NUM_SIGNALS, np.int64)
        future = self._pool.submit(do, batch, stop)
        self._stops[future] = stop
        return future

    def wait(self, tickets: list[Any]) -> Iterable[tuple[Any, Done | Lost]]:
        done, _ = concurrent.futures.wait(tickets, return_when=concurrent.futures.FIRST_COMPLETED)
        for future in done:
            del self._stops[future]
        return [(future, future.result()) for future in done]

    def under_way(self) -> UnderWay:
        signals = list(self._stops.values())
        return UnderWay(*(sum(int(stop[place]) for stop in signals) for place in (DECIDED, OVER)))

    def withdraw(self, tickets: list[Any]) -> None:
        for future in tickets:
            self._stops[future][STOP] = 1  # matches check it before every decision

    def stop_soon(self) -> bool:
        """Makes `serve` end soon if it has matches that are over, and does so in the main thread; returns whether."""
        if not self.under_way().over or self._owner is not threading.main_thread():
            return False
        self.stopping = True
        self.withdraw(list(self._stops))
        return True

    def end_early(self, tickets: list[Any]) -> Iterable[Done]:
        self.withdraw(tickets)
        done, _ = concurrent.futures.wait(tickets, MOMENT)
        for future in done:
            self._stops.pop(future, None)
        return [future.result() for future in done if future.exception() is None]

    def close(self) -> None:
        _OPEN.discard(self)
        self.withdraw(list(self._stops))
        self._pool.shutdown(wait=True, cancel_futures=True)
        end_idle_programs()


_OPEN: weakref.WeakSet[ThreadExecutor] = weakref.WeakSet()


def stop_soon() -> bool:
    """Makes the work of this process end soon, with KeyboardInterrupt, if threads have matches that are over and not
    stored yet; returns whether.
    """
    return any([executor.stop_soon() for executor in _OPEN])
