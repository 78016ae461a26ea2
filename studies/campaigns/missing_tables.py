"""Tables of what experiments still need: games for the target interval, and CPU time for them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from typing import Any

from rich import box
from rich.table import Table

from turnier.core.number_text import interval, number, plus_minus
from turnier.core.terminal.console import Console
from turnier.runs.experiments.published import is_share
from turnier.studies.campaigns.outlook import HOUR, Outlook, seconds_left, seconds_spent

UNKNOWN = "?"
NOTE = (
    "Verdicts: how many published figures ours agree with, or are higher or lower than. Needed: further games (or"
    " searches) for an interval of the target half-width; if nothing was published, the planned ones. CPU h"
    " and left: CPU hours so far, and those that are left, ? before a first slice was played. Shared games count"
    " once."
)


def print_missing(console: Console, experiments: Sequence[Sequence[Outlook]], rows: bool = False) -> None:
    """Prints a line per experiment, or per row, with the totals of each document and of all."""
    table = Table(box=box.SIMPLE, padding=(0, 1, 0, 0))
    table.add_column("row" if rows else "experiment", overflow="fold")
    for heading in ("ours, 95 %", "published", "ours is") if rows else ("verdicts",):
        table.add_column(heading, justify="right", no_wrap=True)
    for heading in ("played", "needed", "CPU h", "left")[: 4 - rows]:
        table.add_column("left" if rows and heading == "CPU h" else heading, justify="right", no_wrap=True)
    for document, some in itertools.groupby(experiments, key=lambda outlooks: outlooks[0].experiment.document):
        own = list(some)
        for outlooks in own:
            name = outlooks[0].experiment.name
            if rows:
                table.add_row(f"[bold]{name}[/]", "", "", _verdicts(outlooks), *_counts(outlooks, rows))
                for row in outlooks:
                    table.add_row(f"  {row.row.label}", *_compared(row), _played(row), *_counts([row], rows)[1:])
            else:
                table.add_row(f"{document}:{name}", _verdicts(outlooks), *_counts(outlooks, rows))
        table.add_section()
        together = list(itertools.chain.from_iterable(own))
        table.add_row(
            f"[bold]{document}[/]", *[""] * (2 * rows), _verdicts(together), *_counts(together, rows), end_section=True
        )
    everything = list(itertools.chain.from_iterable(experiments))
    if len({row.experiment.document for row in everything}) > 1:
        table.add_row("[bold]all[/]", *[""] * (2 * rows), _verdicts(everything), *_counts(everything, rows))
    console.print(table)
    console.print(NOTE, highlight=False)


def _compared(row: Outlook) -> tuple[str, str, str]:
    published = "" if row.row.published is None else number(row.row.published, digits=4)
    value, low, high = row.measured.value, row.measured.low, row.measured.high
    half = (high - low) / 2
    ours = f"{number(value, half)}\n({interval(low, high, '-')})" if is_share(row.row) else plus_minus(value, half)
    return ours if row.measured.games else "", published, row.verdict


def _played(row: Outlook) -> str:
    return f"{row.played:,}/{row.planned:,}" if row.planned else f"{row.played:,}"


def _verdicts(rows: Sequence[Outlook]) -> str:
    """Returns how many published figures have a verdict."""
    published = [row for row in rows if row.row.published is not None]
    return f"{sum(not row.lacks_verdict for row in published)} of {len(published)}" if published else ""


def _counts(rows: Sequence[Outlook], without_spent: bool) -> tuple[str, ...]:
    """Returns the stored and the needed games, and the CPU hours of both; shared games count once."""
    stored = set[str]().union(*(row.spent for row in rows))
    missing = {spec.id for row in rows for spec in row.missing}
    left = _hours(seconds_left(rows))
    if any(math.isnan(row.seconds_left) for row in rows):
        left = f"{left} + {UNKNOWN}" if seconds_left(rows) else UNKNOWN
    hours = [_hours(seconds_spent(rows)), left]
    return f"{len(stored):,}", f"{len(missing):,}", *hours[without_spent:]


def _hours(seconds: float) -> str:
    return f"{seconds / HOUR:,.0f}" if seconds >= 100 * HOUR else f"{seconds / HOUR:.2f}"


def missing_rows(experiments: Iterable[Sequence[Outlook]]) -> list[dict[str, Any]]:
    """Returns every row as plain data; unknown values are None."""
    return [_plain(row) for outlooks in experiments for row in outlooks]


def _plain(row: Outlook) -> dict[str, Any]:
    values = {
        "document": row.experiment.document,
        "experiment": row.experiment.name,
        "row": row.row.label,
        "unit": row.unit,
        "planned": row.planned,
        "played": row.played,
        "value": row.measured.value,
        "low": row.measured.low,
        "high": row.measured.high,
        "published": row.row.published,
        "verdict": row.verdict,
        "needed": len(row.missing),
        "cpu_hours_spent": sum(row.spent.values()) / HOUR,
        "cpu_hours_left": row.seconds_left / HOUR,
    }
    return {key: None if isinstance(value, float) and math.isnan(value) else value for key, value in values.items()}
