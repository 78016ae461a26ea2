"""Kernels: module-level functions that compile once, run without the GIL, and are kept on disk for every process."""

from __future__ import annotations

import ctypes
import functools
import os
import traceback
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .compilation.late_numba import JIT, Late, declared, evaluated, types, with_numba

__all__ = ["JIT", "compile_kernel", "kernel", "late_pointer", "make_now", "mark_of", "pointer", "tell_type", "types"]


def kernel(signature: Any, inline: bool = False, **marks: Any) -> Callable[[Callable[..., Any]], Any]:
    """Marks a module-level function as a kernel with the given numba signature.

    It compiles at its first use, once, without the GIL, and is cached on disk. Kernels never raise and allocate nothing
    inside a simulation loop; their arrays belong to their callers. With `NUMBA_DISABLE_JIT=1` they are plain Python and
    give the same results, bit for bit. `inline` copies the source of the kernel into its callers, which spares small
    helpers with many arrays the passing of these. `marks` are facts that Python may ask for, see `mark_of`.
    """

    def decorate(function: Any) -> Any:
        function.kernel_signature, function.kernel_marks = declared(signature), marks
        function.kernel_options = {
            "nopython": True,
            "nogil": True,
            "error_model": "numpy",
            "inline": "always" if inline else "never",
        }
        return Kernel(function) if JIT else function

    return decorate


class Kernel(Late):
    """A kernel as others see it; numba is imported, and makes its dispatcher, when somebody calls or compiles it.

    It is pickled and copied as what it is: the one of its name in its module.
    """

    __slots__ = ("__call__",)  # Python calls what is in the slot: the dispatcher, once made

    kernel_signature: Any
    kernel_options: dict[str, Any]
    kernel_marks: dict[str, Any]
    py_func: Any

    def __init__(self, function: Any) -> None:
        functools.update_wrapper(self, function)
        self.py_func = function
        self.__call__ = self._first_call

    def _evaluate(self) -> Any:
        from .compilation.dispatcher import Dispatcher

        return Dispatcher(self, self.py_func)

    def _first_call(self, *arguments: Any, **named: Any) -> Any:
        self.__call__ = self.evaluated
        return self.evaluated(*arguments, **named)

    @property
    def numba_type(self) -> Any:
        from numba import typeof

        return typeof(self.evaluated)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # as those who only look at it ask
            raise AttributeError(name)
        return getattr(self.evaluated, name)

    def __reduce__(self) -> str:
        return str(self.__qualname__)


class LatePointer:
    """A kernel that few agents need: it is compiled once compiled code calls it by its cell, or by `make_now` before.

    The cell has the address, 0 until then, and that of a function that makes it.
    """

    def __init__(self, dispatcher: Any) -> None:
        self._dispatcher = dispatcher
        self._entry = ctypes.CFUNCTYPE(None)(self._make_for_caller)
        self.cell = np.array([0, ctypes.cast(self._entry, ctypes.c_void_p).value or 0], np.int64)

    def make(self) -> None:
        self.cell[0] = _pointer_to(self._dispatcher).__wrapper_address__()

    def _make_for_caller(self) -> None:
        try:
            self.make()
        except BaseException:  # there is no way back to the caller
            traceback.print_exc()
            os._exit(1)

    def __reduce__(self) -> tuple[Any, ...]:
        return _late_to, (self._dispatcher,)

    def __call__(self, *arguments: Any) -> Any:
        return self._dispatcher(*arguments)


def make_now(*pointers: Any) -> None:
    """Compiles or loads kernels that may have been left for later, before a clock starts."""
    for one in pointers:
        if isinstance(one, LatePointer):
            one.make()


def pointer(dispatcher: Any, signature: Any) -> Any:
    """Returns `dispatcher` as a function pointer; raises TypeError if it was declared with another signature."""
    return _pointer_to(_checked(dispatcher, signature))


def late_pointer(dispatcher: Any, signature: Any) -> Any:
    """Returns `dispatcher` as a pointer that is made when it is needed; see `pointer`.

    That of code from elsewhere is made at once: what is wrong with it could not be said once compiled code calls it.
    """
    _checked(dispatcher, signature)
    is_ours = dispatcher.__module__.partition(".")[0] == __name__.partition(".")[0]
    return (_late_to if is_ours else _pointer_to)(dispatcher)


def _checked(dispatcher: Any, signature: Any) -> Any:
    if dispatcher.kernel_signature != signature:
        raise TypeError(
            f"kernel {dispatcher.__name__} must be declared @kernel({signature}), got {dispatcher.kernel_signature}"
        )
    return dispatcher


def _late_to(dispatcher: Any) -> Any:
    if not JIT:
        return dispatcher
    return vars(dispatcher).get("late_pointer") or vars(dispatcher).setdefault("late_pointer", LatePointer(dispatcher))


def _pointer_to(dispatcher: Any) -> Any:
    if not JIT:
        return dispatcher
    from .compilation.dispatcher import pointer_to

    return pointer_to(dispatcher)


def mark_of(pointed: Any, name: str) -> Any:
    """Returns a mark of the kernel behind a pointer; None if it has no such mark."""
    return getattr(pointed, "_dispatcher", pointed).kernel_marks.get(name)


def compile_kernel(dispatcher: Any) -> None:
    """Compiles or loads, in advance, a kernel that Python calls directly."""
    if JIT:
        dispatcher.entry(dispatcher.kernel_signature.args)


def tell_type(cls: type[NamedTuple], numba_type: Any) -> None:
    """Declares the type of a tuple: inferring it took numba most of the time of a call from Python."""

    def tell() -> None:
        from numba.extending import typeof_impl

        typeof_impl.register(cls)(lambda value, context: evaluated(numba_type))

    with_numba(tell)
