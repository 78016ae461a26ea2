"""Every benchmark runs at a small share of its work, so that a broken reference is found; no speed is asserted."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from benchmarks.programs import Round
from benchmarks.suite import BENCHMARKS

SHARE = 0.002
LONG = {"ray_members", "learn_2048"}

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed, which compiles the programs")


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("programs")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.long) if name in LONG else name for name in BENCHMARKS]
)
def test_both_sides_of_a_benchmark_do_some_work(name: str, programs: Path) -> None:
    rates = BENCHMARKS[name].measure(Round(programs, seed=1, share=SHARE))
    for speed in (*rates.ours, *rates.reference):
        assert 0 < speed < 1e12
