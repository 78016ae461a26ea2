"""What benchmarks rest on: both clocks, programs that must compile and must agree with ours."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import programs
from benchmarks.programs import Round, Stopwatch, program_speed, require_equal, run_program
from benchmarks.suite import avx2_quotients, runs_avx2
from turnier.core.errors import UserError

needs_gcc = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed, which compiles the programs")
BUSY = "sum(range(3_000_000))"


def test_a_stopwatch_counts_programs_that_have_ended() -> None:
    with Stopwatch() as idle:
        pass
    with Stopwatch() as busy:
        subprocess.run([sys.executable, "-c", BUSY], check=True)
    assert busy.cpu > 10 * idle.cpu and busy.wall > 10 * idle.wall
    assert busy.speed(100).wall == pytest.approx(100 / busy.wall)


def test_a_round_is_a_share_of_the_work_but_never_none() -> None:
    this = Round(Path(), seed=1, share=0.01)
    assert (this.part(1000), this.part(20), this.part(20, least=2)) == (10, 1, 2)


def test_a_speed_is_what_a_program_did_by_both_clocks() -> None:
    told = {"moves": 100, "cpu_seconds": 2.0, "wall_seconds": 4.0}
    assert program_speed(told, "moves") == (50.0, 25.0)


def test_programs_that_disagree_are_no_benchmark() -> None:
    require_equal("the moves", 3, 3)
    with pytest.raises(RuntimeError, match=r"the moves must be the same .* got 3 here and 4 in C"):
        require_equal("the moves", 3, 4)


@needs_gcc
def test_a_program_that_does_not_compile_says_where(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "broken.c").write_text("int main(void) {\n    return x;\n}\n")
    monkeypatch.setattr(programs, "SOURCES", tmp_path)
    with pytest.raises(UserError, match=r"gcc must compile broken.c, got: .*broken.c:2:.*error"):
        run_program(tmp_path, "broken")


def test_without_gcc_the_benchmarks_say_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(UserError, match=r"need gcc .* got no gcc"):
        run_program(tmp_path, "reference_2048")


@needs_gcc
@pytest.mark.long
@pytest.mark.skipif(not runs_avx2(), reason="this processor is of another kind")
def test_a_process_of_its_own_measures_code_for_avx2() -> None:
    (quotient,) = avx2_quotients(["random_2048"], rounds=1).values()
    assert 0 < quotient.low <= quotient.median <= quotient.high


@needs_gcc
def test_the_command_prints_speeds_and_quotients_by_both_clocks() -> None:
    words = [sys.executable, "-m", "benchmarks", "random_2048", "start", "--json", "--rounds", "1"]
    done = subprocess.run(words, cwd=programs.SOURCES.parent, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    assert list(found) == ["random_2048", "start"]
    row = found["random_2048"]
    for clock in ("cpu", "wall"):
        assert found["start"][clock]["median"] > 0
        assert row[clock]["median"] == pytest.approx(row["ours"][clock] / row["reference"][clock])
        assert row[clock]["low"] == row[clock]["median"] == row[clock]["high"] > 0


def test_a_mistake_in_the_command_is_one_sentence() -> None:
    words = [sys.executable, "-m", "benchmarks", "random_2084"]
    done = subprocess.run(words, cwd=programs.SOURCES.parent, capture_output=True, text=True)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1) and "did you mean random_2048?" in done.stderr
