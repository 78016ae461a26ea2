"""What every request of the board must keep: its rate, its origin, its size; and errors as sentences."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Sequence
from typing import Any

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from ...core.errors import UserError
from ...core.terminal.visible import say
from ..limits import Rates

PER_SECOND, BURST = 50.0, 300  # requests of an address
MAX_BODY = 16_384  # bytes
BODY_SECONDS = 10.0  # in which a request must be sent
ELSEWHERE = "cross-site", "same-site"  # what browsers say also where they send no origin, as for pictures
NEVER_STORED = {"Cache-Control": "no-store"}
# Nothing from elsewhere, no script but ours: names and boards come from the store, which others may have made.
SECURITY = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    "connect-src 'self'; img-src 'self' data:; form-action 'none'; frame-ancestors 'none'; base-uri 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",  # addresses hold the keys of seats
}


class Guard:
    """Refuses requests that come too often, and those that other sites have a browser send.

    Args:
        app: what is guarded.
        per_second: requests of an address, after `burst` at once; None: as many as the board takes.
        burst: see there.
        hosts: the names by which the server may be asked for; ["*"]: any, or they are checked elsewhere.
        data: how the paths of what is no page begin: links of other sites may lead to pages only.
    """

    def __init__(
        self,
        app: ASGIApp,
        per_second: float | None = None,
        burst: int | None = None,
        hosts: Sequence[str] = ("*",),
        data: str = "/api/",
    ) -> None:
        self.app, self.hosts, self.data = app, hosts, data
        self.rates = Rates(per_second or PER_SECOND, burst or BURST)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            refused = self._refusal(scope)
            if refused is not None:
                await refused(scope, receive, send)
                return
        await self.app(scope, receive, send)

    def _refusal(self, scope: Scope) -> JSONResponse | None:
        if not self.rates.allow((scope.get("client") or ("",))[0]):
            return failure("too many requests; wait a second.", 429)
        headers = Headers(scope=scope)
        origin, host = headers.get("origin"), headers.get("host", "")
        if "*" not in self.hosts and re.sub(r":\d+$", "", host).lower() not in self.hosts:
            return failure(f"this server must be asked for as {' or '.join(self.hosts)}, got {host[:60]!r}.", 400)
        if origin is not None and origin.partition("://")[2] != host:
            return failure(f"requests must come from pages of this server, got one from {origin}.", 403)
        if headers.get("sec-fetch-site") in ELSEWHERE and not self._follows_link(scope["path"], headers):
            return failure("requests must come from pages of this server, got one from another site.", 403)
        # Browsers ask before they send JSON to another site, and we never say yes.
        if scope["method"] == "POST" and not headers.get("content-type", "").startswith("application/json"):
            return failure("what is sent must be JSON.", 415)
        return None

    def _follows_link(self, path: str, headers: Headers) -> bool:
        """Whether a browser follows a link to a page, in a tab, not in a frame."""
        how = headers.get("sec-fetch-mode"), headers.get("sec-fetch-dest")
        return how == ("navigate", "document") and not path.startswith(self.data)


def failure(sentence: str, status: int) -> JSONResponse:
    readable = sentence.encode("utf-8", "replace").decode()  # JSON cannot have halves of characters, which were sent
    return JSONResponse({"error": readable}, status, headers=NEVER_STORED)


async def user_error(request: Request, error: Exception) -> JSONResponse:
    """Answers with the sentence of a UserError."""
    return failure(str(error), 400)


async def our_error(request: Request, error: Exception) -> JSONResponse:
    """Answers where something unexpected went wrong, and says it where the server was started."""
    say(f"{request.method} {request.url.path}: {type(error).__name__}: {error}", errors=True)
    return failure("the server failed; what went wrong stands where it was started.", 500)


async def body_of(request: Request) -> dict[str, Any]:
    """Returns the JSON object that was sent; raises UserError if it is none or late, HTTPException if too large."""
    received = b""
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for part in request.stream():
                received += part
                if len(received) > MAX_BODY:
                    raise HTTPException(413)
    except TimeoutError:
        raise UserError(f"a request must be sent within {BODY_SECONDS:g} s, got a part of it; send it again.") from None
    try:
        found = json.loads(received)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise UserError("a request must be a JSON object; reload the page.")
    return found
