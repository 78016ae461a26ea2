"""`turnier dashboard`: serves the dashboards from this process, to this machine only."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from turnier.results.store import DEFAULT_URL
from turnier.results.store.store import Store


def dashboard(
    store: Annotated[str, typer.Option("--store", help="SQLite or PostgreSQL URL")] = DEFAULT_URL,
    port: Annotated[int | None, typer.Option(help="default: the first free one from 8501", min=1, max=65535)] = None,
) -> None:
    """Shows scores, ratings, certainty, studies, training and replays in the browser, live; it only reads.

    It serves this machine only (127.0.0.1) until you stop it with Ctrl-C. To look from elsewhere, forward the port:
    ssh -L 8501:127.0.0.1:8501 HOST

    \b
    Examples:
      turnier dashboard
      turnier dashboard --store postgresql://user@host/turnier --port 8600
    """
    from turnier.dashboards.serve import serve_dashboards

    serve_dashboards(store, port)


def write_reports(name: str, store: str, folder: Path, as_html: bool) -> None:
    """Writes a document's pages or, as HTML, a run's, and says where."""
    with Store.open(store, read_only=True) as results:
        if as_html:
            from turnier.dashboards.reports.run import write_run_report

            pages = [write_run_report(results, name, folder)]
        else:
            from turnier.dashboards.reports.document import write_report

            pages = write_report(results, name, folder)
    for page in pages:
        Console().print(f"Page: {page}", soft_wrap=True)
