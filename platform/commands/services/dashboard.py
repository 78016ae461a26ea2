"""`turnier dashboard`: serves the dashboards from this process, to this machine only."""

from __future__ import annotations

from typing import Annotated

import typer

from ..command_line import saving
from ..options import DEFAULT_URL, StoreOption


def dashboard(
    store: StoreOption = DEFAULT_URL,
    port: Annotated[
        int | None, typer.Option(help="port; default: the first free one from 8501 on", min=1, max=65535)
    ] = None,
) -> None:
    """Show the contents of the store in the browser.

    Scores, ratings, certainty, studies, training and replays, updated live. Only games that you play on the board are
    written to the store, which need not exist yet. The dashboards serve this machine only (127.0.0.1) until you stop
    them with Ctrl-C. To view them from another machine, forward their port and those of optuna-dashboard and the board,
    which are 100 and 200 higher: ssh -L 8501:127.0.0.1:8501 -L 8601:127.0.0.1:8601 -L 8701:127.0.0.1:8701 HOST

    \b
    Examples:
      turnier dashboard
      turnier dashboard --store postgresql://user@host/turnier --port 8600
    """
    from turnier.dashboards.app.board_server import store_and_end
    from turnier.dashboards.app.serve import serve_dashboards

    with saving(store_and_end):
        serve_dashboards(store, port)
