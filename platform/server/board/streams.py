"""What takes long, sent piece by piece as server-sent events; only so much at once."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Iterator
from typing import Any

from starlette.responses import Response, StreamingResponse

from turnier.core.errors import UserError
from turnier.server.board.requests import NEVER_STORED

TOO_MUCH = {"error": "too much is being computed; wait until something has ended."}


class Streams:
    """As many computations at once as there are places: each keeps a core busy."""

    def __init__(self, places: int) -> None:
        self.places = threading.BoundedSemaphore(places)

    def response(self, found: Iterable[dict[str, Any]]) -> Response:
        """Sends what is found, then the event `end`, or `refused`; it stops when nobody listens any more."""
        return StreamingResponse(self._events(found), media_type="text/event-stream", headers=NEVER_STORED)

    def _events(self, found: Iterable[dict[str, Any]]) -> Iterator[str]:
        if not self.places.acquire(blocking=False):
            yield _event(TOO_MUCH, "refused")
            return
        try:
            for item in found:
                yield _event(item)
            yield _event({}, "end")
        except UserError as error:
            yield _event({"error": str(error)}, "refused")
        finally:
            self.places.release()


def _event(data: dict[str, Any], name: str = "message") -> str:
    return f"event: {name}\ndata: {json.dumps(data, separators=(',', ':'))}\n\n"
