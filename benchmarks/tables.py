"""Results of benchmarks: a table for a terminal, and a page of docs/ with the machine and every benchmark."""

from __future__ import annotations

import datetime
import os
import platform
import subprocess
from collections.abc import Mapping
from pathlib import Path

import numba
from rich.box import SIMPLE_HEAD
from rich.table import Table

from benchmarks.programs import CPU
from benchmarks.suite import AVX2_PROCESSOR, BENCHMARKS, Measured, Quotient

THOUSANDS = (" ", " k", " M", " G")
HEADINGS = ("benchmark", "ours", "reference", "unit", "quotient", "by wall clock", "AVX2 only", "the reference")
RULE = ("---", "---:", "---:", "---", "---:", "---:", "---:", "---")
UNKNOWN = "-"
ABOUT = f"""\
# Benchmarks

Speed relative to [programs in plain C](../benchmarks/README.md) that do the same work, or relative to the last column.
Written by `make bench ARGS="--write docs/benchmarks.md"`.

A quotient is our speed divided by that of the reference: the median of alternating rounds, and their range.
Quotients carry over to other machines better than rates do. They are of CPU time; if several cores work (*), those
by the wall clock count. For work in the lanes of vector registers the quotient is also given with both programs
compiled for a processor that has AVX2 but not AVX-512 ({AVX2_PROCESSOR}).
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


def benchmark_page(measured: Mapping[str, Measured], avx2: Mapping[str, Quotient], rounds: int) -> str:
    """Returns the page, in Markdown; unmeasured benchmarks have no figures."""
    rows: list[tuple[str, ...]] = [HEADINGS, RULE]
    for name, benchmark in BENCHMARKS.items():
        row = measured.get(name)
        figures = _figures(row) if row else (UNKNOWN, UNKNOWN, benchmark.unit, UNKNOWN, UNKNOWN)
        lanes = UNKNOWN if benchmark.lanes else ""
        rows.append((f"`{name}`", *figures, _with_range(avx2[name]) if name in avx2 else lanes, benchmark.reference))
    table = "".join(f"| {' | '.join(row)} |\n" for row in rows)
    return f"{ABOUT}\n{_machine(rounds)}\n\n{table}"


def _figures(row: Measured) -> tuple[str, ...]:
    ours, theirs = (rate_text(getattr(side, row.clock)) for side in (row.ours, row.reference))
    star, wall = ("", quotient_text(row.wall.median)) if row.clock == CPU else ("*", "")
    return ours, theirs, row.unit, _with_range(row.quotient) + star, wall


def _with_range(quotient: Quotient) -> str:
    median, low, high = (quotient_text(value) for value in quotient)
    return f"{median} ({low} to {high})"


def _machine(rounds: int) -> str:
    """Returns a sentence on the machine, date and software of the measurement."""
    gcc = subprocess.run(["gcc", "-dumpfullversion"], capture_output=True, text=True, check=True).stdout.strip()
    versions = f"Python {platform.python_version()}, numba {numba.__version__}, gcc {gcc}"
    today = datetime.date.today().isoformat()
    return f"Measured on {today}, {rounds} rounds: {_processor()}, {os.cpu_count()} cores; {versions}."


def _processor() -> str:
    """Returns the processor's name, if the system gives it."""
    described = Path("/proc/cpuinfo")
    for line in described.read_text().splitlines() if described.exists() else []:
        key, _, name = line.partition(":")
        if key.strip() == "model name":
            return " ".join(name.split())
    return platform.processor() or platform.machine()
