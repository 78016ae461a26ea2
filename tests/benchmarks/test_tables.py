"""What benchmarks have measured fits into a terminal, and docs/benchmarks.md has a row for each of them."""

from __future__ import annotations

import io
import re
import shutil
from pathlib import Path

import pytest
from rich.console import Console

from benchmarks.programs import Speed
from benchmarks.suite import BENCHMARKS, Measured, Range, Waited
from benchmarks.tables import HEADINGS, UNKNOWN, WAITING, benchmark_page, benchmark_table, waits_table
from benchmarks.waiting import WAITS

PAGE = Path(__file__).resolve().parents[2] / "docs/benchmarks.md"
QUOTIENT = Range(0.0123, 0.0045, 4.5)
SPEEDS = (Speed(987e6, 1.5), Speed(0.5, 2e3))
MEASURED = {
    name: Measured(benchmark.unit, benchmark.reference, benchmark.clock, *SPEEDS, QUOTIENT, QUOTIENT)
    for name, benchmark in BENCHMARKS.items()
}
WAITED = {name: Waited(wait.what, QUOTIENT, QUOTIENT) for name, wait in WAITS.items()}


def rows_of(page: str, headings: tuple[str, ...]) -> dict[str, list[str]]:
    """Returns the cells of every row of a table behind its name; fails where it has another number of them."""
    lines = page.partition(f"| {' | '.join(headings)} |\n")[2].partition("\n\n")[0].splitlines()
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]
    assert {len(row) for row in rows} == {len(headings)}
    return {row[0].strip("`"): row[1:] for row in rows[1:]}


def quotient_of(cell: str) -> list[float]:
    """Returns median, low and high."""
    found = re.fullmatch(r"([\d.]+) \(([\d.]+) to ([\d.]+)\)\*?", cell)
    assert found, cell
    return [float(text) for text in found.groups()]


def test_the_tables_fit_into_80_columns() -> None:
    console = Console(file=io.StringIO(), width=80)
    console.print(benchmark_table(MEASURED), waits_table(WAITED))
    assert isinstance(console.file, io.StringIO)
    printed = console.file.getvalue()
    assert "…" not in printed
    for name in BENCHMARKS:
        assert re.search(rf"^ {name} +\d.* \*?0.012 +0.0045 to 4.50 *$", printed, re.MULTILINE)
    for name in WAITS:
        assert re.search(rf"^ {name} +12 ms +4.5 ms to 4.5 s +12 ms *$", printed, re.MULTILINE)


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed, whose version the page tells")
def test_the_page_tells_what_was_measured() -> None:
    page = benchmark_page(MEASURED, {"random_2048": QUOTIENT}, WAITED, rounds=5)
    rows, waits = rows_of(page, HEADINGS), rows_of(page, WAITING)
    assert waits == {name: ["12 ms (4.5 ms to 4.5 s)", "12 ms", wait.what] for name, wait in WAITS.items()}
    assert rows.keys() == BENCHMARKS.keys()
    ours, theirs, unit, quotient, wall, avx2, of = rows["random_2048"]
    assert (ours, theirs, unit, wall, of) == ("987 M", "0.50", "moves/s", "0.012", BENCHMARKS["random_2048"].reference)
    assert quotient == avx2 == "0.012 (0.0045 to 4.50)"
    assert rows["tree_parallel"][3].endswith("*") and rows["tree_parallel"][4] == ""


def test_the_page_in_docs_has_a_row_for_every_benchmark() -> None:
    rows, waits = rows_of(PAGE.read_text(), HEADINGS), rows_of(PAGE.read_text(), WAITING)
    assert {name: row[-1] for name, row in waits.items()} == {name: wait.what for name, wait in WAITS.items()}
    assert list(rows) == list(BENCHMARKS), "add a row with - for figures; the next run of `make bench` fills it"
    for name, (*_, unit, quotient, _, _, of) in rows.items():
        assert (unit, of) == (BENCHMARKS[name].unit, BENCHMARKS[name].reference)
        if quotient != UNKNOWN:
            median, low, high = quotient_of(quotient)
            assert 0 < low <= median <= high
