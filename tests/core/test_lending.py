"""Kernels count no references to their arguments, and what they are given and return still belongs to its owner."""

from __future__ import annotations

import re
import sys
from typing import Any

import numpy as np
import pytest
from llvmlite.binding import ffi
from numba import njit, types
from numba.core.errors import TypingError

from turnier.agents.expectimax.search import look_up
from turnier.agents.mctse.search import draw_chance
from turnier.core.compilation.dispatcher import KernelCompiler
from turnier.core.kernel import JIT, kernel
from turnier.games import othello

pytestmark = pytest.mark.skipif(not JIT, reason="plain Python counts its own references")
Ints, Floats = types.Array(types.int64, 1, "C"), types.Array(types.float64, 2, "C")
PAIR = types.Tuple([Ints, Floats])


@kernel(types.int64(PAIR, Ints))
def add_rows(pair, scratch):
    numbers, table = pair
    own = np.zeros(2, np.int64)
    for row in range(table.shape[0]):
        own[0] = 0
        for value in table[row]:
            own[0] += np.int64(value)
        numbers[row] += own[0] + scratch[0]
    return numbers.size


@kernel(Ints(Ints, types.int64))
def longer_of(numbers, size):
    """Returns its argument, or an array that it makes."""
    return numbers if numbers.size >= size else np.arange(size)


def references(one: Any, **options: Any) -> int:
    """Returns how often the machine code of a kernel, compiled anew, counts references."""
    compiled: Any = njit(one.kernel_signature, nogil=True, error_model="numpy", **options)(one.py_func)
    (code,) = compiled.inspect_llvm().values()
    bodies = [part for part in re.split(r"\ndefine ", code) if f"{one.__name__}B" in part.split("\n")[0]]
    return len(
        re.findall(r"call void @NRT_(?:in|de)cref", next(part for part in bodies if "cpython" not in part[:400]))
    )


@pytest.mark.parametrize("one", [othello.step, draw_chance, look_up], ids=lambda one: one.__name__)
def test_no_reference_to_an_argument_is_counted(one: Any) -> None:
    assert references(one) > 0 and references(one, pipeline_class=KernelCompiler) == 0


def test_arguments_are_written_and_still_belong_to_their_owner() -> None:
    numbers, table, scratch = np.array([5, 6, 7]), np.arange(6.0).reshape(3, 2), np.array([100])
    before = [sys.getrefcount(array) for array in (numbers, table, scratch)]
    for _ in range(2):
        assert add_rows((numbers, table), scratch) == 3
    assert numbers.tolist() == [5 + 2 * 101, 6 + 2 * 105, 7 + 2 * 109]
    assert [sys.getrefcount(array) for array in (numbers, table, scratch)] == before


def test_an_argument_that_is_returned_outlives_its_owner() -> None:
    kept = longer_of(np.array([1, 2, 3]), 2)
    made = longer_of(kept, 5)
    for _ in range(100):  # which would take the place of memory that was freed
        np.full(3, -1), np.full(5, -1)
    assert kept.tolist() == [1, 2, 3] and made.tolist() == [0, 1, 2, 3, 4]
    before = sys.getrefcount(kept)
    again = longer_of(kept, 3)
    again[0] = 9
    assert kept[0] == 9 and sys.getrefcount(kept) > before


@kernel(types.int64(types.int64))
def unknown(n: Any) -> Any:
    return n.no_such_attribute


def test_listeners_hear_of_llvm_again_after_a_kernel_that_fails() -> None:
    usual = list(ffi.lib._lock._cblist)
    assert usual
    with pytest.raises(TypingError):
        unknown(1)
    assert ffi.lib._lock._cblist == usual
