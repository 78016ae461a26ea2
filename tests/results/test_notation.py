"""Stored games as PGN and SGF, read back by the package chess and by a reader of the tests."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from pathlib import Path

import chess.pgn
import pytest

from turnier.arena.match import MatchRecord, MatchSpec, Termination, unpack_plies
from turnier.arena.play import play_match, replay
from turnier.core.errors import UserError
from turnier.games.chess.game import NAMES
from turnier.games.game import Game
from turnier.games.go.game import Go
from turnier.games.registry import make_game
from turnier.results.export import export
from turnier.results.notation.pgn import pgn_of
from turnier.results.notation.sgf import sgf_of
from turnier.results.store.store import Store

AGENTS = ("random", "mc(iterations=2)")
Node = list[tuple[str, str]]  # properties with their values


def played(game: str, seed: int = 1, **fields: object) -> MatchRecord:
    agents = ("random", "random") if game.startswith("chess") else AGENTS
    return play_match(MatchSpec(make_game(game).full_text(), agents, seed, **fields))  # type: ignore[arg-type]


def read_sgf(text: str) -> list[list[Node]]:
    """Returns the nodes of all games, each without variations."""
    value = r"\[((?:\\.|[^\]\\])*)\]"
    games = []
    for tree in re.findall(rf"\(((?:\s*;(?:\s*[A-Z]+{value})+)*\s*)\)", text, re.DOTALL):
        nodes = re.findall(rf";((?:\s*[A-Z]+{value})+)", tree[0], re.DOTALL)
        found = (re.findall(rf"([A-Z]+){value}", node[0]) for node in nodes)
        games.append([[(name, re.sub(r"\\(.)", r"\1", text)) for name, text in node] for node in found])
    return games


def test_pgn_comes_back_as_the_games_that_were_played() -> None:
    records = [played("chess", seed) for seed in (1, 2)]
    records.append(played('chess(fen="4k3/8/8/8/8/8/8/R3K2R b KQ - 3 20",longest=10)', opening=(3891,)))
    file = io.StringIO("".join(map(pgn_of, records)))
    for record in records:
        read = chess.pgn.read_game(file)
        assert read is not None and not read.errors
        moves = [move.uci() for move in read.mainline_moves()]
        assert moves == [NAMES[ply] for ply in unpack_plies(record.plies)]
        assert read.headers["White"] == record.spec.agents[0] and read.headers["Match"] == record.spec.id
        assert read.headers["Seed"] == str(record.spec.seed) and read.headers["Termination"] == "normal"
        white = {"1-0": 1.0, "0-1": -1.0, "1/2-1/2": 0.0}[read.headers["Result"]]
        assert record.scores == (white, -white)
        last = str(replay(record.spec, record.plies)).splitlines()[-1]
        assert read.end().board().fen() == last
    assert chess.pgn.read_game(file) is None


def test_pgn_says_who_failed() -> None:
    record = played("chess(longest=10)")
    ended = replace(record, termination=Termination.ILLEGAL_ACTION, error='an "illegal"\nmove')
    for scores, result in (((0.0, 0.0), "*"), ((-1.0, 1.0), "0-1"), ((1.0, -1.0), "1-0")):
        read = chess.pgn.read_game(io.StringIO(pgn_of(replace(ended, scores=scores))))
        assert read is not None and read.headers["Result"] == result
        assert read.headers["Termination"] == "rules infraction"
        assert read.headers["Ending"] == "illegal_action: an 'illegal' move"
    late = replace(record, termination=Termination.TIMEOUT, scores=(1.0, -1.0))
    assert '[Termination "time forfeit"]' in pgn_of(late) and '[Result "1-0"]' in pgn_of(late)
    assert '[Termination "abandoned"]' in pgn_of(replace(late, termination=Termination.CRASHED))


def names(game: Game, moves: list[str]) -> list[str]:
    """Returns SGF's moves as the names of our actions."""
    if game.name == "hex":
        return ["swap" if move == "swap-pieces" else move for move in moves]
    columns = "ABCDEFGHJ" if isinstance(game, Go) else "abcdefgh"
    rows = range(game.size, 0, -1) if isinstance(game, Go) else range(1, 9)  # from above
    return [f"{columns[ord(m[0]) - 97]}{rows[ord(m[1]) - 97]}" if m else "pass" for m in moves]


