"""The cache of machine code, by the content of kernels: every process finds the kernels that another has compiled.

A wheel brings the machine code of a newcomer's first games with it, for two levels of x86-64 (`make_wheel.py`), in the
same format and found by the same digests: it is used where source and versions agree. The user's cache comes first.
"""

from __future__ import annotations

import contextlib
import fcntl
import functools
import hashlib
import os
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import llvmlite
import numba
import numpy as np
from llvmlite import binding
from numba import types
from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile, _CacheLocator
from numba.core.typing.templates import Signature

from ..outputs import user_cache
from .apart import KernelLibrary
from .late_numba import LateModule, evaluated
from .members import ReferenceType

_FORMAT = (
    8  # of stored kernels; to be raised when compilation/{apart,arrays,dispatcher,late_numba,lending,members}.py change
)
_LIBRARIES = {"numba", "numpy", "llvmlite", "builtins", "math"}  # their versions name the cache directory


def cache_directory() -> Path:
    """Returns the folder of compiled kernels: in `$NUMBA_CACHE_DIR` or the user's cache, by format and compiler."""
    base = os.environ.get("NUMBA_CACHE_DIR") or user_cache()
    return (
        Path(base) / f"kernels{_FORMAT}-numba{numba.__version__}-numpy{np.__version__}-llvmlite{llvmlite.__version__}"
    )


_CACHE_DIRECTORY = cache_directory()

