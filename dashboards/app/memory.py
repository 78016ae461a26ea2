"""Memory that big reads leave behind, given back to the machine: threads of a server would each keep some."""

from __future__ import annotations

import contextlib
import ctypes
import sys
from functools import cache
from typing import Any

# The pools of memory that threads share, and the size (bytes) from which memory is not taken from pools, but given back
# when it is no longer used. By default each thread may have a pool, and the size grows with what was given back.
_SETTINGS = {-8: 2, -3: 1 << 18}  # M_ARENA_MAX and M_MMAP_THRESHOLD of glibc's malloc.h


@cache
def _library() -> Any:
    """Returns glibc; None elsewhere."""
    with contextlib.suppress(OSError, AttributeError):
        library = ctypes.CDLL("libc.so.6")
        library.mallopt, library.malloc_trim  # noqa: B018
        return library
    return None


def keep_little() -> None:
    """Makes this process keep little memory that it does not use; to be called before threads begin."""
    for setting, value in _SETTINGS.items() if (library := _library()) else ():
        library.mallopt(setting, value)
    if arrow := sys.modules.get("pyarrow"):  # which pandas uses, if it is installed
        arrow.set_memory_pool(arrow.system_memory_pool())


def give_back() -> None:
    """Gives unused memory back."""
    if library := _library():
        library.malloc_trim(0)
