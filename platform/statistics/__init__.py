"""Statistics of games: intervals, paired comparisons, sequential tests, ratings, and the certainty of first places."""

from __future__ import annotations

import importlib.util
import sys

import numpy


def _leave_for_later(name: str) -> None:
    """Makes a module whose import waits for the first use of an attribute, as `importlib` describes it."""
    spec = importlib.util.find_spec(name)
    if name not in sys.modules and spec and spec.loader:
        spec.loader = importlib.util.LazyLoader(spec.loader)
        module = sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        setattr(numpy, name.rpartition(".")[2], module)


# SciPy looks at all that numpy has, which would import these: half of the time of importing `scipy.special`.
for unused in ("numpy.f2py", "numpy.testing"):
    _leave_for_later(unused)
