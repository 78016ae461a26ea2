"""The wire protocol of spe_ed, rule by rule, with a plain client."""

from __future__ import annotations

import contextlib
import json
import re
import socket as sockets
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection

from tests.server.spe_ed.served import PATIENT, Served, eventually, first_state, newest, rules, say, served, state
from turnier.arena.match import derive_seed
from turnier.arena.match_json import disagreement
from turnier.games.spe_ed.board import DIRECTIONS, DX, DY
from turnier.games.spe_ed.messages import cells_of, message_of
from turnier.results.frames.matches import matches_frame
from turnier.results.store.store import Store
from turnier.server.spe_ed.configuration import Limits
from turnier.server.spe_ed.lobby import next_number
from turnier.server.spe_ed.official_log import log_of, read_log, rounds_of

DEADLINE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


@pytest.fixture(scope="module")
def three() -> Iterator[Served]:
    with served(rules(players=3)) as server:
        yield server


def seated(server: Served, count: int) -> list[ClientConnection]:
    """Returns clients that are in one game."""
    return [server.join(f"key{n}") for n in range(1, 1 + count)]


def status_of(server: Served, key: str) -> int:
    with pytest.raises(InvalidStatus) as refused:
        server.join(key)
    return refused.value.response.status_code


def test_keys(three: Served) -> None:
    assert status_of(three, "wrong") == status_of(three, "") == 403
    assert three.get("/spe_ed?key=wrong")[0] == three.get("/spe_ed")[0] == 403
    assert three.get("/spe_ed?key=key1")[0] == 400  # not an upgrade
    with three.join("key1"):
        assert status_of(three, "key1") == 429
        assert three.get("/spe_ed?key=key1")[0] == 429
        assert three.get("/games")[2]["lobby"]["taken"] == 1
    eventually(lambda: three.get("/spe_ed?key=key1")[0] == 400)  # free again after leaving the lobby
    assert three.get("/games")[2]["lobby"]["taken"] == 0


def test_the_time(three: Served) -> None:
    before = time.time()
    status, headers, told = three.get("/spe_ed_time")
    assert status == 200 and headers["Access-Control-Allow-Origin"] == "*" and headers["Cache-Control"] == "no-store"
    assert headers["Content-Type"].startswith("application/json") and set(told) == {"time", "milliseconds"}
    assert DEADLINE.fullmatch(told["time"]) and type(told["milliseconds"]) is int and 0 <= told["milliseconds"] <= 999
    seconds = datetime.fromisoformat(told["time"]).timestamp() + told["milliseconds"] / 1000
    assert before - 0.002 <= seconds <= time.time()


def test_a_game_from_the_first_state_to_the_last(tmp_path: Path) -> None:
    store = Store.open(f"sqlite:///{tmp_path}/t.db")
    with served(rules(players=2), store=store, logs=tmp_path) as server:
        clients = seated(server, 2)
        seen = []
        while True:
            asked = time.time()
            states = [state(client) for client in clients]
            first, second = states
            assert (first["you"], second["you"]) == (1, 2)
            assert {**first, "you": 0} == {**second, "you": 0}
            seen.append(first)
            assert (first["width"], first["height"]) == (20, 20) and [len(row) for row in first["cells"]] == [20] * 20
            assert sorted(first["players"]) == ["1", "2"]
            if not first["running"]:
                break
            assert set(first) == {"width", "height", "cells", "players", "you", "running", "deadline"}
            assert set(first["players"]["1"]) == {"x", "y", "direction", "speed", "active"}
            assert DEADLINE.fullmatch(first["deadline"])
            deadline = datetime.fromisoformat(first["deadline"]).replace(tzinfo=UTC).timestamp()
            assert asked - PATIENT < deadline <= time.time() + PATIENT
            say(clients[0], "speed_up")
            say(clients[1])
        last = seen[-1]
        assert "deadline" not in last and [p["name"] for p in last["players"].values()] == ["name1", "name2"]
        assert not last["players"]["1"]["active"] and last["players"]["2"]["active"]
        for client in clients:
            with pytest.raises(ConnectionClosed) as closed:
                client.recv(timeout=10)
            assert closed.value.rcvd is None  # the TCP connection ends without a close frame
        record = eventually(lambda: server.records)[0]
        with server.join("key1"):
            pass  # the key is free
    assert disagreement(record) is None
    assert store.find_record(record.spec.id[:9]) == record
    replayed = rounds_of(record)
    assert [cells_of(s).tolist() for s in replayed] == [message["cells"] for message in seen]
    names, logged = read_log(next(tmp_path.glob("*.json")))
    assert names == ["name1", "name2"] and len(logged) == len(seen)
    assert [message_of(s) for s in logged] == [message_of(s) for s in replayed]
    assert [line.get("players") for line in log_of(record)][1:-1] == [message["players"] for message in seen[:-1]]
    frame = matches_frame(store, "server:test")
    assert list(frame["agent"]) == ["remote(name=name1)", "remote(name=name2)"]
    assert list(frame["result"]) == ["loss", "win"]


