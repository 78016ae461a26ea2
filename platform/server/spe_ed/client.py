"""A connected client: its WebSocket, its queue of unsent states, and its rate limit."""

from __future__ import annotations

import asyncio
import contextlib
import time

from starlette.websockets import WebSocket, WebSocketDisconnect

from ..limits import TokenBucket
from .configuration import Limits
from .room import Room, Seat
from .traffic import LimitedProtocol

UNSENT = 8  # states that may wait for a slow client


class Client(Seat):
    """A connection with a key, in the lobby or in a seat of a room."""

    def __init__(self, socket: WebSocket, key: str, name: str, limits: Limits) -> None:
        self.socket, self.key, self.name, self.limits = socket, key, name, limits
        self.agent = f"remote(name={name})"
        self.room: Room | None = None
        self.seat = 0
        self.unsent: asyncio.Queue[tuple[str, bool]] = asyncio.Queue(UNSENT)
        self.bucket = TokenBucket(limits.messages_per_second, limits.message_burst, time.monotonic())
        self.over = asyncio.Event()

    @property
    def connection(self) -> LimitedProtocol:
        found: LimitedProtocol = self.socket.state.connection
        return found

    def send(self, text: str, last: bool, asked: bool) -> None:
        if asked:
            self.bucket.add(1)
            self.connection.expect_answer()
        try:
            self.unsent.put_nowait((text, last))
        except asyncio.QueueFull:
            self.connection.cut_off(f"more than {UNSENT} states unread")

    def drop(self) -> None:
        """Ends the connection."""
        self.over.set()

    @property
    def cut_reason(self) -> str:
        """The reason for which the server ended the connection, "" if it did not."""
        return self.connection.cut_reason

    async def run(self) -> None:
        """Sends and receives until the game is over, or the client disconnects or is dropped.

        TCP then ends without a close frame, as on the official server."""
        tasks = [asyncio.create_task(work) for work in (self._write(), self._read(), self.over.wait())]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _write(self) -> None:
        last = False
        with contextlib.suppress(WebSocketDisconnect, RuntimeError):
            while not last:
                text, last = await self.unsent.get()
                try:
                    await asyncio.wait_for(self.socket.send_text(text), self.limits.send_seconds)
                except TimeoutError:
                    self.connection.cut_off(f"a state unread for {self.limits.send_seconds:g} s")
                    return

    async def _read(self) -> None:
        """Passes on every message in turn; cuts off a client that exceeds its rate."""
        while True:
            message = await self.socket.receive()
            if message["type"] == "websocket.disconnect":
                return
            if not self.bucket.take(time.monotonic()):
                rate = f"{self.limits.messages_per_second:g}"
                self.connection.cut_off(f"more than {rate} messages per second beyond one per state")
                return
            data = message.get("text")
            if self.room is not None:
                self.room.receive(self.seat, message.get("bytes") or b"" if data is None else data)
