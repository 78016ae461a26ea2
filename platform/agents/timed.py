"""Searching by the clock: chunks of work until the time is up."""

from __future__ import annotations

import time
from collections.abc import Callable


def run_chunks(search: Callable[[int], bool], first: int, began: float, milliseconds: int) -> None:
    """Calls `search(units)` until it returns False, having nothing left to search, or the time is up; at least once.

    Args:
        search: does that many units of work, such as iterations or nodes, and returns whether to continue.
        first: units of the first chunk.
        began: when the decision began, by `time.perf_counter`.
        milliseconds: how long the decision may take.
    """
    end, now, units = began + milliseconds / 1000, began, first
    while search(units):
        seconds_per_unit = (time.perf_counter() - now) / units
        now = time.perf_counter()
        if now >= end:
            return
        # Chunks grow to a tenth of the budget, and never past its end.
        units = max(1, int(min(milliseconds / 10_000, end - now) / seconds_per_unit))
