"""`turnier report`: a document's experiments next to its published figures, or the figures of one run, as pages."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from turnier.commands.options import DEFAULT_URL, StoreOption, writable_folder


def report(
    document: Annotated[
        str, typer.Argument(help="a document with stored experiments, such as weitz; with --html a run")
    ],
    store: StoreOption = DEFAULT_URL,
    out: Annotated[Path, typer.Option(help="folder for the pages", callback=writable_folder)] = Path("reports"),
    as_html: Annotated[bool, typer.Option("--html", help="a run of any kind as one self-contained file")] = False,
) -> None:
    """Write a page of measured and published figures, or of one run.

    A document becomes one Markdown and one HTML page; with --html a run of any kind becomes one HTML file.

    \b
    Examples:
      turnier report weitz
      turnier report tournament:1f0c --html
    """
    from turnier.results.store.store import Store

    with Store.open(store, read_only=True) as results:
        if as_html:
            from turnier.dashboards.reports.run import write_run_report

            pages = [write_run_report(results, document, out)]
        else:
            from turnier.dashboards.reports.document import write_report

            pages = write_report(results, document, out)
    for page in pages:
        Console().print(f"Page: {page}", soft_wrap=True)
