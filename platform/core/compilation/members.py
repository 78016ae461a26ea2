"""The numba side of classes by reference: their types, their members in memory, and how compiled code reads these."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.datamodel.models import OpaqueModel
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.extending import NativeValue, lower_getattr_generic, register_model, unbox

from .late_numba import type_of

_WORD = 8  # bytes


def pointer_type(signature: Any) -> types.Type:
    """Returns the type of a member that is a kernel's address."""
    return types.ExternalFunctionPointer(signature, get_pointer=_address_of)


class LateType(types.Type):  # type: ignore[misc]
    """The type of a member that is the cell of a kernel which compiled code may be the first to ask for."""

    def __init__(self, signature: Any) -> None:
        self.called = pointer_type(signature)
        self.types = (self.called,)
        super().__init__(f"late {signature}")


def _address_of(kernel: Any) -> int:
    """Returns the address of a pointer; 0 for a kernel marked as a stand-in, which compiled code never calls."""
    return 0 if getattr(kernel, "kernel_marks", {}).get("stand_in") else int(kernel.__wrapper_address__())


def _cell_of(kernel: Any) -> int:
    return 0 if getattr(kernel, "kernel_marks", {}).get("stand_in") else int(kernel.cell.ctypes.data)


class ReferenceType(types.Type):  # type: ignore[misc]
    """The numba type of a class by reference; its attributes are the members."""

    def __init__(self, cls: type, members: tuple[types.Type, ...]) -> None:
        self.instance_class, self.members = cls, members
        super().__init__(f"{cls.__name__}({cls.__module__})")

    @property
    def fields(self) -> tuple[str, ...]:
        return tuple(field.name for field in dataclasses.fields(self.instance_class))

    def __reduce__(self) -> tuple[Any, ...]:
        return type_of, (self.instance_class,)  # which its class declares, and has no need to be stored


def words_of(numba_type: ReferenceType, values: Iterable[Any]) -> list[int]:
    """Returns the members of an object in memory."""
    members = zip(values, numba_type.members, strict=True)
    return list(itertools.chain.from_iterable(itertools.starmap(_words_of, members)))


def _words_of(value: Any, member: types.Type) -> list[int]:
    """Returns a member in memory."""
    if isinstance(member, ReferenceType):
        return [value.address]
    if isinstance(member, types.ExternalFunctionPointer):
        return [_address_of(value)]
    if isinstance(member, LateType):
        return [_cell_of(value)]
    if isinstance(member, types.Array):  # numba's array, which belongs to nobody
        return [0, 0, value.size, value.itemsize, value.ctypes.data, *value.shape, *value.strides]
    word = np.array([value], np.float64 if member is types.float64 else np.int64)
    return [int(word.view(np.int64)[0])]


def _width(member: types.Type) -> int:
    """Returns the number of words of a member."""
    return 5 + 2 * member.ndim if isinstance(member, types.Array) else 1


register_model(ReferenceType)(OpaqueModel)


@infer_getattr
class _Members(AttributeTemplate):  # type: ignore[misc]
    key = ReferenceType

    def generic_resolve(self, numba_type: ReferenceType, name: str) -> types.Type | None:
        member = dict(zip(numba_type.fields, numba_type.members, strict=True)).get(name)
        return member.called if isinstance(member, LateType) else member


@lower_getattr_generic(ReferenceType)
def _load(context: Any, builder: Any, numba_type: ReferenceType, value: Any, name: str) -> Any:
    from .lending import disown  # which only who compiles imports

    place = numba_type.fields.index(name)
    member = numba_type.members[place]
    offset = _WORD * sum(map(_width, numba_type.members[:place]))
    if isinstance(member, LateType):
        return _load_late(context, builder, member, cgutils.pointer_add(builder, value, offset))
    there = cgutils.pointer_add(builder, value, offset, context.get_value_type(member).as_pointer())
    loaded = builder.load(there, align=_WORD)
    loaded.set_metadata("invariant.load", builder.module.add_metadata([]))
    return disown(context, builder, member, loaded)


def _load_late(context: Any, builder: Any, member: LateType, place: Any) -> Any:
    """Loads the address of a kernel from its cell; if there is none yet, has Python make it."""
    address = context.get_value_type(member.called)
    cell = builder.load(builder.bitcast(place, address.as_pointer().as_pointer()), align=_WORD)
    with builder.if_then(cgutils.is_null(builder, builder.load(cell, align=_WORD)), likely=False):
        make = builder.load(builder.gep(cell, [ir.Constant(ir.IntType(32), 1)]), align=_WORD)
        builder.call(builder.bitcast(make, ir.FunctionType(ir.VoidType(), []).as_pointer()), [])
    return builder.load(cell, align=_WORD)


@unbox(ReferenceType)
def _unbox(numba_type: ReferenceType, value: Any, c: Any) -> NativeValue:
    number = c.pyapi.object_getattr_string(value, "address")
    address = cgutils.alloca_once_value(c.builder, ir.Constant(cgutils.voidptr_t, None))
    with c.builder.if_then(cgutils.is_not_null(c.builder, number)):
        c.builder.store(c.pyapi.long_as_voidptr(number), address)
        c.pyapi.decref(number)
    return NativeValue(c.builder.load(address), is_error=c.pyapi.c_api_error())
