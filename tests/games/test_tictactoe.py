"""Tic-tac-toe solved through its kernels, against the known counts and the plain-Python oracle."""

from __future__ import annotations

import functools

from tests import naive
from turnier.games.game import Position
from turnier.games.tictactoe import TicTacToe

GAME = TicTacToe()


def marks_of(position: Position) -> str:
    return "".join(".XO"[value] for value in GAME.cell_values(position.state))


@functools.cache
def solved() -> dict[str, tuple[float, int]]:
    """Returns every position that play reaches: (seat 0's return with best play, games that can follow)."""
    known: dict[str, tuple[float, int]] = {}

    def visit(position: Position) -> tuple[float, int]:
        marks = marks_of(position)
        if marks not in known:
            assert {None: -2, "X": 0, "O": 1}[naive.mover(marks)] == position.to_move
            if position.over:
                won = naive.has_line(marks, "X") - naive.has_line(marks, "O")
                assert position.returns.tolist() == [won, -won]
                known[marks] = (float(position.returns[0]), 1)
            else:
                actions = position.legal_actions()
                assert actions == [cell for cell in range(9) if marks[cell] == "."]
                below = [visit(position.play(action)) for action in actions]
                best = max if position.to_move == 0 else min
                known[marks] = (best(value for value, _ in below), sum(games for _, games in below))
        return known[marks]

    visit(GAME.start())
    return known


def test_best_play_is_a_draw() -> None:
    assert solved()["." * 9][0] == 0


def test_there_are_5478_positions_and_255168_games() -> None:
    assert len(solved()) == 5_478
    assert solved()["." * 9][1] == 255_168


def test_a_corner_must_be_answered_in_the_centre() -> None:
    answers = {cell: solved()[naive.put("X........", cell)][0] for cell in range(1, 9)}
    assert [cell for cell, value in answers.items() if value == 0] == [4]


def test_drawing_and_names() -> None:
    position = GAME.start().play(0).play(4)
    assert str(position) == "X . .\n. O .\n. . ."
    assert [GAME.action_name(action) for action in (0, 4, 8)] == ["a1", "b2", "c3"]
