"""Tuples of arrays that kernels put on shelves: the same memory, and no reference counted."""

from __future__ import annotations

import numpy as np
from numba import types

from turnier.core.kernel import kernel
from turnier.core.packing import new_shelf, shelf

Ints, Floats = types.Array(types.int64, 1, "C"), types.Array(types.float64, 2, "C")
PAIR = types.Tuple([Ints, Floats])
put, get = shelf(PAIR)


@kernel(types.float64(Ints, Ints, Floats))
def through_a_shelf(one, other, table):
    """Puts two pairs with one table on a shelf, changes them there in turn, and adds up what each pair sees."""
    pairs = new_shelf(2)
    put(pairs, 0, (one, table))
    put(pairs, 1, (other, table))
    for i in range(2):
        numbers, floats = get(pairs, i)
        numbers[0] += 10 + i
        floats[i, 0] = numbers[0]
    total = 0.0
    for i in range(2):
        numbers, floats = get(pairs, i)
        total += float(numbers.sum()) + floats[0, 0] + floats[1, 0]
    return total


def test_a_shelf_holds_arrays_themselves() -> None:
    one, other, table = np.array([1, 2]), np.array([3, 4]), np.zeros((2, 1))
    assert through_a_shelf(one, other, table) == (11 + 2 + 11 + 14) + (14 + 4 + 11 + 14)
    assert (one.tolist(), other.tolist(), table.tolist()) == ([11, 2], [14, 4], [[11.0], [14.0]])