@pytest.mark.parametrize(
    ("messages", "reason"),
    [
        (["{"], "bad JSON"),
        (["[1]"], "bad JSON"),
        (["null"], "bad JSON"),
        ([b"\xff\x00"], "bad JSON"),
        ([""], "bad JSON"),
        (["[" * 3000], "bad JSON"),
        (['{"action":""}'], "unknown action"),
        (['{"action":"fly"}'], "unknown action"),
        (['{"action":["turn_left"]}'], "unknown action"),
        (['{"action":"turn_left"}', '{"action":"turn_left"}'], "answered twice"),
    ],
)
def test_who_breaks_the_protocol_is_out_and_may_stay(three: Served, messages: list[str | bytes], reason: str) -> None:
    clients = seated(three, 3)
    start = first_state(clients)
    for message in messages:
        clients[0].send(message)
    eventually(lambda: 0 in newest(three).faults)
    say(clients[1])
    say(clients[2])
    after = [state(client) for client in clients]
    gone = after[0]["players"]["1"]
    assert gone == {**start["players"]["1"], "active": False} and after[0]["running"]
    assert all(after[0]["players"][n]["active"] for n in "23")
    assert three.out(newest(three).number) == {"1": reason}
    clients[0].send("{")  # who is out may talk, and is not heard
    say(clients[0], "turn_left")
    say(clients[1], "turn_left")
    say(clients[2])
    assert state(clients[0])["players"]["1"] == gone
    end_of(three, clients)


def end_of(server: Served, clients: list[ClientConnection]) -> None:
    """Everybody goes; the game ends by that."""
    room = newest(server)
    for client in clients:
        client.close()
    eventually(lambda: room.position.over and not server.lobby.clients)


def inside(player: dict[str, Any], turn: int) -> bool:
    """Whether a player is still on the board a cell after so many quarters to the right."""
    way = (DIRECTIONS.index(player["direction"]) + turn) % 4
    return bool(0 <= player["x"] + DX[way] < 20 and 0 <= player["y"] + DY[way] < 20)


def test_valid_json_with_an_action_counts_and_the_round_waits_for_all(three: Served) -> None:
    clients = seated(three, 3)
    start = first_state(clients)
    clients[0].send(b' {"action": "speed_up", "more": 1}\n')
    say(clients[1], "slow_down")
    with pytest.raises(TimeoutError):
        clients[0].recv(timeout=0.3)  # the third has yet to answer
    third = start["players"]["3"]
    ways = DIRECTIONS if inside(third, 1) else DIRECTIONS[::-1]
    say(clients[2], "turn_right" if inside(third, 1) else "turn_left")
    after = state(clients[0])["players"]
    assert after["1"]["speed"] == 2 and after["1"]["active"]
    assert after["2"] == {**start["players"]["2"], "speed": 0, "active": False}  # too slow: out, and it shows
    assert after["3"]["direction"] == ways[(ways.index(third["direction"]) + 1) % 4]
    assert three.out(newest(three).number) == {"2": "speed below 1"}
    end_of(three, clients)


def test_who_disconnects_is_out_and_its_key_is_free(three: Served) -> None:
    clients = seated(three, 3)
    for client in clients:
        state(client)
    say(clients[0])
    clients[0].close()  # even after an answer
    eventually(lambda: three.get("/spe_ed?key=key1")[0] == 400)
    say(clients[1])
    say(clients[2])
    after = first_state(clients[1:])
    assert not after["players"]["1"]["active"] and after["running"]
    assert three.out(newest(three).number) == {"1": "disconnected"}
    room = newest(three)
    clients[1].socket.shutdown(sockets.SHUT_RDWR)  # without a word
    say(clients[2])
    while state(clients[2])["running"]:
        say(clients[2])
    assert [p[4] for p in three.get(f"/games/{room.number}")[2]["rounds"][-1]["players"]] == [False, False, True]
    end_of(three, clients)


