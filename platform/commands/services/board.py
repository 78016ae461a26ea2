"""`turnier board`: the board in the browser."""

from __future__ import annotations

import asyncio
from typing import Annotated

import typer

from ...core.errors import require_extra
from ..options import DEFAULT_URL, StoreOption


def board(
    store: StoreOption = DEFAULT_URL,
    host: Annotated[str, typer.Option(help="address to listen on; 127.0.0.1 is this machine only")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="0 = any free port", min=0, max=65535)] = 8510,
) -> None:
    """Replay, play and analyse games in the browser.

    Step through stored matches with the arrow keys and see the values, visits and certainty of their agents. Play
    against any agent of Turnier, alone or with others to whom you send a link; games with people are stored like all
    others.

    \b
    Examples:
      turnier board
      turnier board --store sqlite:///other.db --port 8600
    """
    require_extra("turnier board", "server", "starlette", "uvicorn")
    from turnier.dashboards.figures.animation import write_film

    from ...results.store.store import Store
    from ...server.board.app import Library, make_app
    from ...server.board.serving import BoardServer, hosts_of
    from ...server.board.tables import Tables
    from ...server.listening import listen

    with Store.open(store) as results, listen(host, port) as listening:
        name = f"[{host}]" if ":" in host else host
        print(f"Board of {results.shown_url}: http://{name}:{listening.getsockname()[1]}/ (Ctrl-C ends it)", flush=True)
        tables = Tables.of_store(store)
        app = make_app(Library(lambda: results, write_film, tables), hosts_of(host))
        asyncio.run(BoardServer(app, tables).serve([listening]))
