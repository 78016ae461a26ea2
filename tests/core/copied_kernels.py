"""A small kernel that calls a large one, and its caller: `python -m tests.core.copied_kernels NAME` calls one of them.

Prints whether the large kernel is called by its address, and what came out.
"""

from __future__ import annotations

import sys

import numpy as np
from numba import types

from turnier.agents.ntuple.network_kernels import SUMS, EntryTable, Header, Index, add_coherently_apart
from turnier.core.kernel import kernel

_SIGNATURE = types.void(Header, EntryTable, Index)
_ONE, _NONE = np.uint64(1), np.uint64(0)


@kernel(_SIGNATURE)
def small(words, table, index):
    add_coherently_apart(words, table, index, _NONE, _ONE, _NONE, np.float32(1.0))


@kernel(_SIGNATURE)
def caller(words, table, index):
    small(words, table, index)


if __name__ == "__main__":
    chosen = {"small": small, "caller": caller}[sys.argv[1]]
    words, table = np.zeros(64, np.int64), np.ones(3, np.float32)
    # The sums of entry 0 lie where `words` says: behind it.
    words[SUMS] = 1
    table[1:] = 0.0
    chosen(words, table, np.zeros(1, np.uint64))
    [result] = chosen.overloads.values()
    print(bool(result.library._reload_init), table.tolist())
