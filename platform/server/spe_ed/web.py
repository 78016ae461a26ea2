"""The server on one port: the game's WebSocket, the time, and the live page with its data."""

from __future__ import annotations

import time
from importlib.resources import files

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocket

from turnier.server.spe_ed.client import Client
from turnier.server.spe_ed.configuration import Limits, TokenBucket
from turnier.server.spe_ed.lobby import Lobby
from turnier.server.spe_ed.official_log import official_time

MAX_ADDRESSES = 10_000  # whose rates are kept
NEVER_STORED = {"Cache-Control": "no-store"}


class RateLimit:
    """Answers addresses that make too many requests with status 429."""

    def __init__(self, app: ASGIApp, limits: Limits) -> None:
        self.app, self.limits = app, limits
        self.buckets: dict[str, TokenBucket] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "lifespan":
            address, now = (scope.get("client") or ("",))[0], time.monotonic()
            if len(self.buckets) > MAX_ADDRESSES:
                self.buckets.clear()
            limits = self.limits
            bucket = self.buckets.setdefault(
                address, TokenBucket(limits.requests_per_second, limits.request_burst, now)
            )
            if not bucket.take(now):
                refusal = PlainTextResponse("too many requests", 429, {"Retry-After": "1"})
                if scope["type"] == "http":
                    await refusal(scope, receive, send)
                else:
                    await WebSocket(scope, receive, send).send_denial_response(refusal)
                return
        await self.app(scope, receive, send)


def make_app(lobby: Lobby) -> Starlette:
    """Returns the ASGI application of a server."""
    page = files("turnier.server.spe_ed").joinpath("page.html").read_text(encoding="utf-8")

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

    async def game(request: Request) -> Response:
        room = lobby.rooms.get(request.path_params["number"])
        first = request.query_params.get("from", "0")
        if room is None or not (first.isascii() and first.isdigit() and len(first) < 7):
            return JSONResponse({"error": "no such game"}, 404, headers=NEVER_STORED)
        return JSONResponse(room.live.since(int(first)), headers=NEVER_STORED)

    async def index(request: Request) -> Response:
        return HTMLResponse(
            page, headers={"Content-Security-Policy": "default-src 'self' 'unsafe-inline'; img-src data:"}
        )

    routes = [
        WebSocketRoute("/spe_ed", play),
        Route("/spe_ed", no_upgrade),
        Route("/spe_ed_time", the_time),
        Route("/games", games),
        Route("/games/{number:int}", game),
        Route("/", index),
    ]
    app = Starlette(routes=routes)
    app.add_middleware(RateLimit, limits=lobby.limits)
    return app
