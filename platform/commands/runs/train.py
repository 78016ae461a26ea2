"""Prints trainings: how the newest games went, who plays with what was learned, and the evaluations."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING

from rich.table import Table

from turnier.core.number_text import estimate, number, plus_minus
from turnier.core.terminal.console import Console

if TYPE_CHECKING:
    from turnier.runs.stored.training import TrainingResults


def print_training(console: Console, results: TrainingResults, as_json: bool) -> None:
    """Prints what was learned, as sentences and a table or as JSON."""
    from turnier.results.frames import json_rows

    if as_json:
        print(
            json.dumps({"curve": json_rows(results.curve()), "evaluations": json_rows(results.evaluations())}, indent=2)
        )
        return
    for sentence in sentences(results):
        console.print(sentence, soft_wrap=True, markup=False, highlight=False)
    _print_evaluations(console, results)


def sentences(results: TrainingResults) -> list[str]:
    """Returns how the newest games went, how to play with what was learned, and what to change."""
    from turnier.statistics.intervals import half_width_of_mean

    said: list[str] = []
    newest = results.newest(results.plan.every)
    if count := int(newest["count"].sum()):
        mean = float((newest["count"] * newest["mean"]).sum() / count)
        squares = (newest["count"] - 1) * newest["deviation"] ** 2 + newest["count"] * (newest["mean"] - mean) ** 2
        error = half_width_of_mean(count, math.sqrt(squares.sum() / max(count - 1, 1)))
        games = int(newest["games"].iloc[-1])
        said.append(f"{results.out}: {games:,} games; mean of the last {count:,} games {plus_minus(mean, error)}")
    if results.plan.learned(results.out)[0].exists():
        said.append(f'To play with it: turnier tournament {results.game} "{results.agent}"')
    return [*said, *results.hints()]


def _print_evaluations(console: Console, results: TrainingResults) -> None:
    """Prints a row for each evaluation, if there are any."""
    evaluations = results.evaluations()
    if evaluations.empty:
        return
    if results.against:
        console.print(f"Evaluated against {results.against}", soft_wrap=True)
    rated = ("minutes", "Elo, 95 %", "") if results.plan.rated else ()
    table = Table(caption=f"turnier show {results.id}")
    for heading in ("games trained", f"{results.unit}, 95 %", "games played", *rated):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in evaluations.itertuples():
        cells = [f"{row.games:,}", estimate(row.value, row.low, row.high), f"{row.matches:,}"]
        if results.plan.rated:
            elo = estimate(row.elo, row.elo_low, row.elo_high, signed=True)
            cells += [number(row.minutes), elo, "best" if row.games == results.best else ""]
        table.add_row(*cells)
    console.print(table)
