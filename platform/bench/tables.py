"""What benchmarks have measured, as a table for a terminal."""

from __future__ import annotations

from collections.abc import Mapping

from rich.box import SIMPLE_HEAD
from rich.table import Table

from turnier.bench.programs import CPU
from turnier.bench.suite import Measured

THOUSANDS = (" ", " k", " M", " G")


def rate_text(value: float) -> str:
    """Returns a rate with three digits, such as 64.5 M."""
    power = 0
    while value >= 999.5 and power < 3:
        value, power = value / 1000, power + 1
    digits = 0 if value >= 99.95 else 1 if value >= 9.995 else 2
    return f"{value:.{digits}f}{THOUSANDS[power]}".strip()


def benchmark_table(results: Mapping[str, Measured]) -> Table:
    """Returns what `run_benchmarks` measured; it fits into 80 columns."""
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
        median, low, high = (f"{value:.2f}" for value in row.quotient)
        star = "" if row.clock == CPU else "*"
        table.add_row(name, ours, theirs, row.unit, star + median, f"{low} to {high}")
    return table
