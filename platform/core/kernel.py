"""Kernels: module-level functions that compile once, run without the GIL, and are kept on disk for every process."""

from __future__ import annotations

import ctypes
import os
import traceback
from collections.abc import Callable
from typing import Any, NamedTuple

import numba
import numpy as np
from numba import types
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import CPUDispatcher
from numba.core.types import WrapperAddressProtocol
from numba.core.typing import make_concrete_template
from numba.extending import typeof_impl

from .compilation.cache import KernelCache
from .compilation.entry import entry_to, has_entry
from .compilation.lending import LendingCompiler
from .compilation.progress import compiled

JIT = not numba.config.DISABLE_JIT


def kernel(signature: Any, inline: bool = False, **marks: Any) -> Callable[[Callable[..., Any]], Any]:
    """Marks a module-level function as a kernel with the given numba signature.

    It compiles at its first use, once, without the GIL, and is cached on disk. Kernels never raise and allocate nothing
    inside a simulation loop; their arrays belong to their callers. With `NUMBA_DISABLE_JIT=1` they are plain Python and
    give the same results, bit for bit. `inline` copies the source of the kernel into its callers, which spares small
    helpers with many arrays the passing of these. `marks` are facts that Python may ask for, see `mark_of`.
    """

    def decorate(function: Any) -> Any:
        function.kernel_signature, function.kernel_marks = signature, marks
        function.kernel_options = {
            "nopython": True,
            "nogil": True,
            "error_model": "numpy",
            "inline": "always" if inline else "never",
        }
        return Kernel(function) if JIT else function

    return decorate


class Kernel(CPUDispatcher):  # type: ignore[misc]
    """A kernel's machine code, and its entry once Python or a pointer has asked for it.

    It is pickled and copied as what it is: the one of its name in its module.
    """

    kernel_signature: Any
    kernel_options: dict[str, Any]
    kernel_marks: dict[str, Any]

    def __init__(self, function: Any) -> None:
        super().__init__(function, targetoptions=dict(function.kernel_options), pipeline_class=LendingCompiler)
        self._cache = function.kernel_cache = KernelCache(function)
        self._entries: dict[tuple[Any, ...], Any] = {}

    def __reduce__(self) -> str:
        return str(self.__qualname__)

    def compile(self, arguments: Any) -> Any:
        """Returns what Python calls; numba asks for it at the first call with these types, or by a signature."""
        return self.entry(tuple(getattr(arguments, "args", arguments))).entry_point

    def entry(self, arguments: tuple[Any, ...]) -> Any:
        """Returns the result of compiling that has the entry for arguments of these types."""
        if arguments not in self._entries:
            with global_compiler_lock:
                if arguments not in self._entries:  # two would take the code from the thread that runs the first
                    found = self.code(arguments, with_entry=True)
                    if not has_entry(found):
                        found = self._entry_to(found, ("entry", *arguments))
                    self._entries[arguments] = found
                    self._insert([each._code for each in arguments], found.entry_point, False)
        return self._entries[arguments]

    def _entry_to(self, result: Any, key: tuple[Any, ...]) -> Any:
        made = self._cache.load_overload(key, self.targetctx)
        if made is None:
            made = entry_to(result)
            self._cache.save_overload(key, made)
        return made

    def code(self, arguments: tuple[Any, ...], with_entry: bool = False) -> Any:
        """Compiles or loads in numba's place; of several processes one compiles, and the others load its result."""
        # First numba's lock, which all threads of a process share: in this order none can wait for another forever.
        with global_compiler_lock:
            if arguments not in self.overloads:
                with_entry = with_entry or _has_arrays(self.kernel_signature.return_type)
                self.targetoptions["no_cpython_wrapper"] = self.targetoptions["no_cfunc_wrapper"] = not with_entry
                if self.overloads or self._cache.is_stored():
                    super().compile(arguments)
                else:
                    with compiled(self.py_func), self._cache.alone():
                        super().compile(arguments)
                for result in self.overloads.values():
                    result.library.belongs_to(self)
            return self.overloads[arguments]

    def add_overload(self, result: Any) -> None:
        self.overloads[tuple(result.signature.args)] = result  # Python calls entries

    def get_call_template(self, arguments: Any, named: Any) -> Any:
        """Has compiled callers pass numbers as declared; numba would compile a kernel again for a literal 0."""
        declared = self.kernel_signature.args
        if not named and len(arguments) == len(declared):
            arguments = tuple(map(_as_declared, arguments, declared))
        signature, arguments = self._compiler.fold_argument_types(arguments, named)
        self.code(tuple(arguments))
        template = make_concrete_template(self.__name__, key=self.__name__, signatures=self.nopython_signatures)
        return template, signature, arguments, {}


