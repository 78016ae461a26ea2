"""Serves the dashboards from this process."""

from __future__ import annotations

import asyncio
import importlib
import socket
import threading

from turnier.core.errors import UserError
from turnier.dashboards.agent_names import names_of_texts
from turnier.dashboards.app import vega
from turnier.dashboards.app.app import make_app
from turnier.dashboards.app.memory import give_back, keep_little
from turnier.dashboards.app.shown_store import ShownStore
from turnier.dashboards.figures.animation import write_film
from turnier.dashboards.sections import kinds_with
from turnier.results.store.database import NoResults
from turnier.results.store.store import Store
from turnier.server.board.app import Library
from turnier.server.board.serving import BoardServer, hosts_of
from turnier.server.board.tables import Tables
from turnier.server.listening import listen

FIRST_PORT, LAST_PORT = 8501, 8599


def serve_dashboards(url: str, host: str = "127.0.0.1", port: int | None = None) -> None:
    """Serves the dashboards of a store, which need not exist yet, until Ctrl-C.

    Raises UserError if the store cannot be read, or the port is taken.
    """
    try:
        with Store.open(url, read_only=True, patience=5) as results:  # fails here, before anything is served
            name = results.shown_url
    except NoResults as missing:
        name = missing.shown_url
    keep_little()
    with listening_at(host, port) as listening:
        shown, tables = ShownStore(url), Tables.of_store(url)
        library = Library(lambda: shown.store, write_film, tables, shown.option, give_back, names_of_texts)
        app = make_app(shown, library, hosts_of(host))
        threading.Thread(target=_prepare, name="first page", daemon=True).start()
        place = f"[{host}]" if ":" in host else host
        address = f"http://{place}:{listening.getsockname()[1]}"
        print(f"The dashboards of {name} are at {address} (Ctrl-C ends them).", flush=True)
        asyncio.run(BoardServer(app, tables).serve([listening]))


def _prepare() -> None:
    """Reads what the first page would wait for: kinds of runs, functions of statistics, the script of charts."""
    kinds_with("SEARCHES")
    importlib.import_module("scipy.special")
    vega.script()


def listening_at(host: str, port: int | None) -> socket.socket:
    """Returns a socket at the requested port, or at the first free one; raises UserError if it is taken."""
    for tried in [port] if port is not None else range(FIRST_PORT, LAST_PORT):
        try:
            return listen(host, tried)
        except UserError:
            if port is not None:
                raise
    return listen(host, LAST_PORT)
