"""Shows that kernels are being compiled, and how many are left, if it takes long.

Meanwhile nothing looks for garbage, and a while after: among millions of objects in use that took a fifth of the time.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import sys
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from .garbage import collect_later

if TYPE_CHECKING:
    from rich.progress import Progress

    from ..terminal.console import Console

SHOWN_AFTER = 2.0  # seconds


@functools.cache
def error_console() -> Console:
    """Returns the console of all bars: rich stacks bars only on one console."""
    from ..terminal.console import Console

    return Console(stderr=True)


class _Compilation:
    """The kernels that this process is compiling, shown by a bar on a terminal, by one line elsewhere."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._blocks = 0  # running now
        self.told = False
        self._forget()

    def _forget(self) -> None:
        self._expected: list[Any] = []  # functions of kernels that will be needed
        self._known: set[Any] = set()  # functions whose kernels are counted
        self._total = self._done = 0
        self._timer: threading.Timer | None = None
        self._progress: Progress | None = None
        self._collects = False  # whether garbage was collected before

    def enter(self, functions: list[Any]) -> None:
        with self._lock:
            self._blocks += 1
            self._expected += functions

    def leave(self) -> None:
        with self._lock:
            self._blocks -= 1
            if not self._blocks:
                if self._timer:
                    self._timer.cancel()
                if self._progress:
                    self._progress.stop()
                if self._collects:
                    collect_later()
                    gc.enable()
                self._forget()

    def begin(self, function: Any) -> None:
        with self._lock:
            from .cache import cache_of, kernels_within  # which import numba

            for expected in (*self._expected, function):
                needed = [] if expected in self._known else kernels_within(expected)
                self._total += sum(one not in self._known and not cache_of(one).is_stored() for one in needed)
                self._known.update(needed)
            self._expected.clear()
            if self._timer is None:
                self._timer = threading.Timer(SHOWN_AFTER, self._show)
                self._timer.daemon = True
                self._timer.start()
                self._collects = gc.isenabled()
                gc.disable()
            self._update()

    def end(self) -> None:
        with self._lock:
            self._done += 1
            self._update()

    def _update(self) -> None:
        if self._progress:
            self._progress.update(self._progress.task_ids[0], total=self._total, completed=self._done)

    def _show(self) -> None:
        with self._lock:
            if not self._blocks or self._progress:
                return
            if not sys.stderr.isatty():
                if not self.told:
                    print("Compiling kernels, once on this machine ...", file=sys.stderr, flush=True)
                self.told = True
                return
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

            columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
            self._progress = Progress(*columns, console=error_console(), transient=True)
            self._progress.add_task("Compiling kernels, once on this machine")
            self._update()
            self._progress.start()


_COMPILATION = _Compilation()


def has_taken_long() -> bool:
    """Returns whether this process, without a terminal, has printed that compiling takes longer than SHOWN_AFTER."""
    return _COMPILATION.told


@contextlib.contextmanager
def compiled_together(*dispatchers: Any) -> Iterator[None]:
    """Shows one bar for all kernels compiled in the block; `dispatchers` are the kernels known in advance."""
    _COMPILATION.enter([getattr(dispatcher, "py_func", dispatcher) for dispatcher in dispatchers])
    try:
        yield
    finally:
        _COMPILATION.leave()


@contextlib.contextmanager
def compiled(function: Any) -> Iterator[None]:
    """Counts this function's kernel, which the block compiles."""
    with compiled_together():
        _COMPILATION.begin(function)
        try:
            yield
        finally:
            _COMPILATION.end()