@pytest.mark.parametrize("text", ["go(size=5,komi=0.5)", "go", "othello(size=4)", "hex(size=4,swap=true)"])
def test_sgf_comes_back_as_the_games_that_were_played(text: str) -> None:
    game = make_game(text)
    records = [played(text, seed) for seed in range(1, 5)]
    read = read_sgf("".join(map(sgf_of, records)))
    assert len(read) == len(records)
    for record, (root, *nodes) in zip(records, read, strict=True):
        properties = dict(root)
        assert properties["FF"] == "4" and properties["SZ"] == str(game.size)  # type: ignore[attr-defined]
        assert properties["GM"] == {"go": "1", "othello": "2", "hex": "11"}[game.name]
        assert [properties["PB"], properties["PW"]] == list(record.spec.agents)
        position, colours = game.start(), "BW"
        for node, name in zip(nodes, names(game, [node[0][1] for node in nodes]), strict=True):
            assert node[0][0] == colours[position.to_move]
            action = game.move_of(position.state, name)
            assert action is not None, name
            position = position.play(action)
        assert position.over and tuple(position.returns.tolist()) == record.scores
        winner = "Draw" if record.scores[0] == 0 else f"{'B' if record.scores[0] > 0 else 'W'}+"
        if isinstance(game, Go) and record.scores[0]:
            winner += f"{abs(game.lead(position.state)):g}"
        assert properties["RE"] == winner and properties["GN"] == record.spec.id
    if game.name == "hex":
        assert any("swap-pieces" in sgf_of(record) for record in (played(text, seed) for seed in range(40)))


def test_go_is_written_as_others_write_it() -> None:
    record = play_match(MatchSpec(Go(5).full_text(), ("random", "random"), 1, max_plies=2, opening=(0, 24, 25)))
    lines = sgf_of(record).splitlines()
    rules = "RU[area scoring, no suicide, positional superko]"
    assert lines[0].startswith(f"(;FF[4]CA[UTF-8]GM[1]SZ[5]KM[7.5]{rules}PB[random]")
    assert "RE[Draw]" in lines[0] and lines[0].endswith("GC[seed 1, opening of 3 plies, ended limit]")
    assert lines[1].startswith(";B[ae];W[ea];B[];W[")


def test_sgf_says_who_failed_and_escapes_text() -> None:
    record = replace(played("go(size=5)"), termination=Termination.ERROR, error="a [list\\] of ]")
    ((root, *_),) = read_sgf(sgf_of(replace(record, scores=(0.0, 0.0))))
    assert dict(root)["RE"] == "Void" and dict(root)["GC"] == "seed 1, ended error, a [list\\] of ]"
    ((root, *_),) = read_sgf(sgf_of(replace(record, scores=(-1.0, 1.0))))
    assert dict(root)["RE"] == "W+F"
    for ending, letter in ((Termination.TIMEOUT, "T"), (Termination.RESIGNED, "R"), (Termination.CRASHED, "F")):
        ((root, *_),) = read_sgf(sgf_of(replace(record, termination=ending, scores=(1.0, -1.0))))
        assert dict(root)["RE"] == f"B+{letter}"


def test_runs_are_exported(store: Store, tmp_path: Path) -> None:
    store.begin_run("games", "tournament", "t", {})
    store.append("games", [played("go(size=5)", seed) for seed in range(3)])
    (path,) = export(store, store.run("games"), tmp_path / "games.sgf")
    assert len(read_sgf(path.read_text())) == 3
    with pytest.raises(UserError, match=r"PGN is for chess, got a game of go\(size=5\); write \.sgf or \.jsonl"):
        export(store, store.run("games"), tmp_path / "games.pgn")
    assert not (tmp_path / "games.pgn").exists()
    store.begin_run("others", "tournament", "t", {})
    store.append("others", [played("tictactoe")])
    with pytest.raises(UserError, match="SGF is for games such as go, hex and othello, got one of tictactoe"):
        export(store, store.run("others"), tmp_path / "games.sgf")
