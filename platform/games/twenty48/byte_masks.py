"""Arithmetic on bytes that stays in bytes, comparisons with masks (0 or 255) as results, and the zero bytes of words.

Numba computes with small integers in 64 bits, so a loop over bytes would use an eighth of a vector register. With
`NUMBA_DISABLE_JIT=1` all functions are plain Python.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.compilation.late_numba import JIT, intrinsic, ir, types
from ...core.kernel import kernel

Byte, Word = types.uint8, types.uint64
Emit = Callable[..., Any]  # (builder, bytes...) -> a byte


def on_bytes(emit: Emit) -> Callable[[Callable[..., Any]], Any]:
    """Makes f(bytes...) -> byte machine instructions; the decorated function is the same in Python."""

    def decorate(plain: Callable[..., Any]) -> Any:
        count = len(inspect.signature(plain).parameters)

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return emit(builder, *arguments)

        def of_one(context: Any, a: Any) -> Any:
            return Byte(Byte), generate

        def of_two(context: Any, a: Any, b: Any) -> Any:
            return Byte(Byte, Byte), generate

        def of_three(context: Any, a: Any, b: Any, c: Any) -> Any:
            return Byte(Byte, Byte, Byte), generate

        return intrinsic((of_one, of_two, of_three)[count - 1]) if JIT else plain

    return decorate


def _mask(builder: Any, condition: Any) -> Any:
    return builder.sext(condition, ir.IntType(8))


@on_bytes(lambda builder, a: _mask(builder, builder.icmp_unsigned("==", a, a.type(0))))
def is_zero(a: Any) -> Any:
    return np.uint8(255 * (a == 0))


@on_bytes(lambda builder, a, b: _mask(builder, builder.icmp_unsigned("==", a, b)))
def equal(a: Any, b: Any) -> Any:
    return np.uint8(255 * (a == b))


@on_bytes(lambda builder, mask, yes, no: builder.or_(builder.and_(yes, mask), builder.and_(no, builder.not_(mask))))
def pick(mask: Any, yes: Any, no: Any) -> Any:
    return np.uint8((yes & mask) | (no & ~mask))


@on_bytes(lambda builder, mask, a: builder.and_(a, mask))
def keep(mask: Any, a: Any) -> Any:
    """Returns `a` if the mask is set, otherwise 0."""
    return np.uint8(a & mask)


@on_bytes(lambda builder, mask, a: builder.and_(a, builder.not_(mask)))
def drop(mask: Any, a: Any) -> Any:
    """Returns 0 if the mask is set, otherwise `a`."""
    return np.uint8(a & ~mask)


@on_bytes(lambda builder, mask, number: builder.sub(number, mask))
def count(mask: Any, number: Any) -> Any:
    """Returns the number, plus 1 if the mask is set."""
    return np.uint8((int(number) - int(mask)) & 255)


@on_bytes(lambda builder, change, a, b: builder.or_(change, builder.xor(a, b)))
def differ(change: Any, a: Any, b: Any) -> Any:
    """Returns the bits of `change` and those in which a and b differ."""
    return np.uint8(change | (a ^ b))


@on_bytes(lambda builder, a, bits: _mask(builder, builder.icmp_unsigned("!=", builder.and_(a, bits), a.type(0))))
def has(a: Any, bits: Any) -> Any:
    return np.uint8(255 * (a & bits != 0))


@on_bytes(lambda builder, a, bits: builder.lshr(a, bits))
def shift_right(a: Any, bits: Any) -> Any:
    return np.uint8(a >> bits)


@on_bytes(lambda builder, a: builder.sub(a, builder.zext(builder.icmp_unsigned("!=", a, a.type(0)), a.type)))
def one_less(a: Any) -> Any:
    """Returns a - 1, or 0 if it is 0."""
    return np.uint8(a - (a != 0))


def _number(context: Any, word: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(Word), generate


def _lowest_bit(word: Any) -> Any:
    """Returns the number of the lowest bit set in a word that is not 0."""
    return (int(word) & -int(word)).bit_length() - 1


lowest_bit = intrinsic(_number) if JIT else _lowest_bit

_U = np.uint64
_ONES, _BELOW_128 = _U(0x0101010101010101), _U(0x7F7F7F7F7F7F7F7F)
_7, _14, _28, _255 = _U(7), _U(14), _U(28), _U(255)


@kernel(Word(Word))
def zero_bytes(word):
    """Returns a bit for each byte of a word, set if the byte is 0; no byte may be above 128."""
    zero = (((word + _BELOW_128) >> _7) & _ONES) ^ _ONES
    zero |= zero >> _7
    zero |= zero >> _14
    return (zero | zero >> _28) & _255
