"""Shows the results of a run in the terminal; every command that plays a run ends with this."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from turnier.commands.other_code import print_other_code
from turnier.core.errors import UserError
from turnier.core.terminal.console import Console

if TYPE_CHECKING:
    from turnier.results.failures import Failures
    from turnier.runs.results import RunResults


def show(results: RunResults, as_json: bool = False, whole: bool = False, console: Console | None = None) -> None:
    """Prints a run: its head, its main table and what to know of it; with `whole` every table.

    Raises UserError, after all that, if an agent failed in all of its games and the run is to rate agents.
    """
    from turnier.dashboards import sections, terminal
    from turnier.results.failures import list_failures, store_option

    kind, console = sections.described(results), console or Console()
    data = kind.read(results)
    if as_json:
        print_json(kind.to_json(data))
    else:
        head, failures = kind.head(results), list_failures(results.store, [results.id])
        run = results.store.run(results.id)
        terminal.say(console, f"{run.name} ({run.id})", "bold")
        terminal.say(console, head.sentence)
        terminal.say(console, head.meaning if whole else "")
        terminal.print_sections(console, kind.sections(data), whole)
        for sentence in failures.sentences(store_option(results.store)):
            terminal.say(console, sentence, "red")
        if getattr(kind, "RATES", False):
            _require_rated(failures)
    print_other_code(results.store, results.id, as_json)


def _require_rated(failures: Failures) -> None:
    for label, part in failures.table[failures.table["agent"] != ""].groupby("label", sort=False):
        games = int(part["games"].sum())
        if games >= round(part["games"].iloc[0] / part["share"].iloc[0]):
            raise UserError(f"{label} must play to be rated, but it failed in all of its {games:,} games; fix it.")


def print_json(content: Any) -> None:
    """Prints JSON, in which what is unknown (NaN) is null."""
    print(json.dumps(json.loads(json.dumps(content), parse_constant=lambda _: None), indent=2))
