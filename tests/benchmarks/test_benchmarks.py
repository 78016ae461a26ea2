"""Every benchmark runs at a small share of its work, so that a broken reference is found; no speed is asserted."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from benchmarks.programs import Round
from benchmarks.suite import BENCHMARKS
from benchmarks.waiting import WAITS

SHARE = 0.002
LONG = {"ray_members", "learn_2048"}
LONG_WAITS = {"first_tournament", "candidate", "show", "runs"}

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed, which compiles the programs")


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("programs")


def parameters(names: Iterable[str], long: set[str]) -> list[Any]:
    return [pytest.param(name, marks=pytest.mark.long) if name in long else name for name in names]


@pytest.mark.parametrize("name", parameters(BENCHMARKS, LONG))
def test_both_sides_of_a_benchmark_do_some_work(name: str, programs: Path) -> None:
    rates = BENCHMARKS[name].measure(Round(programs, seed=1, share=SHARE))
    for speed in (*rates.ours, *rates.reference):
        assert 0 < speed < 1e12


@pytest.mark.parametrize("name", parameters(WAITS, LONG_WAITS))
def test_what_people_wait_for_takes_some_time(name: str, tmp_path: Path) -> None:
    for seconds in WAITS[name].measure(Round(tmp_path, seed=1, share=SHARE)):
        assert 0 < seconds < 1e6
