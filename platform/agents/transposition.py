"""A table of positions valued by a search: a struct of arrays with one entry per slot, the latest.

Source: Zobrist 1970; Breuker 1998, 2. Differs: the key is a hash of the state's words and the returns so far, since
games differ in the layout of states.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..core.kernel import kernel, types
from ..core.rng import GOLDEN, MIX1, fold

ABSENT = -1  # no such entry


class TranspositionTable(NamedTuple):
    keys: Any  # [capacity] 64-bit hashes; arbitrary if the slot is empty
    facts: Any  # [capacity] the search's facts packed into a word, 0 = empty
    values: Any  # [capacity, width]


Words = types.Array(types.uint64, 1, "C")
TABLE = types.NamedTuple(
    [Words, types.Array(types.int64, 1, "C"), types.Array(types.float64, 2, "C")], TranspositionTable
)
_32, _29 = np.uint64(32), np.uint64(29)


@kernel(types.int64(types.int64, types.int64, types.int64))
def enough_bits(bits, branching, plies):
    """Returns the bits of a table with room for branching**plies positions, at most `bits`."""
    capacity, positions = 1 << bits, 1
    for _ in range(plies):
        if positions < capacity:
            positions *= max(branching, 2)
    while bits > 0 and 1 << (bits - 1) >= positions:
        bits -= 1
    return bits


@kernel(TABLE(types.int64, types.int64))
def new_table(bits, width):
    """Returns an empty table of 2**bits entries with `width` values each; a single entry means no table to searches."""
    capacity = 1 << bits
    return TranspositionTable(np.empty(capacity, np.uint64), np.zeros(capacity, np.int64), np.empty((capacity, width)))


@kernel(types.uint64(Words, Words))
def hash_words(state, returns):
    """Returns a 64-bit hash of a state's words and the bits of the returns so far; every word is mixed in."""
    h = MIX1
    for i in range(state.size):
        h = fold((h ^ state[i]) * GOLDEN, _32)
    for i in range(returns.size):
        h = fold((h ^ returns[i]) * GOLDEN, _32)
    return fold(h * MIX1, _29)


@kernel(types.int64(Words, types.uint64))
def slot_of(keys, key):
    """Returns the slot of a key."""
    return np.int64(key & np.uint64(keys.size - 1))


@kernel(types.int64(Words, types.Array(types.int64, 1, "C"), types.uint64))
def find(keys, facts, key):
    """Returns the slot of a key's entry, or ABSENT."""
    slot = slot_of(keys, key)
    return slot if keys[slot] == key and facts[slot] != 0 else ABSENT
