"""`turnier report`: the figures of one run as a page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from turnier.commands.options import DEFAULT_URL, StoreOption, writable_folder
from turnier.core.terminal.console import Console


def report(
    run: Annotated[str, typer.Argument(help="a run of any kind")],
    store: StoreOption = DEFAULT_URL,
    out: Annotated[Path, typer.Option(help="folder for the page", callback=writable_folder)] = Path("reports"),
    as_html: Annotated[bool, typer.Option("--html", hidden=True)] = False,
) -> None:
    """Write a run of any kind as one self-contained HTML file.

    \b
    Example:
      turnier report tournament:1f0c
    """
    del as_html  # a report is always HTML
    from turnier.dashboards.reports.run import write_run_report
    from turnier.results.store.store import Store

    with Store.open(store, read_only=True) as results:
        page = write_run_report(results, run, out)
    Console().print(f"Page: {page}", markup=False, soft_wrap=True)
