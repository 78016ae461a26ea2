"""N-tuple networks in compiled code: a header of 64-bit words, and tables of float32.

A network is a sum of table entries over tuples of cells, for the board and all its symmetric images. An evaluator keeps
header and tables in one array (its `weights`); training keeps the tables apart. Places in a table are those of values;
see layout.py for the sums of temporal coherence.
"""

from __future__ import annotations

import numpy as np

from ...core.atomics import prefetch
from ...core.kernel import kernel, types
from ...games.abi import Actions
from ..evaluator import OWN

Header = types.Array(types.int64, 1, "C")  # the header, see below
EntryTable = types.Array(types.float32, 1, "C")  # all entries
Index = types.Array(types.uint64, 1, "C")  # places in a table
_F32, _U64 = types.float32, types.uint64

# Header words. A table has PHASES x OUTPUTS blocks of ENTRIES entries; a phase is stage * seats + the seat to move.
# The first value is float32 number ORIGIN, the next one WIDTH further. With temporal coherence a value's sums are at
# SUMS + (place << SUMS_SHIFT).
TUPLES, SYMMETRIES, LENGTH, VALUES, WIDTH, PHASES, OUTPUTS, ENTRIES, ORIGIN, LOOK_AHEAD, PACKED = (
    OWN + i for i in range(11)
)
NUM_CELLS, TOUCHES = OWN + 11, OWN + 12
AT_END = OWN + 13  # whether values are of the whole return, as learned by target method 1, not of the rest
SUMS, SUMS_SHIFT = OWN + 14, OWN + 15  # SUMS is 0 without temporal coherence
SPOTS, PARTS = OWN + 16, OWN + 17  # first words for sweeps, see board_lookups.py
STAGES, STAGE = OWN + 18, OWN + 19  # number of cell values that begin a stage, and the word of the first
BOUND = OWN + 20  # bits of the float64 bound within which tanh squeezes values; 0 = values are plain sums
# Then per tuple its first entry, and the mask of its cells on a packed 2048 board in quarters (see layout.py), its
# cells' factors [tuples, length], and its cells on every symmetric image [tuples, symmetries, length]; shorter tuples
# are filled up with factor 0. From word TOUCHES on: the begins of the look-ups with cell 0, 1, ... [cells + 1], and
# these look-ups, each as its number in [tuples, symmetries] and the step to its entry if the cell's value rises by 1.
BASES = 23

_U = np.uint64
_0, _1 = _U(0), _U(1)
_NOTHING = np.float64(0.0)
_TINY = np.float32(1e-37)  # makes 0 / 0 a 1 without a branch, and rounds away otherwise


@kernel(_F32(Header, _F32))
def squeezed(words, total):
    """Returns the value of a sum of entries: it lies within the bound. Only for headers that have one."""
    bound = words.view(np.float64)[BOUND]
    return np.float32(bound * np.tanh(total / bound))


@kernel(_F32(Header, _F32))
def slope_of(words, value):
    """Returns by how much a squeezed value grows with its sum, from 0 to 1. Only for headers with a bound."""
    share = value / words.view(np.float64)[BOUND]
    return np.float32(1.0 - share * share)


@kernel(types.int64(Header, Actions))
def stage_of(words, cells):
    """Returns the number of stages begun, by the largest cell; cells: [num_cells or more]."""
    highest, stage = 0, 0
    for cell in range(words[NUM_CELLS] if words[STAGES] > 0 else 0):
        highest = max(highest, cells[cell])
    for i in range(words[STAGES]):
        if highest >= words[words[STAGE] + i]:
            stage += 1
    return stage


@kernel(types.void(Header, Actions, types.int64, Index, types.int64))
def find_entries(words, cells, block, index, first):
    """Writes the places of a board's entries into `index` from `first` on, [tuples, symmetries]."""
    tuples, length, highest = words[TUPLES], words[LENGTH], words[VALUES] - 1
    factors = BASES + 2 * tuples
    places = factors + tuples * length
    origin = words[ORIGIN] + block * words[ENTRIES] * words[WIDTH]
    at = first
    for t in range(tuples):
        for _ in range(words[SYMMETRIES]):
            entry = words[BASES + t]
            for i in range(length):
                entry += words[factors + i] * min(cells[words[places + i]], highest)
            index[at] = _U(origin + entry * words[WIDTH])
            at += 1
            places += length
        factors += length


@kernel(_F32(EntryTable, Index, _U64, _U64, _U64, _U64))
def sum_entries(table, index, first, groups, size, offset):
    """Returns the network's value, the sum over `groups` groups of `size` look-ups.

    `offset` is added to every place: 0, or that of another output's entries. Sums of float32 in float64 are practically
    exact, and so the same in any order.
    """
    total = _NOTHING
    at = first
    for _ in range(groups):
        part = _NOTHING
        for _ in range(size):
            part += table[index[at] + offset]
            at += _U(1)
        total += part
    return np.float32(total)


