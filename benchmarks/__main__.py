"""Measure speed relative to C reference programs, in a checkout with gcc.

A quotient is our speed divided by theirs, in CPU time; * marks wall-clock time, if several cores work. What people
wait for is in seconds.

    python -m benchmarks
    python -m benchmarks random_2048 learn_yavalath --rounds 9 --json
    python -m benchmarks --write docs/benchmarks.md
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from benchmarks.suite import BENCHMARKS, as_dict, avx2_quotients, run_benchmarks, runs_avx2
from benchmarks.tables import benchmark_page, benchmark_table, waits_table
from turnier.core.errors import UserError
from turnier.core.outputs import require_file
from turnier.core.terminal.console import Console


def main() -> None:
    parser = argparse.ArgumentParser("benchmarks", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("names", nargs="*", help="benchmarks to run; default: all")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--rounds", type=int, default=5, help="measurements of each benchmark; the median is shown")
    parser.add_argument("--write", type=Path, help="also write a page of docs/, with figures for AVX2 alone")
    given = parser.parse_args()
    try:
        if given.rounds < 1:
            raise UserError(f"there must be at least 1 round, got {given.rounds}.")
        _measure(given.names, given.json, given.rounds, given.write)
    except UserError as error:
        parser.exit(2, f"Error: {error}\n")


def _measure(names: list[str], as_json: bool, rounds: int, write: Path | None) -> None:
    if write:
        require_file(write, "the page")
    measured, waited = run_benchmarks(Console(stderr=True), rounds, names)
    if as_json:
        print(json.dumps({name: as_dict(row) for name, row in (measured | waited).items()}, indent=2))
    else:
        tables = [benchmark_table(measured)] * bool(measured) + [waits_table(waited)] * bool(waited)
        Console().print(*tables)
    if write:
        lanes = [name for name in measured if BENCHMARKS[name].lanes]
        avx2 = avx2_quotients(lanes, rounds) if lanes and runs_avx2() else {}
        before = write.read_text() if write.exists() else ""
        write.write_text(benchmark_page(measured, avx2, waited, rounds, before))


if __name__ == "__main__":
    main()
