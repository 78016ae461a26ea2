"""What a benchmark is, the clocks it reads, and the C programs in benchmarks/ that speed is compared with."""

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
    """Work per second: of CPU time, which holds beside other programs too, and by the wall clock."""

    cpu: float
    wall: float


class Rates(NamedTuple):
    """Two speeds measured one right after the other, so that their quotient holds on a noisy machine."""

    ours: Speed
    reference: Speed


class Round(NamedTuple):
    """One measurement: where programs are compiled and files are written, its seed, and how much work it is."""

    folder: Path
    seed: int
    share: float = 1.0

    def part(self, work: int, least: int = 1) -> int:
        """Returns this round's share of some work, at least `least`."""
        return max(least, round(work * self.share))


class Benchmark(NamedTuple):
    """What `make bench` measures."""

    unit: str
    reference: str  # what the speed is compared with
    measure: Callable[[Round], Rates]
    clock: Literal["cpu", "wall"] = CPU  # the quotient's; "wall" where several cores shall finish sooner
    lanes: bool = False  # whether vector instructions matter, so that the speed with AVX2 alone is told too


class Stopwatch:
    """CPU time of this process, its threads and programs that have ended, and the wall clock, within a `with` block.

    Compile what is measured before.
    """

    def __enter__(self) -> Stopwatch:
        self._began = _now()
        return self

    def __exit__(self, *_: object) -> None:
        self.cpu, self.wall = (float(now - began) for now, began in zip(_now(), self._began, strict=True))

    def speed(self, work: float) -> Speed:
        """Returns the speed where `work` was done in the block."""
        return Speed(work / max(self.cpu, 1e-6), work / max(self.wall, 1e-6))


def _now() -> tuple[float, float]:
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + ended.ru_utime + ended.ru_stime, time.perf_counter()


def run_program(folder: Path, name: str, *arguments: object) -> dict[str, Any]:
    """Returns what a C program prints as JSON; compiles it into `folder` where it is not there yet.

    It tells what it did, and the `cpu_seconds` and `wall_seconds` that this took.
    """
    command = [str(_compiled(folder, name)), *(str(a) for a in arguments)]
    result: dict[str, Any] = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return result


def program_speed(result: dict[str, Any], work: str) -> Speed:
    """Returns the speed of a C program, `work` being the name under which it tells what it did."""
    return Speed(*(result[work] / max(result[f"{clock}_seconds"], 1e-6) for clock in Speed._fields))


def require_equal(what: str, ours: object, theirs: object) -> None:
    """Raises RuntimeError where the two programs did not find the same."""
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
    # Without fused multiplications, which numba does not use either, both programs find the same numbers.
    options = ("-O3", f"-march={config.CPU_NAME or 'native'}", "-ffp-contract=off")
    command = [compiler, *options, "-o", str(program), str(source), "-lm"]
    built = subprocess.run(command, capture_output=True, text=True)
    if built.returncode != 0:
        lines = built.stderr.strip().splitlines()
        raise UserError(f"gcc must compile {source.name}, got: {next((x for x in lines if 'error' in x), lines[0])}.")
    return program
