"""Results of benchmarks: a table for a terminal, and a page of docs/ with the machine and every benchmark."""

from __future__ import annotations

import datetime
import os
import platform
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import numba
from rich.box import SIMPLE_HEAD
from rich.table import Table

from benchmarks.programs import CPU
from benchmarks.suite import AVX2_PROCESSOR, BENCHMARKS, Measured, Range, Waited
from benchmarks.waiting import WAITS
from turnier.core.number_text import duration

THOUSANDS = (" ", " k", " M", " G")
HEADINGS = ("benchmark", "ours", "reference", "unit", "quotient", "by wall clock", "AVX2 only", "the reference")
WAITING = ("name", "CPU time", "by wall clock", "what")
RULE = ("---", "---:", "---:", "---", "---:", "---:", "---:", "---")
UNKNOWN = "-"
BESIDE = "## Beside other programs"  # what is below it is written by hand
ABOUT = f"""\
# Benchmarks

Speed relative to [programs in plain C](../benchmarks/README.md) that do the same work, or relative to the last column.
Written by `make bench ARGS="--write docs/benchmarks.md"`.

A quotient is our speed divided by that of the reference: the median of alternating rounds, and their range, in CPU
time, or by the wall clock if several cores work (*). It holds for this processor only: `random_2048` was 3.4 on one AMD
EPYC and 4.9 on a later one. Scalar C plays one board at a time. Where ours fills the lanes of vector registers, that
quotient mainly shows how wide they are; the rows that end in `_lanes` compare with C that fills them too, by gcc's
vector extensions. Both are also given with both programs compiled for a processor that has AVX2 but not AVX-512
({AVX2_PROCESSOR}).
"""
ABOUT_WAITS = """\
## What people wait for

Seconds: the median of the rounds, and their range. `first_tournament` begins without compiled kernels, as after the
installation or another release of numba; each further game and agent compiles its own once.
"""


def rate_text(value: float) -> str:
    """Returns a rate with three digits, such as 64.5 M."""
    power = 0
    while value >= 999.5 and power < 3:
        value, power = value / 1000, power + 1
    digits = 0 if value >= 99.95 else 1 if value >= 9.995 else 2
    return f"{value:.{digits}f}{THOUSANDS[power]}".strip()


def quotient_text(value: float) -> str:
    """Returns a quotient with two decimals, or more if it is small."""
    return f"{value:.2f}" if value >= 0.1 else f"{value:.2g}"


def seconds_text(value: float) -> str:
    return duration(value, digits=2)


def benchmark_table(results: Mapping[str, Measured]) -> Table:
    """Returns a table of the results of `run_benchmarks`, at most 80 columns wide."""
    by_wall = any(row.clock != CPU for row in results.values())
    table = Table(
        title="speed by CPU time, medians; range of the quotient over the rounds",
        caption="* by the wall clock: several cores" if by_wall else None,
        box=SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
    )
    table.add_column("", no_wrap=True)
    for heading in ("ours", "reference"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("unit", no_wrap=True)
    for heading in ("quotient", "range"):
        table.add_column(heading, justify="right", no_wrap=True)
    for name, row in results.items():
        ours, theirs = (rate_text(getattr(side, row.clock)) for side in (row.ours, row.reference))
        median, low, high = (quotient_text(value) for value in row.quotient)
        star = "" if row.clock == CPU else "*"
        table.add_row(name, ours, theirs, row.unit, star + median, f"{low} to {high}")
    return table


def waits_table(results: Mapping[str, Waited]) -> Table:
    """Returns a table of what people wait for."""
    table = Table(title="seconds, medians; range of the CPU time", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for heading in ("", "CPU time", "range", "by wall clock"):
        table.add_column(heading, justify="right" if heading else "left", no_wrap=True)
    for name, row in results.items():
        median, low, high = map(seconds_text, row.cpu)
        table.add_row(name, median, f"{low} to {high}", seconds_text(row.wall.median))
    return table


def benchmark_page(
    measured: Mapping[str, Measured],
    avx2: Mapping[str, Range],
    waited: Mapping[str, Waited],
    rounds: int,
    before: str = "",
) -> str:
    """Returns the page, in Markdown, with what was written by hand `before`; what was not measured has no figures."""
    rows: list[tuple[str, ...]] = [HEADINGS, RULE]
    for name, benchmark in BENCHMARKS.items():
        row = measured.get(name)
        figures = _figures(row) if row else (UNKNOWN, UNKNOWN, benchmark.unit, UNKNOWN, UNKNOWN)
        lanes = UNKNOWN if benchmark.lanes else ""
        rows.append((f"`{name}`", *figures, _with_range(avx2[name]) if name in avx2 else lanes, benchmark.reference))
    waits: list[tuple[str, ...]] = [WAITING, ("---", "---:", "---:", "---")]
    for name, wait in WAITS.items():
        took = waited.get(name)
        waits.append((f"`{name}`", *(_times(took) if took else (UNKNOWN, UNKNOWN)), wait.what))
    machine = _machine(rounds)
    _, heading, by_hand = before.partition(f"\n{BESIDE}\n")
    tables = f"{ABOUT}\n{machine}\n\n{_markdown(rows)}\n{ABOUT_WAITS}\n{machine}\n\n{_markdown(waits)}"
    return f"{tables}{heading}{by_hand}"


def _markdown(rows: Sequence[Sequence[str]]) -> str:
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _times(row: Waited) -> tuple[str, str]:
    median, low, high = map(seconds_text, row.cpu)
    return f"{median} ({low} to {high})", seconds_text(row.wall.median)


def _figures(row: Measured) -> tuple[str, ...]:
    ours, theirs = (rate_text(getattr(side, row.clock)) for side in (row.ours, row.reference))
    star, wall = ("", quotient_text(row.wall.median)) if row.clock == CPU else ("*", "")
    return ours, theirs, row.unit, _with_range(row.quotient) + star, wall


def _with_range(quotient: Range) -> str:
    median, low, high = (quotient_text(value) for value in quotient)
    return f"{median} ({low} to {high})"


def _machine(rounds: int) -> str:
    """Returns a sentence on the machine, date and software of the measurement."""
    gcc = subprocess.run(["gcc", "-dumpfullversion"], capture_output=True, text=True, check=True).stdout.strip()
    versions = f"Python {platform.python_version()}, numba {numba.__version__}, gcc {gcc}"
    today = datetime.date.today().isoformat()
    machine = f"{_processor()}, {os.cpu_count()} cores, load average {os.getloadavg()[2]:.1f}"
    return f"Measured on {today}, {rounds} rounds: {machine}; {versions}."


def _processor() -> str:
    """Returns the processor's name, if the system gives it."""
    described = Path("/proc/cpuinfo")
    for line in described.read_text().splitlines() if described.exists() else []:
        key, _, name = line.partition(":")
        if key.strip() == "model name":
            return " ".join(name.split())
    return platform.processor() or platform.machine()
