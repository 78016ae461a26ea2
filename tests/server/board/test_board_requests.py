"""The board's requests: what it sends, and what it refuses."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.playing import played
from turnier.arena.analysis.reanalysis import Reanalysis
from turnier.arena.match import MatchRecord
from turnier.arena.play import replay_positions
from turnier.games.abi import CHANCE
from turnier.server.board.serving import hosts_of

from .served_board import ServedBoard, served_board, store_with


@pytest.fixture(scope="module")
def records() -> list[MatchRecord]:
    return [
        played("yavalath", "mcts(iterations=200)", "mcts(iterations=30)"),
        played("tictactoe", "random", "mcts(iterations=50)"),
        played("2048", "random"),
    ]


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory, records: list[MatchRecord]) -> Iterator[ServedBoard]:
    with served_board(store_with(tmp_path_factory.mktemp("board"), *records)) as served:
        yield served


def test_a_match_is_sent_whole(board: ServedBoard, records: list[MatchRecord]) -> None:
    for record in records:
        status, match = board.ask(f"/api/matches/{record.spec.id}")
        assert status == 200
        positions = [p for p in replay_positions(record.spec, record.plies) if p.to_move != CHANCE]
        assert len(match["boards"]) == len(positions) == len(match["moves"]) + 1
        assert [move["seat"] for move in match["moves"]] == [p.to_move for p in positions[:-1]]
        assert [move["returns"] for move in match["moves"]] == [p.returns.tolist() for p in positions[:-1]]
        assert match["scores"] == list(record.scores)
        assert int(match["seed"]) == record.spec.seed


def test_players_are_asked_again_and_decide_the_same(board: ServedBoard, records: list[MatchRecord]) -> None:
    record = records[0]
    events = board.events(f"/api/matches/{record.spec.id}/opinions")
    assert events[-1] == ("end", {})
    review = Reanalysis(record)
    for (name, opinion), moment in zip(events[:-1], review.moments[:-1], strict=True):
        assert name == "message"
        names = [action[0] for action in opinion["actions"]]
        assert names == [review.game.action_name(action) for action in moment.position.legal_actions()]
        assert opinion["choice"] == review.game.action_name(moment.action)
        assert sum(visits for _, visits, _, _ in opinion["actions"]) in (30, 200) or len(names) == 1


def test_another_agent_judges(board: ServedBoard, records: list[MatchRecord]) -> None:
    events = board.events(f"/api/matches/{records[2].spec.id}/opinions?agent=mc(iterations=7)")
    assert len(events) == len(Reanalysis(records[2]).moments)
    assert {
        action[1] for _, opinion in events[:-1] for action in opinion["actions"] if len(opinion["actions"]) > 1
    } == {7}


def test_certainty_of_repeated_searches(board: ServedBoard, records: list[MatchRecord]) -> None:
    path = f"/api/matches/{records[1].spec.id}/certainty?repeats=4"
    events = board.events(path)
    assert events[-1] == ("end", {}) and len(events) == len(Reanalysis(records[1]).moments)
    shares = {event["certainty"] for _, event in events[:-1]}
    assert shares <= {1.0} | {(n * c / 4 - 1) / (n - 1) for n in range(2, 10) for c in range(1, 5)}
    assert events == board.events(path)  # by the match's seed
    for wrong in ("1000", "1", "0002999999999", "4" * 5000, "x"):
        assert board.ask(path.replace("=4", f"={wrong}"))[0] == 400, wrong


@pytest.mark.parametrize(
    "agent",
    [
        *("uci(command=stockfish,nodes=9)", "bot.py:Bot", "majority(agent=bot.py:Bot,members=3)", "json(command=sh)"),
        *("ludii(jar=/nosuch.jar,digest=0)", "majority(agent=ludii(jar=/nosuch.jar))", "majority(agent=ludii)"),
        *("root_parallel(agent=majority(agent=human))", "ludii(nosuch=1)"),
    ],
)
def test_no_page_starts_programs_or_code(board: ServedBoard, records: list[MatchRecord], agent: str) -> None:
    status, answer = board.ask(f"/api/matches/{records[1].spec.id}/opinions?agent={agent}")
    assert status == 400
    assert "the board asks only agents of Turnier" in answer["error"]


def test_what_is_wrong_is_a_sentence(board: ServedBoard, records: list[MatchRecord]) -> None:
    for path in ("/api/matches/nosuch", f"/api/matches/{records[0].spec.id}/opinions?agent=mtcs"):
        status, answer = board.ask(path)
        assert status == 400
        assert answer["error"].endswith((".", "?"))


def test_films(board: ServedBoard, records: list[MatchRecord]) -> None:
    path = f"/api/matches/{records[0].spec.id}/film."
    assert board.ask(path + "gif") == (200, f".gif of {records[0].spec.id}".encode())
    assert board.ask(path + "mp4") == (200, f".mp4 of {records[0].spec.id}".encode())
    assert board.ask(path + "exe")[0] == 400


def test_memory_is_given_back_whenever_a_match_was_read(tmp_path: Path, records: list[MatchRecord]) -> None:
    match, tidied = f"/api/matches/{records[0].spec.id}", list[str]()
    paths = "", "/opinions?agent=random", "/certainty?agent=random&repeats=2", "/moves/0/board.svg", "/film.gif"
    with served_board(store_with(tmp_path, *records), tidy=lambda: tidied.append("")) as board:
        for number, path in enumerate(paths, 1):
            assert board.ask(match + path)[0] == 200 and len(tidied) == number, path


def test_other_sites_and_names_are_refused(board: ServedBoard) -> None:
    assert board.ask("/api/runs", headers={"Origin": "http://elsewhere.example"})[0] == 403
    assert board.ask("/api/runs", headers={"Host": "elsewhere.example"})[0] == 400
    assert board.ask("/api/runs", headers={"Origin": board.address})[0] == 200


def test_the_host_that_was_named_may_be_asked_for() -> None:
    usual = ["127.0.0.1", "localhost", "[::1]"]
    assert [hosts_of(host) for host in ("127.0.0.1", "localhost", "::1")] == [usual] * 3
    assert hosts_of("127.0.0.2") == [*usual, "127.0.0.2"]
    assert hosts_of("0.0.0.0") == hosts_of("example.org") == ["*"]


def test_of_other_sites_only_links_to_pages_lead_here(board: ServedBoard) -> None:
    picture = {"Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image"}
    link = {"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    frame = {"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"}
    for site, path, how, status in (
        ("cross-site", "/api/runs", picture, 403),
        ("same-site", "/api/runs", picture, 403),  # another port of this machine
        ("cross-site", "/api/runs", link, 403),
        ("cross-site", "/", frame, 403),
        ("cross-site", "/match/0123", link, 200),
        ("same-site", "/match/0123", link, 200),  # the dashboards have such links
        ("same-origin", "/api/runs", picture, 200),
        ("none", "/api/runs", link, 200),  # typed in
    ):
        assert board.ask(path, headers={"Sec-Fetch-Site": site} | how)[0] == status, (site, path, how)


def test_files_outside_its_folder_are_not_served(board: ServedBoard) -> None:
    for path in ("/static/../app.py", "/static/%2e%2e/app.py", "/static/..%2fapp.py"):
        assert board.ask(path)[0] in (400, 404)


def test_floods_are_refused(tmp_path: Path, records: list[MatchRecord], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("turnier.server.board.requests.BURST", 20)
    monkeypatch.setattr("turnier.server.board.requests.PER_SECOND", 0.01)
    with served_board(store_with(tmp_path, records[1])) as flooded:
        answers = [flooded.ask("/api/names")[0] for _ in range(30)]
        assert answers == [200] * 20 + [429] * 10


def test_games_that_would_take_all_memory_are_not_made(board: ServedBoard) -> None:
    status, answer = board.ask("/api/game?text=" + quote('openspiel(game="deep_sea(size=30000,seed=1)")'))
    assert status == 400 and "games of OpenSpiel only without parameters" in answer["error"]
    assert board.ask("/api/game?text=" + quote("2048(size=3)"))[0] == 200
