"""Checks of every request to the board: rate, origin and size; and errors as sentences."""

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
MAX_ADDRESS = 16_384  # characters of a path and of its query
MAX_BODY = 16_384  # bytes
BODY_SECONDS = 10.0  # for sending a request
ELSEWHERE = "cross-site", "same-site"  # sent by browsers even without an origin, as for pictures
NEVER_STORED = {"Cache-Control": "no-store"}
# Nothing from elsewhere, and only our scripts: names and boards come from the store, which others may have made.
SECURITY = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    "connect-src 'self'; img-src 'self' data:; form-action 'none'; frame-ancestors 'none'; base-uri 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",  # addresses hold the keys of seats
}


class Guard:
    """Refuses requests that come too often, and requests that other sites send through a browser.

    Args:
        app: the guarded application.
        per_second: requests of an address, after `burst` at once; None: the board's rate.
        burst: see `per_second`.
        hosts: allowed names of the server; ["*"]: any, or checked elsewhere.
        data: prefixes of paths that are not pages: links of other sites may lead only to pages.
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
        if len(scope["path"]) + len(scope["query_string"]) > MAX_ADDRESS:
            return failure(f"an address may have at most {MAX_ADDRESS:,} characters; go back and follow a link.", 414)
        headers = Headers(scope=scope)
        origin, host = headers.get("origin"), headers.get("host", "")
        if "*" not in self.hosts and re.sub(r":\d+$", "", host).lower() not in self.hosts:
            return failure(f"this server must be asked for as {' or '.join(self.hosts)}, got {host[:60]!r}.", 400)
        if origin is not None and origin.partition("://")[2] != host:
            return failure(f"requests must come from pages of this server, got one from {origin}.", 403)
        if headers.get("sec-fetch-site") in ELSEWHERE and not self._follows_link(scope["path"], headers):
            return failure("requests must come from pages of this server, got one from another site.", 403)
        # Browsers ask before they send JSON to another site, and we never agree.
        if scope["method"] == "POST" and not headers.get("content-type", "").startswith("application/json"):
            return failure("the content of a request must be JSON.", 415)
        return None

    def _follows_link(self, path: str, headers: Headers) -> bool:
        """Whether a browser follows a link to a page, in a tab, not in a frame."""
        how = headers.get("sec-fetch-mode"), headers.get("sec-fetch-dest")
        return how == ("navigate", "document") and not path.startswith(self.data)


def failure(sentence: str, status: int) -> JSONResponse:
    readable = sentence.encode("utf-8", "replace").decode()  # JSON cannot have lone surrogates, unlike requests
    return JSONResponse({"error": readable}, status, headers=NEVER_STORED)


async def user_error(request: Request, error: Exception) -> JSONResponse:
    """Answers with the sentence of a UserError."""
    return failure(str(error), 400)


async def our_error(request: Request, error: Exception) -> JSONResponse:
    """Answers after an unexpected error, and prints it in the server's terminal."""
    say(f"{request.method} {request.url.path}: {type(error).__name__}: {error}", errors=True)
    return failure("the server failed; its terminal shows the error.", 500)


async def body_of(request: Request) -> dict[str, Any]:
    """Returns the JSON object of a request; raises UserError if it is none or late, HTTPException if too large."""
    received = b""
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for part in request.stream():
                received += part
                if len(received) > MAX_BODY:
                    raise HTTPException(413)
    except TimeoutError:
        raise UserError(f"a request must arrive within {BODY_SECONDS:g} s, got a part of it; send it again.") from None
    try:
        found = json.loads(received)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise UserError("a request must be a JSON object; reload the page.")
    return found
