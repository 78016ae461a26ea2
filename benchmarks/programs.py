"""Benchmarks, their clocks, and the C programs in benchmarks/ for comparison."""

from __future__ import annotations

import json
import resource
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, NamedTuple

from numba import config

from turnier.core.errors import UserError

CPU: Literal["cpu", "wall"] = "cpu"
SOURCES = Path(__file__).resolve().parent


class Speed(NamedTuple):
    """Work per second of CPU time, which is robust against other programs, and of wall-clock time."""

    cpu: float
    wall: float


class Rates(NamedTuple):
    """Two speeds measured in direct succession, so their quotient is valid on a noisy machine."""

    ours: Speed
    reference: Speed


class Round(NamedTuple):
    """One measurement: the folder for programs and files, its seed, and its share of work."""

    folder: Path
    seed: int
    share: float = 1.0

    def part(self, work: int, least: int = 1) -> int:
        """Returns this round's share of some work, at least `least`."""
        return max(least, round(work * self.share))


class Benchmark(NamedTuple):
    """One of the measurements of `make bench`."""

    unit: str
    reference: str  # the object of comparison
    measure: Callable[[Round], Rates]
    clock: Literal["cpu", "wall"] = CPU  # the quotient's; "wall" if several cores should finish sooner
    lanes: bool = False  # whether vector instructions matter, so the speed with AVX2 alone is given, too


class Seconds(NamedTuple):
    """Time by both clocks."""

    cpu: float
    wall: float


class Wait(NamedTuple):
    """Something that people wait for, measured in seconds: nothing does the same, or too quickly for a quotient."""

    what: str
    measure: Callable[[Round], Seconds]


class Stopwatch:
    """CPU time of this process with its threads and ended programs, and wall-clock time, of a `with` block.

    Compile the measured code before.
    """

    def __enter__(self) -> Stopwatch:
        self._began = _now()
        return self

    def __exit__(self, *_: object) -> None:
        self.cpu, self.wall = (float(now - began) for now, began in zip(_now(), self._began, strict=True))

    def seconds(self) -> Seconds:
        return Seconds(self.cpu, self.wall)

    def speed(self, work: float) -> Speed:
        """Returns the speed for `work` done in the block."""
        return Speed(work / max(self.cpu, 1e-6), work / max(self.wall, 1e-6))


def _now() -> tuple[float, float]:
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + ended.ru_utime + ended.ru_stime, time.perf_counter()


def run_program(folder: Path, name: str, *arguments: object) -> dict[str, Any]:
    """Returns a C program's output, parsed as JSON; compiles it into `folder` if it is missing there.

    The output has the amount of work, and the `cpu_seconds` and `wall_seconds` that it took.
    """
    command = [str(_compiled(folder, name)), *(str(a) for a in arguments)]
    result: dict[str, Any] = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return result


def program_speed(result: dict[str, Any], work: str) -> Speed:
    """Returns the speed of a C program; `work` is the name of the amount of work in its output."""
    return Speed(*(result[work] / max(result[f"{clock}_seconds"], 1e-6) for clock in Speed._fields))


def require_equal(what: str, ours: object, theirs: object) -> None:
    """Raises RuntimeError if the two programs' results differ."""
    if ours != theirs:
        raise RuntimeError(f"{what} must be the same in both programs, got {ours} here and {theirs} in C")


def _compiled(folder: Path, name: str) -> Path:
    program, source = folder / name, SOURCES / f"{name}.c"
    if program.exists():
        return program
    compiler = shutil.which("gcc")
    if compiler is None or not source.exists():
        raise UserError(
            f"the benchmarks need gcc and {source.name} in the repository's benchmarks/, got"
            f" {'no gcc' if compiler is None else f'no {source}'}; run `make bench` in a clone with gcc installed."
        )
    # Without fused multiplications, as in numba, so both programs find the same numbers.
    options = ("-O3", f"-march={config.CPU_NAME or 'native'}", "-ffp-contract=off")
    command = [compiler, *options, "-o", str(program), str(source), "-lm"]
    built = subprocess.run(command, capture_output=True, text=True)
    if built.returncode != 0:
        lines = built.stderr.strip().splitlines()
        raise UserError(f"gcc must compile {source.name}, got: {next((x for x in lines if 'error' in x), lines[0])}.")
    return program
