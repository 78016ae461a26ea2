"""Runs the server with uvicorn, with limits on clients."""

from __future__ import annotations

import asyncio
import socket
import time
from importlib.resources import files

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocket

from ..idle import protocol
from ..limits import Rates, is_number
from ..signalled import SignalledServer
from .client import Client
from .configuration import Limits
from .lobby import Lobby
from .official_log import official_time
from .page.viewer import Summary, Viewer
from .room import Room
from .traffic import websocket_protocol

NEVER_STORED = {"Cache-Control": "no-store"}
PLAYERS = ("/spe_ed", "/spe_ed_time")  # paths of players; viewers at their address must not hold them up


class RateLimit:
    """Answers addresses that make too many requests, as players or as viewers, with status 429."""

    def __init__(self, app: ASGIApp, limits: Limits) -> None:
        self.app, self.rates = app, Rates(limits.requests_per_second, limits.request_burst)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "lifespan":
            address = (scope.get("client") or ("",))[0]
            if not self.rates.allow((address, scope["path"] in PLAYERS)):
                refusal = PlainTextResponse("too many requests", 429, {"Retry-After": "1"})
                if scope["type"] == "http":
                    await refusal(scope, receive, send)
                else:
                    await WebSocket(scope, receive, send).send_denial_response(refusal)
                return
        await self.app(scope, receive, send)


def make_app(lobby: Lobby) -> Starlette:
    """Returns the ASGI application of a server."""
    own = files("turnier.server.spe_ed.page").joinpath("index.html").read_text(encoding="utf-8")
    style = files("turnier.server.board").joinpath("static/style.css").read_text(encoding="utf-8")
    page = own.replace("<style>", f"<style>\n{style}", 1)  # one file, wherever a proxy puts it
    summary, viewers = Summary(lobby), 0

    def refusal(key: str) -> Response | None:
        if key not in lobby.keys:
            return PlainTextResponse("unknown key", 403)
        if key in lobby.clients:
            return PlainTextResponse("key in use", 429)
        return None

    async def play(socket: WebSocket) -> None:
        key = socket.query_params.get("key", "")
        refused = refusal(key)
        if refused is None and lobby.closed:
            refused = PlainTextResponse("no more games", 503)
        if refused is not None:
            await socket.send_denial_response(refused)
            return
        client = lobby.clients[key] = Client(socket, key, lobby.keys[key], lobby.limits)
        try:
            await socket.accept()
            lobby.join(client)
            await client.run()
        finally:
            lobby.leave(client)

    async def no_upgrade(request: Request) -> Response:
        return refusal(request.query_params.get("key", "")) or PlainTextResponse("WebSocket upgrade required", 400)

    async def the_time(request: Request) -> Response:
        now = time.time()
        answer = {"time": official_time(now), "milliseconds": int(now * 1000) % 1000}
        return JSONResponse(answer, headers={"Access-Control-Allow-Origin": "*"} | NEVER_STORED)

    async def games(request: Request) -> Response:
        return JSONResponse(lobby.summary(), headers=NEVER_STORED)

    def room_of(request: Request) -> Room | None:
        number = request.path_params["number"]
        return lobby.rooms.get(int(number)) if is_number(number) else None

    async def game(request: Request) -> Response:
        room, first = room_of(request), request.query_params.get("from", "0")
        if room is None or not is_number(first):
            return JSONResponse({"error": "no such game"}, 404, headers=NEVER_STORED)
        return JSONResponse(room.summary() | room.live.since(int(first)), headers=NEVER_STORED)

    async def log(request: Request) -> Response:
        room = room_of(request)
        if room is None or room.live.running:
            return JSONResponse({"error": "no such finished game"}, 404, headers=NEVER_STORED)
        name = f"{room.spec.id[:12]}.json"
        text = "".join(f"{line}\n" for line in room.log)
        return Response(text, headers={"Content-Disposition": f'attachment; filename="{name}"'} | NEVER_STORED)

    async def watch(socket: WebSocket) -> None:
        nonlocal viewers
        if viewers >= lobby.limits.viewers:
            await socket.send_denial_response(PlainTextResponse("too many viewers", 503, {"Retry-After": "10"}))
            return
        viewers += 1
        try:
            await socket.accept()
            await Viewer(socket, lobby, summary).run()
        finally:
            viewers -= 1

    async def index(request: Request) -> Response:
        return HTMLResponse(
            page,
            headers={
                "Content-Security-Policy": "default-src 'self' 'unsafe-inline'; img-src data: blob:; media-src blob:"
            },
        )

    routes = [
        WebSocketRoute("/spe_ed", play),
        Route("/spe_ed", no_upgrade),
        Route("/spe_ed_time", the_time),
        Route("/games", games),
        Route("/games/{number:str}", game),
        Route("/games/{number:str}/log", log),
        WebSocketRoute("/watch", watch),
        Route("/", index),
    ]
    app = Starlette(routes=routes)
    app.add_middleware(RateLimit, limits=lobby.limits)
    return app


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
