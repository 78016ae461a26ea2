"""Arrays, and the smaller of two numbers, by instructions in the kernel that asks for them.

Numba makes `np.zeros`, a view or `min` a function of its own for all types that they are called with, and each takes a
twentieth of a second to compile: an eighth of what a newcomer waits for. What they compute stays the same.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite.ir import Constant
from numba import types
from numba.core import cgutils, ir, ir_utils
from numba.core.compiler_machinery import FunctionPass, register_pass
from numba.core.errors import TypingError
from numba.core.typing.npydecl import parse_dtype, parse_shape
from numba.cpython.builtins import do_minmax
from numba.extending import intrinsic
from numba.np import arrayobj

_Typed = tuple[Any, Callable[..., Any]]  # a signature, and what generates the instructions


def _new(shape: Any, dtype: Any, zero: bool) -> _Typed:
    item = types.float64 if getattr(dtype, "typing_key", None) is float else parse_dtype(dtype)
    dimensions = parse_shape(shape)
    if item is None or dimensions is None:
        raise TypingError(f"an array needs a shape and a dtype, got {shape} and {dtype}")

    def generate(context: Any, builder: Any, typed: Any, arguments: Any) -> Any:
        lengths = arrayobj._parse_shape(context, builder, typed.args[0], arguments[0])
        return _filled(builder, arrayobj._empty_nd_impl(context, builder, typed.return_type, lengths), zero)

    return types.Array(item, dimensions, "C")(shape, dtype), generate


def _like(array: Any, zero: bool) -> _Typed:
    if not isinstance(array, types.Array):
        raise TypingError(f"only an array has others like it, got {array}")

    def generate(context: Any, builder: Any, typed: Any, arguments: Any) -> Any:
        made, lengths = arrayobj._parse_empty_like_args(context, builder, typed, arguments)
        return _filled(builder, arrayobj._empty_nd_impl(context, builder, made, lengths), zero)

    return array.copy(layout="F" if array.layout == "F" else "C", readonly=False)(array), generate


def _filled(builder: Any, array: Any, zero: bool) -> Any:
    if zero:
        cgutils.memset(builder, array.data, builder.mul(array.itemsize, array.nitems), 0)
    return array._getvalue()


@intrinsic
def _empty(context: Any, shape: Any, dtype: Any) -> _Typed:
    return _new(shape, dtype, zero=False)


@intrinsic
def _zeros(context: Any, shape: Any, dtype: Any) -> _Typed:
    return _new(shape, dtype, zero=True)


@intrinsic
def _empty_like(context: Any, array: Any) -> _Typed:
    return _like(array, zero=False)


@intrinsic
def _zeros_like(context: Any, array: Any) -> _Typed:
    return _like(array, zero=True)


@intrinsic
def _view(context: Any, array: Any, dtype: Any) -> _Typed:
    item = parse_dtype(dtype)
    bound = context.resolve_getattr(array, "view")
    if item is None or bound is None:
        raise TypingError(f"an array has a view as a dtype, got {array} and {dtype}")
    usual = bound.get_call_type(context, (dtype,), {})

    def generate(context: Any, builder: Any, typed: Any, arguments: Any) -> Any:
        if isinstance(array, types.Array) and array.layout == "C" and array.ndim:
            before, after = (arrayobj.get_itemsize(context, each) for each in (array, usual.return_type))
            if before % after == 0:
                return _narrower(context, builder, typed, arguments[0], before // after)
        return context.get_function(bound, usual)(builder, arguments)

    return usual.return_type(array, dtype), generate


@intrinsic
def _reshape(context: Any, array: Any, shape: Any) -> _Typed:
    bound = context.resolve_getattr(array, "reshape")
    if bound is None or not all(isinstance(each, types.Integer) for each in shape):
        raise TypingError(f"an array is reshaped by whole numbers, got {array} and {shape}")
    usual = bound.get_call_type(context, tuple(shape), {})

    def generate(context: Any, builder: Any, typed: Any, arguments: Any) -> Any:
        given = cgutils.unpack_tuple(builder, arguments[1])
        if array.layout != "C":
            return context.get_function(bound, usual)(builder, [arguments[0], *given])
        lengths = [context.cast(builder, each, kind, types.intp) for each, kind in zip(given, shape, strict=True)]
        return _reshaped(context, builder, typed, arguments[0], lengths)

    return usual.return_type(array, shape), generate


def _reshaped(context: Any, builder: Any, typed: Any, value: Any, lengths: list[Any]) -> Any:
    """Returns an array without gaps in another shape; a negative length is what the others leave."""
    old = arrayobj.make_array(typed.args[0])(context, builder, value)
    new = arrayobj.make_array(typed.return_type)(context, builder)
    one, zero = (Constant(lengths[0].type, number) for number in (1, 0))
    known = one
    for each in lengths:
        known = builder.mul(known, builder.select(builder.icmp_signed("<", each, zero), one, each))
    left = builder.sdiv(old.nitems, builder.select(builder.icmp_signed("==", known, zero), one, known))
    shape = [builder.select(builder.icmp_signed("<", each, zero), left, each) for each in lengths]
    strides, size = [old.itemsize], one
    for each in reversed(shape):
        strides.insert(0, builder.mul(strides[0], each))
        size = builder.mul(size, each)
    with builder.if_then(builder.icmp_signed("!=", size, old.nitems), likely=False):
        sentence = "total size of new array must be unchanged"
        context.call_conv.return_user_exc(builder, ValueError, (sentence,))
    shared = {"itemsize": old.itemsize, "meminfo": old.meminfo, "parent": old.parent}
    arrayobj.populate_array(new, data=old.data, shape=shape, strides=strides[1:], **shared)
    return arrayobj.impl_ret_borrowed(context, builder, typed.return_type, new._getvalue())


def _narrower(context: Any, builder: Any, typed: Any, value: Any, share: int) -> Any:
    """Returns a view of an array, each of whose words becomes `share` words."""
    old = arrayobj.make_array(typed.args[0])(context, builder, value)
    new = arrayobj.make_array(typed.return_type)(context, builder)
    shape, strides = (cgutils.unpack_tuple(builder, each) for each in (old.shape, old.strides))
    itemsize = context.get_constant(types.intp, arrayobj.get_itemsize(context, typed.return_type))
    arrayobj.populate_array(
        new,
        data=builder.bitcast(old.data, new.data.type),
        shape=[*shape[:-1], builder.mul(shape[-1], Constant(shape[-1].type, share))],
        strides=[*strides[:-1], itemsize],
        itemsize=itemsize,
        meminfo=old.meminfo,
        parent=old.parent,
    )
    return arrayobj.impl_ret_borrowed(context, builder, typed.return_type, new._getvalue())


def _chosen(context: Any, one: Any, other: Any, compare: Any) -> _Typed:
    if not all(isinstance(each, types.Number | types.Boolean) for each in (one, other)):
        raise TypingError(f"min and max of two take numbers, got {one} and {other}")

    def generate(context: Any, builder: Any, typed: Any, arguments: Any) -> Any:
        return do_minmax(context, builder, typed.args, arguments, compare)

    return context.unify_types(one, other)(one, other), generate


@intrinsic
def _smaller(context: Any, one: Any, other: Any) -> _Typed:
    return _chosen(context, one, other, operator.lt)


@intrinsic
def _larger(context: Any, one: Any, other: Any) -> _Typed:
    return _chosen(context, one, other, operator.gt)


@intrinsic
def refuse_shapes(context: Any, source: Any, place: Any) -> _Typed:
    """Raises that an assigned array has another shape than its place."""

    def generate(context: Any, builder: Any, typed: Any, arguments: Any) -> Any:
        with builder.if_then(cgutils.true_bit):
            sentence = "an assigned array must have the shape of its place"
            context.call_conv.return_user_exc(builder, ValueError, (sentence,))
        return context.get_dummy_value()

    return types.none(source, place), generate


@register_pass(mutates_CFG=False, analysis_only=False)
class ArraysInPlace(FunctionPass):  # type: ignore[misc]
    """Has a kernel call the functions of this module in numba's place."""

    _name = "arrays_in_place"

    def __init__(self) -> None:
        super().__init__()

    def run_pass(self, state: Any) -> bool:
        function = state.func_ir
        for block in function.blocks.values():
            block.body = [one for statement in block.body for one in _in_place(function, block.scope, statement)]
        return True


