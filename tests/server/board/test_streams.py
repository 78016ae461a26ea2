"""Streams of events: as many at once as there are places, which are free again as soon as a listener has gone."""

from __future__ import annotations

import contextlib
import gc
import itertools
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from starlette.requests import ClientDisconnect

from turnier.agents.timed import interrupted_by, run_chunks
from turnier.core.errors import UserError
from turnier.server.board.streams import Streams


def heard(streams: Streams, found: Iterable[dict[str, Any]], most: int = 1000, version: str = "2.0") -> str:
    """Returns the text that a listener hears who goes after some messages."""
    messages: list[Any] = []

    async def receive() -> dict[str, Any]:
        while len(messages) < most:
            await anyio.sleep(0.01)
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        messages.append(message)
        if len(messages) >= most and version == "2.4":
            raise OSError

    async def listen() -> None:
        with contextlib.suppress(ClientDisconnect):
            await streams.response(found)({"type": "http", "asgi": {"spec_version": version}}, receive, send)

    anyio.run(listen)
    return b"".join(message.get("body", b"") for message in messages).decode()


def test_what_is_found_comes_and_then_the_end() -> None:
    text = heard(Streams(1), [{"n": 1}, {"n": 2}])
    assert text == 'event: message\ndata: {"n":1}\n\nevent: message\ndata: {"n":2}\n\nevent: end\ndata: {}\n\n'


def test_what_is_wrong_is_an_event() -> None:
    def wrong() -> Iterator[dict[str, Any]]:
        yield {"n": 1}
        raise UserError(f"weights must be a file, got {Path('t.npz').absolute()}; name a file.")

    streams, sentence = Streams(1), "weights must be a file, got t.npz; name a file."  # without the server's folder
    assert heard(streams, wrong()).endswith(f'event: refused\ndata: {{"error":"{sentence}"}}\n\n')
    assert streams.places.acquire(blocking=False)


def test_without_a_place_it_is_refused() -> None:
    streams = Streams(1)
    streams.places.acquire()
    assert "event: refused" in heard(streams, [{"n": 1}])
    streams.places.release()
    assert "event: end" in heard(streams, [{"n": 1}])


@pytest.mark.parametrize("version", ["2.0", "2.4"])  # of ASGI: how servers say that a listener has gone
def test_a_place_is_free_when_its_listener_has_gone(version: str) -> None:
    streams = Streams(1)
    gc.disable()  # a place must not wait for it
    try:
        assert "event: end" not in heard(streams, ({"n": n} for n in itertools.count()), most=4, version=version)
        assert streams.places.acquire(blocking=False)
    finally:
        gc.enable()


def test_a_search_by_the_clock_ends_when_its_listener_has_gone() -> None:
    """Otherwise a place would be taken as long as an agent that nobody hears any more likes to think."""

    def thinks() -> Iterator[dict[str, Any]]:
        for n in itertools.count():
            began = time.perf_counter()
            with interrupted_by(None):  # as an analysis does, which may have an event of its own
                run_chunks(lambda units: time.sleep(0.01) is None, 1, began, 0 if n < 3 else 60_000)
            yield {"n": n}

    streams, began = Streams(1), time.perf_counter()
    heard(streams, thinks(), most=4)
    assert streams.places.acquire(blocking=False)
    assert time.perf_counter() - began < 30
