"""N-tuple networks as compiled code sees them: a header of 64-bit words, and tables of float32.

A network is a sum of table entries over tuples of cells, for the board and all its symmetric images. Any kernel on
n-tuple networks may call these. An evaluator keeps header and tables in one array (its `weights`); training keeps the
tables apart, with `WIDTH` float32 an entry: the value alone, or with temporal coherence the value, the sum of the
changes, the sum of their absolute values and one unused, so that all of an entry is in one cache line.
"""

from __future__ import annotations

import numpy as np
from numba import types

from turnier.agents.evaluators.evaluator import OWN
from turnier.agents.learning.intrinsics import prefetch
from turnier.games.abi import Actions, kernel

Words = types.Array(types.int64, 1, "C")  # the header, see below
Table = types.Array(types.float32, 1, "C")  # all entries
Index = types.Array(types.uint64, 1, "C")  # places in a table
Places = types.Array(types.int64, 1, "C")  # the same, where they are shifted
_F32, _U64 = types.float32, types.uint64

# Header words. A table has PHASES x OUTPUTS blocks of ENTRIES entries; the first entry is float32 number ORIGIN.
TUPLES, SYMMETRIES, LENGTH, VALUES, WIDTH, PHASES, OUTPUTS, ENTRIES, ORIGIN, LOOK_AHEAD, PACKED = (
    OWN + i for i in range(11)
)
NUM_CELLS, TOUCHES = OWN + 11, OWN + 12
AT_END = OWN + 13  # whether values are of the whole return, as target method 1 learns them, not of what is to come
# Then per tuple its first entry and the mask of its cells on a packed 2048 board, its cells' factors [tuples, length],
# and its cells on every symmetric image [symmetries, tuples, length]; shorter tuples are filled up with factor 0. From
# word TOUCHES on: where the look-ups begin that see cell 0, 1, ... [cells + 1], and those, each as its number in
# [symmetries, tuples] and how many places further its entry is when the cell is worth 1 more.
BASES = 16

_U = np.uint64
_ZERO, _ONE, _NOTHING = np.float32(0), np.float32(1), np.float64(0.0)


@kernel(types.void(Words, Actions, types.int64, Index, types.int64))
def find_entries(words, cells, block, index, first):
    """Writes the places of a board's entries into `index` from `first` on, [symmetries, tuples]."""
    tuples, length, highest = words[TUPLES], words[LENGTH], words[VALUES] - 1
    factors = BASES + 2 * tuples
    places = factors + tuples * length
    origin = words[ORIGIN] + block * words[ENTRIES] * words[WIDTH]
    at = first
    for _ in range(words[SYMMETRIES]):
        for t in range(tuples):
            entry = words[BASES + t]
            for i in range(t * length, t * length + length):
                entry += words[factors + i] * min(cells[words[places + i]], highest)
            index[at] = _U(origin + entry * words[WIDTH])
            at += 1
        places += tuples * length


@kernel(_F32(Table, Index, _U64, _U64, _U64, _U64))
def sum_entries(table, index, first, symmetries, tuples, offset):
    """Returns the network's value, the sum over symmetric images and tuples.

    `offset` is added to every place: 0, or that of another output's entries. Sums of float32 in float64 are as good as
    exact, so that they are the same in any order.
    """
    total = _NOTHING
    at = first
    for _ in range(symmetries):
        part = _NOTHING
        for _ in range(tuples):
            part += table[index[at] + offset]
            at += _U(1)
        total += part
    return np.float32(total)


@kernel(types.uint64(Words, Table, Actions, Actions, Places, Places, Index, types.int64))
def shift_entries(words, table, before, after, now, shifted, changed, offset):
    """Finds the entries of a board that differs from another one in few cells; returns how many of them differ.

    Args:
        before, after: [cells] both boards.
        now: [symmetries * tuples] places of the board before.
        shifted: as `now`; its changed places become those of the board after.
        changed: filled in with the numbers of the look-ups that change.
        offset: of the entries that will be read, which are fetched early.
    """
    highest, starts = words[VALUES] - 1, words[TOUCHES]
    n = _U(0)
    for cell in range(words[NUM_CELLS]):
        step = min(after[cell], highest) - min(before[cell], highest)
        if step == 0:
            continue
        for at in range(_U(words[starts + cell]), _U(words[starts + cell + 1]), _U(2)):
            i = _U(words[at])
            place = shifted[i]
            if place == now[i]:  # no two boards have one entry, so this is its first change
                changed[n] = i
                n += _U(1)
            place += step * words[at + _U(1)]
            shifted[i] = place
            prefetch(table, place + offset)
    return n


@kernel(types.int64(Words, Actions, Actions))
def only_change(words, before, after):
    """Returns the only cell in which two boards differ for the network, -1 where none does, -2 where several do."""
    highest, found = words[VALUES] - 1, -1
    for cell in range(words[NUM_CELLS]):
        if before[cell] != after[cell] and min(before[cell], highest) != min(after[cell], highest):
            if found >= 0:
                return -2
            found = cell
    return found


@kernel(types.float64(Words, Table, types.int64, types.int64, Places, Table, types.int64))
def change_of_cell(words, table, cell, step, now, entries, offset):
    """Returns how a board's value changes when one cell is worth `step` more; now, entries: [look-ups] of the board."""
    total = _NOTHING
    starts = words[TOUCHES]
    for at in range(_U(words[starts + cell]), _U(words[starts + cell + 1]), _U(2)):
        i = _U(words[at])
        total += np.float64(table[_U(now[i] + step * words[at + _U(1)] + offset)]) - np.float64(entries[i])
    return total


@kernel(types.void(Table, Index, _U64, _U64, _U64, _F32))
def add_plainly(table, index, first, count, offset, change):
    """Adds `change` to every entry of a board, once for each time that it is in the sum."""
    for i in range(first, first + count):
        table[index[i] + offset] += change


@kernel(types.void(Table, Index, _U64, _U64, _U64, _F32))
def add_coherently(table, index, first, count, offset, change):
    """Adds `change` times each entry's own rate |sum of changes| / sum of |changes|, 1 at first.

    Source: Beal and Smith 1999, temporal coherence.
    """
    size = abs(change)
    for i in range(first, first + count):
        place = index[i] + offset
        signed, absolute = table[place + _U(1)], table[place + _U(2)]
        rate = abs(signed) / absolute if absolute != _ZERO else _ONE
        table[place] += change * rate
        table[place + _U(1)] = signed + change
        table[place + _U(2)] = absolute + size
