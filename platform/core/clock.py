"""The time inside kernels, by which searches stop when it is up."""

from __future__ import annotations

import ctypes
import time

from .compilation.late_numba import JIT, external_function, types
from .kernel import kernel

if JIT:
    _clock_gettime = external_function("clock_gettime", types.int32(types.int32, types.intp))
else:
    _libc = ctypes.CDLL(None)

    def _clock_gettime(clock: int, address: int) -> None:
        _libc.clock_gettime(clock, ctypes.c_void_p(address))


_MONOTONIC = time.CLOCK_MONOTONIC
TIME_OF_DAY = types.Array(types.int64, 1, "C")  # [2], scratch space of a clock


@kernel(types.int64(TIME_OF_DAY))
def nanoseconds(time_of_day):
    """Returns the time of `time.monotonic_ns`, a clock that is never set; needs two words of scratch space."""
    time_of_day[0] = time_of_day[1] = 0
    _clock_gettime(_MONOTONIC, time_of_day.ctypes.data)
    return time_of_day[0] * 1_000_000_000 + time_of_day[1]


@kernel(types.boolean(types.int64, TIME_OF_DAY))
def time_is_up(ends, time_of_day):
    """Whether a time in nanoseconds has come; 0 never comes."""
    return ends > 0 and nanoseconds(time_of_day) >= ends
