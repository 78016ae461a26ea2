"""The stream of a watching page: the lobby, the list of games, and the rounds of the chosen one."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from typing import TYPE_CHECKING, Any

from starlette.websockets import WebSocket, WebSocketDisconnect

from ....core.errors import MALFORMED
from ...limits import TokenBucket
from ..official_log import encode

if TYPE_CHECKING:
    from ..lobby import Lobby

TICK = 0.2  # seconds between two messages
MESSAGES = 50  # choices of games that a page may send at once; then one per second


class Summary:
    """The lobby and its games as text, written at most once per tick for all viewers."""

    def __init__(self, lobby: Lobby) -> None:
        self.lobby, self.made, self._text = lobby, 0.0, ""

    def text(self) -> str:
        now = time.monotonic()
        if now - self.made >= TICK / 2:
            self.made, self._text = now, encode(self.lobby.summary())
        return self._text


class Viewer:
    """A page. It sends `{"game": number, "from": round}` to choose a game, and gets news a few times a second.

    First comes `{"now": seconds}`, the server's time, later `{"summary": ...}` after changes, and
    `{"game": number, "from": round, "rounds": [...]}`.
    """

    def __init__(self, socket: WebSocket, lobby: Lobby, summary: Summary) -> None:
        self.socket, self.lobby, self.summary = socket, lobby, summary
        self.game: int | None = None
        self.next = 0  # the next round to send
        self.changed = asyncio.Event()

    async def run(self) -> None:
        """Streams until the page is closed or has read nothing for long."""
        reading = asyncio.create_task(self._read())
        try:
            with contextlib.suppress(WebSocketDisconnect, RuntimeError):
                await self._write(reading)
        except TimeoutError:
            self.socket.state.connection.cut_off(f"nothing read for {self.lobby.limits.send_seconds:g} s")
        finally:
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)

    async def _write(self, reading: asyncio.Task[None]) -> None:
        await self._send(encode({"now": time.time()}))
        shown = ""
        while not reading.done():
            self.changed.clear()
            text = self.summary.text()
            if text != shown:
                shown = text
                await self._send(f'{{"summary":{text}}}')
            while rounds := self._rounds():
                await self._send(rounds)
            with contextlib.suppress(TimeoutError):
                await asyncio.sleep(TICK / 4)  # frequent choices must cost no more
                await asyncio.wait_for(self.changed.wait(), TICK * 3 / 4)

    async def _send(self, text: str) -> None:
        await asyncio.wait_for(self.socket.send_text(text), self.lobby.limits.send_seconds)

    def _rounds(self) -> str:
        """Returns the message with the rounds that are new to the page, "" if there are none."""
        room = self.lobby.rooms.get(self.game) if self.game is not None else None
        texts = room.live.texts_since(self.next) if room is not None else []
        if not texts:
            return ""
        first, self.next = self.next, self.next + len(texts)
        return f'{{"game":{self.game},"from":{first},"rounds":[{",".join(texts)}]}}'

    async def _read(self) -> None:
        """Receives choices; cuts off a page that sends anything else, or too much."""
        choices = TokenBucket(1, MESSAGES, time.monotonic())
        while (message := await self.socket.receive())["type"] != "websocket.disconnect":
            chosen = read_choice(message.get("text"))
            if chosen is None or not choices.take(time.monotonic()):
                self.socket.state.connection.cut_off("a page must only choose games, now and then")
                return
            self.game, self.next = chosen
            self.changed.set()


def read_choice(text: Any) -> tuple[int, int] | None:
    """Returns the requested game and first round; None for any other message."""
    try:
        message = json.loads(text)
        game, first = message["game"], message["from"]
    except MALFORMED:
        return None
    return (game, first) if type(game) is int and type(first) is int and 0 <= first < 10**6 else None
