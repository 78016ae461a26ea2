"""Classes by reference, and large kernels apart: compiled code sees what Python made, and is not made twice."""

from __future__ import annotations

import copy
import os
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numba import types
from numba.core.errors import TypingError

from turnier.arena.play_kernel import play_many, play_one
from turnier.core.compilation.apart import SMALL, KernelLibrary
from turnier.core.compilation.by_reference import ByReference, LateType, pointer_type, reference_type
from turnier.core.kernel import JIT, _late_to, compile_kernel, kernel, late_pointer, make_now, pointer

ROOT = Path(__file__).resolve().parents[2]
needs_jit = pytest.mark.skipif(not JIT, reason="there is no machine code")
FLOATS = types.Array(types.float64, 1, "C")
TIMES = types.float64(types.float64)


@kernel(TIMES)
def doubled(x):
    return 2.0 * x


@kernel(TIMES)
def halved(x):
    return 0.5 * x


@dataclass(frozen=True, eq=False)
class Inner(ByReference):
    numbers: Any
    change: Any


@dataclass(frozen=True, eq=False)
class Outer(ByReference):
    count: int
    inner: Inner
    scale: float


INNER = reference_type(Inner, FLOATS, pointer_type(TIMES))
OUTER = reference_type(Outer, types.int64, INNER, types.float64)


@kernel(types.float64(OUTER, types.int64))
def read_all(outer, i):
    outer.inner.numbers[0] += 1.0
    return outer.inner.change(outer.inner.numbers[i]) * outer.scale + outer.count * outer.inner.numbers.size


def test_compiled_code_reads_members_and_writes_to_their_arrays() -> None:
    numbers = np.array([1.0, 10.0, 100.0])
    outer = Outer(1000, Inner(numbers, pointer(doubled, TIMES)), 0.25)
    assert read_all(outer, 2) == 100.0 * 2 * 0.25 + 1000 * 3
    assert read_all(replace(outer, count=-1), 1) == 10.0 * 2 * 0.25 - 3
    other = replace(outer, inner=replace(outer.inner, change=pointer(halved, TIMES), numbers=np.array([8.0])))
    assert read_all(other, 0) == 9.0 * 0.5 * 0.25 + 1000
    assert numbers[0] == 3.0


@kernel(TIMES)
def tripled(x):
    return 3.0 * x


@kernel(TIMES)
def quartered(x):
    return 0.25 * x


@dataclass(frozen=True, eq=False)
class Later(ByReference):
    change: Any


LATER = reference_type(Later, LateType(TIMES))


@kernel(types.float64(LATER, types.float64))
def changed(later, x):
    return later.change(x)


@needs_jit
def test_a_late_kernel_is_compiled_when_compiled_code_first_calls_it() -> None:
    one, other = (Later(_late_to(each)) for each in (tripled, quartered))
    compile_kernel(changed)
    assert one.address and other.address and not tripled.overloads and not quartered.overloads
    make_now(other.change, doubled)
    assert quartered.overloads and not tripled.overloads
    assert [changed(each, 8.0) for each in (one, other, replace(one), copy.deepcopy(one))] == [24.0, 2.0, 24.0, 24.0]
    assert tripled.overloads


@kernel(TIMES)
def wrong(x):
    return x.nothing


@needs_jit
def test_a_late_kernel_from_elsewhere_is_compiled_at_once() -> None:
    """Once compiled code calls it, a mistake of its author would end the process."""
    with pytest.raises(TypingError, match="nothing"):
        late_pointer(wrong, TIMES)


@needs_jit
def test_kernels_that_only_compiled_code_calls_have_no_entry_until_somebody_asks() -> None:
    compile_kernel(outer_kernel)
    assert [bool(each._entries) for each in (outer_kernel, inner_kernel)] == [True, False]
    assert inner_kernel(3.0) == 6.0 and outer_kernel(3.0) == 7.0
    assert pointer(inner_kernel, TIMES).__wrapper_address__()


@kernel(TIMES)
def inner_kernel(x):
    return x + x


@kernel(TIMES)
def outer_kernel(x):
    return inner_kernel(x) + 1.0


@needs_jit
def test_large_kernels_are_called_and_small_ones_copied() -> None:
    compile_kernel(play_many)
    compile_kernel(play_one)
    [made] = [result.library for result in play_many.overloads.values()]
    assert isinstance(made, KernelLibrary)
    absent = [one.name for one in made._get_module_for_linking().functions if one.is_declaration]
    assert any("play_one" in name for name in absent), f"play_one, of more than {SMALL} instructions, is a copy"
    assert not any("nanoseconds" in name for name in absent)  # it is small


@kernel(types.int64(types.int64))
def added_to_itself(x):
    return x + x


@kernel(types.int64(types.int64))
def with_other_numbers(x):
    return added_to_itself(0) + added_to_itself(np.int32(x)) + added_to_itself(True + x)


@needs_jit
def test_a_kernel_is_compiled_once_whatever_numbers_its_callers_pass() -> None:
    with_other_numbers.py_func.kernel_cache._index().unlink(missing_ok=True)  # so that it is compiled
    assert with_other_numbers(3) == 6 + 8
    assert list(added_to_itself.overloads) == [(types.int64,)]


@kernel(types.int64(types.int64, types.boolean))
def doubled_if(n, chosen):
    return 2 * n if chosen else n


@kernel(types.int64(types.int64, types.boolean))
def with_flags(n, chosen):
    flag = False  # a constant until the loop is seen, and the constants of the calls
    for i in range(n):
        flag |= i == 2
    return doubled_if(n, flag) + doubled_if(n, True) + doubled_if(n, False) + doubled_if(n, chosen)


@needs_jit
def test_a_kernel_is_compiled_once_whatever_flags_its_callers_pass() -> None:
    with_flags.py_func.kernel_cache._index().unlink(missing_ok=True)
    assert (with_flags(3, True), with_flags(2, False)) == (6 + 6 + 3 + 6, 2 + 4 + 2 + 2)
    assert list(doubled_if.overloads) == [(types.int64, types.boolean)]


@kernel(types.void(FLOATS, FLOATS))
def assign_slice(to, numbers):
    to[1:] = numbers


@needs_jit
def test_assigned_slices_bring_no_formatting_of_texts() -> None:
    """Numba's own sentence on shapes, which no kernel ever says, takes 2 s to compile."""
    to = np.zeros(3)
    assign_slice(to, np.array([5.0, 6.0]))
    assert to.tolist() == [0.0, 5.0, 6.0]
    with pytest.raises(ValueError, match="must have the shape of its place"):
        assign_slice(to, np.array([5.0, 6.0, 7.0]))


@needs_jit
def test_a_copied_kernel_from_the_cache_brings_the_large_ones_that_it_calls(tmp_path: Path) -> None:
    """One process compiles a small kernel that calls a large one, the next its caller, and the third finds that one."""
    environment = os.environ | {
        "NUMBA_CACHE_DIR": str(tmp_path),
        "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)]),
    }
    for name in ("small", "caller", "caller"):
        command = [sys.executable, "-m", "tests.core.copied_kernels", name]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout.strip()) == (0, "True [2.0]"), done.stderr
