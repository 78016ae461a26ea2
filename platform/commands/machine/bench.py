"""`turnier bench`: speed relative to C reference programs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from turnier.commands.options import JsonOption
from turnier.core.terminal.console import Console


def bench(
    names: Annotated[list[str] | None, typer.Argument(help="what to measure; default: everything")] = None,
    as_json: JsonOption = False,
    rounds: Annotated[int, typer.Option(help="measurements of each; the median is shown", min=1)] = 5,
    write: Annotated[Path | None, typer.Option(help="also write a page of docs/, with figures for AVX2 alone")] = None,
) -> None:
    """Measure speed relative to C reference programs.

    The C programs are compiled and measured in the same run; that needs gcc and the benchmarks/ folder of a checkout. A
    quotient is our speed divided by theirs, in CPU time; * marks wall-clock time, where several cores work.

    \b
    Examples:
      turnier bench
      turnier bench random_2048 learn_yavalath --rounds 9 --json
      turnier bench --write docs/benchmarks.md
    """
    from turnier.bench import BENCHMARKS, avx2_quotients, benchmark_page, benchmark_table, run_benchmarks, runs_avx2
    from turnier.core.outputs import require_file

    if write:
        require_file(write, "the page")
    measured = run_benchmarks(Console(stderr=True), rounds, names or ())
    if as_json:
        print(json.dumps({name: row.as_dict() for name, row in measured.items()}, indent=2))
    else:
        Console().print(benchmark_table(measured))
    if write:
        lanes = [name for name in measured if BENCHMARKS[name].lanes]
        avx2 = avx2_quotients(lanes, rounds) if lanes and runs_avx2() else {}
        write.write_text(benchmark_page(measured, avx2, rounds))
