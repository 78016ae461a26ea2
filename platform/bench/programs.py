"""The C programs in benchmarks/ that speed is compared with: compiled once per run, called in turn."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from turnier.core.errors import UserError

RANDOM_GAMES = 200_000
SCALE_MOVES = 42e6  # moves/s of the C program's random play of 2048 on the machine for which the targets were set


class Rates(NamedTuple):
    """Two speeds (or times) measured one right after the other, so that their quotient holds on a noisy machine."""

    ours: float
    reference: float


class Benchmark(NamedTuple):
    """What `turnier bench` measures; `measure` takes a folder for compiled programs and a seed."""

    unit: str
    reference: str  # what the speed is compared with
    measure: Callable[[Path, int], Rates]


def run_program(folder: Path, name: str, *arguments: object) -> dict[str, float]:
    """Returns what a C program prints as JSON; compiles it into `folder` where it is not there yet."""
    command = [str(_compiled(folder, name)), *(str(a) for a in arguments)]
    result: dict[str, float] = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return result


def scaled(target: float, folder: Path, seed: int) -> float:
    """Returns a target for this machine at this moment, by the speed of the C program's random play of 2048."""
    moves = run_program(folder, "reference_2048", "random", RANDOM_GAMES, seed)["moves_per_second"]
    return target * moves / SCALE_MOVES


def _compiled(folder: Path, name: str) -> Path:
    program = folder / name
    if program.exists():
        return program
    source = Path(__file__).resolve().parents[2] / "benchmarks" / f"{name}.c"
    compiler = shutil.which("gcc")
    if compiler is None or not source.exists():
        raise UserError(
            f"the benchmarks need gcc and {source.name} in the repository's benchmarks/, got"
            f" {'no gcc' if compiler is None else f'no {source}'}; run `make bench` in a clone with gcc installed."
        )
    command = [compiler, "-O3", "-march=native", "-o", str(program), str(source), "-lm"]
    built = subprocess.run(command, capture_output=True, text=True)
    if built.returncode != 0:
        raise UserError(f"gcc must compile {source.name}, got: {built.stderr.strip().splitlines()[0]}.")
    return program
