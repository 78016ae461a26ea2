"""Large kernels are compiled apart: a caller finds them by their address instead of a copy in its own machine code.

Numba links everything that a kernel calls into its module and compiles it there once more, so a kernel would be
compiled as often as there are kernels above it. Copies serve to be inlined, which the compiler only does if small.
"""

from __future__ import annotations

import contextlib
import importlib
import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

from llvmlite import binding
from llvmlite.binding import ffi
from numba.core.codegen import JITCodeLibrary
from numba.core.registry import cpu_target
from numba.core.runtime import rtsys

SMALL = 150  # instructions: larger functions are not inlined
_PACKAGE = __name__.partition(".")[0] + "."


@contextlib.contextmanager
def unannounced() -> Iterator[None]:
    """Keeps numba from announcing each call of LLVM to its listeners, which only measure the time that it takes."""
    lock: Any = ffi.lib._lock
    usual, lock._cblist = lock._cblist, []
    try:
        yield
    finally:
        lock._cblist = usual


@dataclass(frozen=True)
class Apart:
    """A kernel that machine code calls by a symbol; called before that code is loaded, it makes the symbol known."""

    module: str
    name: str
    symbol: str  # of the process that compiled the caller

    def __call__(self) -> None:
        dispatcher = getattr(importlib.import_module(self.module), self.name)
        library = dispatcher.code(dispatcher.kernel_signature.args).library
        binding.add_symbol(self.symbol, library.get_pointer_to_function(library.symbol))


class KernelLibrary(JITCodeLibrary):  # type: ignore[misc]
    """The machine code of one kernel: the small kernels that it calls are linked into it, the large ones are not."""

    dispatcher: Any = None  # the kernel's, if others can find it by its name
    symbol = ""
    _bitcode = b""  # of a library from the cache, which few processes need
    _shared_module: Any  # numba's: the code for callers

    def belongs_to(self, dispatcher: Any) -> None:
        """Tells the library whose machine code it is; without that, it is linked."""
        result = dispatcher.overloads.get(dispatcher.kernel_signature.args)
        if result is None or result.library is not self or not dispatcher.__module__.startswith(_PACKAGE):
            return  # a caller passes other types than those declared, or code that is not ours
        if getattr(importlib.import_module(dispatcher.__module__), dispatcher.__qualname__, None) is dispatcher.kernel:
            self.dispatcher, self.symbol = dispatcher, result.fndesc.llvm_func_name

    def _optimize_functions(self, ll_module: Any) -> None:
        """As numba does it, but sets up nothing for the functions that are only named: four of five."""
        ll_module.data_layout = self._codegen._data_layout
        for function in ll_module.functions:
            if not function.is_declaration:
                passes, builder = self._codegen._function_pass_manager()
                passes.run(function, builder)

    def add_linking_library(self, library: Any) -> None:
        library._ensure_finalized()
        if isinstance(library, KernelLibrary) and library.is_large():
            apart = Apart(library.dispatcher.__module__, library.dispatcher.__qualname__, library.symbol)
            apart()
            self._reload_init.add(apart)
        else:
            super().add_linking_library(library)

    def is_large(self) -> bool:
        """Whether callers do without a copy."""
        if self.dispatcher is None:
            return False
        blocks = self._get_module_for_linking().get_function(self.symbol).blocks
        instructions = itertools.chain.from_iterable(block.instructions for block in blocks)
        return next(itertools.islice(instructions, SMALL, None), None) is not None

    def serialize_using_object_code(self) -> tuple[str, str, Any]:
        name, kind, (machine_code, bitcode) = super().serialize_using_object_code()
        module = self._get_module_for_linking()
        symbols = [value.name for value in (*module.functions, *module.global_variables) if not value.is_declaration]
        needs = [one.name for one in self._final_module.functions if one.is_declaration and "llvm." not in one.name]
        return name, kind, (machine_code, bitcode, symbols, needs, self._reload_init)

    @classmethod
    def _unserialize(cls, codegen: Any, state: Any) -> Self:
        """As numba does it, but reads the bitcode only if a caller has to be compiled.

        And fills numba's registries of functions, which takes 0.3 s, only if they bring what the machine code calls.
        """
        name, _, (machine_code, bitcode, symbols, needs, large_kernels) = state
        rtsys.initialize(cpu_target.target_context)
        if any(binding.address_of_symbol(one) is None for one in needs):
            cpu_target.target_context.refresh()
        self = cls(codegen, name)
        self.enable_object_caching()
        self._set_compiled_object(machine_code)
        self._bitcode = bitcode
        self._reload_init.update(large_kernels)  # for callers that copy this one
        self._finalize_final_module()
        codegen._engine._defined_symbols.update(symbols)
        return self

    def _get_module_for_linking(self) -> Any:
        if self._bitcode and self._shared_module is None:
            self._shared_module = binding.parse_bitcode(self._bitcode)
        return super()._get_module_for_linking()
