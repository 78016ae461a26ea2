"""Ends connections beyond a maximum, and silent ones, which would keep others out for ever."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol


def protocol(idle_seconds: float, connections: int) -> type[H11Protocol]:
    """Returns a protocol for uvicorn that closes connections beyond a maximum, and idle ones.

    Args:
        idle_seconds: time before closing a connection that has no request, or none since the last answer; one that is
            being answered, such as an event stream, stays open.
        connections: maximum number of connections.
    """

    class IdleLimited(H11Protocol):
        seen: Any = None  # the request at the last check

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            if len(self.connections) > connections:
                transport.abort()
            else:
                self.loop.call_later(idle_seconds, self._close_if_idle)

        def _close_if_idle(self) -> None:
            if self.transport.is_closing() or self.transport.get_protocol() is not self:
                return
            idle = self.cycle is None or (self.cycle is self.seen and self.cycle.response_complete)
            if idle:
                self.transport.abort()
            else:
                self.seen = self.cycle
                self.loop.call_later(idle_seconds, self._close_if_idle)

    return IdleLimited
