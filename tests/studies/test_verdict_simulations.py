"""Simulated verdicts are counted once, and again and again come out the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from turnier.core.errors import UserError
from turnier.runs.bar import QUIET, game_bar
from turnier.studies import verdicts
from turnier.studies.verdicts import NULLS, Kind, cells, measure, read_counts

SOME = [Kind(False, 0.0, 600), Kind(False, 60.0, 600)]


def counted(path: Path, studies: int, seed: int = 1) -> list[str]:
    with game_bar("", 0, QUIET) as bar:
        measure(SOME, studies, seed, path, bar)
    return path.read_text().splitlines()


def test_what_is_missing_is_added(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, real, calls = counted(tmp_path / "a.csv", 6), verdicts.simulated, list[int]()

    def simulated(kind: Kind, seed: int, number: int) -> verdicts.Counts:
        if len(calls) == 30:
            raise KeyboardInterrupt
        calls.append(number)
        return real(kind, seed, number)

    monkeypatch.setattr(verdicts, "simulated", simulated)
    monkeypatch.setattr(verdicts, "BLOCK", 4)
    with pytest.raises(KeyboardInterrupt):
        counted(tmp_path / "b.csv", 6)
    assert read_counts(tmp_path / "b.csv")[1, SOME[0]].studies == 28
    calls.clear()
    calls += [-1] * 100
    assert counted(tmp_path / "b.csv", 6) == whole
    assert len(calls) - 100 == 6 * (NULLS + 1) - 28
    assert counted(tmp_path / "b.csv", 6, seed=2)[1:3] == whole[1:], "another seed is counted beside"


def test_rare_errors_and_large_gains_are_told_apart(tmp_path: Path) -> None:
    counted(tmp_path / "a.csv", 10)
    known = read_counts(tmp_path / "a.csv")
    null, large = (known[1, kind] for kind in SOME)
    assert null.studies == 100 and null.found <= 14 and null.found_earlier <= 14
    assert large.studies == 10 and large.found >= 9 and large.used < null.used / 10
    assert cells(SOME[1], large)[:4] == ("60 Elo", "600", "10", "100") and cells(SOME[0], null)[2] == "100"


def test_a_file_of_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a,b\n")
    with pytest.raises(UserError, match="must have the columns seed, scored"):
        counted(tmp_path / "a.csv", 1)
