"""`turnier runs workers`: each machine's games in a run, its speed, and whether its games end like those of others."""

from __future__ import annotations

import json
import math
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from rich import box
from rich.table import Table
from rich.text import Text

from ...core.number_text import duration, number
from ...core.terminal.console import Console
from ..options import DEFAULT_URL, JsonOption, RunArgument, StoreOption

if TYPE_CHECKING:
    from ...results.workers import WorkersOfRun

HEADINGS = ("games", "%", "CPU\na game", "speed", "failed", "last,\nago", "scores")
UNITS = (("d", 86400), ("h", 3600), ("min", 60))


def workers(run: RunArgument, store: StoreOption = DEFAULT_URL, as_json: JsonOption = False) -> None:
    """Show the machines that played a run, and whether their games differ.

    For each machine: its games and their share of all, CPU time per game, speed relative to all machines with the same
    agents, failed and void games, the time since its latest game was stored, and its largest residual of scores. A
    residual is the difference, in standard errors, between the mean score of an agent on this machine and on all
    machines, against the same others and in the same seats.

    \b
    Examples:
      turnier runs workers last
      turnier runs workers tournament:1f0c --json
    """
    from ...results.store.store import Store
    from ...results.workers import workers_of_run

    with Store.open(store, read_only=True) as results:
        found = results.find_run(run)
        played = workers_of_run(results, found.id)
    if as_json:
        print(json.dumps(_rows(played), indent=2))
        return
    console = Console()
    console.print(_table(played))
    for sentence in played.sentences(found.id):
        console.print(sentence, style="red", soft_wrap=True, markup=False, highlight=False)


def _rows(played: WorkersOfRun) -> list[dict[str, Any]]:
    """Returns the machines, each with its residuals."""
    from ...results.frames.matches import json_rows

    of_worker: dict[str, list[dict[str, Any]]] = {}
    for row in json_rows(played.residuals):
        of_worker.setdefault(row.pop("worker"), []).append(row)
    rows = json_rows(played.workers.drop(columns=["standard_errors", "agent", "p"]))
    differing = set(played.differing["worker"])
    return [
        row | {"differs": row["worker"] in differing, "residuals": of_worker.get(row["worker"], [])} for row in rows
    ]


def _table(played: WorkersOfRun) -> Table:
    table = Table(box=box.SIMPLE, padding=(0, 1, 0, 0))
    table.add_column("worker", overflow="fold", min_width=10)
    for heading in HEADINGS:
        table.add_column(heading, justify="right", no_wrap=True)
    for row in played.workers.to_dict("records"):
        residual = "" if math.isnan(row["p"]) else f"{row['standard_errors']:+.1f}"
        cells = (
            *(row["worker"], f"{row['games']:,}", f"{100 * row['share']:.0f}"),
            *(duration(row["cpu_seconds_per_game"], digits=2), number(row["speed"], digits=2)),
            *(f"{row['failed'] + row['void']:,}", _since(row["last"]), residual),
        )
        table.add_row(*map(Text, cells))
    return table


def _since(moment: str | None) -> str:
    """Returns how long ago a UTC time is, in a few characters."""
    if moment is None:
        return ""
    seconds = max(0.0, (datetime.now(UTC) - datetime.fromisoformat(moment)).total_seconds())
    unit, size = next(((unit, size) for unit, size in UNITS if seconds >= 2 * size), ("s", 1))
    return f"{seconds / size:.0f} {unit}"
