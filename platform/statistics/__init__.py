"""Statistics of games: intervals, paired comparisons, sequential tests, ratings, and the certainty of first places."""

from __future__ import annotations

import functools
import importlib.machinery
import importlib.util
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy


def _leave_for_later(name: str) -> None:
    """Makes a module whose import waits for the first use of an attribute, as `importlib` describes it."""
    spec = importlib.util.find_spec(name)
    if name not in sys.modules and spec and spec.loader:
        spec.loader = importlib.util.LazyLoader(spec.loader)
        module = sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        setattr(numpy, name.rpartition(".")[2], module)


class _Unchanged(dict[str, list[str]]):
    """Stands for SciPy's parser of docstrings, and leaves a docstring as it is."""

    def __init__(self, function: Any) -> None:
        super().__init__(Notes=[])
        self._text = function.__doc__

    def __str__(self) -> str:
        return f"\n{self._text}"


class _SpecialFunctions:
    """Finds `scipy.special`, whose import parses 200 docstrings to add which array libraries a function takes."""

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> Any:
        spec = importlib.machinery.PathFinder.find_spec(name, path, target) if name == "scipy.special" else None
        if spec and spec.loader:
            vars(spec.loader)["exec_module"] = functools.partial(_without_notes, spec.loader.exec_module)
        return spec


def _without_notes(execute: Callable[[ModuleType], None], module: ModuleType) -> None:
    arrays: Any = importlib.import_module("scipy._lib._array_api")
    usual, arrays.FunctionDoc = vars(arrays).get("FunctionDoc"), _Unchanged
    try:
        execute(module)
    finally:
        arrays.FunctionDoc = usual


# SciPy looks at all that numpy has, which would import these: half of the time of importing `scipy.special`.
for unused in ("numpy.f2py", "numpy.testing"):
    _leave_for_later(unused)
sys.meta_path.insert(0, _SpecialFunctions)
