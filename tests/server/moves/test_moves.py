"""The best move over HTTP: the answers of `turnier analyse --best --json`, and sentences for what is refused."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Iterator
from urllib.parse import quote, urlencode

import pytest
import uvicorn

from tests.server.board.served_board import ServedBoard
from turnier.agents.registry import make_agent
from turnier.arena.analysis import PlayingOn, best_move
from turnier.games.registry import make_game
from turnier.server.analysis_data import analysis_data
from turnier.server.board.serving import configured, hosts_of
from turnier.server.listening import listen
from turnier.server.moves import app
from turnier.server.moves.app import Adviser, make_app

BOARD = "2 . 2 / 4 8 . / . . 16"
AGENT = "mc(iterations=20)"


@contextlib.contextmanager
def serving(adviser: Adviser) -> Iterator[ServedBoard]:
    with listen("127.0.0.1", 0) as listening:
        server = uvicorn.Server(configured(make_app(adviser, hosts_of("127.0.0.1"))))
        thread = threading.Thread(target=lambda: asyncio.run(server.serve([listening])))
        thread.start()
        try:
            yield ServedBoard(f"http://127.0.0.1:{listening.getsockname()[1]}")
        finally:
            server.should_exit = True
            thread.join()


@pytest.fixture(scope="module")
def served() -> Iterator[ServedBoard]:
    with serving(Adviser(make_game("2048(size=3)"), make_agent(AGENT), None, 600.0)) as opened:
        yield opened


def question(**questions: object) -> str:
    return f"/move?{urlencode({name: str(value) for name, value in questions.items()})}"


def test_answers_are_those_of_the_command(served: ServedBoard) -> None:
    status, answer = served.ask(question(board=BOARD, games=3))
    *_, expected = best_move(make_game("2048(size=3)").position_of(BOARD), AGENT, PlayingOn(3, 600.0))
    assert status == 200
    assert answer["outlook"] == analysis_data(expected)["outlook"]
    assert answer["agents"][0]["moves"] == analysis_data(expected)["agents"][0]["moves"]
    outlook = served.ask(question(board=BOARD, games=3, goal=64))[1]["outlook"]
    assert outlook["goal"] == {"reach": "max_tile", "at_least": 64}
    assert served.ask(f"/move?games=0&board={quote('moves 2 at row 1, column 1, 2 at row 2, column 2')}")[0] == 200


def test_the_start_says_what_may_be_asked(served: ServedBoard) -> None:
    status, about = served.ask("/")
    assert status == 200 and about["agent"] == AGENT
    assert about["questions"] == ["board", "seconds", "games", "goal"]


@pytest.mark.parametrize(
    ("path", "status", "sentence"),
    [
        ("/move", 400, "a request must have a board"),
        (question(board="1 2"), 400, "must have 3 rows of 3 cells"),
        (question(board="3 . . / . . . / . . ."), 400, "a power of two"),
        (question(board="2 4 2 / 4 2 4 / 2 4 2"), 400, "a position before the end"),
        (question(board=BOARD, seconds="nan"), 400, "seconds must be a number above 0 and at most 600"),
        (question(board=BOARD, seconds=601), 400, "seconds must be a number above 0 and at most 600"),
        (question(board=BOARD, seconds="x" * 50), 400, "got 'xxxxxxxxxxxxxxxxxxxx'"),
        (question(board=BOARD, games=1001), 400, "games must be a whole number of at most 1,000"),
        (question(board=BOARD, games="9" * 5000), 400, "games must be a whole number of at most 1,000"),
        (question(board=BOARD, games="0000000000999999"), 400, "games must be a whole number of at most 1,000"),
        (question(board=BOARD, goal="4" + "0" * 4500), 400, "goal must be a whole number"),
        (question(board=BOARD, goal="inf"), 400, "goal must be a whole number"),
        (question(board=BOARD, goal=16), 400, "max_tile to reach must be above 16"),
        (question(bord=BOARD), 400, "did you mean board"),
        (question(board="2 " * 5000), 400, "at most 8,000 characters"),
        ("/nothing", 404, "ask GET /move"),
    ],
)
def test_mistakes_are_sentences(path: str, status: int, sentence: str, served: ServedBoard) -> None:
    got, answer = served.ask(path)
    assert got == status and sentence in answer["error"] and answer["error"].count("\n") == 0


def test_others_are_refused(served: ServedBoard) -> None:
    for headers, status, sentence in (
        ({"Host": "example.org"}, 400, "must be asked for as 127.0.0.1 or localhost"),
        ({"Host": "127.0.0.1.example.org"}, 400, "must be asked for as"),
        ({"Origin": "http://example.org"}, 403, "pages of this server"),
        ({"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}, 403, "pages of this server"),
        (
            {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"},
            403,
            "pages of this server",
        ),
    ):
        got, answer = served.ask(question(board=BOARD, games=0), headers=headers)
        assert got == status and sentence in answer["error"]
    for host in ("localhost:9", "127.0.0.1", "[::1]:8081"):
        assert served.ask("/", headers={"Host": host})[0] == 200
    got, answer = served.ask("/move", sent={"board": BOARD})
    assert got == 405 and "ask GET /move" in answer["error"]


def test_silent_connections_are_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("turnier.server.board.serving.IDLE_SECONDS", 0.2)
    with serving(Adviser(make_game("tictactoe"), make_agent("random"), None, 1.0)) as opened:
        assert opened.says_to(b"GET / HTTP/1.1\r\nHost: ") == b""


def test_only_so_much_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever asks too often is refused, and so is whoever comes while all places are taken."""
    began, goes_on = threading.Event(), threading.Event()

    def answer(self: Adviser, questions: object) -> dict[str, str]:
        began.set()
        assert goes_on.wait(30)
        return {}

    monkeypatch.setattr(Adviser, "answer", answer)
    monkeypatch.setattr(app, "PLACES", 1)
    monkeypatch.setattr(app, "BURST", 5)
    monkeypatch.setattr(app, "PER_SECOND", 0.001)
    first: list[int] = []
    with serving(Adviser(make_game("tictactoe"), make_agent("random"), None, 1.0)) as served:
        asking = threading.Thread(target=lambda: first.append(served.ask("/move?board=x")[0]))
        asking.start()
        assert began.wait(30)
        status, busy = served.ask("/move?board=x")
        assert status == 429 and "too many computations are running" in busy["error"]
        goes_on.set()
        asking.join()
        assert first == [200]
        assert served.ask("/move?board=x")[0] == 200
        answers = [served.ask("/") for _ in range(5)]
        assert [got for got, _ in answers] == [200, 200, 429, 429, 429]
        assert "too many requests" in answers[-1][1]["error"]


def test_what_goes_wrong_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, served: ServedBoard, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(self: Adviser, questions: object) -> dict[str, str]:
        raise RuntimeError("of a test")

    monkeypatch.setattr(Adviser, "answer", fail)
    status, answer = served.ask(question(board=BOARD))
    assert status == 500 and "of a test" not in answer["error"]
    assert "RuntimeError: of a test" in capsys.readouterr().err
