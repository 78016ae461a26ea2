"""The numba side of kernels: their machine code, their entries, and pointers to them.

Entries are the wrappers by which Python and pointers call a kernel. Most kernels are called by compiled code alone, and
wrappers took a quarter of the time of compiling them. A kernel that Python asks for first is compiled with its entry;
one that compiled code has asked for gets an entry of its own later.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from numba import types
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import CPUDispatcher, cpu_target
from numba.core.typed_passes import NativeLowering
from numba.core.types import WrapperAddressProtocol
from numba.core.typing import make_concrete_template
from numba.core.untyped_passes import InlineInlinables
from numba.extending import typeof_impl

from .apart import KernelLibrary, unannounced
from .by_reference import ByReference
from .cache import cache_of
from .late_numba import CalledByAddress, Late, evaluated, numba_is_here, type_of
from .progress import compiled


@functools.cache
def _own_passes() -> tuple[type, type]:
    """Returns what replaces `NativeLowering`, and what follows `InlineInlinables`.

    They import much of numba that machine code from the cache does not need.
    """
    from .arrays import ArraysInPlace
    from .lending import LendingLowering

    cpu_target.typing_context.refresh()  # the compiler at work has looked before for what they declare
    cpu_target.target_context.refresh()
    return LendingLowering, ArraysInPlace


class KernelCompiler(CompilerBase):  # type: ignore[misc]
    """Numba's compiler with arrays in place, and with kernels that own none of their arguments."""

    def define_pipelines(self) -> list[Any]:
        lowering, in_place = _own_passes()
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.passes = [(lowering if step is NativeLowering else step, about) for step, about in passes.passes]
        passes.add_pass_after(in_place, InlineInlinables)
        passes.finalize()
        return [passes]


class Dispatcher(CPUDispatcher):  # type: ignore[misc]
    """A kernel's machine code, and its entry once Python or a pointer has asked for it."""

    kernel_signature: Any

    def __init__(self, kernel: Late, function: Any) -> None:
        super().__init__(function, targetoptions=dict(function.kernel_options), pipeline_class=KernelCompiler)
        self.kernel = kernel
        self._cache = cache_of(function)
        self._entries: dict[tuple[Any, ...], Any] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return evaluated, (self.kernel,)

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
                    with compiled(self.py_func), self._cache.alone(), unannounced():
                        super().compile(arguments)
                for result in self.overloads.values():
                    result.library.belongs_to(self)
            return self.overloads[arguments]

    def add_overload(self, result: Any) -> None:
        self.overloads[tuple(result.signature.args)] = result  # Python calls entries

    def get_call_template(self, arguments: Any, named: Any) -> Any:
        """Has callers pass numbers and flags as declared; numba would compile a kernel again for a literal one."""
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
    if plain == declared:
        return declared
    if not isinstance(plain, types.Integer) or not isinstance(declared, types.Integer | types.Float):
        return given
    fits = isinstance(declared, types.Float) or (
        plain.signed == declared.signed and plain.bitwidth <= declared.bitwidth
    )
    return declared if fits else given


def has_entry(result: Any) -> bool:
    """Whether a compiled kernel has its entry with it."""
    return bool(result.library.get_pointer_to_function(result.fndesc.llvm_cpython_wrapper_name))


def entry_to(result: Any) -> Any:
    """Returns the compiled entry of a kernel that has none."""
    context, fndesc, environment = cpu_target.target_context, result.fndesc, result.environment
    context.refresh()
    library = KernelLibrary(context.codegen(), f"entry to {result.library.name}")
    library.enable_object_caching()
    library.add_linking_library(result.library)
    context.create_cpython_wrapper(library, fndesc, environment, result.call_helper, release_gil=True)
    context.create_cfunc_wrapper(library, fndesc, environment, result.call_helper)
    called = context.get_executable(library, fndesc, environment)
    return result._replace(library=library, entry_point=called, reload_init=list(library._reload_init))


class KernelPointer(CalledByAddress):
    """A compiled kernel as a first-class function that other compiled code can call."""

    def __init__(self, dispatcher: Any) -> None:
        self._signature = evaluated(dispatcher.kernel_signature)
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
        return pointer_to, (self._dispatcher,)  # in another process, machine code has another address

    def signature(self) -> Any:
        return self._signature

    def __call__(self, *arguments: Any) -> Any:
        return self._dispatcher(*arguments)


def pointer_to(kernel: Any) -> Any:
    """Returns a kernel's pointer."""
    found = vars(kernel).get("kernel_pointer")
    # Pointers are compared by identity: threads that ask for the first time at once must get the same one.
    return found or vars(kernel).setdefault("kernel_pointer", KernelPointer(kernel))


typeof_impl.register(ByReference)(lambda value, context: type_of(type(value)))
typeof_impl.register(Late)(lambda value, context: value.numba_type)
typeof_impl.register(CalledByAddress)(lambda value, context: types.FunctionType(value.signature()))
WrapperAddressProtocol.register(CalledByAddress)  # type: ignore[type-abstract]
numba_is_here()