@kernel(types.void(EntryTable, Index, _U64, _U64, _U64, _F32))
def add_plainly(table, index, first, count, offset, change):
    """Adds `change` to every entry of a board, as often as it is in the sum."""
    for i in range(first, first + count):
        table[index[i] + offset] += change


@kernel(_F32(_F32, _F32), inline=True)
def coherence(signed, absolute):
    """Returns |sum of changes| / sum of |changes|, 1 at first.

    Another thread may have written only one of the two sums; dividing by the larger keeps the rate at most 1 even then.
    """
    return (abs(signed) + _TINY) / (max(absolute, abs(signed)) + _TINY)


@kernel(types.void(EntryTable, Index, _U64, _U64, _F32))
def add_coherently(table, index, first, count, change):
    """Adds `change` times each entry's own rate, its coherence; sums lie with values.

    Source: Beal and Smith 1999, temporal coherence.
    """
    size = abs(change)
    for i in range(first, first + count):
        place = index[i]
        signed, absolute = table[place + _U(1)], table[place + _U(2)]
        table[place] += change * coherence(signed, absolute)
        table[place + _U(1)] = signed + change
        table[place + _U(2)] = absolute + size


@kernel(_F32(Header, EntryTable, Index, _U64, _U64))
def sum_and_fetch(words, table, index, first, offset):
    """`sum_entries`, which meanwhile fetches the sums of those entries for `add_coherently_apart`."""
    sums, shift, symmetries = _U(words[SUMS]), _U(words[SUMS_SHIFT]), _U(words[SYMMETRIES])
    total = _NOTHING
    at = first
    for _ in range(words[TUPLES]):
        part = _NOTHING
        for i in range(at, at + symmetries):
            place = index[i] + offset
            part += table[place]
            prefetch(table, np.int64(sums + (place << shift)))
        total += part
        at += symmetries
    return np.float32(total)


@kernel(types.void(Header, EntryTable, Index, _U64, _U64, _U64, _F32))
def add_coherently_apart(words, table, index, first, count, offset, change):
    """`add_coherently` for sums anywhere."""
    sums, shift, size = _U(words[SUMS]), _U(words[SUMS_SHIFT]), abs(change)
    for i in range(first, first + count):
        place = index[i] + offset
        at = sums + (place << shift)
        signed, absolute = table[at], table[at + _U(1)]
        table[place] += change * coherence(signed, absolute)
        table[at] = signed + change
        table[at + _U(1)] = absolute + size


@kernel(types.void(Header, EntryTable, Index, _U64, _U64, _F32))
def add_once(words, table, index, first, offset, change):
    """Adds `change` to every entry of a board once, however many symmetric images look it up.

    Only the images of one tuple can share an entry: all of its entries are read before any is written.
    """
    symmetries = _U(words[SYMMETRIES])
    values = np.empty(words[SYMMETRIES], np.float32)
    for _ in range(words[TUPLES]):
        for i in range(symmetries):
            values[i] = table[index[first + i] + offset] + change
        for i in range(symmetries):
            table[index[first + i] + offset] = values[i]
        first += symmetries


@kernel(types.void(Header, EntryTable, Index, _U64, _U64, _F32, types.boolean, types.float64))
def add_coherently_once(words, table, index, first, offset, change, once, beta):
    """`add_coherently_apart`, with `once` like `add_once`, with rates of e to the power of beta (coherence - 1).

    A beta of 0 leaves the coherence itself as rate. Source: Bagheri and Thill 2014 (TCL-EXP).
    """
    sums, shift, size, symmetries = _U(words[SUMS]), _U(words[SUMS_SHIFT]), abs(change), _U(words[SYMMETRIES])
    step = symmetries if once else _1
    values = np.empty((3, words[SYMMETRIES]), np.float32)
    for _ in range(words[TUPLES] * np.int64(symmetries // step)):
        for i in range(step):
            place = index[first + i] + offset
            at = sums + (place << shift)
            signed, absolute = table[at], table[at + _1]
            rate = coherence(signed, absolute)
            if beta != 0.0:
                rate = np.float32(np.exp(beta * (rate - 1.0)))
            values[0, i], values[1, i], values[2, i] = table[place] + change * rate, signed + change, absolute + size
        for i in range(step):
            place = index[first + i] + offset
            at = sums + (place << shift)
            table[place], table[at], table[at + _1] = values[0, i], values[1, i], values[2, i]
        first += step


@kernel(types.void(EntryTable, _U64, _U64, _U64, _F32, _F32))
def collect_error(errors, newest, kept, horizon, change, decay):
    """Adds a change to the error of the newest board, and for each one before `decay` times as much.

    Args:
        errors: [horizon] of the boards of a ring.
        kept: the number of boards, the newest at place `newest`.
    """
    at = newest
    for _ in range(kept):
        errors[at] += change
        change *= decay
        at = (at if at > _0 else horizon) - _1


@kernel(_U64(_U64, _U64, _U64))
def oldest_of(newest, kept, horizon):
    """Returns the place of the oldest of `kept` boards in a ring."""
    at = newest + horizon + _1 - kept
    return at if at < horizon else at - horizon
