"""Runs the board's application with uvicorn."""

from __future__ import annotations

import ipaddress
import socket

import uvicorn
from starlette.applications import Starlette

from ..idle import protocol
from ..signalled import SignalledServer
from .tables import Tables

LOOPBACK = ["127.0.0.1", "localhost", "[::1]"]
CONNECTIONS = 500
IDLE_SECONDS = 10.0  # before closing a connection without requests


def hosts_of(host: str) -> list[str]:
    """Returns the host names that browsers may use for a board that listens at a host."""
    try:
        is_loopback = ipaddress.ip_address(host).is_loopback
    except ValueError:
        is_loopback = host == "localhost"
    if not is_loopback:
        return ["*"]  # we do not know the names by which others reach it
    return LOOPBACK if ":" in host or host in LOOPBACK else [*LOOPBACK, host]  # such as 127.0.0.2


def configured(app: Starlette) -> uvicorn.Config:
    """Returns the configuration of uvicorn for an application: quiet, and with limits on reading."""
    return uvicorn.Config(
        app,
        lifespan="off",
        log_config=None,  # a configuration would close handlers and streams of other libraries
        log_level="critical",  # the application answers with its errors; more would reveal keys of seats
        access_log=False,
        server_header=False,
        h11_max_incomplete_event_size=16_384,
        http=protocol(IDLE_SECONDS, CONNECTIONS),
        limit_concurrency=CONNECTIONS,
        timeout_graceful_shutdown=1,
    )


class BoardServer(SignalledServer):
    """uvicorn that stores unfinished matches, and ends the streams of tables, before it closes their connections."""

    def __init__(self, app: Starlette, tables: Tables) -> None:
        super().__init__(configured(app))
        self.tables = tables

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await self.tables.close()
        await super().shutdown(sockets)