SHIPPED = Path(__file__).parents[2] / "machine_code"  # of a wheel; a folder for each level
# The levels of x86-64 by its psABI, in LLVM's names for the features, the highest first.
_V3 = ("avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "xsave")
LEVELS = {"x86-64-v4": (*_V3, "avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"), "x86-64-v3": _V3}


@functools.cache
def _level() -> str | None:
    """Returns the highest level of this processor; None if the wheel has no machine code for it, or none is wanted."""
    if numba.config.CPU_NAME is not None or not SHIPPED.is_dir():
        return None
    known = binding.get_host_cpu_features()
    return next((name for name, needed in LEVELS.items() if all(known.get(each) for each in needed)), None)


def _shipped(used: IndexDataCacheFile) -> IndexDataCacheFile | None:
    """Returns the file of a kernel that came with the wheel, given its file in the user's cache."""
    if _level() is None:
        return None
    path = Path(used._index_path)
    there = SHIPPED / str(_level()) / path.relative_to(_CACHE_DIRECTORY.parent)
    return IndexDataCacheFile(str(there.parent), there.stem, used._source_stamp) if there.exists() else None


def digest_of(function: Any) -> str:
    """Returns a digest of a kernel: signature, byte code, every constant and kernel that it uses, all the way down.

    Two checkouts, or two versions of a file, share machine code if it would be the same: comments, other functions
    and line numbers do not matter, a changed constant of another file does.
    """
    digest = hashlib.sha256()
    for part in _parts(function, {}):
        digest.update(part.encode() + b"\0")
    return digest.hexdigest()[:24]


def kernels_within(function: Any) -> list[Any]:
    """Returns the functions of the kernels that are compiled with a kernel, itself included."""
    seen: dict[int, Any] = {}
    for _ in _parts(function, seen):
        pass
    return [one for one in seen.values() if vars(one).get("kernel_options", {}).get("inline") == "never"]


def _parts(value: Any, seen: dict[int, Any]) -> Iterator[str]:
    """Yields everything about `value` that determines the machine code of a kernel that uses it."""
    if not isinstance(value, LateModule):  # a kernel or an intrinsic counts as its function
        value = getattr(value, "py_func", None) or getattr(value, "_defn", None) or evaluated(value)
    if isinstance(value, FunctionType):
        if id(value) not in seen and not _is_library(value.__module__):
            seen[id(value)] = value
            yield f"{value.__module__}.{value.__qualname__}"  # callers' machine code finds it by this name
            yield from _code_parts(value.__code__, value.__globals__, value.__doc__, seen)
            for cell in value.__closure__ or ():
                yield from _parts(cell.cell_contents, seen)
            yield from _parts(value.__defaults__, seen)
            if "kernel_signature" in vars(value):
                yield f"{vars(value)['kernel_options']} {_type_part(evaluated(vars(value)['kernel_signature']))}"
    elif isinstance(value, types.Type):
        yield _type_part(value)
    elif isinstance(value, np.ndarray):
        yield f"{value.dtype} {value.shape} {value.strides} {hashlib.sha256(value.tobytes()).hexdigest()}"
    elif isinstance(value, type) and hasattr(value, "_fields"):
        yield _class_part(value)
    elif isinstance(value, tuple | list):
        yield f"{type(value).__name__} of {len(value)}"
        for item in value:
            yield from _parts(item, seen)
    elif isinstance(value, frozenset):
        yield str(sorted(map(repr, value)))
    elif isinstance(value, types.ExternalFunction):
        yield f"{value.symbol} {value.sig}"
    elif isinstance(value, ModuleType | LateModule):
        yield value.__name__
    elif isinstance(value, type) or callable(value):
        yield f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', type(value).__name__)}"
    else:
        yield f"{type(value).__name__} {value!r}"


@functools.lru_cache(maxsize=1024)
def _type_part(value: Any) -> str:
    """Returns the text of a numba type or signature and the places of its classes: machine code contains both."""
    own = _class_part(value.instance_class) if isinstance(value, types.NamedTuple) else ""
    if isinstance(value, types.FunctionType):
        value = value.signature
    if isinstance(value, types.ExternalFunctionPointer):
        value = value.sig
    inner = (value.return_type, *value.args) if isinstance(value, Signature) else getattr(value, "types", ())
    if isinstance(value, ReferenceType):
        own, inner = " ".join(value.fields), value.members
    return f"{value}{own}" + "".join(map(_type_part, inner))


def _class_part(value: Any) -> str:
    return f"{value.__module__}.{value.__qualname__}{value._fields}"


def _is_library(module: str) -> bool:
    """Whether the code of a module does not count: a library's, or that which only stands for numba."""
    return module.partition(".")[0] in _LIBRARIES or module == evaluated.__module__


def _code_parts(code: CodeType, names: dict[str, Any], docstring: str | None, seen: dict[int, Any]) -> Iterator[str]:
    yield code.co_code.hex()
    yield f"{code.co_names} {code.co_varnames} {code.co_freevars}"
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _code_parts(constant, names, None, seen)
        elif docstring is None or constant != docstring:
            yield from _parts(constant, seen)
    for name in code.co_names:  # sorted by first use
        if name in names:
            yield from _parts(names[name], seen)
    modules = [names[name] for name in code.co_names if isinstance(names.get(name), ModuleType)]
    for module in modules:  # `board.WIDTH`: numba reads it when it compiles
        for name in code.co_names if not _is_library(module.__name__) else ():
            value = getattr(module, name, None)
            yield from _parts(value, seen)
            if isinstance(value, ModuleType) and value not in modules:
                modules.append(value)


class _Locator(_CacheLocator):  # type: ignore[misc]
    """Makes numba find a kernel's machine code by the kernel's content, not by the place of its file."""

    def __init__(self, function: Any) -> None:
        self._folder = str(_CACHE_DIRECTORY / function.__module__)
        self._digest = digest_of(function)

    def get_cache_path(self) -> str:
        return self._folder

    def get_source_stamp(self) -> str:
        return self._digest

    def get_disambiguator(self) -> str:
        return self._digest

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> _Locator:
        return cls(py_func)


class _CacheImpl(CompileResultCacheImpl):  # type: ignore[misc]
    _locator_classes = (_Locator,)

    def rebuild(self, target_context: Any, payload: Any) -> Any:
        target_context.codegen()._library_class = KernelLibrary  # which numba's own functions do not notice
        return super().rebuild(target_context, payload)


class _FunctionCache(FunctionCache):  # type: ignore[misc]
    _impl_class = _CacheImpl

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        with self._guard_against_spurious_io_errors():  # as numba does it, without refreshing first
            return self._load_overload(signature, target_context) or self._load_shipped(signature, target_context)

    def _load_shipped(self, signature: Any, target_context: Any) -> Any:
        file = _shipped(self._cache_file)
        if file is None:
            return None
        _, (system, *_), code = self._index_key(signature, target_context.codegen())
        for (its, (its_system, *_), its_code), name in file._load_index().items():
            if (its, its_system, its_code) == (signature, system, code):  # and made for any processor of the level
                return self._impl.rebuild(target_context, file._load_data(name))
        return None


def cache_of(function: Any) -> KernelCache:
    """Returns the cache of a kernel's function."""
    cache: KernelCache = vars(function).get("kernel_cache") or vars(function).setdefault(
        "kernel_cache", KernelCache(function)
    )
    return cache


class KernelCache:
    """A kernel's cache, opened at its first use: the kernels that it calls may be declared after it."""

    def __init__(self, function: Any) -> None:
        self._function = function
        self._opened: Any = None

    def __getstate__(self) -> dict[str, Any]:
        return {"_function": self._function, "_opened": None}

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # pickle asks for these before there is anything
            raise AttributeError(name)
        if self._opened is None:
            self._opened = _FunctionCache(self._function)
        return getattr(self._opened, name)

    def is_stored(self) -> bool:
        """Whether a process has compiled the kernel for this processor, or its machine code came with the wheel."""
        return self._index().exists() or _shipped(self._cache_file) is not None

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Makes other processes that need the kernel wait, and then find it; if locks fail, they compile it, too."""
        path = self._index().with_suffix(".lock")
        with contextlib.ExitStack() as held:
            with contextlib.suppress(OSError):
                path.parent.mkdir(parents=True, exist_ok=True)
                fcntl.flock(held.enter_context(path.open("a")), fcntl.LOCK_EX)
            try:
                yield
            finally:
                with contextlib.suppress(OSError):
                    path.unlink()  # waiting processes have it open, later ones find the kernel

    def _index(self) -> Path:
        return Path(self._cache_file._index_path)
