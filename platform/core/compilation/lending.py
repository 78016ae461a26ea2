"""Compiles kernels that count no references to their arguments: these belong to the caller.

With an atomic instruction, numba counts a reference to every array that a function takes out of a tuple or passes on:
in a kernel of nanoseconds that takes longer than the work. For arrays without an owner only the call remains.
"""

from __future__ import annotations

from typing import Any

from numba import types
from numba.core import cgutils
from numba.core.compiler_machinery import register_pass
from numba.core.lowering import Lower
from numba.core.typed_passes import NativeLowering
from numba.np import arrayobj

from .apart import KernelLibrary
from .arrays import refuse_shapes


def disown(context: Any, builder: Any, numba_type: Any, value: Any) -> Any:
    """Returns the value with arrays that own nothing: while the caller owns them, there is nothing to count."""
    if isinstance(numba_type, types.Array):
        array = context.make_array(numba_type)(context, builder, value)
        array.meminfo = cgutils.get_null_value(array.meminfo.type)
        array.parent = cgutils.get_null_value(array.parent.type)
        return array._getvalue()
    if isinstance(numba_type, types.BaseTuple):
        for i, member in enumerate(numba_type):
            value = builder.insert_value(value, disown(context, builder, member, builder.extract_value(value, i)), i)
    return value


def _has_arrays(numba_type: Any) -> bool:
    return isinstance(numba_type, types.Array) or any(map(_has_arrays, getattr(numba_type, "types", ())))


class _LendingLower(Lower):  # type: ignore[misc]
    """Generates machine code of kernels that own none of their arguments, unless they may return one."""

    def extract_function_arguments(self) -> Any:
        values, argument_types = super().extract_function_arguments(), self.fndesc.argtypes
        if not _has_arrays(self.fndesc.restype):
            values = [disown(self.context, self.builder, *each) for each in zip(argument_types, values, strict=True)]
            self.fnargs = values
        return values


@register_pass(mutates_CFG=True, analysis_only=False)
class LendingLowering(NativeLowering):  # type: ignore[misc]
    _name = "lending_lowering"

    def run_pass(self, state: Any) -> bool:
        state.library = KernelLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()  # as numba's own
        # For numba's own sentence, which has the shapes in it, every process would compile 2 s of text formatting.
        usual = vars(arrayobj).get("raise_with_shape_context")
        arrayobj.raise_with_shape_context = refuse_shapes
        try:
            return bool(super().run_pass(state))
        finally:
            arrayobj.raise_with_shape_context = usual

    @property
    def lowering_class(self) -> type[Lower]:
        return _LendingLower
