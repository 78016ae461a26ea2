"""The WebSocket protocol of the server, with limits on a connection's data before it is read.

The cost of a flood is parsing: empty fragments and pings never become messages, so limits on messages do not help. A
connection therefore has a budget of bytes, renewed with every state that must be answered.
"""

from __future__ import annotations

import time
from typing import Any

from uvicorn.protocols.utils import ClientDisconnected
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import CloseCode, Frame
from websockets.http11 import Request
from websockets.protocol import State

from ..limits import TokenBucket
from .configuration import Limits

LINGER = 1.0  # seconds for a client that was cut off to read the reason; its data are discarded
MAX_FRAGMENTS = 64  # of a message


class LimitedProtocol(WebSocketsSansIOProtocol):
    """uvicorn's protocol with a budget of bytes; the application finds it as `connection` in the state of its scope."""

    limits = Limits()  # overridden in a class derived for the server

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.bytes_left = TokenBucket(self.limits.bytes_per_second, self.limits.byte_burst, time.monotonic())
        self.cut_reason = ""  # our reason for ending the connection

    def expect_answer(self) -> None:
        """Allows the client to send the requested answer, above its rate."""
        self.bytes_left.add(self.limits.answer_bytes)

    def cut_off(self, reason: str, code: CloseCode = CloseCode.POLICY_VIOLATION) -> None:
        """Ends the connection with a close frame that gives the reason."""
        if self.cut_reason:
            return
        self.cut_reason = reason
        self.queue.put_nowait({"type": "websocket.disconnect", "code": code, "reason": reason})
        if self.conn.state is State.OPEN and not self.transport.is_closing():
            self.conn.send_close(code, reason)
            self.transport.write(b"".join(self.conn.data_to_send()))
        self.close_sent = True
        self.transport.resume_reading()  # with unread data the system would drop the close frame
        self.close_timer = self.loop.call_later(LINGER, self.transport.abort)

    def shutdown(self) -> None:
        if self.conn.state in (State.CLOSING, State.CLOSED):  # the client's close came; uvicorn would answer it twice
            self.close_sent = True
        super().shutdown()

    def data_received(self, data: bytes) -> None:
        if self.cut_reason:
            return
        if not self.bytes_left.take(time.monotonic(), len(data)):
            self.cut_off(f"more than {self.limits.bytes_per_second:g} bytes per second beyond the answers")
            return
        super().data_received(data)
        if self.transport.get_write_buffer_size() > self.limits.unread_bytes:
            self.cut_off(f"more than {self.limits.unread_bytes} bytes unread")

    def handle_connect(self, event: Request) -> None:
        super().handle_connect(event)
        if self.response.status_code == 101:
            self.scope["state"]["connection"] = self

    def handle_cont(self, event: Frame) -> None:
        super().handle_cont(event)
        if len(self.frames) > MAX_FRAGMENTS:
            self.cut_off(f"more than {MAX_FRAGMENTS} fragments in a message")

    def send_receive_event_to_app(self) -> None:
        if self.curr_msg_data_type == "text":
            try:
                b"".join(self.frames).decode()
            except UnicodeDecodeError:  # uvicorn would log it with a traceback
                self.frames = []
                self.cut_off("text that is not UTF-8", CloseCode.INVALID_DATA)
                return
        super().send_receive_event_to_app()

    async def send(self, message: Any) -> None:
        if self.cut_reason or (self.transport.is_closing() and not self.handshake_complete):
            raise ClientDisconnected  # otherwise uvicorn would log a client that left during the handshake
        await super().send(message)
        if self.close_sent:  # a refusal ends the handshake as well; uvicorn would log it as a failure
            self.handshake_complete = True


def websocket_protocol(limits: Limits) -> type[LimitedProtocol]:
    """Returns the protocol of a server with these limits."""
    return type("ServerProtocol", (LimitedProtocol,), {"limits": limits})