def _in_place(function: Any, scope: Any, statement: Any) -> list[Any]:
    """Returns a statement, and before it what it needs, if it is to call a function of this module."""
    call: Any = statement.value if isinstance(statement, ir.Assign) else None
    if not isinstance(call, ir.Expr) or call.op != "call" or call.vararg or call.varkwarg:
        return [statement]
    replacing, arguments = _replacing(function, call)
    if replacing is None:
        return [statement]
    before, given = [], []
    for value in (ir.Global("in_place", replacing, call.loc), *arguments):
        if isinstance(value, ir.Var):
            given.append(value)
            continue
        given.append(scope.redefine(ir_utils.mk_unique_var("in_place"), call.loc))
        function._definitions[given[-1].name] = [value]
        before.append(ir.Assign(value, given[-1], call.loc))
    made = ir.Expr.call(given[0], given[1:], (), call.loc)
    known = function._definitions[statement.target.name]
    known[known.index(call)] = made
    return [*before, ir.Assign(made, statement.target, statement.loc)]


def _replacing(function: Any, call: Any) -> tuple[Any, list[Any]]:
    """Returns the function of this module that a call may use, or None, and its arguments: variables or values."""
    called: Any = ir_utils.guard(ir_utils.get_definition, function, call.func)
    given, named = list(call.args), dict(call.kws)
    if isinstance(called, ir.Global) and len(given) == 2 and not named:
        return (_smaller if called.value is min else _larger if called.value is max else None), given
    if not isinstance(called, ir.Expr) or called.op != "getattr" or not given or named.keys() - {"dtype"}:
        return None, given
    module: Any = ir_utils.guard(ir_utils.get_definition, function, called.value)
    if isinstance(module, ir.Global) and module.value is np:
        if called.attr in ("empty", "zeros") and len(given) + len(named) <= 2:
            dtype = [*given[1:], *named.values()] or [ir.Global("float64", np.float64, call.loc)]
            return (_empty if called.attr == "empty" else _zeros), [given[0], *dtype]
        if called.attr in ("empty_like", "zeros_like") and len(given) == 1 and not named:
            return (_empty_like if called.attr == "empty_like" else _zeros_like), given
    elif called.attr == "view" and len(given) == 1 and not named:
        return _view, [called.value, *given]
    elif called.attr == "reshape" and len(given) > 1 and not named:
        return _reshape, [called.value, ir.Expr.build_tuple(given, call.loc)]
    return None, given
