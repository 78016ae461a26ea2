"""Commands that look after runs: status, export, doctor, and what `turnier tournament --resume` types again."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated

import typer
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from turnier.core.errors import UserError
from turnier.results.store.manifest import started_with

StoreOption = Annotated[str, typer.Option("--store", help="SQLite or PostgreSQL URL")]
DEFAULT_STORE = "sqlite:///turnier.db"
COLOURS = {"running": "green", "stopped": "yellow", "ok": "green", "warn": "yellow", "fail": "red"}


def status(
    store: StoreOption = DEFAULT_STORE,
    as_json: Annotated[bool, typer.Option("--json", help="print JSON")] = False,
) -> None:
    """Shows running and past runs of a store: how far they are, how fast, and how long they still take.

    Another process may be playing them, also on another machine. A run counts as stopped where its driver has ended
    or has been silent for 30 seconds; to go on, repeat its command or type turnier tournament --resume RUN.

    Example: turnier status --store postgresql://user@host/turnier
    """
    from turnier.results.store.progress import progress_of_runs
    from turnier.results.store.store import Store

    with Store.open(store, read_only=True) as results:
        runs = progress_of_runs(results)
    if as_json:
        print(json.dumps([asdict(run) for run in runs], indent=2))
        return
    console = Console()
    table = Table(box=box.SIMPLE, padding=(0, 1, 0, 0))
    table.add_column("run, begun", no_wrap=True)
    for heading in ("state", "done", "rate", "left"):
        table.add_column(heading, justify="right", no_wrap=True)
    for run in runs:
        state = f"[{COLOURS[run.state]}]{run.state}" if run.state in COLOURS else run.state
        done = f"{run.stored:,} stored"
        if run.done is not None:
            done = f"{run.done:,} of {run.planned:,}" + f" {run.unit}" * (run.unit != "games")
        rate = "" if run.rate is None else f"{run.rate:,.3g}/s" if run.rate < 1000 else f"{run.rate:,.0f}/s"
        left = "" if run.seconds_left is None else str(timedelta(seconds=round(run.seconds_left)))
        table.add_row(f"{run.run}\n[dim]{run.name}, {_ago(run.began)}", state, done, rate, left)
    console.print(table)


def export(
    run: Annotated[str, typer.Argument(help="a run that `turnier status` shows, or how its name begins")],
    out: Annotated[Path, typer.Option(help="a file that ends in .csv, .parquet or .jsonl, or a folder for all")],
    store: StoreOption = DEFAULT_STORE,
) -> None:
    """Writes a run's games: tables with a row per seat (CSV, Parquet), and one JSON line per game.

    JSON lines hold every move: turnier verify GAME FILE.jsonl replays them with no store.

    \b
    Examples:
      turnier export tournament:1f0c --out games.csv
      turnier export tournament:1f0c --out folder
    """
    from turnier.results.export import export
    from turnier.results.store.store import Store
    from turnier.runs.bar import game_bar

    with Store.open(store, read_only=True) as results:
        found = results.find_run(run)
        with game_bar(found.name, results.match_counts().get(found.id, 0)) as bar:
            paths = export(results, found, out, bar.advance)
    for path in paths:
        Console().print(f"{path}: {bar.done:,} games", soft_wrap=True)


def doctor(
    store: StoreOption = DEFAULT_STORE,
    address: Annotated[str | None, typer.Option(help="Ray cluster to join, such as auto; default: RAY_ADDRESS")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print JSON")] = False,
) -> None:
    """Checks versions, machine, kernel cache, store and Ray, and says what to do; exits 1 if something fails.

    Example: turnier doctor --store postgresql://user@host/turnier --address auto
    """
    from turnier.commands.machine.doctor import FAIL, examine

    console, checks = Console(), []
    for check in examine(store, address):
        checks.append(check)
        if not as_json:
            cure = f" -> {check.cure}" if check.cure else ""
            console.print(
                f"[{COLOURS[check.state]}]{check.state:<4}[/] {check.name}: {escape(check.found + cure)}",
                soft_wrap=True,
            )
    if as_json:
        print(json.dumps([asdict(check) for check in checks], indent=2))
    if any(check.state == FAIL for check in checks):
        raise typer.Exit(1)


def _ago(moment: str) -> str:
    """Returns how long ago a UTC time is, roughly."""
    seconds = max(0.0, (datetime.now(UTC) - datetime.fromisoformat(moment)).total_seconds())
    for unit, size in (("days", 86400), ("hours", 3600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit} ago"
    return f"{seconds:.0f} s ago"


def resumed_words(run: str, others: Sequence[str], store: str, **where: str | int | None) -> list[str]:
    """Returns the command line that a tournament was last driven with, playing here; raises UserError without one."""
    from turnier.results.store.progress import stored_command
    from turnier.results.store.store import Store

    if others:
        raise UserError(f"--resume takes game and agents from the run, got {' '.join(others)} too; leave them out.")
    with Store.open(store, read_only=True) as results:
        found = results.find_run(run)
        words = list(stored_command(results, found.id))
    if found.kind != "tournament":
        raise UserError(f"--resume goes on with a tournament, got a {found.kind}; repeat the command that began it.")
    if words[1:2] != ["tournament"]:
        raise UserError(
            f"{found.id} must have been played by `turnier tournament` of this version to be resumed by its name;"
            " repeat the command that began it."
        )
    started_with(words)
    places = {"store": store, **where}
    return words[1:] + [w for name, value in places.items() if value is not None for w in (f"--{name}", str(value))]
