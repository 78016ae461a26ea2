"""Serves the dashboards from this process, to this machine only."""

from __future__ import annotations

import importlib
import os
import socket
from pathlib import Path

from streamlit.web import bootstrap

from turnier.core.errors import UserError
from turnier.dashboards import STORE_VARIABLE
from turnier.dashboards.app import board_server, optuna_server
from turnier.results.store.database import NoResults
from turnier.results.store.store import Store

HOST = "127.0.0.1"
FIRST_PORT, LAST_PORT = 8501, 8599

# No telemetry, no browser opened automatically, no buttons that lead elsewhere; light or dark as the browser prefers.
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
    "theme.baseFontSize": 17,
    "theme.light.primaryColor": "#0072B2",
    "theme.light.textColor": "#1a1a1a",
    "theme.dark.primaryColor": "#56B4E9",
}


def serve_dashboards(store: str, port: int | None = None) -> None:
    """Serves the dashboards of a store, which need not exist yet, until Ctrl-C; raises UserError if it cannot be
    read."""
    try:
        with Store.open(store, read_only=True, patience=5) as results:  # fails here, before anything is served
            shown = results.shown_url
    except NoResults as missing:
        shown = missing.shown_url
    chosen = free_port(port)
    os.environ[STORE_VARIABLE] = store
    options = OPTIONS | {"server.port": chosen, "browser.serverPort": chosen}
    flags = {name.replace(".", "_"): value for name, value in options.items()}
    bootstrap.load_config_options(flags)
    # Imported now, after the options, so the first page does not wait for it.
    importlib.import_module("turnier.dashboards.app.navigation")
    importlib.import_module("turnier.dashboards.app.preload").warm_up()
    print(
        f"The dashboards of {shown} are at http://{HOST}:{chosen} (Ctrl-C ends them); studies link to optuna-dashboard"
        f" at port {chosen + optuna_server.OFFSET}, replays to the board at port {chosen + board_server.OFFSET}.",
        flush=True,
    )
    # Signals end the process as in every command: Streamlit would treat them as success.
    bootstrap._set_up_signal_handler = lambda server: None
    bootstrap.run(str(Path(__file__).with_name("app.py")), False, [], flags)


def free_port(requested: int | None) -> int:
    """Returns the requested port, or otherwise the first free one; raises UserError if it is taken."""
    for port in [requested] if requested else range(FIRST_PORT, LAST_PORT + 1):
        with socket.socket() as tried:
            tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                tried.bind((HOST, port))
            except OSError:
                continue
            return port
    taken = f"got {requested}" if requested else f"but {FIRST_PORT} to {LAST_PORT} are taken"
    raise UserError(f"the dashboards need a free port that this user may open, {taken}; choose another with --port.")
