"""What commands print of a run: its head, its table, what to know of it, and what failed; as JSON the same facts."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from turnier.core.terminal.console import Console

if TYPE_CHECKING:
    from turnier.runs.results import RunResults


def show(results: RunResults, console: Console, whole: bool = False, as_json: bool = False) -> None:
    """Prints a run: its head, the main table and what to know of it, or with `whole` every table."""
    from turnier.dashboards import sections, terminal

    kind = sections.described(results)
    data = kind.read(results)
    if as_json:
        print_json(kind.to_json(data))
        return
    head = kind.head(results)
    if head.sentence:
        terminal.say(console, head.sentence)
    if head.meaning and whole:
        terminal.say(console, head.meaning)
    terminal.print_sections(console, kind.sections(data), whole)
    for sentence in results.warnings():
        terminal.say(console, sentence, "red")


def print_json(content: Any) -> None:
    """Prints JSON, in which what is unknown (NaN) is null."""
    print(json.dumps(json.loads(json.dumps(content), parse_constant=lambda _: None), indent=2))
