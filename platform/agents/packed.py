"""A search's kernels packed into an array: Python hands over one address in place of some forty pointers.

Taking such a tuple apart costs Python 0.1 ms a call, too much beside a decision of 1 ms. Where kernels are plain Python
(`NUMBA_DISABLE_JIT=1`) the tuple is its own package.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.core import cgutils, imputils
from numba.extending import intrinsic

from turnier.agents.abi import SEAT, SeatKernels
from turnier.games.abi import GAME, JIT, GameKernels, compile_kernel, kernel

WORDS = 128  # more than the tuple has
PACKED = types.Array(types.int64, 1, "C")
SEARCH = types.Tuple([GAME, SEAT])


def _place(context: Any, builder: Any, words: Any) -> Any:
    """Returns the array's data as a pointer to a SEARCH."""
    llvm_type = context.get_value_type(SEARCH)
    if context.get_abi_sizeof(llvm_type) > 8 * WORDS:
        raise TypeError(f"a packed search needs {context.get_abi_sizeof(llvm_type)} bytes, has {8 * WORDS}")
    return builder.bitcast(context.make_array(PACKED)(context, builder, words).data, llvm_type.as_pointer())


def _disown(context: Any, builder: Any, numba_type: Any, value: Any) -> Any:
    """Returns the value with arrays that own nothing, as a package that outlives the call must not count references."""
    if isinstance(numba_type, types.Array):
        array = context.make_array(numba_type)(context, builder, value)
        array.meminfo = cgutils.get_null_value(array.meminfo.type)
        array.parent = cgutils.get_null_value(array.parent.type)
        return array._getvalue()
    if isinstance(numba_type, types.BaseTuple):
        for i, member in enumerate(numba_type):
            value = builder.insert_value(value, _disown(context, builder, member, builder.extract_value(value, i)), i)
    return value


@intrinsic
def _write(typing_context: Any, search: Any, words: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        value, array = arguments
        builder.store(_disown(context, builder, SEARCH, value), _place(context, builder, array), align=8)
        return context.get_dummy_value()

    return types.void(SEARCH, PACKED), generate


@intrinsic
def _read(typing_context: Any, words: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        value = builder.load(_place(context, builder, arguments[0]), align=8)
        return imputils.impl_ret_borrowed(context, builder, SEARCH, value)

    return SEARCH(PACKED), generate


@kernel(types.void(GAME, SEAT, PACKED))
def write_search(game, seat, words):
    _write((game, seat), words)


unpack: Any = _read if JIT else lambda packed: packed


def pack(game: GameKernels, seat: SeatKernels) -> Any:
    """Returns what `unpack` makes (game, seat) of in a kernel, for as long as the caller keeps both."""
    if not JIT:
        return game, seat
    words = np.zeros(WORDS, np.int64)
    compile_kernel(write_search)
    write_search(game, seat, words)
    return words
