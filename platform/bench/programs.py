"""The C programs in benchmarks/ that speed is measured against: compiled once a run, called one after the other."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

from turnier.core.errors import UserError


def run_program(folder: Path, name: str, *arguments: object) -> dict[str, float]:
    """Returns what a C program prints as JSON; compiles it into `folder` where it is not there yet."""
    command = [str(_compiled(folder, name)), *(str(a) for a in arguments)]
    result: dict[str, float] = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return result


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
