"""A board that serves a store from a thread of the tests."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from turnier.arena.match import MatchRecord
from turnier.results.store.store import Store
from turnier.server.board.app import Library, make_app
from turnier.server.board.serving import BoardServer, hosts_of
from turnier.server.board.tables import Tables
from turnier.server.listening import listen


class ServedBoard:
    """Where a board is served, and how to ask it."""

    def __init__(self, address: str) -> None:
        self.address = address

    def ask(self, path: str, sent: Any = None, headers: dict[str, str] | None = None) -> tuple[int, Any]:
        """Returns the status and the JSON (or bytes) of an answer."""
        data = None if sent is None else json.dumps(sent).encode()
        words = {"Content-Type": "application/json"} if sent is not None else {}
        request = urllib.request.Request(self.address + path, data, words | (headers or {}))
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                status, body, kind = answer.status, answer.read(), answer.headers.get_content_type()
        except urllib.error.HTTPError as refused:
            status, body, kind = refused.code, refused.read(), refused.headers.get_content_type()
        return status, json.loads(body) if kind == "application/json" else body

    def events(self, path: str) -> list[tuple[str, dict[str, Any]]]:
        """Returns all events of a stream: (name, data)."""
        status, body = self.ask(path)
        assert status == 200
        blocks = [block.split("\n") for block in body.decode().split("\n\n") if block]
        return [(name.removeprefix("event: "), json.loads(data.removeprefix("data: "))) for name, data in blocks]

    def says_to(self, sent: bytes) -> bytes:
        """Sends bytes by a connection of their own; returns all that comes until the server closes it."""
        address = urlsplit(self.address)
        with socket.create_connection((str(address.hostname), address.port or 0), timeout=30) as connection:
            connection.sendall(sent)
            received = b""
            with contextlib.suppress(ConnectionResetError):
                while part := connection.recv(4096):
                    received += part
            return received


def no_film(path: Path, record: MatchRecord) -> None:
    path.write_bytes(f"{path.suffix} of {record.spec.id}".encode())


@contextlib.contextmanager
def served_board(url: str, film: Any = no_film, tidy: Any = lambda: None) -> Iterator[ServedBoard]:
    """Serves the board of a store."""
    with Store.open(url) as store, listen("127.0.0.1", 0) as listening:
        tables = Tables.of_store(url)
        server = BoardServer(make_app(Library(lambda: store, film, tables, tidy=tidy), hosts_of("127.0.0.1")), tables)
        thread = threading.Thread(target=lambda: asyncio.run(server.serve([listening])))
        thread.start()
        try:
            yield ServedBoard(f"http://127.0.0.1:{listening.getsockname()[1]}")
        finally:
            server.should_exit = True
            thread.join()


def store_with(folder: Path, *records: MatchRecord) -> str:
    """Returns the URL of a new store with some matches of one run."""
    url = f"sqlite:///{folder}/board.db"
    with Store.open(url) as store:
        store.begin_run("tournament:0123456789abcdef", "tournament", "of tests", {})
        store.append("tournament:0123456789abcdef", records)
    return url
