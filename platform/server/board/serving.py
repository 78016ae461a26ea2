"""Runs the board's application with uvicorn."""

from __future__ import annotations

import ipaddress
import socket

import uvicorn
from starlette.applications import Starlette

from turnier.server.board.tables import Tables

LOOPBACK = ["127.0.0.1", "localhost", "[::1]"]


def hosts_of(host: str) -> list[str]:
    """Returns the names by which browsers may ask for a board that listens at a host."""
    try:
        is_loopback = ipaddress.ip_address(host).is_loopback
    except ValueError:
        is_loopback = host == "localhost"
    return LOOPBACK if is_loopback else ["*"]  # whoever opens it to others knows its names, we do not


def config(app: Starlette) -> uvicorn.Config:
    """Returns how uvicorn serves the board: quietly, and no more at once than a machine can take."""
    return uvicorn.Config(
        app,
        lifespan="off",
        log_level="error",  # more would reveal keys of seats
        access_log=False,
        server_header=False,
        h11_max_incomplete_event_size=16_384,
        limit_concurrency=500,
        timeout_graceful_shutdown=1,
    )


async def serve(app: Starlette, listening: socket.socket, tables: Tables) -> None:
    """Serves until a signal; then what is being played is stored as it is."""
    try:
        await uvicorn.Server(config(app)).serve([listening])
    finally:
        await tables.close()
