"""A small kernel that calls a large one, and its caller: `python -m tests.core.copied_kernels NAME` calls one of them.

Prints whether the large kernel is called by its address, and what came out.
"""

from __future__ import annotations

import sys

import numpy as np
from numba import types

from turnier.agents.ntuple.network_kernels import SYMMETRIES, TUPLES, EntryTable, Header, Index, add_once
from turnier.core.kernel import kernel

_SIGNATURE = types.void(Header, EntryTable, Index)
_NONE = np.uint64(0)


@kernel(_SIGNATURE)
def small(words, table, index):
    add_once(words, table, index, _NONE, _NONE, np.float32(1.0))


@kernel(_SIGNATURE)
def caller(words, table, index):
    small(words, table, index)


if __name__ == "__main__":
    chosen = {"small": small, "caller": caller}[sys.argv[1]]
    words, table = np.zeros(64, np.int64), np.ones(1, np.float32)
    words[SYMMETRIES] = words[TUPLES] = 1
    chosen(words, table, np.zeros(1, np.uint64))
    [result] = chosen.overloads.values()
    print(bool(result.library._reload_init), table.tolist())
