"""`turnier doctor`: prints what `checks` find."""

from __future__ import annotations

import json
from dataclasses import asdict

import typer
from rich.console import Console
from rich.markup import escape

from turnier.commands.options import DEFAULT_URL, AddressOption, JsonOption, StoreOption

COLOURS = {"ok": "green", "warn": "yellow", "fail": "red"}


def doctor(store: StoreOption = DEFAULT_URL, address: AddressOption = None, as_json: JsonOption = False) -> None:
    """Check what Turnier needs, and say what to do.

    It checks versions, machine, clock, kernel cache, store and Ray; exits with 1 if something fails.

    \b
    Examples:
      turnier doctor
      turnier doctor --store postgresql://user@host/turnier --address auto
    """
    from turnier.commands.machine.checks import FAIL, examine

    console, checks = Console(), []
    for check in examine(store, address):
        checks.append(check)
        if not as_json:
            cure = f" -> {check.cure}" if check.cure else ""
            colour, text = COLOURS[check.state], escape(check.found + cure)
            console.print(f"[{colour}]{check.state:<4}[/] {check.name}: {text}", soft_wrap=True)
    if as_json:
        print(json.dumps([asdict(check) for check in checks], indent=2))
    if any(check.state == FAIL for check in checks):
        raise typer.Exit(1)
