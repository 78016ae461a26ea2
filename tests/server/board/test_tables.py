"""Tables: people and agents play by requests, as pages send them."""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from turnier.arena.match import MatchRecord
from turnier.arena.match_json import disagreement
from turnier.results.store.store import Store

from .served_board import ServedBoard, served_board


class Seat:
    """Somebody who looks at a table, and plays with a key."""

    def __init__(self, board: ServedBoard, id: str, key: str = "") -> None:
        self.board, self.id, self.path, self.key = board, id, f"/api/tables/{id}", key
        address = urlsplit(board.address)
        self.connection = http.client.HTTPConnection(str(address.hostname), address.port, timeout=30)
        self.connection.request("GET", f"{self.path}/events?key={key}")
        self.answer = self.connection.getresponse()

    def state(self) -> dict[str, Any]:
        """Waits for the next state of the table."""
        while not (line := self.answer.readline()).startswith(b"data: "):
            assert line, "the stream has ended"
        return json.loads(line.removeprefix(b"data: "))

    def now(self) -> dict[str, Any]:
        """Returns the state as it is."""
        return Seat(self.board, self.id, self.key).state()

    def until(self, what: str) -> dict[str, Any]:
        """Waits until the table is over, or its own move is wanted."""
        while True:
            found = self.state()
            if (found["over"] and (what == "over" or found["match"])) or (what == "turn" and found["legal"]):
                return found

    def say(self, what: str, **more: Any) -> tuple[int, dict[str, Any]]:
        return self.board.ask(f"{self.path}/{what}", {"key": self.key, **more})

    def play(self, state: dict[str, Any], number: int = 0) -> None:
        assert self.say("play", turn=state["turn"], action=state["legal"][number]["action"]) == (200, {})


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/games.db"


@pytest.fixture
def board(url: str) -> Iterator[ServedBoard]:
    with served_board(url) as served:
        yield served


def begin(board: ServedBoard, game: str, *agents: str) -> dict[int, Seat]:
    """Opens a table; returns those who have keys, by seat."""
    status, table = board.ask("/api/tables", {"game": game, "agents": agents})
    assert status == 200, table
    return {int(seat): Seat(board, table["id"], key) for seat, key in table["keys"].items()}


def stored(url: str) -> list[MatchRecord]:
    with Store.open(url, read_only=True) as store:
        return [record for run in store.runs() for records in store.records_of_run(run.id) for record in records]


def play_to_the_end(seats: dict[int, Seat]) -> dict[str, Any]:
    """Everybody with a key plays the first legal move in turn; returns what is seen of the end."""
    while True:
        for seat in seats.values():
            shown = seat.now()
            if shown["match"]:
                return shown
            if shown["legal"]:
                seat.play(shown)
        time.sleep(0.04)  # so that nobody is refused for asking too often


@pytest.mark.parametrize(
    ("game", "agents"),
    [
        ("tictactoe", ["human(name=Ann)", "random"]),
        ("hex(size=3)", ["mcts(iterations=20)", "human(name=Bo)"]),
        ("yavalath(players=3)", ["human(name=Ann)", "random", "human(name=Bo)"]),
        ("spe_ed(players=2,width=8,height=8)", ["human(name=Ann)", "basic"]),
        ("2048(size=2)", ["human(name=Ann)"]),
        ("nim", ["human(name=Ann)", "human(name=Bo)"]),
    ],
)
def test_a_game_is_played_and_stored(board: ServedBoard, url: str, game: str, agents: list[str]) -> None:
    end = play_to_the_end(begin(board, game, *agents))
    (record,) = stored(url)
    assert end["match"] == record.spec.id
    assert end["scores"] == list(record.scores)
    assert [agent.partition("(")[0] for agent in record.spec.agents] == [agent.partition("(")[0] for agent in agents]
    assert disagreement(record) is None
    assert len(board.ask(f"/api/matches/{record.spec.id}")[1]["moves"]) == sum(record.decisions) == len(end["moves"])


def test_only_who_has_the_key_plays_and_only_in_turn(board: ServedBoard) -> None:
    seats = begin(board, "tictactoe", "human(name=Ann)", "human(name=Bo)")
    ann, bo = seats[0], seats[1]
    first, other = ann.until("turn"), bo.state()
    assert other["legal"] == []
    action = first["legal"][0]["action"]
    assert bo.say("play", turn=first["turn"], action=action)[0] == 400
    assert Seat(board, ann.id).say("play", turn=first["turn"], action=action)[0] == 400
    assert ann.say("play", turn=first["turn"], action=99)[0] == 400
    ann.play(first)
    assert ann.say("play", turn=first["turn"], action=action)[0] == 400  # sent twice
    assert len(bo.until("turn")["moves"]) == 1
    for wrong in ({"turn": "x"}, {"turn": 1, "action": True}, {"turn": 1, "action": 1 << 60}):
        status, answer = ann.say("play", **wrong)
        assert status == 400
        assert "whole number" in answer["error"]


