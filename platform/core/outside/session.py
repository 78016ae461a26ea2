"""Classes and functions of a session of Python, such as a notebook: their code is not in a file.

Their version is a digest of their source, and of the functions, classes and values of the session that they use. They
play only in the process that has them.
"""

from __future__ import annotations

import ast
import hashlib
import inspect
import linecache
import pickle
import sys
from collections.abc import Iterator
from types import CodeType, FunctionType
from typing import Any

from .bundle import SESSION, Bundle

_MADE = "<string>"  # the file of methods that dataclasses write
_PLAIN = (bool, int, float, str, bytes, tuple, list, dict, set, frozenset, type(None))


def bundle_of(thing: Any) -> Bundle | None:
    """Returns the code of a class or function of the session; None if it is in a file, or within a function."""
    if thing.__module__ != SESSION or "<" in thing.__qualname__ or _is_in_file(thing):
        return None
    texts: dict[str, str] = {}
    waiting = [(thing.__qualname__, thing)]
    while waiting:
        name, value = waiting.pop()
        if name not in texts:
            texts[name] = _source(value) if _has_code(value) else f"{name} = {_content(value)}"
            waiting += _used(value)
    return Bundle(SESSION, {f"{SESSION}.py": "\n\n".join(texts[name] for name in sorted(texts))})


def _has_code(value: Any) -> bool:
    return isinstance(value, FunctionType) or inspect.isclass(value)


def _content(value: Any) -> str:
    """Returns a text that tells a value from others: itself, a digest, or its place in memory."""
    if type(value) in _PLAIN:
        return repr(value)
    try:
        return f"{type(value).__qualname__}({hashlib.sha256(pickle.dumps(value, 4)).hexdigest()})"
    except Exception:  # others' code may raise anything
        return object.__repr__(value)


def _is_in_file(thing: Any) -> bool:
    file = getattr(sys.modules.get(SESSION), "__file__", None)
    files = {function.__code__.co_filename for function in _functions(thing)}
    return file is not None and (file in files or files <= {_MADE})


def _functions(value: Any) -> list[FunctionType]:
    """Returns the function itself, or the methods of a class."""
    values = vars(value).values() if inspect.isclass(value) else [value]
    bare = (getattr(each, "fget", None) or getattr(each, "__func__", each) for each in values)
    plain = (inspect.unwrap(each) if callable(each) else each for each in bare)
    return [each for each in plain if isinstance(each, FunctionType)]


def _source(value: Any) -> str:
    """Returns the source of a class or function without comments; its compiled code if the session keeps no source."""
    kinds = (ast.ClassDef,) if inspect.isclass(value) else (ast.FunctionDef, ast.AsyncFunctionDef)
    for code in (function.__code__ for function in _functions(value)):
        for node in ast.walk(_tree("".join(linecache.getlines(code.co_filename)))):
            if isinstance(node, kinds) and node.name == value.__name__:
                first = min(each.lineno for each in (node, *node.decorator_list))
                if first <= code.co_firstlineno <= (node.end_lineno or first):
                    return ast.unparse(node)
    compiled = [(function.__name__, _compiled(function.__code__)) for function in _functions(value)]
    return f"{value.__qualname__} = {compiled!r}"


def _tree(text: str) -> ast.Module:
    try:
        return ast.parse(text)
    except SyntaxError:  # not only Python, such as a cell with commands of the notebook
        return ast.Module([], [])


def _compiled(code: CodeType) -> list[Any]:
    constants = [_compiled(each) if isinstance(each, CodeType) else repr(each) for each in code.co_consts]
    return [code.co_code.hex(), code.co_names, constants]


def _used(value: Any) -> Iterator[tuple[str, Any]]:
    """Yields the names and values of the session that a class or function uses."""
    if not _has_code(value):
        return
    for base in getattr(value, "__mro__", ())[1:]:
        if base.__module__ == SESSION:
            yield base.__qualname__, base
    for function in _functions(value):
        for name in sorted(_names(function.__code__)):
            if name in function.__globals__ and not _is_elsewhere(used := function.__globals__[name]):
                yield name, used


def _is_elsewhere(value: Any) -> bool:
    """Whether a value is a module, or code in one."""
    module = value.__module__ if _has_code(value) or inspect.isbuiltin(value) else SESSION
    return inspect.ismodule(value) or module != SESSION


def _names(code: CodeType) -> set[str]:
    return set(code.co_names).union(*(_names(each) for each in code.co_consts if isinstance(each, CodeType)))
