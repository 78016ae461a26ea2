"""Engines between matches: processes are reused, since a start takes longer than a short game."""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Hashable
from typing import Any, Generic, Protocol, TypeVar


class Running(Protocol):
    """An engine that speaks its protocol."""

    @property
    def alive(self) -> bool: ...

    def end(self) -> None: ...


MAX_IDLE = max(32, 4 * (os.cpu_count() or 1))  # in a pool; each process has its memory
K = TypeVar("K", bound=Hashable)
R = TypeVar("R", bound=Running)


class Pool(Generic[K, R]):
    """Idle engines by kind; threads share it."""

    def __init__(self) -> None:
        _pools.append(self)
        self._lock = threading.Lock()
        self._idle: list[tuple[K, R]] = []  # the latest last

    def take(self, kind: K) -> R | None:
        """Returns a living idle engine of a kind, if there is one."""
        while True:
            with self._lock:
                place = next((i for i in reversed(range(len(self._idle))) if self._idle[i][0] == kind), None)
                found = None if place is None else self._idle.pop(place)[1]
            if found is None or found.alive:
                return found
            found.end()

    def give_back(self, kind: K, engine: R) -> None:
        """Keeps an engine for the next match; if there are too many, ends the one idle longest."""
        with self._lock:
            self._idle.append((kind, engine))
            longest = self._idle.pop(0)[1] if len(self._idle) > MAX_IDLE else None
        if longest is not None:
            longest.end()

    def end_idle(self) -> None:
        """Ends all idle engines."""
        with self._lock:
            idle, self._idle = self._idle, []
        for _, engine in idle:
            engine.end()


_pools: list[Pool[Any, Any]] = []


def end_idle_programs() -> None:
    """Ends the idle engines of all pools; executors call it when they close."""
    for pool in _pools:
        pool.end_idle()


atexit.register(end_idle_programs)