def test_moves_of_the_same_moment_stay_hidden(board: ServedBoard) -> None:
    seats = begin(board, "spe_ed(players=2,width=8,height=8)", "human(name=Ann)", "human(name=Bo)")
    ann, bo = seats[0], seats[1]
    first = ann.until("turn")
    before = bo.state()
    ann.play(first, 1)
    second = bo.until("turn")
    assert [move["name"] for move in second["moves"]] == ["…"]
    assert second["svg"] == before["svg"]
    assert [move["name"] for move in ann.state()["moves"]] == [first["legal"][1]["name"]]
    bo.play(second, 1)
    assert "…" not in [move["name"] for move in ann.until("turn")["moves"]]


def test_undo_takes_back_the_agents_move_too(board: ServedBoard) -> None:
    ann = begin(board, "tictactoe", "human(name=Ann)", "mcts(iterations=30)")[0]
    ann.until("turn")
    assert ann.say("undo")[0] == 400
    first = ann.until("turn")
    ann.play(first)
    second = ann.until("turn")
    assert len(second["moves"]) == 2
    assert ann.say("undo") == (200, {})
    again = ann.until("turn")
    assert again["moves"] == []
    assert again["svg"] == first["svg"]
    ann.play(again)
    assert ann.until("turn")["moves"] == second["moves"]  # the same agent, seed and moves


def test_nobody_takes_back_a_move_of_somebody_else(board: ServedBoard) -> None:
    ann, bo = begin(board, "tictactoe", "human(name=Ann)", "human(name=Bo)").values()
    for seat in (ann, bo, ann):
        seat.play(seat.until("turn"))
    status, answer = ann.say("undo")  # Bo is to move
    assert status == 400 and "only on your turn" in answer["error"]
    assert len(bo.now()["moves"]) == 3
    assert bo.say("undo") == (200, {})
    assert len(bo.now()["moves"]) == 1


def test_hints_and_resigning(board: ServedBoard, url: str) -> None:
    ann = begin(board, "tictactoe", "human(name=Ann)", "random")[0]
    first = ann.until("turn")
    status, hint = ann.say("hint", agent="mcts(iterations=90)")
    assert status == 200
    assert sum(action[1] for action in hint["actions"]) == 90
    assert hint["choice"] in [action[0] for action in hint["actions"]]
    assert ann.say("hint", agent="bot.py:Bot")[0] == 400
    ann.play(first)
    ann.until("turn")
    assert ann.say("resign") == (200, {})
    end = ann.until("stored")
    assert end["ending"] == "resigned"
    assert end["scores"] == [-1.0, 1.0]
    assert stored(url)[0].termination == "resigned"


def test_a_seat_changes_hands(board: ServedBoard, url: str) -> None:
    ann = begin(board, "tictactoe", "human(name=Ann)", "random")[0]
    ann.play(ann.until("turn"))
    ann.until("turn")
    status, answer = ann.say("exchange", seat=1, agent="human(name=Bo)")
    assert status == 200
    bo = Seat(board, ann.id, answer["key"])
    end = play_to_the_end({0: Seat(board, ann.id, ann.key), 1: bo})
    (record,) = (one for one in stored(url) if one.spec.id == end["match"])
    assert len(record.spec.opening) == 2  # moves of nobody who sits there now
    assert record.spec.agents == ("human(name=Ann)", "human(name=Bo)")
    assert disagreement(record) is None


def test_what_is_played_at_the_end_of_the_server_is_kept(url: str) -> None:
    with served_board(url) as board:
        ann = begin(board, "tictactoe", "human(name=Ann)", "random")[0]
        ann.play(ann.until("turn"))
        ann.until("turn")
    (record,) = stored(url)
    assert record.termination == "unfinished"
    assert record.decisions == (1, 1)


def test_what_is_played_when_an_agent_thinks_is_kept_too(url: str) -> None:
    with served_board(url) as board:
        ann = begin(board, "tictactoe", "human(name=Ann)", "mcts(milliseconds=1500)")[0]
        ann.play(ann.until("turn"))
        assert ann.now()["thinking"]
    (record,) = stored(url)
    assert record.termination == "unfinished" and record.decisions == (1, 0)


def test_two_tables_with_the_same_players_are_two_games(board: ServedBoard, url: str) -> None:
    """The second begins before the first is stored; a third one is not that of an earlier, unfinished game."""
    with served_board(url) as earlier:
        left = begin(earlier, "tictactoe", "human(name=Ann)", "random")[0]
        left.play(left.until("turn"))
        left.until("turn")
    tables = [begin(board, "tictactoe", "human(name=Ann)", "random") for _ in range(2)]
    ends = [play_to_the_end(seats)["match"] for seats in tables]
    records = stored(url)
    assert len(set(ends)) == 2 and {record.spec.id for record in records} > set(ends)
    assert sorted(record.termination for record in records) == ["normal", "normal", "unfinished"]
    assert all(disagreement(record) is None for record in records)


