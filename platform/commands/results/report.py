"""`turnier report`: a document's experiments next to its published figures, or the figures of one run, as pages."""

from __future__ import annotations

import importlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from turnier.commands.options import DEFAULT_URL, JsonOption, StoreOption, WidthOption, writable_folder
from turnier.core.errors import UserError
from turnier.core.terminal.console import Console

if TYPE_CHECKING:
    from turnier.results.store.store import Store
    from turnier.runs.campaign.outlook import Outlook

ALL = "all"


def report(
    document: Annotated[str, typer.Argument(help="a document, such as weitz, or all; with --html, a run")],
    store: StoreOption = DEFAULT_URL,
    out: Annotated[Path, typer.Option(help="folder for the pages", callback=writable_folder)] = Path("reports"),
    as_html: Annotated[bool, typer.Option("--html", help="write a run of any kind as one self-contained file")] = False,
    missing: Annotated[
        bool, typer.Option("--missing", help="list what the published figures still need, and the CPU hours for it")
    ] = False,
    width: WidthOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write a report on measured and published figures, or on one run.

    A document becomes one Markdown and one HTML page; all becomes the table of every published figure with its verdict;
    with --html, a run of any kind becomes one HTML file. With --missing, nothing is written: a table says what each
    experiment of the scripts, or each row of a single document, still needs for an interval of the given --width;
    --json prints every row. python studies/campaign.py plays what is missing.

    \b
    Examples:
      turnier report weitz
      turnier report all
      turnier report tournament:1f0c --html
      turnier report all --missing
    """
    from turnier.results.store.store import Store

    if not missing and (as_json or width):
        raise UserError("--width and --json are for --missing, got no --missing; add it, or leave them out.")
    with Store.open(store, read_only=True) as results:
        if missing:
            _print_missing(results, document, width, as_json)
            return
        if as_html:
            from turnier.dashboards.reports.run import write_run_report

            pages = [write_run_report(results, document, out)]
        elif document == ALL:
            from turnier.dashboards.reports.published import write_published

            pages = write_published(_outlooks(results, document, None), out)
        else:
            from turnier.dashboards.reports.document import write_report

            names = [figure.run_id for figure in _figures() if figure.document == document]
            pages = write_report(results, document, out, order=names)
    for page in pages:
        Console().print(f"Page: {page}", markup=False, soft_wrap=True)


def _print_missing(store: Store, document: str, width: float | None, as_json: bool) -> None:
    from turnier.commands.missing_tables import missing_rows, print_missing

    found = _outlooks(store, document, width)
    if as_json:
        print(json.dumps(missing_rows(found), indent=2))
    else:
        print_missing(Console(), found, rows=document != ALL)


def _outlooks(store: Store, document: str, width: float | None) -> list[list[Outlook]]:
    from turnier.runs.campaign.outlook import outlooks
    from turnier.runs.experiment import NARROW_POINTS

    return outlooks(_figures([] if document == ALL else [document]), store, width or NARROW_POINTS)


def _figures(only: Sequence[str] = ()) -> list[Any]:
    # The scripts of studies/ are above the commands, and known only to the package as a whole.
    found: list[Any] = importlib.import_module("turnier.studies.figures").figures(only=only)
    return found
