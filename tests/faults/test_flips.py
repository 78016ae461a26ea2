"""Some flips of `flip_bits.py`, which has all of them: damage is noticed, whatever reads the file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.faults.flip_bits import Flips
from tests.faults.readings import Answer
from tests.faults.trials import answers, flipped, number_of_bits


@pytest.fixture(scope="module")
def flips(tmp_path_factory: pytest.TempPathFactory) -> Flips:
    return Flips(tmp_path_factory.mktemp("files"), ("weights", "checkpoint", "export"))


def test_undamaged_files_are_read_alike(flips: Flips) -> None:
    assert flips.steady() == []


def test_flipped_bits_are_noticed(flips: Flips) -> None:
    failures = list(flips.failures(range(45), seed=1))
    assert failures == []
    assert {outcome for _, outcome in flips.outcomes} >= {"refused", "right"}


def test_flips_are_as_many_as_asked_for_and_seeded() -> None:
    data = bytes(range(200))
    for seed in range(50):
        bits = number_of_bits(np.random.default_rng(seed))
        damaged = flipped(data, bits, np.random.default_rng(seed))
        assert damaged == flipped(data, bits, np.random.default_rng(seed))
        differing = int.from_bytes(damaged, "big") ^ int.from_bytes(data, "big")
        assert differing.bit_count() == bits and 1 <= bits <= 512
    assert flipped(b"a", 512, np.random.default_rng(1)) == bytes([ord("a") ^ 255])


def unpickles() -> Answer:
    import pickle

    pickle.loads(pickle.dumps(Path()))
    return Answer("right", "")


def crashes() -> Answer:
    import os

    os._exit(3)


def hangs() -> Answer:
    import time

    time.sleep(60)
    return Answer("right", "")


def test_the_trial_notices_what_must_not_happen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.faults.trials.HANG_SECONDS", 0.5)
    some = {"crashes": crashes, "hangs": hangs, "fine": lambda: Answer("right", "42"), "unpickles": unpickles}
    found = {name: answer for name, answer, _ in answers(tmp_path, {}, some, {})}
    assert found["crashes"] == Answer("failed", "the process crashed")
    assert found["hangs"].said.startswith("no answer after")
    assert found["fine"] == Answer("right", "42")
    assert found["unpickles"].outcome == "failed" and "unpickled" in found["unpickles"].said
