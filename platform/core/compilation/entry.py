"""Entries: the wrappers by which Python and pointers call a kernel.

Most kernels are called by compiled code alone, and wrappers took a quarter of the time of compiling them. A kernel that
Python asks for first is compiled with its entry; one that compiled code has asked for gets an entry of its own later.
"""

from __future__ import annotations

from typing import Any

from numba.core.registry import cpu_target

from .apart import KernelLibrary


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
