"""The layout of a network's entries in one table of float32 during learning."""

from __future__ import annotations

import mmap
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...core.errors import UserError
from ...core.kernel import kernel, types

HUGE = 1 << 22  # bytes from which a table gets huge pages: look-ups in small ones keep missing the page buffer
PAGE = 1 << 21  # bytes of a huge page; if a table begins inside one, its first part has small ones
LINE = 16  # float32 in a cache line
Floats32 = npt.NDArray[np.float32]
Places = types.Array(types.int64, 1, "C")


def new_table(size: int) -> Floats32:
    """Returns float32 zeros, [size], in huge pages if the system has them."""
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
    """Values alone or, for temporal coherence, with the sums of their changes and of the changes' absolute values.

    Large tables keep them together, in one cache line. If values fit into the processor's caches, as in most board
    games, the sums lie behind all values: choosing a move reads only values.

    Entries in quarters: a tuple's entries are ordered by the low two bits of all cells before the high two bits of any.
    Most moves change small tiles into small tiles, so the next reads are in the same 4^cells entries, a few pages of
    memory, wherever the large tiles are; in the order of numbers each may be in another page. Learning with 8x6 tuples
    is a quarter faster.
    """

    entries: int
    coherent: bool = False
    together: bool = False
    quarters: tuple[int, ...] = ()  # cells of each tuple, with values of four bits, if entries are in quarters
    room: int = 0  # meaningless entries behind the last one, which board_lookups.py may read

    @property
    def width(self) -> int:
        """Places from one value to the next."""
        return 4 if self.coherent and self.together else 1

    @property
    def sums(self) -> int:
        """Place of the first entry's sums, 0 = none."""
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

    def lengths(self) -> npt.NDArray[np.int64]:
        """Returns the cells of each tuple if entries are in quarters, otherwise none."""
        return np.array(self.quarters, np.int64)

    def places(self, entries: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Returns the places in `columns` of the entries with those numbers."""
        if not self.quarters:
            return entries
        places = np.empty_like(entries)
        places_in_quarters(entries, self.lengths(), places)
        return places

    def columns(self, table: Floats32) -> tuple[Floats32, ...]:
        """Returns views of the values and, if there are any, both sums, [entries] each, in the order of the table."""
        values = table[: self.entries * self.width : self.width]
        if not self.coherent:
            return (values,)
        step = self.width << self.sums_shift
        signed, absolute = (table[first::step][: self.entries] for first in (self.sums, self.sums + 1))
        return (values, signed, absolute)


@kernel(types.int64(types.int64, Places))
def place_in_quarters(entry, lengths):
    """Returns the place of the entry with that number; lengths: [tuples] cells of each, of four bits."""
    total = 0
    for t in range(lengths.size):
        total += 1 << 4 * lengths[t]
    number, length = entry % total, 0
    for t in range(lengths.size):
        length = lengths[t]
        if number < 1 << 4 * length:
            break
        number -= 1 << 4 * length
    place = 0
    for cell in range(length):
        value = number >> 4 * cell & 15
        place |= (value & 3) << 2 * cell | (value >> 2) << 2 * (length + cell)
    return entry - number + place


@kernel(types.void(Places, Places, Places))
def places_in_quarters(entries, lengths, places):
    """Fills in the places of entries, [n] each."""
    for i in range(entries.size):
        places[i] = place_in_quarters(entries[i], lengths)
