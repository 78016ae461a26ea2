"""Compiling: of several processes one does it, and what takes long is shown with how much is left."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console

from turnier.core.compilation import cache, progress
from turnier.core.kernel import JIT

pytestmark = pytest.mark.skipif(not JIT, reason="nothing is compiled")

SOURCE = """
from numba import types
from turnier.core.kernel import compile_kernel, kernel

SIGNATURE = types.int64(types.int64)

@kernel(SIGNATURE)
def inner(x):
    return x + 1

@kernel(SIGNATURE, inline=True)
def copied(x):
    return inner(x) + 2

@kernel(SIGNATURE)
def outer(x):
    return copied(x) + inner(x)
"""

# Prints what was compiled; both processes begin when both are ready.
RUN = """
import sys, time
from pathlib import Path
sys.path.insert(0, {folder!r})
from shown_kernels import compile_kernel, inner, outer
Path({folder!r}, sys.argv[1]).touch()
while len(list(Path({folder!r}).glob("ready*"))) < 2:
    time.sleep(0.001)
compile_kernel(outer)
print(sum(sum(kernel.stats.cache_misses.values()) for kernel in (inner, outer)), outer(3))
"""


def test_of_processes_that_start_at_once_one_compiles(tmp_path: Path) -> None:
    (tmp_path / "shown_kernels.py").write_text(SOURCE)
    code, environment = RUN.format(folder=str(tmp_path)), os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    started = [
        subprocess.Popen([sys.executable, "-c", code, f"ready{i}"], stdout=subprocess.PIPE, text=True, env=environment)
        for i in range(2)
    ]
    printed = [process.communicate(timeout=60)[0].split() for process in started]
    compiled = [int(misses) for misses, _ in printed]
    assert [value for _, value in printed] == ["10", "10"]
    assert sum(compiled) == 2  # kernels
    assert not list((tmp_path / "cache").rglob("*.lock"))


def test_kernels_are_counted_ahead(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "_CACHE_DIRECTORY", tmp_path)
    (tmp_path / "counted_kernels.py").write_text(SOURCE)
    monkeypatch.syspath_prepend(str(tmp_path))
    import counted_kernels  # type: ignore[import-not-found]

    seen: list[tuple[int, int, bool]] = []
    shown = progress._COMPILATION
    monkeypatch.setattr(shown, "_update", lambda: seen.append((shown._done, shown._total, gc.isenabled())))
    with progress.compiled_together(counted_kernels.outer):
        counted_kernels.compile_kernel(counted_kernels.inner)
        counted_kernels.compile_kernel(counted_kernels.outer)
    assert seen == [(0, 2, False), (1, 2, False), (1, 2, False), (2, 2, False)]
    assert shown._total == 0 and gc.isenabled()


@pytest.mark.parametrize("terminal", [False, True])
def test_long_compilations_are_shown(
    terminal: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
    monkeypatch.setattr(progress, "error_console", lambda: Console(stderr=True))  # asks only once for a terminal
    shown = progress._Compilation()
    shown.enter([])
    for _ in range(2):
        shown._total, shown._done = 7, 3
        shown._show()
        assert (shown._progress is not None) == terminal
    if shown._progress:
        (task,) = shown._progress.tasks
        assert (task.total, task.completed) == (7, 3)
    shown.leave()
    printed = capsys.readouterr().err
    assert "3/7" in printed if terminal else printed == "Compiling kernels, once on this machine ...\n"
    shown._show()  # a timer that was late
    assert shown._progress is None
