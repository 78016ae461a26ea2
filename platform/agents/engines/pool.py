"""Engines between matches: a process is used again, since starting one takes longer than a short game."""

from __future__ import annotations

import atexit
import threading
from collections import defaultdict
from collections.abc import Hashable
from typing import Any, Generic, Protocol, TypeVar


class Running(Protocol):
    """An engine that speaks its protocol."""

    @property
    def alive(self) -> bool: ...

    def end(self) -> None: ...


K = TypeVar("K", bound=Hashable)
R = TypeVar("R", bound=Running)


class Pool(Generic[K, R]):
    """Idle engines by kind; threads share it."""

    def __init__(self) -> None:
        _pools.append(self)
        self._lock = threading.Lock()
        self._idle: dict[K, list[R]] = defaultdict(list)

    def take(self, kind: K) -> R | None:
        """Returns an idle engine of a kind that is alive, if there is one."""
        while True:
            with self._lock:
                found = self._idle[kind].pop() if self._idle[kind] else None
            if found is None or found.alive:
                return found
            found.end()

    def give_back(self, kind: K, engine: R) -> None:
        """Keeps an engine for the next match."""
        with self._lock:
            self._idle[kind].append(engine)

    def end_idle(self) -> None:
        """Ends all idle engines."""
        with self._lock:
            idle = [engine for engines in self._idle.values() for engine in engines]
            self._idle.clear()
        for engine in idle:
            engine.end()


_pools: list[Pool[Any, Any]] = []


def end_idle_programs() -> None:
    """Ends the idle engines of all pools; executors call it when they close."""
    for pool in _pools:
        pool.end_idle()


atexit.register(end_idle_programs)
