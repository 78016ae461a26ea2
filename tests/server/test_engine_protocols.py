"""Our agents as engines of others: what UCI and GTP ask, and whole games through other programs' clients."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import chess
import chess.engine
import pytest

from tests.cli.running import TURNIER
from tests.server.gtp_client import GtpEngine, play_game
from turnier.agents.engines.engine import IDLE
from turnier.agents.registry import make_agent
from turnier.arena import table
from turnier.arena.match import MatchSpec
from turnier.arena.play import play_match
from turnier.core.errors import UserError
from turnier.games.registry import make_game
from turnier.server.engine_protocols.clock import share_of_clock, whole_move
from turnier.server.engine_protocols.gtp_service import GtpService
from turnier.server.engine_protocols.hosted_agent import HostedAgent, Limit, limited
from turnier.server.engine_protocols.json_service import JsonService
from turnier.server.engine_protocols.uci_service import UciService, read_limits


def engine(game: str, agent: str, seed: int = 1) -> HostedAgent:
    return HostedAgent(make_game(game), make_agent(agent), seed)


def uci(playing: HostedAgent, lines: Iterable[str]) -> list[str]:
    said: list[str] = []
    UciService(playing, said.append).run(lines)
    return "\n".join(said).splitlines()


def gtp(playing: HostedAgent, *lines: str) -> list[str]:
    """Returns the answers without the empty lines that end them."""
    said: list[str] = []
    GtpService(playing, said.append).run(lines)
    assert all(answer.endswith("\n") and "\n\n" not in answer for answer in said)
    return [answer.strip() for answer in said]


def best(said: list[str]) -> list[str]:
    return [line.removeprefix("bestmove ") for line in said if line.startswith("bestmove")]


def test_uci_introduces_itself_and_plays() -> None:
    said = uci(engine("yavalath", "mcts(iterations=50)"), ["uci", "isready", "position startpos", "go"])
    assert said[:4] == ["id name Turnier mcts(iterations=50)", "id author the authors of Turnier", "uciok", "readyok"]
    assert said[4].startswith("info depth 1 nodes 50 time ") and len(best(said)) == 1


def test_uci_follows_the_game_and_takes_moves_back() -> None:
    playing = engine("tictactoe", "alphabeta(depth=9)")
    said = uci(playing, ["position startpos moves a1 b2 b1", "go", "position startpos moves a1 b2 b1 c1 a3", "go"])
    assert best(said) == ["c1", "a2"]  # what hinders a line of three
    uci(playing, ["position startpos moves a1 C3"])
    assert playing.plies == [0, 8]
    said = uci(playing, ["position startpos moves a1 c3 c3 b1"])
    assert said == ["info string a move must be legal, got c3."] and playing.plies == [0, 8]
    assert best(uci(playing, ["position startpos moves a1 a2 b1 b2 c1", "go"])) == ["0000"]  # the game is over


def test_uci_leaves_out_what_it_does_not_know() -> None:
    said = uci(engine("chess", "random"), ["joho isready", "foo bar", "", "setoption name Hash value 1", "position x"])
    assert said[0] == "readyok" and said[1] == "info string unknown command: foo bar"
    assert said[2].startswith("info string a position must be startpos or, in chess, fen and a FEN, got 'x'")
    assert len(said) == 3
    assert "fen must be" in uci(engine("chess", "random"), ["position fen 8/8 w - - 0 1"])[0]


def test_uci_begins_at_a_fen() -> None:
    playing = engine("chess", "mcts(iterations=30)")
    said = uci(playing, ["position fen 6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1 moves e1e2 h7h6", "go"])
    assert len(best(said)) == 1 and playing.plies == [4 * 64 + 12, 55 * 64 + 47]
    uci(playing, ["position fen 6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1", "ucinewgame"])
    assert not playing.plies


def test_an_infinite_search_ends_when_it_is_told_to() -> None:
    for agent in ("mcts(milliseconds=50)", "mcts(iterations=10)"):  # one decides and waits, one is interrupted
        said: list[str] = []

        def lines(said: list[str] = said) -> Iterator[str]:
            yield from ("isready", "position startpos", "go infinite", "isready")
            time.sleep(0.2)
            assert said == ["readyok"] * 2
            yield "stop"

        began = time.monotonic()
        UciService(engine("go(size=5)", agent), said.append).run(lines())
        assert len(best(said[-1].splitlines())) == 1
        assert time.monotonic() - began < 600  # an infinite search lasts an hour


def test_an_agent_that_fails_still_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise ValueError("no\nidea")

    monkeypatch.setattr("turnier.arena.table.decide", fails)
    playing = engine("chess", "random")
    assert uci(playing, ["go"]) == ["info string seat 0, random: ValueError: no idea", "bestmove 0000"]
    assert gtp(playing, "genmove b") == ["? seat 0, random: ValueError: no idea"]
    (said,) = json_lines(playing, {"type": "move", "plies": []})
    assert said == {"type": "error", "error": "seat 0, random: ValueError: no\nidea"}


def test_clocks_become_times_per_move() -> None:
    assert share_of_clock(60_000) == 2_000
    assert share_of_clock(60_000, increment=1_000) == 2_800
    assert share_of_clock(10_000, moves=10) == 1_000
    assert share_of_clock(100, moves=1) == 70 and share_of_clock(5) == 1
    assert (whole_move(1_000), whole_move(20), whole_move(1)) == (970, 18, 1)
    words = ["ponder", "wtime", "5000", "btime", "x", "movestogo", "12", "searchmoves", "e2e4", "infinite"]
    expected = {"ponder": 0, "wtime": 5000, "btime": 0, "x": 0, "movestogo": 12, "searchmoves": 0, "infinite": 0}
    assert read_limits(words) == expected


def test_limits_become_an_agents_budget() -> None:
    mcts = make_agent("mcts(iterations=1000)")
    assert limited(mcts, Limit(70, "ms")) == mcts.within(70, "ms")
    assert limited(mcts, Limit(70, "nodes")) == mcts.within(70, "nodes")
    assert limited(mcts, Limit(7, "plies")) == mcts  # which has no depth
    assert limited(make_agent("mcts(milliseconds=50)"), Limit(70, "ms")).milliseconds == 50  # type: ignore[attr-defined]
    assert limited(make_agent("mcts(milliseconds=90)"), Limit(70, "ms")).milliseconds == 70  # type: ignore[attr-defined]
    assert limited(make_agent("random"), Limit(70, "ms")) == make_agent("random")
    playing = engine("chess", "random")
    limits: list[Limit | None] = []
    playing.choose = lambda limit, stop: limits.append(limit)  # type: ignore[assignment, method-assign, return-value, misc]
    moves = ["position startpos", "position startpos moves e2e4"]
    goes = ["go wtime 30000 btime 60000 winc 0 binc 1000", "go movetime 500", "go nodes 70", "go depth 3", "go"]
    uci(playing, [moves[0], *goes, moves[1], goes[0]])
    assert limits == [
        Limit(1_000, "ms"),
        Limit(470, "ms"),
        Limit(70, "nodes"),
        Limit(3, "plies"),
        None,
        Limit(2_800, "ms"),
    ]


def test_gtp_obeys_and_refuses() -> None:
    said = gtp(
        engine("go", "random"),
        "# a comment",
        "1 protocol_version",
        "boardsize 7",
        "komi 0.5",
        "2 play b D4",
        "play w d4",
        "play B E5",
        "play red A1",
        "play w",
        "play W pass",
        "undo",
        "undo",
        "undo",
        "boardsize 99",
        "komi 0.3",
        "3 foo",
        "known_command genmove",
        "known_command foo",
        "final_score",
        "quit",
        "name",
    )
    assert said[:4] == ["=1 2", "=", "=", "=2"]
    assert said[4:6] == ["? illegal move", "? it is the other color's turn"]
    assert said[6:8] == ["? invalid color or coordinate", "? syntax error"]
    assert said[8:13] == ["=", "=", "=", "? cannot undo", "? unacceptable size"]
    assert said[13].startswith("? go: komi must be a multiple of 0.5")
    assert said[14:] == ["?3 unknown command", "= true", "= false", "= W+0.5", "="]


def test_gtp_generates_moves_and_scores() -> None:
    playing = engine("go(size=5)", "mcts(iterations=300)")
    said = gtp(
        playing, "play b C3", "genmove w", "reg_genmove b", "showboard", "komi 3.5", "play b pass", "play w pass"
    )
    assert len(playing.plies) == 4 and playing.game == make_game("go(size=5,komi=3.5)")
    assert said[1][2:] in said[1] and said[3].startswith("=") and "3 . . X . ." in said[3]
    assert gtp(playing, "genmove b", "play b A1", "final_score")[:2] == ["? the game is over"] * 2
    assert "komi" not in gtp(engine("hex", "random"), "list_commands")[0]


def test_gtp_counts_time() -> None:
    playing = engine("othello", "random")
    limits: list[int | None] = []
    choose = playing.choose
    playing.choose = lambda limit: limits.append(limit and limit.amount) or choose(limit)  # type: ignore[assignment, method-assign, misc]
    turns = ["genmove b", "genmove w"]
    gtp(playing, "genmove b", "time_settings 60 0 0", "genmove w", "time_left b 30 0", "genmove b", "time_left w 10 5")
    gtp(playing, *turns[1:], "time_settings 0 10 2", *turns, *turns, *turns, "time_settings 0 1 0", *turns)
    assert limits[0] is None and limits[1] == 2_000 and limits[2] == 1_000
    assert limits[3] is None  # another controller has said nothing yet
    assert limits[4] == limits[5] == 5_000 and 9_000 < (limits[6] or 0) <= 9_970 and limits[8] == 5_000
    assert limits[-2:] == [None, None]


def json_lines(playing: HostedAgent, *requests: dict[str, Any] | str) -> list[dict[str, Any]]:
    said: list[str] = []
    lines = [request if isinstance(request, str) else json.dumps(request) for request in requests]
    JsonService(playing, said.append).run(lines)
    return [json.loads(line) for line in said]


def test_json_lines_refuse_by_a_sentence() -> None:
    playing = engine("hex(size=3)", "random")
    wrong = ["[1]", "{", '{"type": []}', {"type": "fly"}, {"type": "move"}, {"type": "move", "plies": [99]}]
    wrong += [{"type": "game", "game": "evil.py:Game", "seed": 1}, {"type": "game", "game": "hex(size=0)", "seed": 1}]
    said = json_lines(playing, *wrong, {"type": "game", "game": "hex(size=4)", "seed": 1}, "", {"type": "quit"}, "{}")
    assert [answer["type"] for answer in said] == ["error"] * len(wrong)
    assert all(answer["error"].endswith(".") for answer in said)
    assert playing.game == make_game("hex(size=4)")


def test_json_lines_limit_a_move() -> None:
    playing = engine("hex(size=3)", "random")
    limits: list[Limit | None] = []
    choose = playing.choose
    playing.choose = lambda limit: limits.append(limit) or choose(limit)  # type: ignore[method-assign, misc, assignment]
    asked: list[dict[str, float | None]] = [{"seconds": 0.5}, {"clock": 30, "increment": 0.5}, {"clock": 3.0}]
    asked += [{"seconds": None, "clock": None}, {}]
    said = json_lines(playing, *({"type": "move", "plies": [], **limit} for limit in asked))
    assert limits == [Limit(470, "ms"), Limit(1_400, "ms"), Limit(100, "ms"), None, None]
    assert all(playing.game.action_name(answer["action"]) == answer["move"] for answer in said)


@pytest.mark.parametrize(
    ("game", "agents"),
    [
        ("2048(size=2)", ("mctse(iterations=10)",)),
        pytest.param(
            "yavalath(size=3,players=3)",
            ("mcts(iterations=20)", "random", "mc(iterations=5)"),
            marks=pytest.mark.long,
        ),
    ],
)
def test_an_agent_plays_the_same_as_an_engine_of_ours(
    game: str, agents: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Matches of agents and of the same agents as programs have the same moves if they are told the same seeds."""
    monkeypatch.setattr(table, "told_seed", lambda agent, seat, seed: seed)
    turnier = Path(sys.executable).with_name("turnier")
    programs = tuple(f"json(command=\"{turnier} engine '{game}' '{agent}' --protocol json\")" for agent in agents)
    full = make_game(game).full_text()
    native, told = (play_match(MatchSpec(full, seats, 7)) for seats in (agents, programs))
    assert told.error == "" and told.plies == native.plies and told.scores == native.scores
    IDLE.end_idle()


