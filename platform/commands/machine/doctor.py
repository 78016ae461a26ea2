"""`turnier doctor`: prints the findings of `checks` and the damage in a store; repairs it on request."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer
from rich import box
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from ...core.terminal.console import Console
from ..options import DEFAULT_URL, AddressOption, JsonOption, StoreOption

if TYPE_CHECKING:
    from ...results.repair.inspection import Finding

COLOURS = {"ok": "green", "warn": "yellow", "fail": "red"}
ALIKE = 3  # findings of one kind that are named one by one


def doctor(
    store: StoreOption = DEFAULT_URL,
    address: AddressOption = None,
    as_json: JsonOption = False,
    repair: Annotated[bool, typer.Option("--repair", help="only repair the store, after making a copy")] = False,
) -> None:
    """Check that everything Turnier needs works, and say how to fix what does not.

    It checks versions, machine, clock, kernel cache, store and Ray. In the store, it runs the database's own check and
    looks for wrong checksums and numbers of games, searches, candidates and notes, for copies of games, and for
    references to missing rows. The exit code is 1 if something fails or is damaged.

    With --repair, everything sound is written into a new file that replaces the damaged one; the damaged file is kept.
    To play removed games again, repeat the commands of the runs.

    \b
    Examples:
      turnier doctor
      turnier doctor --store postgresql://user@host/turnier --address auto
      turnier doctor --store sqlite:///turnier.db --repair
    """
    from .checks import FAIL, Check, check_content, examine

    console, checks = Console(), []
    found: list[Finding] = []
    content = check_content(store, found) if repair else None
    if content and content.state == FAIL:
        _repair(store, Console(stderr=True) if as_json else console)
        found.clear()
        content = check_content(store, found)
    for check in [content] if content else examine(store, address, found):
        checks.append(check)
        if not as_json:
            cure = f" -> {check.cure}" if check.cure else ""
            colour, text = COLOURS[check.state], escape(check.found + cure)
            console.print(f"[{colour}]{check.state:<4}[/] {check.name}: {text}", soft_wrap=True)
    if as_json:
        damage = [asdict(Check(one.where, FAIL, one.wrong, one.repair)) for one in found]
        print(json.dumps([asdict(check) for check in checks] + damage, indent=2))
    elif found:
        console.print(_table(found, "with --repair"))
    if any(check.state == FAIL for check in checks):
        raise typer.Exit(1)


def _repair(store: str, console: Console) -> None:
    """Repairs a damaged store and says what was done."""
    from ...results.repair.rewriting import repair
    from ...runs.bar import game_bar
    from ...search.storage.study_repair import repair_studies

    with game_bar("repairing games", 0) as bar:
        repaired = repair(store, repair_studies, bar.reached)
    console.print(_table(repaired.found, "repaired"))
    console.print(f"The damaged file is kept as {repaired.copy}", soft_wrap=True, markup=False, highlight=False)


def _table(found: Sequence[Finding], repair: str) -> Table:
    """Returns the findings as a table for 80 columns, similar ones in one row."""
    alike: dict[tuple[str, str, str], list[str]] = {}
    for where, wrong, cure in found:
        kind, _, name = where.partition(" ")
        alike.setdefault((kind, wrong, cure), []).append(name)
    table = Table(box=box.SIMPLE, padding=(0, 1, 0, 0))
    for heading in ("where", "what is wrong", repair):
        table.add_column(heading, overflow="fold", ratio=1)
    for (kind, wrong, cure), names in alike.items():
        shown = ", ".join(name[:12] if kind in ("game", "search", "position") else name for name in names[:ALIKE])
        more = f" and {len(names) - ALIKE} more" if len(names) > ALIKE else ""
        table.add_row(*map(Text, (f"{kind} {shown}{more}".strip(), wrong, cure)))
    return table
