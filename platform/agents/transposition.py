"""A table of positions that a search has valued: a struct of arrays, one entry a slot, the latest one stays.

Source: Zobrist 1970; Breuker 1998, 2. Differs: the key is a hash of the state's words and the returns so far, since
games are free in what they keep where.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import types

from turnier.core.kernel import kernel

ABSENT = -1  # no such entry


class Table(NamedTuple):
    keys: Any  # [capacity] 64-bit hashes
    facts: Any  # [capacity] what the search packs into a word, 0 = empty
    values: Any  # [capacity, width]


Words = types.Array(types.uint64, 1, "C")
TABLE = types.NamedTuple([Words, types.Array(types.int64, 1, "C"), types.Array(types.float64, 2, "C")], Table)
_M1, _M2, _32, _29 = (np.uint64(n) for n in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 32, 29))


@kernel(TABLE(types.int64, types.int64, types.int64, types.int64))
def new_table(bits, branching, plies, width):
    """Returns an empty table of 2**bits entries, or of fewer where branching**plies is less."""
    capacity, positions = 1 << bits, 1
    for _ in range(plies):
        if positions < capacity:
            positions *= max(branching, 2)
    while capacity > 1 and capacity // 2 >= positions:
        capacity //= 2
    return Table(np.zeros(capacity, np.uint64), np.zeros(capacity, np.int64), np.empty((capacity, width)))


@kernel(types.uint64(Words, Words))
def hash_words(state, returns):
    """Returns a 64-bit hash of a state's words and the bits of the returns so far; every word is mixed in."""
    h = _M2
    for i in range(state.size):
        h = (h ^ state[i]) * _M1
        h ^= h >> _32
    for i in range(returns.size):
        h = (h ^ returns[i]) * _M1
        h ^= h >> _32
    h *= _M2
    return h ^ (h >> _29)


@kernel(types.int64(Words, types.uint64))
def slot_of(keys, key):
    """Returns where a key's entry belongs."""
    return np.int64(key & np.uint64(keys.size - 1))


@kernel(types.int64(Words, types.Array(types.int64, 1, "C"), types.uint64))
def find(keys, facts, key):
    """Returns the slot of a key's entry, or ABSENT."""
    slot = slot_of(keys, key)
    return slot if keys[slot] == key and facts[slot] != 0 else ABSENT