@pytest.mark.parametrize("protocol", [UciService, GtpService])
def test_games_that_a_protocol_cannot_say_are_refused(protocol: type[UciService] | type[GtpService]) -> None:
    for game in ("yavalath(players=3)", "2048"):
        with pytest.raises(UserError, match=f"is for games of two seats without chance, got {game[:4]}"):
            protocol(engine(game, "random"), print)
    with pytest.raises(UserError, match="needs a game that hides nothing, since it is told all moves, got spe_ed"):
        engine("spe_ed", "random")
    with pytest.raises(UserError, match="alphabeta"):
        engine("yavalath(players=3)", "alphabeta")
    with pytest.raises(UserError, match="an agent that is no program itself, got json"):
        engine("tictactoe", "json(command=bot)")


def test_every_game_has_another_seed() -> None:
    games = [best(uci(engine("hex", "random"), ["position startpos", "go", "ucinewgame"] * 4)) for _ in range(2)]
    assert games[0] == games[1] and len(set(games[0])) > 1


def test_another_program_plays_chess_with_our_agent() -> None:
    command = [*TURNIER, "engine", "chess", "mcts(iterations=5,rollout_depth=5)"]
    board = chess.Board()
    with chess.engine.SimpleEngine.popen_uci(command) as ours:
        assert ours.id["name"].startswith("Turnier mcts")
        for limit in (chess.engine.Limit(time=0.05), chess.engine.Limit(nodes=10), chess.engine.Limit(depth=1)) * 3:
            if board.is_game_over():  # such weak play may end in a fool's mate
                board.reset()
            move = ours.play(board, limit).move
            assert move in board.legal_moves
            board.push(move)


@pytest.mark.long
@pytest.mark.parametrize("game", ["othello(size=4)", "go(size=5)", "hex(size=5)", "yavalath(size=3)"])
def test_another_program_plays_whole_games_of_our_agents(game: str) -> None:
    def command(agent: str) -> list[str]:
        return [*TURNIER, "engine", game, agent, "--protocol", "gtp"]

    with GtpEngine(command("mcts(iterations=100)")) as ours, GtpEngine(command("random")) as other:
        for black, white in ((ours, other), (other, ours)):
            moves = play_game(black, white)
            position = make_game(game).start()
            for move in moves:
                action = position.game.move_of(position.state, move)
                assert action is not None
                position = position.play(action)
            assert position.over
