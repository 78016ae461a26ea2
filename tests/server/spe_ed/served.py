"""A server of spe_ed in a thread of the test, and a plain client of its protocol."""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from email.message import Message
from pathlib import Path
from typing import Any

from websockets.sync.client import ClientConnection, connect

from turnier.agents.registry import AGENTS
from turnier.arena.match import MatchRecord
from turnier.results.store.store import Store
from turnier.server.listening import listen
from turnier.server.spe_ed.configuration import Limits, Range, Rules
from turnier.server.spe_ed.lobby import Lobby
from turnier.server.spe_ed.room import Room
from turnier.server.spe_ed.serving import make_server, serve

KEYS = {f"key{n}": f"name{n}" for n in range(1, 7)}
PATIENT = 60.0  # seconds of a round that is to end by answers


def rules(players: int, timeout: float = PATIENT, grace: float = 0.2, lobby: float = 300.0, side: int = 20) -> Rules:
    size = Range(side, side)
    return Rules(size, size, Range(players, players), Range(timeout, timeout), grace, lobby)


@dataclass
class Served:
    address: str
    lobby: Lobby
    records: list[MatchRecord]
    loop: asyncio.AbstractEventLoop

    def join(self, key: str = "key1") -> ClientConnection:
        return connect(
            f"ws://{self.address}/spe_ed?key={key}", compression=None, ping_interval=None, proxy=None
        ).__enter__()

    def get(self, path: str) -> tuple[int, Message, Any]:
        """Returns status, headers and body (JSON where it is some) of a GET."""
        try:
            with urllib.request.urlopen(f"http://{self.address}{path}", timeout=20) as answer:
                body, kind = answer.read().decode(), answer.headers["Content-Type"]
                return answer.status, answer.headers, json.loads(body) if "json" in kind else body
        except urllib.error.HTTPError as refused:
            return refused.code, refused.headers, None

    def out(self, game: int = 0) -> dict[str, str]:
        """Returns why players are out, by number."""
        rounds = self.get(f"/games/{game}")[2]["rounds"]
        return {number: reason for played in rounds for number, reason in played["out"].items()}


def eventually(happens: Callable[[], Any], seconds: float = 30.0) -> Any:
    """Waits until something is true and returns it."""
    ends = time.monotonic() + seconds
    while not (found := happens()):
        assert time.monotonic() < ends, "it did not happen"
        time.sleep(0.02)
    return found


@contextlib.contextmanager
def served(
    its_rules: Rules,
    own: tuple[str, ...] = (),
    bots: tuple[str, ...] = ("basic",),
    limits: Limits = Limits(requests_per_second=1000, request_burst=2000),  # noqa: B008
    games: int = 0,
    store: Store | None = None,
    logs: Path | None = None,
    seed: int = 1,
) -> Iterator[Served]:
    """Serves on a free port until the block ends."""
    listening, ready, running = listen("127.0.0.1", 0), threading.Event(), []
    if store is not None:
        store.begin_run("server:test", "server", "spe_ed", {})

    async def run() -> None:
        agents, fill = ([AGENTS.make(text) for text in texts] for texts in (own, bots))
        lobby = Lobby(its_rules, limits, KEYS, fill, agents, seed, 0, games, store, "server:test", logs)
        server = make_server(lobby)
        found = Served(f"127.0.0.1:{listening.getsockname()[1]}", lobby, [], asyncio.get_running_loop())
        lobby.on_game = lambda room, record: found.records.append(record)
        running.extend((found, server))
        ready.set()
        await serve(lobby, server, listening)

    thread = threading.Thread(target=lambda: asyncio.run(run()), daemon=True)
    thread.start()
    assert ready.wait(20)
    found, server = running
    eventually(lambda: server.started or not thread.is_alive())
    try:
        yield found
    finally:
        server.should_exit = True
        thread.join(20)


def newest(server: Served) -> Room:
    """Returns the room of the game that began last."""
    return server.lobby.rooms[max(server.lobby.rooms)]


def say(socket: ClientConnection, action: str = "change_nothing") -> None:
    socket.send(json.dumps({"action": action}))


def first_state(sockets: Sequence[ClientConnection]) -> dict[str, Any]:
    """Returns the next state of the first of some clients, after all of them got theirs."""
    return [state(socket) for socket in sockets][0]  # noqa: RUF015


def state(socket: ClientConnection) -> dict[str, Any]:
    """Returns the next state that a client is sent."""
    text = socket.recv(timeout=30)
    assert isinstance(text, str) and text.endswith("}\n")
    found: dict[str, Any] = json.loads(text)
    return found
