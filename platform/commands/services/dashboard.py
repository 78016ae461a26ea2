"""`turnier dashboard`: serves the dashboards from this process, to this machine only."""

import importlib
import os
import socket
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

import turnier.dashboards
from turnier.core.errors import UserError
from turnier.dashboards import STORE_VARIABLE
from turnier.results.store import DEFAULT_URL
from turnier.results.store.store import Store

HOST = "127.0.0.1"
FIRST_PORT, LAST_PORT = 8501, 8599

# No telemetry, no browser that opens by itself, no buttons that lead elsewhere; light, as a projector needs it.
OPTIONS = {
    "server.address": HOST,
    "server.headless": True,
    "server.fileWatcherType": "none",
    "browser.gatherUsageStats": False,
    "browser.serverAddress": HOST,
    "client.toolbarMode": "minimal",
    "client.showErrorDetails": "none",
    "logger.level": "error",
    "logger.hideWelcomeMessage": True,
    "theme.base": "light",
    "theme.primaryColor": "#0072B2",
    "theme.textColor": "#1a1a1a",
    "theme.baseFontSize": 17,
}


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
    from streamlit.web import bootstrap

    with Store.open(store, read_only=True, patience=5) as results:  # what cannot be read is told here already
        shown = results.shown_url
    chosen = free_port(port)
    os.environ[STORE_VARIABLE] = store
    options = OPTIONS | {"server.port": chosen, "browser.serverPort": chosen}
    flags = {name.replace(".", "_"): value for name, value in options.items()}
    bootstrap.load_config_options(flags)
    # Now, so that the first look does not wait for them.
    importlib.import_module("turnier.dashboards.navigation")
    importlib.import_module("turnier.dashboards.preload").warm_up()
    print(f"The dashboards of {shown} are at http://{HOST}:{chosen} (Ctrl-C ends them).", flush=True)
    bootstrap.run(str(Path(turnier.dashboards.__file__).with_name("app.py")), False, [], flags)


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


def free_port(wanted: int | None) -> int:
    """Returns the port, or the first free one where none is wanted; raises UserError where it is taken."""
    for port in [wanted] if wanted else range(FIRST_PORT, LAST_PORT + 1):
        with socket.socket() as tried:
            tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                tried.bind((HOST, port))
            except OSError:
                continue
            return port
    taken = f"got {wanted}" if wanted else f"but {FIRST_PORT} to {LAST_PORT} are taken"
    raise UserError(f"the dashboards need a free port that this user may open, {taken}; choose another with --port.")
