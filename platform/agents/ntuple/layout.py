"""Where the numbers of a network's entries lie in one table of float32 while they are learned."""

from __future__ import annotations

import mmap
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from turnier.core.errors import UserError

HUGE = 1 << 22  # bytes from which on a table gets huge pages: its look-ups would miss small ones' buffer all the time
PAGE = 1 << 21  # bytes of a huge page; where a table begins in the middle of one, its first part has small ones
LINE = 16  # float32 in a cache line
Floats32 = npt.NDArray[np.float32]


def new_table(size: int) -> Floats32:
    """Returns float32 zeros, [size], in huge pages where the system has them."""
    try:
        if 4 * size < HUGE or not hasattr(mmap, "MADV_HUGEPAGE"):
            return np.zeros(size, np.float32)
        # Anonymous private memory: shared memory, the default, gets no huge pages.
        length = (4 * size // PAGE + 2) * PAGE
        memory = mmap.mmap(-1, length, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    except (MemoryError, OSError, OverflowError, ValueError):
        raise UserError(
            f"the entries of a network must fit into memory, got {size:,}; choose fewer or shorter tuples, or fewer"
            " values."
        ) from None
    memory.madvise(mmap.MADV_HUGEPAGE)
    start = np.frombuffer(memory, np.uint8).ctypes.data
    return np.frombuffer(memory, np.float32, size, -start % PAGE)


@dataclass(frozen=True)
class Layout:
    """Only values or, for temporal coherence, with the sum of each one's changes and that of their absolute values.

    Large tables keep them together, in one cache line. Where values fit into the processor's caches, as those of most
    board games do, the sums lie apart behind all values: choosing a move reads only values.
    """

    entries: int
    coherent: bool = False
    together: bool = False
    room: int = 0  # entries behind the last one that may be read, as board_lookups.py does, and mean nothing

    @property
    def width(self) -> int:
        """Places from one value to the next."""
        return 4 if self.coherent and self.together else 1

    @property
    def sums(self) -> int:
        """Place of the first entry's sums, 0 = there are none."""
        if not self.coherent:
            return 0
        return 1 if self.together else -(-self.entries // LINE) * LINE

    @property
    def sums_shift(self) -> int:
        """The sums of the value at a place are at sums + (place << sums_shift)."""
        return int(not self.together)

    @property
    def size(self) -> int:
        if not self.coherent or self.together:
            return (self.entries + self.room) * self.width
        return self.sums + 2 * max(self.entries, self.room)

    def columns(self, table: Floats32) -> tuple[Floats32, ...]:
        """Returns views of the values and, if there, of both sums, [entries] each."""
        values = table[: self.entries * self.width : self.width]
        if not self.coherent:
            return (values,)
        step = self.width << self.sums_shift
        signed, absolute = (table[first::step][: self.entries] for first in (self.sums, self.sums + 1))
        return (values, signed, absolute)
