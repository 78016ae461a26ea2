"""What kernels do with arrays by instructions of their own is what numpy does with them, and compiles nothing else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numba.core import event

from turnier.core.kernel import JIT, kernel, types

needs_jit = pytest.mark.skipif(not JIT, reason="plain Python calls numpy")
Numbers = types.float64[::1]


@kernel(types.float64(Numbers, types.int64))
def made(numbers: Any, n: Any) -> Any:
    zeros, rows, counts = np.zeros(n), np.zeros((n, 3), np.int32), np.zeros(n, dtype=np.int64)
    plain, like, ones = np.zeros(n, float), np.zeros_like(numbers), np.empty(n, np.bool_)
    copied, square = np.empty_like(numbers), np.empty((2, n))
    copied[:], ones[:], square[:] = numbers, True, 0.5
    return (
        zeros.sum() + rows.sum() + counts.sum() + plain.sum() + like.sum() + ones.sum() + copied.sum() + square.sum()
    ) + 10.0 * (zeros.size + rows.size + counts.itemsize + plain.itemsize + like.size + rows.strides[0])


@kernel(types.float64(Numbers, types.int64))
def seen(numbers: Any, n: Any) -> Any:
    halves, bits, steps = numbers.view(np.int32), numbers.view(np.uint64), numbers[::2].view(np.int64)
    square = np.zeros((2, n)).view(np.int16)
    words = halves[:2].view(np.float64)
    halves[0] ^= np.int32(1)  # a view shares the memory
    return (
        halves.size * 1000.0
        + float(bits[0] & np.uint64(1))
        + square.shape[1] * 10.0
        + square.strides[0]
        + float(steps[1] & np.int64(255))
        + words[0]
    )


@kernel(types.float64(Numbers))
def shaped(numbers: Any) -> Any:
    table, left, flat = numbers.reshape(3, 4), numbers.reshape(2, -1, 2), numbers.reshape((12,))
    columns, nothing = np.ascontiguousarray(table[:, 1:]).reshape(3, 3), np.zeros(0).reshape(0, 7)
    table[1, 2] = 0.25
    return left[0, 2, 1] + left[1, 0, 0] * 10 + flat[6] * 100 + columns[2, 0] + nothing.shape[1] + left.strides[0]


@kernel(types.float64(types.float64, types.float64, types.int64))
def chosen(one: Any, other: Any, whole: Any) -> Any:
    first, second = min(one, other), max(one, other)
    return first + 2 * second + max(whole, 2) + min(one, whole) + min(whole, 3, 1)


NAN = float("nan")
CALLS = [
    *((made, (np.arange(7) / 8, n)) for n in (1, 7)),
    (seen, (np.arange(1, 8) / 3, 5)),
    (shaped, (np.arange(12) / 2,)),
    *((chosen, numbers) for numbers in ((1.5, -2.0, 4), (NAN, 1.0, 1), (1.0, NAN, 5), (0.0, -0.0, -1))),
]


@pytest.mark.parametrize(("one", "arguments"), CALLS, ids=lambda value: getattr(value, "__name__", ""))
def test_arrays_are_those_of_numpy(one: Any, arguments: Any) -> None:
    plain, compiled = (
        [value.copy() if isinstance(value, np.ndarray) else value for value in arguments] for _ in range(2)
    )
    expected = one.py_func(*plain) if JIT else one(*plain)
    np.testing.assert_array_equal(one(*compiled), expected)
    np.testing.assert_array_equal(compiled[0], plain[0])


@kernel(types.int64(Numbers, types.int64, types.int64))
def wrong(numbers: Any, kind: Any, n: Any) -> Any:
    if kind == 0:
        return numbers.reshape(2, n).size
    if kind == 1:
        np.zeros((n, n))[:, 0] = numbers
    if kind == 2:
        return numbers.view(np.int32)[:n].view(np.int64).size
    return np.zeros(n).size


@needs_jit
@pytest.mark.parametrize(
    ("kind", "n", "raises"),
    [
        (0, 3, "total size of new array must be unchanged"),
        (1, 4, "must have the shape of its place"),
        (2, 3, "must be a divisor"),
        (3, -1, "negative dimensions"),
        (3, 2**62, "too big"),
    ],
)
def test_what_numpy_refuses_is_refused(kind: int, n: int, raises: str) -> None:
    with pytest.raises(ValueError, match=raises):
        wrong(np.zeros(7), kind, n)


@kernel(types.float64(Numbers, types.int64))
def alone(numbers: Any, n: Any) -> Any:
    counts, rows, like = np.zeros(n), np.empty((n, 2), np.int8), np.empty_like(numbers)
    rows[:, 1], like[0] = 1, numbers[0]
    words = numbers.view(np.int32).reshape(n, 2)
    return max(min(counts[0] + rows[0, 1] + words[0, 0], like[0]), float(n))


@needs_jit
def test_a_kernel_with_arrays_compiles_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.setattr("turnier.core.compilation.cache._CACHE_DIRECTORY", tmp_path)
    with event.install_recorder("numba:compile") as recorder:
        assert alone(np.ones(3), 3) == 3.0
    compiled = {one.data["dispatcher"].py_func.__qualname__.partition(".")[0] for _, one in recorder.buffer}
    assert compiled <= {"alone", "_ol_array_allocate"}  # the allocator, once in a process


@kernel(types.float64(types.int64))
def defined_twice(n: Any) -> Any:
    smaller = np.float64(n)
    for i in range(3):
        smaller = min(smaller, np.float64(i))
    table = np.zeros(shape=n)
    return smaller + table.size + np.empty(dtype=np.int32, shape=(n, 2)).itemsize


def test_other_ways_of_saying_it_stay() -> None:
    assert defined_twice(5) == 9.0
