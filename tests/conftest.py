"""What all tests share: imports of `tests...` from the repository's root, and hypothesis without luck or clocks."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

# Before NumPy is loaded: its threads wait for each other by spinning, so small matrices take ten times the CPU time if
# several tests, or other programs, share the cores.
for _library in ("OMP", "OPENBLAS", "MKL"):
    os.environ.setdefault(f"{_library}_NUM_THREADS", "1")

import turnier  # noqa: E402, F401, I001  # before NumPy: it chooses the kernels of linear algebra
import numpy as np  # noqa: E402
import pytest  # noqa: E402
from hypothesis import settings  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from turnier.core.kernel import JIT  # noqa: E402
from turnier.core.outside.trust import trust  # noqa: E402

signal.signal(signal.SIGHUP, signal.SIG_DFL)  # nohup ignores it, and the commands that tests start would, too

settings.register_profile("turnier", deadline=None, derandomize=True, max_examples=200 if JIT else 25)
settings.load_profile("turnier")
if not JIT:
    np.seterr(over="ignore")  # 64-bit words wrap around on purpose; only plain Python warns of it


@pytest.fixture(autouse=True)
def nobody_is_trusted() -> Iterator[None]:
    """Takes back what a command with --trust has set in this process."""
    yield
    trust(False)


def pytest_xdist_auto_num_workers() -> int:
    """One and a half times as many processes as cores: while tests wait for servers, browsers or Ray, others run."""
    return 3 * (os.cpu_count() or 1) // 2


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--all-variants",
        action="store_true",
        help="play every variant of every agent in every game that it can play, instead of in one of them in turn",
    )
    parser.addoption("--first", default="", help="words, with commas; cases whose names have one of them run first")
    parser.addoption("--seconds", type=float, default=0.0, help="skip what has not begun after so many seconds")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    first = config.getoption("--first").split(",")
    items.sort(key=lambda item: not any(name and name in item.name for name in first))


BEGAN = time.monotonic()  # before tests are collected, which takes long on a busy machine


def pytest_runtest_setup(item: pytest.Item) -> None:
    seconds = item.config.getoption("--seconds")
    if seconds and time.monotonic() - BEGAN > seconds:
        pytest.skip(f"{seconds:g} seconds are over")
