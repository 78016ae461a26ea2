"""Garbage collection is put off where many objects are made that stay, and then as frequent as before."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path

import pytest

from turnier.core.compilation import cache, progress
from turnier.core.compilation.garbage import MANY, collect_later
from turnier.core.kernel import compile_kernel, kernel, types


@pytest.fixture(autouse=True)
def _usual() -> Iterator[None]:
    before, callbacks = gc.get_threshold(), list(gc.callbacks)
    gc.collect()
    gc.set_threshold(700, 10, 10)
    yield
    gc.set_threshold(*before)
    gc.callbacks[:] = callbacks


def test_only_the_next_collection_waits() -> None:
    collect_later()
    assert gc.get_threshold()[0] >= MANY
    collections = gc.get_stats()[0]["collections"]
    kept = [[] for _ in range(10_000)]
    assert gc.get_stats()[0]["collections"] == collections and kept
    collect_later()  # once more: the usual threshold is not forgotten
    kept = [[] for _ in range(2 * MANY)]
    assert gc.get_threshold()[0] == 700 and gc.get_stats()[0]["collections"] > collections + 1


def test_a_threshold_that_workers_set_stays() -> None:
    collect_later()
    gc.set_threshold(100_000)
    gc.collect()
    assert gc.get_threshold()[0] == 100_000
    collect_later()
    gc.collect()
    assert gc.get_threshold()[0] == 100_000


def test_what_compiling_left_is_not_searched_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "_CACHE_DIRECTORY", tmp_path)

    @kernel(types.int64(types.int64))
    def doubled(number):  # type: ignore[no-untyped-def]
        return 2 * number

    with progress.compiled_together():
        compile_kernel(doubled)
        collections = gc.get_stats()[0]["collections"]
    kept = [[] for _ in range(10_000)]
    assert gc.get_stats()[0]["collections"] == collections and gc.isenabled() and kept
