"""Coded boards: what the page puts together again is what the games drew."""

from __future__ import annotations

import pytest

from tests.playing import played
from turnier.arena.analysis.reanalysis import Reanalysis
from turnier.games.drawing import lines
from turnier.games.registry import GAMES
from turnier.server.board.frames import Frames, moves_on, split


def decoded(frames: Frames) -> list[str]:
    """Does what boards.js does."""
    found, board = [], []
    for coded in frames.boards:
        board = list(coded.get("all", board))
        changes = coded.get("set", [])
        for place, number in zip(changes[::2], changes[1::2], strict=True):
            board[place] = number
        found.append("".join(frames.elements[number] for number in board) + "</svg>")
    return found


@pytest.mark.parametrize(
    ("game", "agents"),
    [
        ("2048", ["random"]),
        ("yavalath(players=3)", ["random"] * 3),
        ("hex(size=5)", ["random"] * 2),
        ("spe_ed(players=2,width=12,height=12)", ["random"] * 2),
        ("nim", ["random"] * 2),
        ("go(size=5)", ["random"] * 2),
    ],
)
def test_all_boards_come_back(game: str, agents: list[str]) -> None:
    review, frames = Reanalysis(played(game, *agents)), Frames()
    drawn = [review.game.svg(moment.position.state, moment.changed) for moment in review.moments]
    for svg in drawn:
        frames.add(svg)
    assert decoded(frames) == drawn
    assert len(frames.elements) == len(set(frames.elements))


def test_elements_within_elements_stay_together() -> None:
    svg = '<svg viewBox="0 0 1 1"><g a="1"><path/><g><path/></g></g><text>x &gt; y</text></svg>'
    assert split(svg) == [
        '<svg viewBox="0 0 1 1">',
        '<g a="1"><path/><g><path/></g></g>',
        "<text>x &gt; y</text>",
    ]


def test_long_games_take_little_space() -> None:
    review, frames = Reanalysis(played("2048", "mc(iterations=5)")), Frames()
    drawn = [review.game.svg(moment.position.state, moment.changed) for moment in review.moments]
    for svg in drawn:
        frames.add(svg)
    coded = sum(len(str(board)) for board in frames.boards) + sum(map(len, frames.elements))
    assert len(drawn) > 150
    assert coded < sum(map(len, drawn)) / 10


def test_moves_are_clicks_only_on_drawings_that_mark_their_cells() -> None:
    game = GAMES.make("tictactoe")
    position = game.start()
    drawn = moves_on(game.svg(position.state), game, position.state, position.legal_actions())
    assert [move["clicks"] for move in drawn] == [((cell,),) for cell in range(9)]
    written = moves_on(lines(game.draw(position.state)), game, position.state, position.legal_actions())
    assert [move["clicks"] for move in written] == [()] * 9
    assert [move["name"] for move in written] == [move["name"] for move in drawn]
