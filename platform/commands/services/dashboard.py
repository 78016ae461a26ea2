"""`turnier dashboard`: serves the dashboards from this process, to this machine only."""

from __future__ import annotations

from typing import Annotated

import typer

from ..options import DEFAULT_URL, StoreOption


def dashboard(
    store: StoreOption = DEFAULT_URL,
    port: Annotated[
        int | None, typer.Option(help="port; default: the first free one from 8501 on", min=1, max=65535)
    ] = None,
) -> None:
    """Show the contents of the store in the browser.

    Runs with their results, pairs, games, failures and cost, updated live; leagues, the board and optuna-dashboard.
    Only games that you play on the board are written to the store, which need not exist yet. The pages serve this
    machine only (127.0.0.1) until you stop them with Ctrl-C. To view them from another machine, forward their port:
    ssh -L 8501:127.0.0.1:8501 HOST

    \b
    Examples:
      turnier dashboard
      turnier dashboard --store postgresql://user@host/turnier --port 8600
    """
    from turnier.dashboards import require_pictures

    require_pictures()
    from turnier.dashboards.app.serve import serve_dashboards

    serve_dashboards(store, port=port)
