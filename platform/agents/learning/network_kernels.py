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
from turnier.games.abi import Actions, kernel

Words = types.Array(types.int64, 1, "C")  # the header, see below
Table = types.Array(types.float32, 1, "C")  # all entries
Index = types.Array(types.uint64, 1, "C")  # places in a table
_F32, _U64 = types.float32, types.uint64

# Header words. A table has PHASES x OUTPUTS blocks of ENTRIES entries; the first entry is float32 number ORIGIN.
TUPLES, SYMMETRIES, LENGTH, VALUES, WIDTH, PHASES, OUTPUTS, ENTRIES, ORIGIN, LOOK_AHEAD, PACKED = (
    OWN + i for i in range(11)
)
# Then per tuple its first entry and the mask of its cells on a packed 2048 board, its cells' factors [tuples, length],
# and its cells on every symmetric image [symmetries, tuples, length]; shorter tuples are filled up with factor 0.
BASES = 16

_U = np.uint64
_ZERO, _ONE = np.float32(0), np.float32(1)


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
    """Returns the network's value: the sum over symmetric images of the sums over tuples, in this order.

    `offset` is added to every place: 0, or that of another output's entries.
    """
    total = _ZERO
    at = first
    for _ in range(symmetries):
        part = _ZERO
        for _ in range(tuples):
            part += table[index[at] + offset]
            at += _U(1)
        total += part
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
