"""Shared by the fused searches of 4x4 boards of 2048: their conditions and their transposition table.

A slot of the table is three words: the afterstate, 2 x decisions left + probability (0 = free), and the value. It does
not need the points so far, which follow from the board and the number of tiles placed.
"""

from __future__ import annotations

import numpy as np

from ...core.kernel import kernel, types
from ...core.rng import GOLDEN, fold
from ...games.abi import Floats, State
from ...games.twenty48.board import tile_sum
from ...games.twenty48.rules import BOARD, HIGH
from .search import AFTERSTATE, decisions_of, is_enough

NO_LIMIT = 2.0**52  # leaves
NO_SLOT = UNKNOWN = -1
TAG, VALUE, SLOT_WORDS = 1, 2, 3  # words of a slot; word 0 is the afterstate

_U = np.uint64
_U64, _F64, _I64 = types.uint64, types.float64, types.int64
Keys = types.Array(types.uint64, 1, "C")  # the memory of the table, which is of float64
_32 = _U(32)


@kernel(types.boolean(State, _I64, _I64))
def is_fused(state, depth, leaf):
    """Whether the leaves are afterstates, and tiles of four bits suffice for a search of that depth."""
    # Two 32768s, which the row tables cannot merge, need a tile sum of 65,536; a decision adds at most 4.
    return state[HIGH] == 0 and tile_sum(_U(state[BOARD])) + 4 * depth < 65536 and leaf == AFTERSTATE


@kernel(Floats(_I64))
def new_slots(bits):
    """Returns a table of 2**bits free slots, none for 0 bits."""
    return np.zeros(SLOT_WORDS << bits if bits > 0 else 0)


@kernel(_U64(_U64))
def mixed(b):
    """Returns a hash of a board; a product alone would keep the top row out of the bits that choose a slot."""
    return fold(b * GOLDEN, _32) * GOLDEN


@kernel(_F64(_I64, _F64, _F64), inline=True)
def tag_of(depth, prob, cutoff):
    """Returns the extent of an afterstate's search: its depth and, with a cut-off, its probability."""
    return 2.0 * float(depth) + (prob if cutoff > 0.0 else 1.0)


@kernel(_I64(_U64, Floats), inline=True)
def slot_of(h, table):
    """Returns the first word of the slot of an afterstate with that hash, or NO_SLOT if there is no table."""
    return SLOT_WORDS * (np.int64(h >> _32) & (table.size // SLOT_WORDS - 1)) if table.size > 0 else NO_SLOT


@kernel(_I64(_U64, _I64, _F64, types.boolean, _I64, Floats, Keys), inline=True)
def known_ahead(b, depth, tag, deeper, slot, table, keys):
    """Returns by how many decisions the slot's value of an afterstate is deeper than asked, UNKNOWN if it has none.

    The value, in word slot + VALUE, is of a board with the same tiles. A deeper search of it means that chance placed
    more 4s, one for each further decision, and that it has 4 points less for each.
    """
    if slot < 0 or keys[slot] != b or not is_enough(table[slot + TAG], tag, depth, deeper):
        return UNKNOWN
    return decisions_of(table[slot + TAG]) - depth


@kernel(types.void(_U64, _F64, _F64, _I64, Floats, Keys), inline=True)
def keep(b, tag, value, slot, table, keys):
    """Puts an afterstate's value into its slot, replacing another."""
    if slot >= 0:
        keys[slot], table[slot + TAG], table[slot + VALUE] = b, tag, value
