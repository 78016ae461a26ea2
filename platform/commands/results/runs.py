"""`turnier runs`: running and past runs of a store; its subcommands have modules of their own."""

from __future__ import annotations

import json
import textwrap
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import typer
from rich import box
from rich.markup import escape
from rich.table import Table

from ...core.number_text import number
from ...core.terminal.console import Console
from ...core.terminal.visible import visible_line
from ..options import DEFAULT_URL, JsonOption, StoreOption

if TYPE_CHECKING:
    from ...results.store.progress import RunProgress

COLOURS = {"running": "green", "waiting": "cyan", "stopped": "yellow"}
LONGEST = 200  # characters of the reason why a run stopped


def runs(context: typer.Context, store: StoreOption = DEFAULT_URL, as_json: JsonOption = False) -> None:
    """List the runs of a store; annotate, rename, archive or delete one.

    The table shows progress, speed and time left, including for runs that another process or machine is playing. A run
    counts as stopped if its driver has ended or has been silent for 30 seconds; to resume it, repeat its command or
    type its command with --resume RUN. A run's note is below its name.

    \b
    Examples:
      turnier runs
      turnier runs --store postgresql://user@host/turnier
      turnier runs note last "with the new heuristic"
    """
    if context.invoked_subcommand:
        return
    from ...results.store.progress import progress_of_runs
    from ...results.store.store import Store

    with Store.open(store, read_only=True) as results:
        found = progress_of_runs(results)
    if as_json:
        print(json.dumps([asdict(run) for run in found], indent=2))
        return
    table = Table(box=box.SIMPLE, padding=(0, 1, 0, 0))
    table.add_column("run, begun", overflow="fold")
    for heading in ("state", "done", "rate", "left"):
        table.add_column(heading, justify="right", no_wrap=True)
    for run in found:
        table.add_row(*_row(run))
    Console().print(table)


def _row(run: RunProgress) -> tuple[str, ...]:
    state = f"[{COLOURS[run.state]}]{run.state}" if run.state in COLOURS else run.state
    done = f"{run.stored:,} stored"
    if run.done is not None:
        done = f"{run.done:,} of {run.planned:,}" + f" {run.unit}" * (run.unit != "games")
    rate = "" if run.rate is None else f"{number(run.rate)}/s"
    left = "" if run.seconds_left is None else str(timedelta(seconds=round(run.seconds_left)))
    run_id, name, note, reason = (
        escape(visible_line(text)) for text in (run.run, run.name, run.note, textwrap.shorten(run.reason, LONGEST))
    )
    below = f"\n[italic]{note}[/]" * bool(note) + f"\n{reason}" * bool(reason)
    return f"{run_id}\n[dim]{name}, {_ago(run.began)}[/]{below}", state, done, rate, left


def _ago(moment: str) -> str:
    """Returns how long ago a UTC time is, roughly."""
    seconds = max(0.0, (datetime.now(UTC) - datetime.fromisoformat(moment)).total_seconds())
    for unit, size in (("days", 86400), ("hours", 3600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit} ago"
    return f"{seconds:.0f} s ago"
