"""Large kernels are compiled apart: a caller finds them by their address instead of a copy in its own machine code.

Numba links everything that a kernel calls into its module and compiles it there once more, so a kernel would be
compiled as often as there are kernels above it. Copies serve to be inlined, which the compiler only does if small.
"""

from __future__ import annotations

import importlib
import itertools
from dataclasses import dataclass
from typing import Any

from llvmlite import binding
from numba.core.codegen import JITCodeLibrary

SMALL = 150  # instructions: larger functions are not inlined


@dataclass(frozen=True)
class Apart:
    """A kernel that machine code calls by a symbol; called before that code is loaded, it makes the symbol known."""

    module: str
    name: str
    symbol: str  # of the process that compiled the caller

    def __call__(self) -> None:
        dispatcher = getattr(importlib.import_module(self.module), self.name)
        dispatcher.compile(dispatcher.kernel_signature.args)
        result = dispatcher.overloads[dispatcher.kernel_signature.args]
        address = result.library.get_pointer_to_function(result.fndesc.llvm_func_name)
        binding.add_symbol(self.symbol, address)


def keep_apart(dispatcher: Any, package: str) -> None:
    """Has callers find a kernel that has just been compiled or loaded by its address, if it is large and importable."""
    result = dispatcher.overloads.get(dispatcher.kernel_signature.args)
    if result is None:  # a caller passes other types than those declared
        return
    module, name, symbol = dispatcher.__module__, dispatcher.__qualname__, result.fndesc.llvm_func_name
    if not module.startswith(package) or getattr(importlib.import_module(module), name, None) is not dispatcher:
        return
    blocks = result.library._get_module_for_linking().get_function(symbol).blocks
    instructions = itertools.chain.from_iterable(block.instructions for block in blocks)
    if next(itertools.islice(instructions, SMALL, None), None) is None:
        return
    result.library.apart = apart = Apart(module, name, symbol)
    apart()


class KernelLibrary(JITCodeLibrary):  # type: ignore[misc]
    """The machine code of one kernel: the small kernels that it calls are linked into it, the large ones are not."""

    def add_linking_library(self, library: Any) -> None:
        library._ensure_finalized()
        apart = getattr(library, "apart", None)
        if apart is None:
            super().add_linking_library(library)
        else:
            self._reload_init.add(apart)
