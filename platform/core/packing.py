"""Tuples of arrays and references packed into one array: Python passes one address instead of many.

Taking many arrays apart costs Python up to 0.1 ms per call, too much for a decision of 1 ms. If kernels are plain
Python (`NUMBA_DISABLE_JIT=1`), a tuple is its own package.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

from .compilation.late_numba import LateModule, evaluated, intrinsic, types
from .kernel import JIT, compile_kernel, kernel

imputils, lending = LateModule("numba.core.imputils"), LateModule(f"{__package__}.compilation.lending")
WORDS = 512  # of a package
Package = types.Array(types.int64, 1, "C")


def _tuples_in(words: Any, content: Any, context: Any, builder: Any) -> Any:
    """Returns the data of an array as a pointer to tuples."""
    data = context.make_array(evaluated(Package))(context, builder, words).data
    return builder.bitcast(data, context.get_value_type(evaluated(content)).as_pointer())


def _stored(value: Any, content: Any, place: Any, context: Any, builder: Any) -> Any:
    builder.store(lending.disown(context, builder, evaluated(content), value), place, align=8)
    return context.get_dummy_value()


def _loaded(content: Any, place: Any, context: Any, builder: Any) -> Any:
    value = lending.disown(context, builder, evaluated(content), builder.load(place, align=8))
    return imputils.impl_ret_borrowed(context, builder, evaluated(content), value)


def packing(content: Any) -> tuple[Any, Any]:
    """Returns write(words, tuple) and read(words) -> tuple, usable in kernels, for a numba type of tuple."""

    def place(context: Any, builder: Any, words: Any) -> Any:
        size = context.get_abi_sizeof(context.get_value_type(evaluated(content)))
        if size > 8 * WORDS:
            raise TypeError(f"{content} needs {size} bytes, a package has {8 * WORDS}")
        return _tuples_in(words, content, context, builder)

    def write(typing_context: Any, words: Any, value: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return _stored(arguments[1], content, place(context, builder, arguments[0]), context, builder)

        return types.void(Package, content), generate

    def read(typing_context: Any, words: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return _loaded(content, place(context, builder, arguments[0]), context, builder)

        return content(Package), generate

    if not JIT:
        return None, lambda packed: packed
    return intrinsic(write), intrinsic(read)


@kernel(Package(types.int64))
def _new_shelf(n):
    return np.empty(n * WORDS, np.int64)


def _new_list(n: int) -> list[Any]:
    """Returns a shelf for n tuples, see `shelf`."""
    return [None] * n


new_shelf: Any = _new_shelf if JIT else _new_list


def shelf(content: Any) -> tuple[Any, Any]:
    """Returns put(shelf, i, tuple) and get(shelf, i) -> tuple, usable in kernels, for a numba type of tuple.

    Numba's lists would count references to all arrays of the tuple at every access. Arrays on a shelf own nothing:
    the caller of `put` must keep them.
    """

    def place(context: Any, builder: Any, words: Any, index: Any) -> Any:
        return builder.gep(_tuples_in(words, content, context, builder), [index])

    def put(typing_context: Any, words: Any, index: Any, value: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            words, index, value = arguments
            return _stored(value, content, place(context, builder, words, index), context, builder)

        return types.void(Package, types.int64, content), generate

    def get(typing_context: Any, words: Any, index: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return _loaded(content, place(context, builder, *arguments), context, builder)

        return content(Package, types.int64), generate

    if not JIT:
        return list.__setitem__, list.__getitem__
    return intrinsic(put), intrinsic(get)


class Remade(np.ndarray[Any, Any]):
    """An array with addresses in it: a copy or pickle of it is made anew from its origin."""

    origin: tuple[Callable[..., Any], tuple[Any, ...]]  # a function and its arguments

    def __reduce__(self) -> tuple[Any, ...]:
        return self.origin

    def __deepcopy__(self, memo: dict[int, Any] | None) -> Any:
        make, arguments = self.origin
        return make(*copy.deepcopy(arguments, memo))


def pack(write: Callable[..., None], *members: Any) -> Any:
    """Returns the members packed by the kernel `write` (words, *members); the package keeps them."""
    if not JIT:
        return members
    words = np.zeros(WORDS, np.int64).view(Remade)
    words.origin = pack, (write, *members)
    compile_kernel(write)
    write(words, *members)
    return words
