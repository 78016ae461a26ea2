"""All benchmarks by name: speed relative to C programs, or of several workers relative to one."""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from turnier.bench.environments import ENVIRONMENT_BENCHMARKS
from turnier.bench.learning import LEARNING_BENCHMARKS
from turnier.bench.parallel import PARALLEL_BENCHMARKS
from turnier.bench.play import PLAY_BENCHMARKS
from turnier.bench.programs import Benchmark, Rates
from turnier.bench.spe_ed import SPE_ED_BENCHMARKS
from turnier.core.errors import unknown

BENCHMARKS: dict[str, Benchmark] = {
    **PLAY_BENCHMARKS,
    **ENVIRONMENT_BENCHMARKS,
    **LEARNING_BENCHMARKS,
    **SPE_ED_BENCHMARKS,
    **PARALLEL_BENCHMARKS,
}


def run_benchmarks(console: Console, rounds: int, names: Sequence[str] = ()) -> dict[str, dict[str, Any]]:
    """Returns by name: value, unit, reference, quotient, and what the reference is (`of`); medians over the rounds.

    Every round measures ours and the reference in turn; the first, which warms up, does not count.
    Raises UserError for a name that is not in BENCHMARKS; no names are all.
    """
    for name in names:
        if name not in BENCHMARKS:
            raise unknown("benchmark", name, BENCHMARKS)
    chosen = {name: BENCHMARKS[name] for name in names or BENCHMARKS}
    measured: dict[str, list[Rates]] = {name: [] for name in chosen}
    with tempfile.TemporaryDirectory() as folder, console.status("") as status:
        for number in range(rounds + 1):
            for name, benchmark in chosen.items():
                status.update(f"{name}, round {number} of {rounds}" if number else f"{name}, warming up")
                rates = benchmark.measure(Path(folder), number)
                if number:
                    measured[name].append(rates)
    return {
        name: {
            "value": statistics.median(rates.ours for rates in measured[name]),
            "unit": benchmark.unit,
            "reference": statistics.median(rates.reference for rates in measured[name]),
            "quotient": statistics.median(rates.ours / rates.reference for rates in measured[name]),
            "of": benchmark.reference,
        }
        for name, benchmark in chosen.items()
    }


def benchmark_table(results: dict[str, dict[str, Any]]) -> Table:
    """Returns the results of `run_benchmarks` as a table for a terminal."""
    table = Table("name", title="one core, medians; the quotient is what counts")
    for heading in ("value", "reference", "unit", "quotient"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("what the reference is")
    for name, row in results.items():
        value, reference = (f"{row[key]:,.0f}" for key in ("value", "reference"))
        table.add_row(name, value, reference, row["unit"], f"{row['quotient']:.2f}", row["of"])
    return table
