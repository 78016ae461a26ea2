"""Python functions as kernels: compiled code calls them by their address, and their failures wait until it returns.

Compiled code passes a one-dimensional array to a C function as seven words. Numba does not document this, so it is
tested once per process. ctypes takes the GIL for the call. No exception can pass through compiled code: a callback
keeps the first one of its thread and returns a harmless answer until `PendingFailures.raise_first` raises it.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.compilation.late_numba import CalledByAddress, evaluated
from ...core.compilation.machine import version_of
from ...core.errors import UserError
from ...core.kernel import JIT, compile_kernel, kernel, types

_C_TYPES: dict[str, Any] = {"int64": ctypes.c_int64, "uint64": ctypes.c_uint64, "float64": ctypes.c_double}
_ARRAY_WORDS, _LENGTH, _DATA = 7, 2, 4  # meminfo, parent, length, bytes per item, data, shape, stride


class PendingFailures:
    """Exceptions that callbacks could not raise, the first of each thread."""

    def __init__(self) -> None:
        self._threads = threading.local()

    @property
    def first(self) -> BaseException | None:
        """This thread's pending failure."""
        found: BaseException | None = getattr(self._threads, "first", None)
        return found

    def keep(self, failure: BaseException) -> None:
        if self.first is None:
            self._threads.first = failure

    def raise_first(self) -> None:
        """Raises this thread's pending failure, if any, and forgets it."""
        failure = self.first
        if failure is not None:
            self._threads.first = None
            raise failure


class Callback(CalledByAddress):
    """A Python function in place of a kernel; Python calls it directly.

    Called by compiled code, it gets ctypes arrays, which are read and written like numpy's.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        signature: Any,
        failures: PendingFailures,
        harmless: Callable[..., Any],
        game: Any = None,
    ) -> None:
        """Makes a kernel of a function.

        Args:
            function: takes the signature's arguments; scalars are Python's numbers.
            signature: of numba, with one-dimensional arrays and numbers.
            failures: keeps exceptions raised inside compiled code.
            harmless: called in place of `function`, with the same arguments, while a failure is pending.
            game: whose kernel it is, by the function's name; copies and pickles refer to that.
        """
        self.function, self.kernel_signature, self._failures, self._game = function, signature, failures, game
        self.kernel_pointer = self  # for `pointer`
        if JIT:
            require_calling_convention()
            self._entry = _c_type(signature)(_guarded(function, signature, failures, harmless))

    def __wrapper_address__(self) -> int:
        return int(ctypes.cast(self._entry, ctypes.c_void_p).value or 0)

    def __reduce__(self) -> tuple[Any, ...]:
        return _kernel_of, (self._game, self.function.__name__)

    def signature(self) -> Any:
        return evaluated(self.kernel_signature)

    def __call__(self, *arguments: Any) -> Any:
        self._failures.raise_first()
        return self.function(*arguments)


def _kernel_of(game: Any, name: str) -> Any:
    found = getattr(game.kernels, name)
    return getattr(found, "_dispatcher", found)


def _c_type(signature: Any) -> Any:
    """Returns the C type of a function with a numba signature."""
    arguments: list[Any] = []
    for each in signature.args:
        arguments += [ctypes.c_size_t] * _ARRAY_WORDS if isinstance(each, types.Array) else [_C_TYPES[str(each)]]
    return ctypes.CFUNCTYPE(_C_TYPES.get(str(signature.return_type)), *arguments)


def _guarded(
    function: Callable[..., Any], signature: Any, failures: PendingFailures, harmless: Callable[..., Any]
) -> Callable[..., Any]:
    """Returns the function for C, which makes arrays of words and never raises."""
    readers: list[tuple[int, Any]] = []  # an argument's first word, and the type of its items, None for a number
    position = 0
    for each in signature.args:
        is_array = isinstance(each, types.Array)
        readers.append((position, _C_TYPES[str(each.dtype)] if is_array else None))
        position += _ARRAY_WORDS if is_array else 1

    def entry(*words: Any) -> Any:
        arguments = [
            words[first] if item is None else (item * words[first + _LENGTH]).from_address(words[first + _DATA])
            for first, item in readers
        ]
        if failures.first is None:
            try:
                return function(*arguments)
            except BaseException as failure:  # interrupts as well: they are raised when compiled code has returned
                failures.keep(failure)
        return harmless(*arguments)

    return entry


_Integers, _Floats, _Words = (types.Array(each, 1, "C") for each in (types.int64, types.float64, types.uint64))
_PROBED = _Integers, types.int64, _Floats, _Words
_PROBE = types.int64(*_PROBED)


@kernel(types.int64(types.FunctionType(_PROBE), *_PROBED))
def _probe(function, integers, number, floats, words):
    return function(integers, number, floats, words) + 1


@functools.cache
def require_calling_convention() -> None:
    """Raises UserError if this numba does not call C functions as expected; tests it once per process."""
    integers, floats = np.array([3, -5, 7], np.int64), np.array([0.5, -2.25])
    words = np.array([2**63 + 1], np.uint64)
    seen: list[Any] = []

    def answer(integers: Any, number: int, floats: Any, words: Any) -> int:
        seen.append((list(integers), number, list(floats), list(words)))
        integers[1], floats[0] = 11, 1.5
        return 41

    entry = _c_type(_PROBE)(_guarded(answer, _PROBE, PendingFailures(), lambda *_: 0))

    class Probe(CalledByAddress):
        def __wrapper_address__(self) -> int:
            return int(ctypes.cast(entry, ctypes.c_void_p).value or 0)

        def signature(self) -> Any:
            return evaluated(_PROBE)

        def __call__(self, *arguments: Any) -> int:  # if kernels are plain Python
            return answer(*arguments)

    got = None
    with contextlib.suppress(Exception):
        compile_kernel(_probe)
        got = int(_probe(Probe(), integers, -4, floats, words))
    expected = [([3, -5, 7], -4, [0.5, -2.25], [2**63 + 1])]
    if got != 42 or seen != expected or integers.tolist() != [3, 11, 7] or floats.tolist() != [1.5, -2.25]:
        raise UserError(
            f"games in Python need a numba that calls C functions as 0.65 to 0.68 do, got numba {version_of('numba')};"
            " install another numba, or set NUMBA_DISABLE_JIT=1."
        )
