"""Asks the dashboards without a browser or a port."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

from tests.dashboards.read_pages import Seen
from turnier.arena.match import MatchSpec
from turnier.arena.play import play_match
from turnier.dashboards.agent_names import names_of_texts
from turnier.dashboards.app.app import make_app
from turnier.dashboards.app.shown_store import ShownStore
from turnier.dashboards.figures.animation import write_film
from turnier.results.store.store import Run, Store
from turnier.server.board.app import Library
from turnier.server.board.tables import Tables

TRAP = '![a](http://example.org/a.png) <img src="http://example.org/b.png"> </script><script>x()</script> "&amp;'


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Pages:
    """The pages of a store, which need not exist yet."""

    def __init__(self, url: str, hosts: Sequence[str] = ("*",)) -> None:
        self.shown = ShownStore(url)
        shown, tables = self.shown, Tables.of_store(url)
        library = Library(lambda: shown.store, write_film, tables, shown.option, named=names_of_texts)
        self.app = make_app(self.shown, library, list(hosts))

    def ask(self, address: str, method: str = "GET", **headers: str) -> Answer:
        """Returns the answer to a request; names of headers have _ in place of -."""
        named = {name.replace("_", "-"): text for name, text in headers.items()}
        return asyncio.run(self._asked(address, method, named))

    def hear(self, address: str, event: str, change: Callable[[], object]) -> str:
        """Returns a stream up to an event of that name, after changes of what it tells of; others may come before."""

        async def listen() -> str:
            heard, parts = asyncio.Event(), list[str]()

            async def receive() -> dict[str, Any]:
                await heard.wait()
                return {"type": "http.disconnect"}

            async def send(message: dict[str, Any]) -> None:
                parts.append(message.get("body", b"").decode())
                if parts[-1].startswith(f"event: {event}\n"):
                    heard.set()

            task = asyncio.create_task(self.app(scope_of(address), receive, send))
            while not heard.is_set():
                await asyncio.sleep(0.1)  # it looks every hundredth second
                if not heard.is_set():
                    change()
            await task
            return "".join(parts)

        return asyncio.run(asyncio.wait_for(listen(), 60))

    async def _asked(self, address: str, method: str, headers: dict[str, str]) -> Answer:
        sent: list[dict[str, Any]] = []
        asked = [{"type": "http.request", "body": b"", "more_body": False}]

        async def receive() -> dict[str, Any]:
            return asked.pop() if asked else await asyncio.Future()

        async def send(message: dict[str, Any]) -> None:
            sent.append(message)

        await self.app(scope_of(address, method, headers), receive, send)
        found = {name.decode().lower(): text.decode() for name, text in sent[0]["headers"]}
        return Answer(sent[0]["status"], found, b"".join(message.get("body", b"") for message in sent))

    def look(self, address: str = "/") -> Seen:
        """Returns a page, or the one in place of a page that cannot be shown; follows redirections."""
        answer = self.ask(address)
        while answer.status == 307:
            answer = self.ask(answer.headers["location"])
        assert answer.headers["content-type"].startswith("text/html"), answer
        page = Seen(answer.body.decode())
        assert (answer.status == 200) == (not page.trouble), (answer.status, page.text)
        return page

    def look_later(self, address: str = "/") -> Seen:
        """Returns a page as it is some seconds later."""
        self.shown._seen.clear()
        return self.look(address)


def scope_of(address: str, method: str = "GET", headers: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Returns a request as servers hand it to applications."""
    parts, words = urlsplit(address), {"host": "127.0.0.1"} | dict(headers or {})
    return {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method, "scheme": "http",
        "path": unquote(parts.path), "raw_path": parts.path.encode(), "query_string": parts.query.encode(),
        "headers": [(name.encode(), text.encode()) for name, text in words.items()], "root_path": "",
        "server": ("127.0.0.1", 80), "client": ("127.0.0.1", 1),
    }  # fmt: skip


def run_of(store: Store, kind: str, name: str = "") -> Run:
    """Returns the first run of a kind whose name begins like this."""
    return next(run for run in store.runs() if run.kind == kind and run.name.startswith(name))


def store_named(store: Store) -> str:
    """Stores a tournament of a player whose name would be a picture, or a script; returns its id."""
    played = [play_match(MatchSpec("tictactoe", ("random", "random"), seed)) for seed in range(1, 5)]
    store.begin_run("tournament:named", "tournament", "tictactoe", {"game": "tictactoe"})
    named = (TRAP, "random")
    store.append("tournament:named", [replace(one, spec=replace(one.spec, agents=named)) for one in played])
    return "tournament:named"


def url_of(path: Path) -> str:
    return f"sqlite:///{path}"
