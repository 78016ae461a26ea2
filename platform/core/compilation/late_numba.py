"""What declarations of kernels need of numba, without importing it: that takes 0.2 s, and most commands run no kernel.

Modules with kernels take `types`, `intrinsic` and the like from here. `types.int64(State, types.float64[:, ::1])` is an
expression of numba's types, evaluated when machine code is needed.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import operator
import os
import sys
import threading
from abc import abstractmethod
from collections.abc import Callable
from typing import Any


def _is_compiled() -> bool:
    if "numba" in sys.modules:
        return not sys.modules["numba"].config.DISABLE_JIT
    with contextlib.suppress(ValueError):  # numba then warns, and compiles
        return not int(os.environ.get("NUMBA_DISABLE_JIT", "0"))
    return True


JIT = _is_compiled()  # whether kernels are machine code, or plain Python


class Late:
    """Base of what stands for a thing of numba, which is `evaluated`; compiled code that names it gets `numba_type`."""

    @property
    def evaluated(self) -> Any:
        if "_evaluated" not in vars(self):
            try:
                vars(self).setdefault("_evaluated", self._evaluate())
            except AttributeError as missing:  # which would mean that this has no attribute `evaluated`
                raise TypeError(str(missing)) from missing
        return vars(self)["_evaluated"]

    @abstractmethod
    def _evaluate(self) -> Any: ...

    @property
    def numba_type(self) -> Any:
        return self.evaluated


class Expression(Late):
    """A call whose result is a type or a signature; its attributes are those of the result."""

    def __init__(self, function: Any, *arguments: Any) -> None:
        self._function, self._arguments = function, arguments

    def _evaluate(self) -> Any:
        return evaluated(self._function)(*map(evaluated, self._arguments))

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        """Numba's own types ask this of their arguments: `numba.types.int64(abi.State)` in others' code."""
        return type(self.evaluated) if "numba.core.types" in sys.modules else Expression

    def __call__(self, *arguments: Any) -> Expression:
        return Expression(self, *arguments)

    def __getitem__(self, key: Any) -> Expression:
        return Expression(operator.getitem, self, key)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.evaluated, name)

    def __instancecheck__(self, value: Any) -> bool:
        return isinstance(evaluated(value), self.evaluated)

    def __eq__(self, other: object) -> bool:
        return bool(self.evaluated == evaluated(other))

    def __hash__(self) -> int:
        return hash(("late", self.evaluated))  # numba keeps types by hash, and must not take a tuple of these for one

    def __repr__(self) -> str:
        return str(self.evaluated)

    def __reduce__(self) -> tuple[Any, ...]:
        return Expression, (self._function, *self._arguments)


def evaluated(value: Any) -> Any:
    """Returns what numba understands, also of lists, and of numba's own types and signatures made of expressions."""
    if isinstance(value, Late):
        return value.evaluated
    if type(value) in (tuple, list):
        return type(value)(map(evaluated, value))
    if type(value).__module__.startswith("numba."):
        return _with_evaluated(value)
    return value


def _with_evaluated(value: Any) -> Any:
    from numba.core.typing.templates import Signature, signature

    known: Any = importlib.import_module("numba.core.types")
    if isinstance(value, Signature):
        return signature(evaluated(value.return_type), *map(evaluated, value.args))
    if isinstance(value, known.BaseTuple) and any(type(one) is Expression for one in value.types):
        members = list(map(evaluated, value.types))
        named = isinstance(value, known.BaseNamedTuple)
        return known.NamedTuple(members, value.instance_class) if named else known.Tuple(members)
    return value


def declared(signature: Any) -> Expression:
    """Returns a signature, which may be numba's own, as an expression."""
    return signature if type(signature) is Expression else Expression(_itself, signature)


def _itself(value: Any) -> Any:
    return value


def found(module: str, name: str) -> Any:
    return getattr(importlib.import_module(module), name)


reference_types: dict[type, Expression] = {}  # of classes by reference


def type_of(cls: type) -> Any:
    """Returns the numba type of a class by reference; stored machine code names it by this."""
    return evaluated(reference_types[cls])


class LateModule:
    """A module that is imported when an attribute of it is asked for."""

    def __init__(self, name: str) -> None:
        self.__name__ = name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return found(self.__name__, name)


class _Types(LateModule):
    """A module of types, whose attributes are expressions."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return vars(self).setdefault(name, Expression(found, self.__name__, name))


types: Any = _Types("numba.core.types")
ir: Any = LateModule("llvmlite.ir")
cgutils: Any = LateModule("numba.core.cgutils")


class _ExternalFunction(Late):
    def __init__(self, symbol: str, signature: Any) -> None:
        self._symbol, self._signature = symbol, signature

    def _evaluate(self) -> Any:
        from numba.core.types import ExternalFunction

        return ExternalFunction(self._symbol, evaluated(self._signature))


def external_function(symbol: str, signature: Any) -> Any:
    """Returns a function of the C library, for kernels to call."""
    return _ExternalFunction(symbol, signature)


class _Intrinsic(Late):
    """An intrinsic, whose signature may be made of expressions."""

    def __init__(self, definition: Callable[..., Any]) -> None:
        self._defn = definition  # as numba's own call it

    def _evaluate(self) -> Any:
        from numba.extending import intrinsic

        @functools.wraps(self._defn)
        def define(*arguments: Any) -> Any:
            signature, generate = self._defn(*arguments)
            return evaluated(signature), generate

        return intrinsic(define)

    @property
    def numba_type(self) -> Any:
        from numba.core.registry import cpu_target

        made, context = self.evaluated, cpu_target.typing_context
        context.refresh()  # by which the context gets to know it
        return context.resolve_value_type(made)


def intrinsic(definition: Callable[..., Any]) -> Any:
    """Returns numba's intrinsic of a function, as a thing that kernels call."""
    return _Intrinsic(definition)


class CalledByAddress:
    """Base of what compiled code calls by its address, as numba's WrapperAddressProtocol."""

    @abstractmethod
    def __wrapper_address__(self) -> int: ...

    @abstractmethod
    def signature(self) -> Any: ...


_LOCK = threading.Lock()
_waiting: list[Callable[[], None]] | None = []  # None once numba is here


def with_numba(action: Callable[[], None]) -> None:
    """Does something once this package has imported numba, or now."""
    with _LOCK:
        if _waiting is not None:
            _waiting.append(action)
            return
    action()


def numba_is_here() -> None:
    """Does all that has waited for numba."""
    global _waiting
    with _LOCK:
        actions, _waiting = _waiting or [], None
    for action in actions:
        action()
