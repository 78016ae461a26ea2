"""Our agents as clients: six processes in one game over real sockets, clocks, keys, the stop file, coming again."""

from __future__ import annotations

import functools
import json
import os
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from websockets.sync.client import connect
from websockets.utils import accept_key

from tests.server.spe_ed.served import Served, eventually, newest, rules, say, served, state
from turnier.agents.registry import AGENTS
from turnier.arena.match_json import disagreement
from turnier.core.errors import UserError
from turnier.games.registry import GAMES
from turnier.games.spe_ed.messages import message_of
from turnier.results.store.store import Store
from turnier.server.spe_ed.agent_client import AgentClient, offset_to, seconds_of, time_url_of, with_key
from turnier.server.spe_ed.official_log import read_log, rounds_of
from turnier.server.spe_ed.timed_player import warm_up

AGENTS_OF_SIX = (
    "basic",
    "basic",
    "rollouts(milliseconds=20)",
    "minimax(milliseconds=20)",
    "tables(milliseconds=20)",
    "combi(milliseconds=40)",
)


def joining(server: Served, stop: Path, reports: list[str], **changes: Any) -> AgentClient:
    url = f"ws://{server.address}/spe_ed"
    options: dict[str, Any] = {
        "url": with_key(url, "key1"),
        "time_url": time_url_of(url),
        "agent": AGENTS.make("basic"),
        "seed": 1,
        "margin": 0.5,
        "games": 1,
        "stop": stop,
        "patience": 30.0,
        "report": reports.append,
    }
    return AgentClient(**(options | changes))


