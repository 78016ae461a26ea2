"""Searching by the clock: chunks of work until the time is up."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator

LONGEST_CHUNK = 0.1  # seconds; a search told to stop early does so after its chunk
_interrupts = threading.local()


@contextlib.contextmanager
def interrupted_by(stop: threading.Event | None) -> Iterator[None]:
    """Ends searches by the clock by this thread inside the block soon after the event is set.

    Blocks nest: the event of any of them ends a search.
    """
    before: tuple[threading.Event | None, ...] = getattr(_interrupts, "stops", ())
    _interrupts.stops = (*before, stop)
    try:
        yield
    finally:
        _interrupts.stops = before


def _interrupted() -> bool:
    return any(stop is not None and stop.is_set() for stop in getattr(_interrupts, "stops", ()))


def run_chunks(search: Callable[[int], bool], first: int, began: float, milliseconds: int) -> None:
    """Calls `search(units)`, at least once, until it returns False (nothing left to search) or the time is up.

    Args:
        search: does that many units of work, such as iterations or nodes, and returns whether to continue.
        first: units of the first chunk.
        began: when the decision began, by `time.perf_counter`.
        milliseconds: the time for the decision.
    """
    end, now, units = began + milliseconds / 1000, began, first
    while search(units):
        seconds_per_unit = (time.perf_counter() - now) / units
        now = time.perf_counter()
        if now >= end or _interrupted():
            return
        # Chunks grow to a tenth of the budget, never past its end.
        units = max(1, int(min(milliseconds / 10_000, LONGEST_CHUNK, end - now) / seconds_per_unit))
