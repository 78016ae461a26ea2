"""Memory that big reads leave behind, given back to the machine: threads of a server would each keep some."""

from __future__ import annotations

import contextlib
import ctypes
from functools import cache
from typing import Any

_ARENA_MAX = -8  # M_ARENA_MAX of glibc's malloc.h
ARENAS = 2  # pools of memory that threads share; by default, each thread may have its own


@cache
def _library() -> Any:
    """Returns glibc; None elsewhere."""
    with contextlib.suppress(OSError, AttributeError):
        library = ctypes.CDLL("libc.so.6")
        library.mallopt, library.malloc_trim  # noqa: B018
        return library
    return None


def share_arenas() -> None:
    """Lets all threads share a few pools of memory; to be called before threads begin."""
    if library := _library():
        library.mallopt(_ARENA_MAX, ARENAS)


def give_back() -> None:
    """Gives unused memory back."""
    if library := _library():
        library.malloc_trim(0)
