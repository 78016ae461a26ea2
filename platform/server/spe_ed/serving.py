"""Runs the server with uvicorn, with limits on clients."""

from __future__ import annotations

import asyncio
import socket

import uvicorn

from ..idle import protocol
from ..signalled import SignalledServer
from .lobby import Lobby
from .traffic import websocket_protocol
from .web import make_app

LINGER = 0.5  # seconds after the last game for sending final states


class GameServer(SignalledServer):
    """uvicorn that stores running games before it closes their connections."""

    def __init__(self, config: uvicorn.Config, lobby: Lobby) -> None:
        super().__init__(config)
        self.lobby = lobby

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await self.lobby.stop()
        await super().shutdown(sockets)


def make_server(lobby: Lobby) -> GameServer:
    """Returns a lobby's server, which ends after its last game; call this inside the running event loop."""
    limits = lobby.limits
    config = uvicorn.Config(
        make_app(lobby),
        http=protocol(limits.idle_seconds, limits.connections),
        ws=websocket_protocol(limits),
        ws_max_size=limits.frame_bytes,
        ws_ping_interval=None,
        ws_ping_timeout=None,
        ws_per_message_deflate=False,
        h11_max_incomplete_event_size=16_384,
        lifespan="off",
        log_config=None,  # a configuration would close handlers and streams of other libraries
        log_level="error",  # more would reveal keys
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=2,
    )
    server = GameServer(config, lobby)

    def stop() -> None:
        server.should_exit = True

    lobby.on_last = lambda: asyncio.get_running_loop().call_later(LINGER, stop)
    return server


async def serve(lobby: Lobby, server: uvicorn.Server, listening: socket.socket) -> None:
    """Serves until the last game, or until a signal, after which unfinished games are stored.

    Raises UserError if games could not be stored.
    """
    lobby.start_if_ready()
    await server.serve([listening])
    lobby.threads.shutdown(wait=False, cancel_futures=True)
    lobby.keeper.require_all_stored()
