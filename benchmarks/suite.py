"""All benchmarks by name, and their measurement: medians and ranges over rounds."""

from __future__ import annotations

import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.environments import ENVIRONMENT_BENCHMARKS
from benchmarks.learning import LEARNING_BENCHMARKS
from benchmarks.parallel import PARALLEL_BENCHMARKS
from benchmarks.play import PLAY_BENCHMARKS
from benchmarks.processes import PROCESS_BENCHMARKS
from benchmarks.programs import CPU, SOURCES, Benchmark, Rates, Round, Seconds, Speed, Wait
from benchmarks.ratings import RATING_BENCHMARKS
from benchmarks.spe_ed import SPE_ED_BENCHMARKS
from benchmarks.waiting import WAITS
from turnier.core.compilation.cache import cache_directory
from turnier.core.errors import unknown
from turnier.core.terminal.console import Console

BENCHMARKS: dict[str, Benchmark] = {
    **PLAY_BENCHMARKS,
    **ENVIRONMENT_BENCHMARKS,
    **LEARNING_BENCHMARKS,
    **SPE_ED_BENCHMARKS,
    **RATING_BENCHMARKS,
    **PROCESS_BENCHMARKS,
    **PARALLEL_BENCHMARKS,
}
AVX2_PROCESSOR = "haswell"  # the first with AVX2; it has no AVX-512


class Range(NamedTuple):
    """The median and the range of the rounds."""

    median: float
    low: float
    high: float


class Waited(NamedTuple):
    """The seconds that something took, by both clocks."""

    what: str
    cpu: Range
    wall: Range


class Measured(NamedTuple):
    """The result of one benchmark: medians of both speeds, and by both clocks ours divided by the reference's."""

    unit: str
    of: str  # the reference
    clock: str  # the clock of the quotient that counts
    ours: Speed
    reference: Speed
    cpu: Range
    wall: Range

    @property
    def quotient(self) -> Range:
        return self.cpu if self.clock == CPU else self.wall


def as_dict(row: Measured | Waited) -> dict[str, Any]:
    """Returns everything by name, for JSON."""
    return {key: value._asdict() if hasattr(value, "_asdict") else value for key, value in row._asdict().items()}


def run_benchmarks(
    console: Console, rounds: int, names: Sequence[str] = (), share: float = 1.0
) -> tuple[dict[str, Measured], dict[str, Waited]]:
    """Returns the results of benchmarks and of waits by name, each measured with that share of its work.

    Every round measures ours and the reference in turn; the first, a warm-up, does not count. Raises UserError for a
    name that is in neither BENCHMARKS nor WAITS; no names = all.
    """
    known: dict[str, Benchmark | Wait] = {**BENCHMARKS, **WAITS}
    for name in names:
        if name not in known:
            raise unknown("benchmark", name, known)
    measured: dict[str, list[Any]] = {name: [] for name in names or known}
    with tempfile.TemporaryDirectory() as folder, console.status("") as status:
        for number in range(rounds + 1):
            for name, found in measured.items():
                status.update(f"{name}, round {number} of {rounds}" if number else f"{name}, warming up")
                result = known[name].measure(Round(Path(folder), number, share))
                if number:
                    found.append(result)
    return (
        {name: _summary(BENCHMARKS[name], found) for name, found in measured.items() if name in BENCHMARKS},
        {name: _waited(WAITS[name].what, found) for name, found in measured.items() if name in WAITS},
    )


def _range(values: Sequence[float]) -> Range:
    return Range(statistics.median(values), min(values), max(values))


def _waited(what: str, rounds: Sequence[Seconds]) -> Waited:
    return Waited(what, *map(_range, zip(*rounds, strict=True)))


def _summary(benchmark: Benchmark, rounds: Sequence[Rates]) -> Measured:
    ours, reference = (
        Speed(*(statistics.median(speeds) for speeds in zip(*side, strict=True))) for side in zip(*rounds, strict=True)
    )
    cpu, wall = (_range([r.ours[clock] / r.reference[clock] for r in rounds]) for clock in range(2))
    return Measured(benchmark.unit, benchmark.reference, benchmark.clock, ours, reference, cpu, wall)


def runs_avx2() -> bool:
    """Whether code for that processor runs on this machine."""
    return platform.machine() in ("x86_64", "AMD64")


def avx2_quotients(names: Sequence[str], rounds: int) -> dict[str, Range]:
    """Returns by name the quotients of benchmarks, both sides compiled for AVX2_PROCESSOR.

    Its kernels are cached beside the others, so only the first call compiles them.
    """
    environment = os.environ | {
        "NUMBA_CPU_NAME": AVX2_PROCESSOR,
        "NUMBA_CPU_FEATURES": "",  # the features that the name implies
        "NUMBA_CACHE_DIR": str(cache_directory().parent / AVX2_PROCESSOR),
    }
    command = [sys.executable, "-m", "benchmarks", *names, "--json", "--rounds", str(rounds)]
    done = subprocess.run(command, cwd=SOURCES.parent, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return {name: Range(**row[row["clock"]]) for name, row in json.loads(done.stdout).items()}