def test_silence_is_out_at_the_deadline_and_late_messages_are_ignored() -> None:
    with served(rules(players=3, timeout=0.5)) as server:
        clients = seated(server, 3)
        for client in clients:
            state(client)
        say(clients[1])
        say(clients[2])
        after = first_state(clients)
        assert not after["players"]["1"]["active"] and after["players"]["2"]["active"]
        say(clients[0])  # too late
        say(clients[1])
        say(clients[2], "turn_left")
        assert state(clients[0])["players"]["1"] == after["players"]["1"]
        assert server.out() == {"1": "no answer"}
        end_of(server, clients)


def test_bots_take_the_places_left_when_the_lobby_ends() -> None:
    with served(rules(players=4, lobby=0.2), own=("rollouts(milliseconds=5)",)) as server, server.join() as client:
        seen = state(client)
        assert seen["you"] == 1 and len(seen["players"]) == 4
        assert server.get("/games")[2]["games"][0]["names"] == ["name1", "rollouts(milliseconds=5)", "basic", "basic"]
        client.close()
        eventually(lambda: server.records)


def test_the_same_seed_draws_the_same_boards() -> None:
    def boards(seed: int) -> list[str]:
        with served(rules(2, side=8), own=("basic", "basic"), games=3, seed=seed) as server:
            eventually(lambda: len(server.records) == 3)
            return [f"{record.spec.id} {record.plies!r}" for record in server.records]

    assert boards(1) == boards(1) != boards(2)


def test_floods_large_frames_and_idle_connections_do_not_stop_a_game() -> None:
    limits = Limits(requests_per_second=2000, request_burst=4000, idle_seconds=3.0, message_burst=60)
    with served(rules(players=4), own=("basic",), limits=limits) as server:
        host, port = server.address.split(":")
        idle = [sockets.create_connection((host, int(port))) for _ in range(200)]
        for half in idle[:100]:
            half.sendall(b"GET / HTTP/1.1\r\nHost: ")
        flooding, large, good = seated(server, 3)
        for client in (flooding, large, good):
            state(client)
        room = newest(server)
        with contextlib.suppress(ConnectionClosed, OSError):
            large.send("x" * (1 << 20))
        eventually(lambda: 1 in room.gone)
        with contextlib.suppress(ConnectionClosed, OSError):
            for _ in range(100_000):
                flooding.send(json.dumps({"action": "turn_left"}))
        eventually(lambda: 0 in room.gone)
        moves = 0
        while True:  # the game goes on to its end
            say(good, "turn_left" if moves % 3 == 2 else "change_nothing")
            moves += 1
            if not state(good)["running"]:
                break
        assert moves > 1 and server.out(room.number).keys() >= {"1", "2"}
        for connection in idle:
            connection.settimeout(20)
            with contextlib.suppress(ConnectionResetError):
                assert connection.recv(1) == b""  # closed by the server
            connection.close()
        assert server.get("/spe_ed_time")[0] == 200


def test_numbers_of_games_that_cannot_be(three: Served) -> None:
    for number in ("999999", "-1", "x", "9" * 5000):
        assert three.get(f"/games/{number}")[0] == three.get(f"/games/{number}/log")[0] == 404


def test_numbers_go_on_behind_the_last_stored_game() -> None:
    seeds = [derive_seed("spe_ed", 7, number) for number in range(40)]
    assert next_number(7, []) == 0
    assert next_number(7, seeds[:3]) == 3
    assert next_number(7, [seeds[1], seeds[25]]) == 26, "games end in any order"


def test_too_many_requests_are_refused() -> None:
    with served(rules(players=2), limits=Limits(requests_per_second=0.1, request_burst=5)) as server:
        assert [server.get("/spe_ed_time")[0] for _ in range(7)] == [200] * 5 + [429] * 2


def test_a_bot_that_fails_is_out_and_the_game_continues(monkeypatch: pytest.MonkeyPatch) -> None:
    from turnier.agents.spe_ed.basic import BasicPlayer

    def fail(player: BasicPlayer, ends: int) -> None:
        raise ValueError("no idea")

    monkeypatch.setattr(BasicPlayer, "choose", fail)
    with served(rules(players=2), own=("basic",)) as server, server.join() as client:
        state(client)
        say(client)
        assert state(client)["players"]["1"]["active"]
        assert server.out() == {"2": "failed: ValueError: no idea"}
