"""Tuples of kernels and arrays packed into one array: Python passes one address instead of many pointers.

Taking a game's kernels apart costs Python 0.1 ms per call, too much for a decision of 1 ms. Where kernels are plain
Python (`NUMBA_DISABLE_JIT=1`) a tuple is its own package.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import types
from numba.core import cgutils, imputils
from numba.extending import intrinsic

from turnier.core.kernel import JIT, compile_kernel, kernel

WORDS = 512  # of a package
Package = types.Array(types.int64, 1, "C")


def _disown(context: Any, builder: Any, numba_type: Any, value: Any) -> Any:
    """Returns the value with arrays that own nothing: a package outlives the call, and cannot count references."""
    if isinstance(numba_type, types.Array):
        array = context.make_array(numba_type)(context, builder, value)
        array.meminfo = cgutils.get_null_value(array.meminfo.type)
        array.parent = cgutils.get_null_value(array.parent.type)
        return array._getvalue()
    if isinstance(numba_type, types.BaseTuple):
        for i, member in enumerate(numba_type):
            value = builder.insert_value(value, _disown(context, builder, member, builder.extract_value(value, i)), i)
    return value


def packing(content: Any) -> tuple[Any, Any]:
    """Returns, for kernels, write(words, tuple) and read(words) -> tuple, for a numba type of tuple."""

    def place(context: Any, builder: Any, words: Any) -> Any:
        """Returns the array's data as a pointer to the tuple."""
        llvm_type = context.get_value_type(content)
        if context.get_abi_sizeof(llvm_type) > 8 * WORDS:
            raise TypeError(f"{content} needs {context.get_abi_sizeof(llvm_type)} bytes, a package has {8 * WORDS}")
        return builder.bitcast(context.make_array(Package)(context, builder, words).data, llvm_type.as_pointer())

    def write(typing_context: Any, words: Any, value: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            value = _disown(context, builder, content, arguments[1])
            builder.store(value, place(context, builder, arguments[0]), align=8)
            return context.get_dummy_value()

        return types.void(Package, content), generate

    def read(typing_context: Any, words: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            value = builder.load(place(context, builder, arguments[0]), align=8)
            return imputils.impl_ret_borrowed(context, builder, content, value)

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
    """Returns, for kernels, put(shelf, i, tuple) and get(shelf, i) -> tuple, for a numba type of tuple.

    Numba's lists would count the references of all its arrays at every access. On a shelf arrays own nothing; whoever
    puts them there must keep them.
    """

    def place(context: Any, builder: Any, words: Any, index: Any) -> Any:
        llvm_type = context.get_value_type(content)
        data = builder.bitcast(context.make_array(Package)(context, builder, words).data, llvm_type.as_pointer())
        return builder.gep(data, [index])

    def put(typing_context: Any, words: Any, index: Any, value: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            words, index, value = arguments
            builder.store(_disown(context, builder, content, value), place(context, builder, words, index), align=8)
            return context.get_dummy_value()

        return types.void(Package, types.int64, content), generate

    def get(typing_context: Any, words: Any, index: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            value = builder.load(place(context, builder, *arguments), align=8)
            return imputils.impl_ret_borrowed(context, builder, content, value)

        return content(Package, types.int64), generate

    if not JIT:
        return list.__setitem__, list.__getitem__
    return intrinsic(put), intrinsic(get)


def _lend(typing_context: Any, value: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        value = _disown(context, builder, signature.args[0], arguments[0])
        return imputils.impl_ret_borrowed(context, builder, signature.return_type, value)

    return value(value), generate


def _lend_plainly(value: Any) -> Any:
    """Returns a tuple whose arrays own nothing, for loops in which counting references takes longer than the work.

    Only for arrays that a caller of the kernel owns: those that it made itself would be gone after their last use.
    """
    return value


lend: Any = intrinsic(_lend) if JIT else _lend_plainly


def pack(write: Callable[..., None], *members: Any) -> Any:
    """Returns the members packed by the kernel `write` (words, *members), for as long as the caller keeps them all."""
    if not JIT:
        return members
    words = np.zeros(WORDS, np.int64)
    compile_kernel(write)
    write(words, *members)
    return words
