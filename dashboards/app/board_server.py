"""Serves the board next to our own pages: to step through any match, one click away, and to play games."""

from __future__ import annotations

import asyncio
import threading

from turnier.core.errors import UserError
from turnier.dashboards.figures.animation import write_film
from turnier.results.store.store import Store
from turnier.server.board.app import Library, make_app
from turnier.server.board.serving import BoardServer, hosts_of
from turnier.server.board.tables import Tables
from turnier.server.listening import listen

HOST = "127.0.0.1"
OFFSET = 200  # from the port of the pages to its own, so all can be forwarded
PATIENCE = 5.0  # seconds for storing unfinished games at the end
_served: list[tuple[BoardServer, threading.Thread]] = []


def serve_board(url: str, port: int) -> str:
    """Serves it from a thread of this process at a port of this machine; returns its address."""
    try:
        listening = listen(HOST, port)
    except UserError:  # taken, or no port: any other is better than none, at least on this machine
        listening = listen(HOST, 0)
    tables = Tables.of_store(url)
    library = Library(Store.open(url, read_only=True), write_film, tables)
    server = BoardServer(make_app(library, hosts_of(HOST)), tables)
    thread = threading.Thread(target=lambda: asyncio.run(server.serve([listening])), name="board", daemon=True)
    thread.start()
    _served.append((server, thread))
    return f"http://{HOST}:{listening.getsockname()[1]}"


def store_and_end() -> bool:
    """Makes the board store unfinished games and end; returns False: nothing keeps the process from ending, too."""
    for server, thread in _served:
        server.should_exit = True
        thread.join(PATIENCE)
    return False
