"""`turnier bench`: speed relative to C reference programs."""

from __future__ import annotations

import json
from typing import Annotated

import typer
from rich.console import Console

from turnier.commands.options import JsonOption


def bench(
    names: Annotated[list[str] | None, typer.Argument(help="what to measure; default: everything")] = None,
    as_json: JsonOption = False,
    rounds: Annotated[int, typer.Option(help="measurements of each, of which the median is shown", min=1)] = 5,
) -> None:
    """Measure speed relative to C reference programs.

    The C programs are compiled and measured in the same run; that needs gcc and the benchmarks/ folder of a checkout.

    \b
    Examples:
      turnier bench
      turnier bench random_2048 learn_tc_2048 --rounds 9 --json
    """
    from turnier.bench import benchmark_table, run_benchmarks

    measured = run_benchmarks(Console(stderr=True), rounds, names or ())
    if as_json:
        print(json.dumps({name: row.as_dict() for name, row in measured.items()}, indent=2))
    else:
        Console().print(benchmark_table(measured))