def test_a_game_among_six_processes(tmp_path: Path) -> None:
    for agent in AGENTS_OF_SIX:
        warm_up(agent)  # here once, else all six would compile at the same time
    store = Store.open(f"sqlite:///{tmp_path}/t.db")
    with served(rules(players=6, timeout=20), store=store, logs=tmp_path) as server:
        code = "from turnier.commands.app import main; main()"
        url = f"ws://{server.address}/spe_ed"
        clients = [
            subprocess.Popen(
                [sys.executable, "-c", code, "spe_ed", "join", "--agent", agent, "--seed", str(number)],
                env=os.environ
                | {"URL": url, "KEY": f"key{number}", "TIME_URL": f"http://{server.address}/spe_ed_time"},
                cwd=tmp_path,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
            for number, agent in enumerate(AGENTS_OF_SIX, 1)
        ]
        said = [client.communicate(timeout=240)[0] for client in clients]
        assert [client.returncode for client in clients] == [0] * 6, said
        assert all("game over after" in text for text in said)
        record = eventually(lambda: server.records)[0]
        out = server.out()
    assert not {"no answer", "disconnected", "bad JSON", "answered twice"} & set(out.values())
    assert len(out) >= 5 and all(reason for reason in out.values())
    assert store.record(record.spec.id) == record and disagreement(record) is None
    names, logged = read_log(next(tmp_path.glob("*.json")))
    assert sorted(names) == [f"name{n}" for n in range(1, 7)]
    assert [message_of(one) for one in logged] == [message_of(one) for one in rounds_of(record)]


def test_addresses() -> None:
    assert with_key("wss://host/spe_ed", "a+b&c") == "wss://host/spe_ed?key=a%2Bb%26c"
    assert with_key("ws://host:1/spe_ed?x=1", "k") == "ws://host:1/spe_ed?x=1&key=k"
    assert with_key("ws://host/spe_ed?key=k", "") == "ws://host/spe_ed?key=k"
    assert time_url_of("wss://host/spe_ed?key=k") == "https://host/spe_ed_time"
    wrong = ("http://host/spe_ed", "ws://[::1/spe_ed", "ws://127.0.0.1:99999/spe_ed", "ws:///spe_ed")
    for url, key in (*((url, "k") for url in wrong), ("ws://host/spe_ed", "")):
        with pytest.raises(UserError, match=r"must|needs a key"):
            with_key(url, key)


def test_times_are_utc() -> None:
    assert seconds_of("1970-01-02T00:00:01Z") == 86401


def test_the_servers_clock_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    with served(rules(players=2)) as server:
        url = f"http://{server.address}/spe_ed_time"
        assert abs(offset_to(url)) < 5
        monkeypatch.setattr("turnier.server.spe_ed.agent_client.time", Ahead(-100.0))
        assert 95 < offset_to(url) < 105


class Ahead:
    """A clock of a machine that is some seconds ahead."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    def time(self) -> float:
        return time.time() + self.seconds


def test_a_wrong_key_is_an_error_and_one_in_use_is_tried_again(tmp_path: Path) -> None:
    with served(rules(players=2)) as server:
        reports: list[str] = []
        with pytest.raises(UserError, match="403") as raised:
            joining(server, tmp_path / "stop", reports, url=f"ws://{server.address}/spe_ed?key=wrong").run()
        assert "wrong" not in f"{raised.value}{reports}"
        other = server.join("key1")
        thread = threading.Thread(target=joining(server, tmp_path / "stop", reports).run)
        thread.start()
        eventually(lambda: any("429" in text for text in reports))
        other.close()
        with server.join("key2") as second:
            moves = 0
            while True:
                say(second, "turn_left" if moves % 2 else "change_nothing") if state(second)["running"] else None
                moves += 1
                if newest(server).position.over:
                    break
        thread.join(30)
        assert not thread.is_alive() and any("game over" in text for text in reports), reports


def test_the_stop_file_ends_it_after_the_running_game(tmp_path: Path) -> None:
    with served(rules(players=2, side=8), own=("basic",)) as server:
        reports: list[str] = []
        stop = tmp_path / "stop"
        thread = threading.Thread(target=joining(server, stop, reports, games=0).run)
        thread.start()
        eventually(lambda: sum("game over" in text for text in reports) > 2)
        stop.touch()
        thread.join(30)
        assert not thread.is_alive()
        assert eventually(lambda: len(server.records) == sum("game over" in text for text in reports)), reports


def test_it_comes_again_when_the_connection_is_cut(tmp_path: Path) -> None:
    with served(rules(players=2, side=8)) as server:
        reports: list[str] = []
        thread = threading.Thread(target=joining(server, tmp_path / "stop", reports).run)
        thread.start()
        waiting = eventually(lambda: server.lobby.waiting)[0]
        server.loop.call_soon_threadsafe(waiting.drop)
        eventually(lambda: any("connecting again" in text for text in reports))
        second = server.join("key2")
        while state(second)["running"]:
            say(second)
        thread.join(30)
        assert not thread.is_alive() and reports[-1].startswith("game over"), reports


def test_games_that_are_cut_off_are_listed_and_count(tmp_path: Path) -> None:
    with served(rules(players=2, side=30)) as server:
        reports: list[str] = []
        thread = threading.Thread(target=joining(server, tmp_path / "stop", reports, games=2).run)
        thread.start()
        with server.join("key2") as second:
            for _ in range(4):
                state(second)
                say(second)
            ours = server.lobby.clients["key1"]
            server.loop.call_soon_threadsafe(ours.connection.cut_off, "no reason at all")
            while state(second)["running"]:
                say(second)
        with server.join("key2") as second:
            while state(second)["running"]:
                say(second, "turn_left")
        thread.join(30)
    assert not thread.is_alive()
    cut = next(text for text in reports if "cut off" in text)
    assert re.fullmatch(
        r"game cut off after \d rounds: the server closed the connection: no reason at all \(code 1008\)", cut
    )
    assert re.fullmatch(r"2 games: 1 (cut off, 1 .*|.*, 1 cut off)", reports[-1]), reports


def test_a_game_of_a_server_that_sends_nothing_more_is_cut_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server waits for the other player long after the deadline."""
    monkeypatch.setattr("turnier.server.spe_ed.agent_client.SILENT_SECONDS", 0.1)
    reports: list[str] = []
    with served(rules(players=2, timeout=1.0, grace=300.0)) as server, server.join("key2"):
        client = joining(server, tmp_path / "stop", reports, patience=0.2)
        thread = threading.Thread(target=client.run, daemon=True)
        thread.start()
        thread.join(30)
        assert not thread.is_alive(), reports
    assert re.fullmatch(r"game cut off after 1 rounds: the server has sent nothing for \d s", reports[-1]), reports


def larger(message: dict[str, Any]) -> None:
    message |= {"width": 60, "height": 60, "cells": [[0] * 60] * 60}


def faster(message: dict[str, Any]) -> None:
    message["players"]["1"]["speed"] = 1 << 40


def elsewhere(message: dict[str, Any]) -> None:
    message["players"]["2"]["y"] = -700


@pytest.mark.parametrize("change", [larger, faster, elsewhere])
def test_a_server_cannot_lead_an_agent_out_of_its_board(tmp_path: Path, change: Callable[[Any], None]) -> None:
    """Each is a sentence; kernels would write where no board is."""

    class Bad:
        """Sends a state, and then one that no game goes on with."""

        def __init__(self) -> None:
            self.sent, self.answers = 0, 0

        def recv(self, timeout: float) -> str:
            message = message_of(GAMES.make("spe_ed(width=20,height=20)").start(3).state, you=1)
            message["deadline"] = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
            self.sent += 1
            if self.sent > 1:
                change(message)
            return json.dumps(message)

        def send(self, text: str) -> None:
            self.answers += 1

    url = "ws://127.0.0.1:1/spe_ed"
    client, bad = AgentClient(url, "", AGENTS.make("basic"), 1, 0.5, 1, tmp_path / "stop", 0.1, [].append), Bad()
    with pytest.raises(UserError, match=r"must (stay as they are|be on the board)"):
        client._play(bad, 0)  # type: ignore[arg-type]
    assert (bad.sent, bad.answers) == (2, 1)


def test_it_comes_again_to_a_server_that_does_not_answer_in_the_lobby(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    hasty = functools.partial(connect, close_timeout=0.2)
    monkeypatch.setattr("turnier.server.spe_ed.agent_client.connect", hasty)
    for name in ("SILENT_SECONDS", "PING_SECONDS"):
        monkeypatch.setattr(f"turnier.server.spe_ed.agent_client.{name}", 0.2)
    reports: list[str] = []
    stop = tmp_path / "stop"
    with socket.create_server(("127.0.0.1", 0)) as listening:
        url = f"ws://127.0.0.1:{listening.getsockname()[1]}/spe_ed?key=k"
        client = AgentClient(url, "", AGENTS.make("basic"), 1, 0.5, 1, stop, 0.1, reports.append)
        thread = threading.Thread(target=client.run, daemon=True)
        thread.start()
        with listening.accept()[0] as silent:
            key = re.search(r"Sec-WebSocket-Key: (\S+)", silent.recv(4096).decode())
            assert key is not None
            head = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
            silent.sendall(f"{head}Sec-WebSocket-Accept: {accept_key(key[1])}\r\n\r\n".encode())
            eventually(lambda: any(re.search("keepalive ping timeout.*connecting again", text) for text in reports))
            stop.touch()
            thread.join(30)
            assert not thread.is_alive() and not caplog.records


def test_it_gives_up_on_a_server_that_is_gone_for_good(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("turnier.server.spe_ed.agent_client.REFUSED_SECONDS", 0.5)
    monkeypatch.setattr("turnier.server.spe_ed.agent_client.RECONNECT_SECONDS", (0.1,))
    reports: list[str] = []
    with served(rules(players=2, side=8), own=("basic",)) as server:
        client = joining(server, tmp_path / "stop", reports, games=100_000)
        failures: list[UserError] = []

        def run() -> None:
            try:
                client.run()
            except UserError as failure:
                failures.append(failure)

        thread = threading.Thread(target=run)
        thread.start()
        eventually(lambda: len(server.records) > 2)
    thread.join(30)
    assert not thread.is_alive()
    assert re.search(r"must be reachable, got .*refused.* for \d+ s after \d+ games: ", str(failures[0])), failures
