"""Kernels: module-level functions that compile once, run without the GIL, and are kept on disk for every process."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numba
from numba import njit, types
from numba.core.compiler_lock import global_compiler_lock
from numba.core.types import WrapperAddressProtocol
from numba.extending import typeof_impl

from .compilation.cache import KernelCache
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
        options = {
            "nogil": True,
            "error_model": "numpy",
            "inline": "always" if inline else "never",
            "pipeline_class": LendingCompiler,
        }
        function.kernel_signature, function.kernel_options = signature, options
        dispatcher: Any = njit(**options)(function)
        dispatcher.kernel_signature, dispatcher.kernel_marks = signature, marks
        if JIT:
            dispatcher._cache = function.kernel_cache = KernelCache(function)
            dispatcher.compile = functools.partial(_compile, dispatcher, dispatcher.compile)
            dispatcher.get_call_template = functools.partial(_call_template, signature, dispatcher.get_call_template)
        return dispatcher

    return decorate


def _call_template(declared: Any, usual: Callable[..., Any], arguments: Any, named: Any) -> Any:
    """Has compiled callers pass numbers as declared; numba would compile a kernel again for a literal 0."""
    if not named and len(arguments) == len(declared.args):
        arguments = tuple(map(_as_declared, arguments, declared.args))
    return usual(arguments, named)


def _as_declared(given: Any, declared: Any) -> Any:
    plain = types.unliteral(given) if isinstance(given, types.Literal) else given
    if not isinstance(plain, types.Integer) or not isinstance(declared, types.Integer | types.Float):
        return given
    fits = isinstance(declared, types.Float) or (
        plain.signed == declared.signed and plain.bitwidth <= declared.bitwidth
    )
    return declared if fits else given


def _compile(dispatcher: Any, compile_or_load: Callable[[Any], Any], signature: Any) -> Any:
    """Compiles or loads in numba's place; of several processes one compiles, and the others load its result."""
    if dispatcher.overloads:
        return compile_or_load(signature)
    # First the lock of numba, which all threads of a process share: in this order none can wait for another forever.
    with global_compiler_lock:
        if dispatcher._cache.is_stored():
            found = compile_or_load(signature)
        else:
            with compiled(dispatcher.py_func), dispatcher._cache.alone():
                found = compile_or_load(signature)
        for result in dispatcher.overloads.values():
            result.library.belongs_to(dispatcher)
    return found


# As numba does it once it compiles something: a process that finds all kernels in the cache passes pointers, too.
typeof_impl.register(WrapperAddressProtocol)(lambda value, context: types.FunctionType(value.signature()))


class KernelPointer(WrapperAddressProtocol):
    """A compiled kernel as a first-class function that other compiled code can call."""

    def __init__(self, dispatcher: Any) -> None:
        self._signature = dispatcher.kernel_signature
        dispatcher.compile(self._signature.args)
        compiled = dispatcher.overloads[self._signature.args]
        if types.unliteral(compiled.signature.return_type) != self._signature.return_type:
            # Callers would read the result as the declared type, and get noise.
            raise TypeError(
                f"kernel {dispatcher.__name__} must return {self._signature.return_type} on every path, got"
                f" {compiled.signature.return_type}"
            )
        self._address = compiled.library.get_pointer_to_function(compiled.fndesc.llvm_cfunc_wrapper_name)
        self._dispatcher = dispatcher  # keeps the machine code alive

    def __wrapper_address__(self) -> int:
        return int(self._address)

    def __deepcopy__(self, memo: dict[int, Any]) -> KernelPointer:
        return self  # machine code never changes

    def signature(self) -> Any:
        return self._signature

    def __call__(self, *arguments: Any) -> Any:
        return self._dispatcher(*arguments)


def pointer(dispatcher: Any, signature: Any) -> Any:
    """Returns `dispatcher` as a function pointer; raises TypeError if it was declared with another signature."""
    if dispatcher.kernel_signature != signature:
        raise TypeError(
            f"kernel {dispatcher.__name__} must be declared @kernel({signature}), got {dispatcher.kernel_signature}"
        )
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
    if JIT and not dispatcher.signatures:
        dispatcher.compile(dispatcher.kernel_signature.args)


def tell_type(cls: type[NamedTuple], numba_type: Any) -> None:
    """Declares the type of a tuple: inferring it took numba most of the time of a call from Python."""
    typeof_impl.register(cls)(lambda value, context: numba_type)
