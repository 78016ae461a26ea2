"""Limits on what clients send: none on law-abiding ones however quick, and floods that nobody else feels."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import resource
import socket as sockets
import threading
import time
from collections.abc import Callable

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.frames import Frame, Opcode

from tests.server.spe_ed.served import Served, eventually, first_state, newest, rules, say, served, state
from turnier.games.spe_ed.board import ROUND
from turnier.server.spe_ed.configuration import Limits
from turnier.server.spe_ed.traffic import LimitedProtocol


def raw(server: Served, key: str) -> sockets.socket:
    """Returns a connected WebSocket as a plain socket, behind the handshake."""
    host, port = server.address.split(":")
    connection = sockets.create_connection((host, int(port)), timeout=20)
    connection.sendall(
        f"GET /spe_ed?key={key} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n".encode()
    )
    assert connection.recv(12) == b"HTTP/1.1 101"
    return connection


def frame(opcode: Opcode, data: bytes, fin: bool = True) -> bytes:
    return Frame(opcode, data, fin).serialize(mask=True)


def send_until_cut(connection: sockets.socket, data: bytes, seconds: float = 5.0) -> None:
    """Sends the same bytes again and again until the server closes the connection; fails where it does not."""
    ends = time.monotonic() + seconds
    with contextlib.suppress(OSError):
        while time.monotonic() < ends:
            connection.sendall(data)
        raise AssertionError("the server still takes what it is flooded with")


class Spiral:
    """Moves on a free board of one player's own: straight on, and a turn where the wall or its trail is near."""

    def __init__(self, side: int) -> None:
        self.side = side

    def action(self, message: dict[str, object], you: int) -> str:
        cells = message["cells"]
        player = message["players"][str(you)]  # type: ignore[index]
        x, y, way = player["x"], player["y"], ("up", "right", "down", "left").index(player["direction"])
        free = {}
        for name, turn in (("change_nothing", 0), ("turn_right", 1), ("turn_left", 3)):
            dx, dy = ((0, -1), (1, 0), (0, 1), (-1, 0))[(way + turn) % 4]
            inside = 0 <= x + dx < self.side and 0 <= y + dy < self.side
            free[name] = inside and cells[y + dy][x + dx] == 0  # type: ignore[index]
        return next((name for name, is_free in free.items() if is_free), "change_nothing")


def play_fast(server: Served, key: str, rounds: list[float], wanted: int, pause: float = 0.0) -> None:
    """Answers every state at once in game after game, until so many rounds were played."""
    while len(rounds) < wanted:
        with contextlib.closing(server.join(key)) as client:
            message = state(client)
            spiral = Spiral(message["width"])
            while message["running"] and len(rounds) < wanted:
                if message["players"][str(message["you"])]["active"]:
                    time.sleep(pause)
                    say(client, spiral.action(message, message["you"]))
                message = state(client)
                rounds.append(time.monotonic())


