"""Operations on array elements that several threads may do at once; numba has none for CPUs.

If kernels are plain Python (`NUMBA_DISABLE_JIT=1`), one lock stands in for the processor.
"""

from __future__ import annotations

import inspect
import os
import threading
from collections.abc import Callable
from typing import Any

from .compilation.late_numba import JIT, cgutils, external_function, intrinsic, ir, types

PLAIN = threading.Condition()  # guards all shared arrays while kernels are plain Python
# Yields the processor to another thread; from the C library.
yield_processor = external_function("sched_yield", types.int32()) if JIT else os.sched_yield
Emit = Callable[..., Any]  # (builder, pointer to the element, operands...) -> the operation's result


def atomic(emit: Emit, returns: Any = None) -> Callable[[Callable[..., Any]], Any]:
    """Makes f(array, index, operands...) one machine operation; the decorated function is the same in Python.

    An index is an integer, or a tuple of them. `returns` is the result's type, by default the elements'.
    """

    def decorate(plain: Callable[..., Any]) -> Any:
        def generator(array: Any, index: Any, operands: tuple[Any, ...]) -> tuple[Any, Any]:
            many = isinstance(index, types.BaseTuple)
            at = types.UniTuple(types.int64, len(index)) if many else types.int64

            def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
                given, where, *values = arguments
                view = context.make_array(array)(context, builder, given)
                indices = cgutils.unpack_tuple(builder, where) if many else [where]
                result = emit(builder, cgutils.get_item_pointer(context, builder, array, view, indices), *values)
                return context.get_dummy_value() if returns is types.void else result

            return (array.dtype if returns is None else returns)(array, at, *operands), generate

        def without(context: Any, array: Any, index: Any) -> Any:
            return generator(array, index, ())

        def with_one(context: Any, array: Any, index: Any, operand: Any) -> Any:
            return generator(array, index, (array.dtype,))

        def locked(*arguments: Any) -> Any:
            with PLAIN:
                return plain(*arguments)

        if not JIT:
            return locked
        return intrinsic((without, with_one)[len(inspect.signature(plain).parameters) - 2])

    return decorate


@atomic(lambda builder, pointer, operand: builder.atomic_rmw("add", pointer, operand, "acq_rel"))
def fetch_add(array: Any, index: Any, operand: Any) -> Any:
    """Adds to an integer and returns its former value."""
    before = array[index]
    array[index] += operand
    return before


@atomic(lambda builder, pointer: builder.load_atomic(pointer, "acquire", 8))
def load(array: Any, index: Any) -> Any:
    """Returns an element; everything written before its `store` is then visible."""
    return array[index]


@atomic(lambda builder, pointer, operand: builder.store_atomic(operand, pointer, "release", 8), types.void)
def store(array: Any, index: Any, operand: Any) -> None:
    """Writes an element; a thread that sees it by `load` also sees everything written before."""
    array[index] = operand


def _prefetch(builder: Any, pointer: Any) -> None:
    word, byte = ir.IntType(32), ir.IntType(8).as_pointer()
    signature = ir.FunctionType(ir.VoidType(), (byte, word, word, word))
    instruction = cgutils.get_or_insert_function(builder.module, signature, "llvm.prefetch.p0")
    builder.call(instruction, (builder.bitcast(pointer, byte), word(0), word(3), word(1)))  # to read, soon, data


@atomic(_prefetch, types.void)
def prefetch(array: Any, index: Any) -> None:
    """Starts to bring an element to this core, to be read soon, without waiting for it."""
