"""A kernel that compiled code has asked for first can be called from Python afterwards, whatever it returns."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from numba import types

from turnier.core.kernel import JIT, kernel

ROOT = Path(__file__).resolve().parents[2]
FLOATS, COUNT = types.Array(types.float64, 1, "C"), types.int64


class Pair(NamedTuple):
    numbers: Any
    flags: Any


PAIR = types.NamedTuple([FLOATS, types.Array(types.boolean, 1, "C")], Pair)


@kernel(types.float64(COUNT))
def number(n):
    return 0.5 * n


@kernel(types.Tuple((COUNT, types.float64))(COUNT))
def several(n):
    return n, 0.5 * n


@kernel(FLOATS(COUNT))
def array(n):
    return np.full(n, 0.5)


@kernel(types.Tuple((COUNT, types.Tuple((FLOATS, COUNT))))(COUNT))
def nested(n):
    return n, (np.full(n, 0.5), n)


@kernel(PAIR(COUNT))
def named(n):
    return Pair(np.full(n, 0.5), np.ones(n, np.bool_))


@kernel(types.float64(COUNT))
def caller(n):
    return number(n) + several(n)[1] + array(n)[0] + nested(n)[1][0][0] + named(n).numbers[0]


def check() -> None:
    assert caller(3) == 1.5 + 1.5 + 3 * 0.5
    assert (number(3), several(3)) == (1.5, (3, 1.5))
    n, (numbers, m) = nested(3)
    assert (n, m) == (3, 3) and isinstance(named(3), Pair) and named(3).flags.all()
    for found in (numbers, array(3), named(3).numbers):
        assert found.tolist() == [0.5, 0.5, 0.5] and found.dtype == np.float64


@pytest.mark.skipif(not JIT, reason="there is no machine code")
def test_entries_are_made_later_and_kept(tmp_path: Path) -> None:
    """In processes of their own: the second finds everything in the cache."""
    command = [sys.executable, "-c", "from tests.core import test_entries; test_entries.check()"]
    environment = os.environ | {"XDG_CACHE_HOME": str(tmp_path), "PYTHONPATH": str(ROOT / "src")}
    for _ in range(2):
        ended = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300)
        assert ended.returncode == 0, ended.stderr
