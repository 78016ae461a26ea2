"""Long computations, sent piece by piece as server-sent events, a limited number at once."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterable, Iterator
from typing import Any

from starlette.responses import Response, StreamingResponse
from starlette.types import Message, Receive, Scope, Send

from ...agents.timed import interrupted_by
from ...core.errors import UserError
from .requests import NEVER_STORED

TOO_MUCH = {"error": "too many computations are running; wait until one has ended."}


class Streams:
    """At most `places` computations at once: each keeps a core busy."""

    def __init__(self, places: int) -> None:
        self.places = threading.BoundedSemaphore(places)

    def response(self, found: Iterable[dict[str, Any]]) -> Response:
        """Sends the findings, then the event `end`; or only `refused`. It stops when nobody listens any more."""
        return _Stream(self.places, found)


class _Stream(StreamingResponse):
    """Occupies a place from its first event until it ends or its listener has gone.

    A generator could not free the place: an abandoned one is closed when it is collected, which may be much later.
    """

    def __init__(self, places: threading.BoundedSemaphore, found: Iterable[dict[str, Any]]) -> None:
        self.places, self.gone = places, threading.Event()
        super().__init__(_events(found, self.gone), media_type="text/event-stream", headers=NEVER_STORED)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not self.places.acquire(blocking=False):
            refused = Response(_event(TOO_MUCH, "refused"), media_type=self.media_type, headers=NEVER_STORED)
            return await refused(scope, receive, send)

        async def hear() -> Message:
            message = await receive()
            if message["type"] == "http.disconnect":
                self.gone.set()
            return message

        try:
            await super().__call__(scope, hear, send)
        finally:
            self.places.release()


def _events(found: Iterable[dict[str, Any]], gone: threading.Event) -> Iterator[str]:
    """Yields events; a running search by the clock ends soon after the listener has gone."""
    iterator = iter(found)
    try:
        while True:
            with interrupted_by(gone):  # each step runs on a thread of its own
                item = next(iterator, None)
            if item is None:
                break
            yield _event(item)
        yield _event({}, "end")
    except UserError as error:
        here = os.path.join(os.getcwd(), "")  # nobody who looks on needs to know the server's folders
        yield _event({"error": str(error).replace(here, "")}, "refused")


def _event(data: dict[str, Any], name: str = "message") -> str:
    return f"event: {name}\ndata: {json.dumps(data, separators=(',', ':'))}\n\n"