def test_nothing_else_happens_while_a_move_is_taken_back(board: ServedBoard) -> None:
    """The agent thinks again as long as before; who does something meanwhile is told to wait."""
    ann = begin(board, "tictactoe", "human(name=Ann)", "mcts(milliseconds=700)")[0]
    ann.play(ann.until("turn"))
    ann.play(ann.until("turn"))
    before = ann.until("turn")
    assert len(before["moves"]) == 4
    with ThreadPoolExecutor(1) as threads:
        undone = threads.submit(ann.say, "undo")
        while not ann.now()["thinking"]:
            assert not undone.done()
            time.sleep(0.03)
        for what, more in (
            ("play", {"turn": before["turn"], "action": before["legal"][0]["action"]}),
            ("undo", {}),
            ("hint", {"agent": "random"}),
            ("exchange", {"seat": 1, "agent": "random"}),
        ):
            status, answer = ann.say(what, **more)
            assert status == 400 and ("wait for its move" in answer["error"] or "too late" in answer["error"])
        assert undone.result() == (200, {})
    assert len(ann.until("turn")["moves"]) == 2


def test_agents_that_take_long_do_not_hold_up_other_tables(board: ServedBoard) -> None:
    slow = [begin(board, "tictactoe", "mcts(milliseconds=5000)", "human(name=Ann)")[1] for _ in range(2)]
    begin(board, "tictactoe", "random", "human(name=Bo)")[1].until("turn")
    assert all(table.now()["thinking"] for table in slow)


def test_keys_and_texts_of_any_characters_are_answered(board: ServedBoard) -> None:
    ann = begin(board, "tictactoe", "human(name=Ann)", "random")[0]
    first = ann.until("turn")
    stranger = Seat(board, ann.id, "%C3%A9")
    stranger.key = "\u00e9"
    assert stranger.state()["seat"] == -1
    assert stranger.say("play", turn=first["turn"], action=0)[0] == 400
    status, answer = board.ask("/api/tables", {"game": "tictactoe", "agents": ["x:\ud800", "human"]})
    assert status == 400 and "only agents of Turnier" in answer["error"]


@pytest.mark.parametrize(
    ("game", "agents", "says"),
    [
        ("tictactoe", ["random", "random"], "a table needs a person in a seat"),
        ("tictactoe", ["human"], "2 seats"),
        ("tictactoe", ["human", "uci(command=stockfish,nodes=9)"], "only agents of Turnier"),
        ("bot.py:Game", ["human", "random"], "only games of Turnier"),
        (
            'openspiel(game="efg_game(filename=/etc/hostname)")',
            ["human", "random"],
            "games of OpenSpiel only without parameters",
        ),
        (
            'openspiel(game="bargaining(instances_file=/etc/hostname)")',
            ["human", "random"],
            "games of OpenSpiel only without parameters",
        ),
        (
            'openspiel(game="deep_sea(size=30000)")',
            ["human"],
            "games of OpenSpiel only without parameters",
        ),
        ("tictactoe", ["human", "bot.py:Bot"], "only agents of Turnier"),
        ("tictactoe", ["human", "human_bot.py:Bot"], "only agents of Turnier"),
        ("tictactoe", ["human", "humanize:Bot"], "only agents of Turnier"),
        ("tictactoe", ["human(name=<b>)", "random"], "name must be"),
        ("tictacto", ["human", "random"], "did you mean tictactoe"),
        ("tictactoe", "human", "an agent for each seat"),
        (7, ["human", "random"], "a table needs a game"),
    ],
)
def test_tables_that_cannot_be(board: ServedBoard, game: Any, agents: Any, says: str) -> None:
    status, answer = board.ask("/api/tables", {"game": game, "agents": agents})
    assert status == 400
    assert says in answer["error"]


def test_silent_connections_are_closed_and_streams_are_not(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("turnier.server.board.serving.IDLE_SECONDS", 0.2)
    with served_board(url) as board:
        ann = begin(board, "tictactoe", "human(name=Ann)", "human(name=Bo)")[0]
        state = ann.until("turn")
        for sent in (b"", b"GET / HTTP/1.1\r\nHost: "):
            assert board.says_to(sent) == b""
        ann.play(state)
        assert ann.state()["toMove"] == 1


def test_what_is_sent_must_arrive_in_time(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("turnier.server.board.requests.BODY_SECONDS", 0.2)
    with served_board(url) as board:
        head = b"POST /api/tables HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        answer = board.says_to(head + b"Content-Length: 100\r\n\r\n{")
        assert answer.startswith(b"HTTP/1.1 400") and b"must arrive within 0.2 s" in answer


def test_bodies_that_are_no_json_objects(board: ServedBoard) -> None:
    assert board.ask("/api/tables", [1])[0] == 400
    assert board.ask("/api/tables", {"game": "x" * 20_000})[0] == 413
    assert board.ask("/api/tables", {}, headers={"Content-Type": "text/plain"})[0] == 415
    assert board.ask("/api/tables/nosuch/play", {"key": ""})[0] == 400