def _has_arrays(result: Any) -> bool:
    """Whether a result has arrays; to hand them to Python, an entry needs constants that numba keeps with the code."""
    return isinstance(result, types.Array) or any(map(_has_arrays, getattr(result, "types", ())))


def _as_declared(given: Any, declared: Any) -> Any:
    plain = types.unliteral(given) if isinstance(given, types.Literal) else given
    if not isinstance(plain, types.Integer) or not isinstance(declared, types.Integer | types.Float):
        return given
    fits = isinstance(declared, types.Float) or (
        plain.signed == declared.signed and plain.bitwidth <= declared.bitwidth
    )
    return declared if fits else given


# As numba does it once it compiles something: a process that finds all kernels in the cache passes pointers, too.
typeof_impl.register(WrapperAddressProtocol)(lambda value, context: types.FunctionType(value.signature()))


class KernelPointer(WrapperAddressProtocol):
    """A compiled kernel as a first-class function that other compiled code can call."""

    def __init__(self, dispatcher: Any) -> None:
        self._signature = dispatcher.kernel_signature
        entry = dispatcher.entry(self._signature.args)
        if types.unliteral(entry.signature.return_type) != self._signature.return_type:
            # Callers would read the result as the declared type, and get noise.
            raise TypeError(
                f"kernel {dispatcher.__name__} must return {self._signature.return_type} on every path, got"
                f" {entry.signature.return_type}"
            )
        self._address = entry.library.get_pointer_to_function(entry.fndesc.llvm_cfunc_wrapper_name)
        self._dispatcher = dispatcher  # keeps the machine code alive
        self.cell = np.array([self._address, 0], np.int64)  # as that of a LatePointer, in whose place it may stand

    def __wrapper_address__(self) -> int:
        return int(self._address)

    def __reduce__(self) -> tuple[Any, ...]:
        return _pointer_to, (self._dispatcher,)  # in another process, machine code has another address

    def signature(self) -> Any:
        return self._signature

    def __call__(self, *arguments: Any) -> Any:
        return self._dispatcher(*arguments)


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
    return _pointer_to(_declared(dispatcher, signature))


def late_pointer(dispatcher: Any, signature: Any) -> Any:
    """Returns `dispatcher` as a pointer that is made when it is needed; see `pointer`.

    That of code from elsewhere is made at once: what is wrong with it could not be said once compiled code calls it.
    """
    _declared(dispatcher, signature)
    is_ours = dispatcher.__module__.partition(".")[0] == __name__.partition(".")[0]
    return (_late_to if is_ours else _pointer_to)(dispatcher)


def _declared(dispatcher: Any, signature: Any) -> Any:
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
    found = vars(dispatcher).get("kernel_pointer")
    # Pointers are compared by identity: threads that ask for the first time at once must get the same one.
    return found or vars(dispatcher).setdefault("kernel_pointer", KernelPointer(dispatcher))


def mark_of(pointed: Any, name: str) -> Any:
    """Returns a mark of the kernel behind a pointer; None if it has no such mark."""
    return getattr(pointed, "_dispatcher", pointed).kernel_marks.get(name)


def compile_kernel(dispatcher: Any) -> None:
    """Compiles or loads, in advance, a kernel that Python calls directly."""
    if JIT:
        dispatcher.entry(dispatcher.kernel_signature.args)


def tell_type(cls: type[NamedTuple], numba_type: Any) -> None:
    """Declares the type of a tuple: inferring it took numba most of the time of a call from Python."""
    typeof_impl.register(cls)(lambda value, context: numba_type)