def two_fast_clients(server: Served, wanted: int, pause: float = 0.0) -> list[list[float]]:
    """Returns the times of the rounds of two clients that play each other."""
    times: list[list[float]] = [[], []]
    threads = [
        threading.Thread(target=play_fast, args=(server, f"key{n + 1}", times[n], wanted, pause)) for n in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
        assert not thread.is_alive()
    return times


@pytest.mark.parametrize(
    "wanted", [pytest.param(300, id="short"), pytest.param(2000, id="long", marks=pytest.mark.long)]
)
def test_who_answers_each_state_at_once_is_never_cut_off(wanted: int) -> None:
    no_surplus = Limits(messages_per_second=0.01, message_burst=2, bytes_per_second=0.01, byte_burst=1000)
    with served(rules(players=2, side=80), limits=no_surplus) as server:
        assert [len(times) for times in two_fast_clients(server, wanted)] == [wanted] * 2
        ended = [room.live.rounds for number, room in server.lobby.rooms.items() if number < newest(server).number]
        reasons = {reason for rounds in ended for played in rounds for reason in played["out"].values()}
        assert not {reason for reason in reasons if "cut off" in reason or reason == "disconnected"}, reasons


def test_the_surplus_is_cut_off_with_a_reason() -> None:
    with served(rules(players=2), limits=Limits(messages_per_second=5, message_burst=10)) as server:
        flooding, other = server.join("key1"), server.join("key2")
        first_state((flooding, other))
        with contextlib.suppress(ConnectionClosed):
            for _ in range(200):
                say(flooding)
        with pytest.raises(ConnectionClosed) as closed:
            flooding.recv(timeout=10)
        assert closed.value.rcvd is not None and closed.value.rcvd.code == 1008
        assert closed.value.rcvd.reason == "more than 5 messages per second beyond one per state"
        say(other)
        assert state(other)["players"]["1"]["active"] is False
        other.close()
        eventually(lambda: server.records)
        assert server.lobby.rooms[0].gone[0] == f"cut off: {closed.value.rcvd.reason}"


FLOODS: dict[str, Callable[[sockets.socket], None]] = {
    "empty fragments": lambda s: send_until_cut(
        s, frame(Opcode.TEXT, b"", fin=False) + frame(Opcode.CONT, b"", fin=False) * 10_000
    ),
    "pings": lambda s: send_until_cut(s, frame(Opcode.PING, b"x" * 125) * 1_000),
    "bytes": lambda s: send_until_cut(s, frame(Opcode.BINARY, b"x" * 4000) * 50),
}


@pytest.mark.parametrize("kind", FLOODS)
def test_floods_delay_no_round_of_others(kind: str) -> None:
    with served(rules(players=2, side=60, timeout=1)) as server:
        times: list[list[float]] = []
        playing = threading.Thread(target=lambda: times.extend(two_fast_clients(server, 120, pause=0.02)))
        playing.start()
        eventually(lambda: server.lobby.rooms)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        cuts = 0
        while playing.is_alive() and cuts < 20:  # the flooding client comes again and again, in the lobby
            with contextlib.suppress(OSError, AssertionError), contextlib.closing(raw(server, "key3")) as flooding:
                FLOODS[kind](flooding)
                cuts += 1
            time.sleep(0.05)
        playing.join(60)
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024
        gaps = sorted(later - sooner for sooner, later in zip(times[0][:-1], times[0][1:], strict=True))
        if os.environ.get("TURNIER_FIGURES"):
            print(f"{kind}: {cuts} cut off, median {gaps[len(gaps) // 2]:.3f} s, gap {gaps[-1]:.3f} s, +{grown} MB")
        assert cuts >= 2 and grown < 60
        assert not [why for room in server.lobby.rooms.values() for why in room.gone.values() if "cut off" in why]
        assert server.lobby.rooms[0].position.state[ROUND] >= 100  # nobody missed a deadline


def test_pings_at_a_permitted_rate_are_answered_and_what_stays_unread_is_limited() -> None:
    limits = Limits(bytes_per_second=1e9, byte_burst=1_000_000_000, unread_bytes=50_000)
    with served(rules(players=2), limits=limits) as server, contextlib.closing(raw(server, "key1")) as silent:
        send_until_cut(silent, frame(Opcode.PING, b"x" * 125) * 1_000, seconds=20)
        eventually(lambda: not server.lobby.clients)


def close_code(connection: sockets.socket) -> int:
    """Returns the code of the close frame that comes next."""
    received = b""
    with contextlib.suppress(ConnectionResetError):
        while data := connection.recv(4096):
            received += data
    return int.from_bytes(received[(at := received.rindex(b"\x88")) + 2 : at + 4])


def test_no_input_leaves_a_line_in_the_log(caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]) -> None:
    with served(rules(players=3)) as server, caplog.at_level(logging.ERROR):
        with contextlib.closing(raw(server, "key1")) as client:
            client.sendall(frame(Opcode.TEXT, b"\xff\xfe"))
            assert close_code(client) == 1007
        eventually(lambda: not server.lobby.clients)
        with contextlib.closing(raw(server, "key1")) as client:
            client.sendall(frame(Opcode.TEXT, b"{", fin=False) + frame(Opcode.CONT, b"", fin=False) * 100)
            assert close_code(client) == 1008
        with contextlib.closing(raw(server, "key2")) as client:
            client.sendall(b"\xff" * 100)  # no frame at all
            assert close_code(client) == 1002
        host, port = server.address.split(":")
        upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
        for tail in ("Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n", "\r\n", "Sec-WebSocket-Key: x\r\n\r\n"):
            for path in ("/spe_ed?key=key4", "/watch", "/none", "/spe_ed?key=%ff"):
                for _ in range(5):  # gone in the handshake
                    connection = sockets.create_connection((host, int(port)))
                    connection.setsockopt(sockets.SOL_SOCKET, sockets.SO_LINGER, b"\1\0\0\0\0\0\0\0")
                    connection.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\n{upgrade}{tail}".encode())
                    connection.close()
        with contextlib.closing(server.join("key5")):
            # Those that are gone may keep their places until the server has seen that they are.
            eventually(lambda: json.dumps(server.get("/games")[2]["lobby"]["taken"]) == "1")
    assert not caplog.records and not capfd.readouterr().err


def test_a_server_may_end_while_a_client_closes_its_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    """A close frame came, but the system has not yet said that the connection is gone."""
    ended, handle_close = [], LimitedProtocol.handle_close

    def end_then(protocol: LimitedProtocol, event: Frame) -> None:
        handle_close(protocol, event)
        protocol.shutdown()
        ended.append(protocol.transport.is_closing())

    monkeypatch.setattr(LimitedProtocol, "handle_close", end_then)
    with served(rules(players=2)) as server:
        server.join().close()
        eventually(lambda: not server.lobby.clients)
    assert ended == [True]
