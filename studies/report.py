"""Reports on the experiments of documents next to their published figures, and on what they still need."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from turnier.commands.options import DEFAULT_URL, JsonOption, StoreOption, WidthOption, writable_folder
from turnier.commands.scripts.script import run_script
from turnier.core.errors import UserError
from turnier.core.terminal.console import Console
from turnier.studies.figures import figures

if TYPE_CHECKING:
    from turnier.results.store.store import Store
    from turnier.runs.campaign.outlook import Outlook

ALL = "all"


def report(
    document: Annotated[str, typer.Argument(help="a document, such as weitz, or all")],
    store: StoreOption = DEFAULT_URL,
    out: Annotated[Path, typer.Option(help="folder for the pages", callback=writable_folder)] = Path("reports"),
    missing: Annotated[
        bool, typer.Option("--missing", help="list what the published figures still need, and the CPU hours for it")
    ] = False,
    width: WidthOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write a report on measured and published figures.

    A document becomes one Markdown and one HTML page; all becomes the table of every published figure with its verdict.
    With --missing, nothing is written: a table says what each
    experiment of the scripts, or each row of a single document, still needs for an interval of the given --width;
    --json prints every row. python studies/campaign.py plays what is missing.

    \b
    Examples:
      python studies/report.py weitz
      python studies/report.py all
      python studies/report.py all --missing
    """
    from turnier.results.store.store import Store

    if not missing and (as_json or width):
        raise UserError("--width and --json are for --missing, got no --missing; add it, or leave them out.")
    with Store.open(store, read_only=True) as results:
        if missing:
            _print_missing(results, document, width, as_json)
            return
        if document == ALL:
            from turnier.dashboards.reports.published import write_published

            pages = write_published(_outlooks(results, document, None), out)
        else:
            from turnier.dashboards.reports.document import write_report

            names = [figure.run_id for figure in figures() if figure.document == document]
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

    return outlooks(figures(only=[] if document == ALL else [document]), store, width or NARROW_POINTS)


if __name__ == "__main__":
    run_script(report, report.__doc__)
