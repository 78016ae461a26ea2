"""Othello against published perft counts and an oracle in plain Python."""

from __future__ import annotations

import random

import pytest

from turnier.core.errors import UserError
from turnier.core.kernel import JIT
from turnier.games.game import Position
from turnier.games.othello import Othello

# Lines of n plies from the start. Source: Bik, "Perft for Reversi", 2009.
PERFT = (1, 4, 12, 56, 244, 1_396, 8_200, 55_092)


def perft(position: Position, depth: int) -> int:
    if depth == 0:
        return 1
    actions = position.legal_actions()
    return len(actions) if depth == 1 else sum(perft(position.play(action), depth - 1) for action in actions)


@pytest.mark.parametrize("depth", range(len(PERFT) if JIT else 5))
def test_the_start_has_the_published_perft_counts(depth: int) -> None:
    assert perft(Othello().start(), depth) == PERFT[depth]


def turned(marks: list[int], size: int, cell: int, own: int) -> list[int]:
    """Returns the cells that a stone would turn: 0 empty, 1 black, 2 white."""
    found: list[int] = []
    for down, right in ((-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1)):
        line = []
        r, c = cell // size + down, cell % size + right
        while 0 <= r < size and 0 <= c < size and marks[r * size + c] == 3 - own:
            line.append(r * size + c)
            r, c = r + down, c + right
        if 0 <= r < size and 0 <= c < size and marks[r * size + c] == own:
            found += line
    return found


def moves(marks: list[int], size: int, own: int) -> list[int]:
    return [cell for cell in range(size * size) if marks[cell] == 0 and turned(marks, size, cell, own)]


@pytest.mark.parametrize("size", [4, 6, 8])
def test_random_games_agree_with_the_oracle(size: int) -> None:
    game, passes = Othello(size), 0
    for seed in range(60 if JIT else 4):
        choose, position = random.Random(seed), game.start()
        marks, own = game.cell_values(position.state).tolist(), 1
        while True:
            possible = moves(marks, size, own)
            if not possible and not moves(marks, size, 3 - own):
                break
            assert not position.over and position.to_move == own - 1
            assert position.legal_actions() == (possible or [size * size])
            action = choose.choice(position.legal_actions())
            if possible:
                for cell in [action, *turned(marks, size, action, own)]:
                    marks[cell] = own
            passes += not possible
            own = 3 - own
            position = position.play(action)
            assert game.cell_values(position.state).tolist() == marks
        lead = marks.count(1) - marks.count(2)
        assert position.over and position.returns.tolist() == [(lead > 0) - (lead < 0), (lead < 0) - (lead > 0)]
    assert passes or not JIT


def white_wins(position: Position, known: dict[bytes, bool]) -> bool:
    """Whether seat 1 wins with best play."""
    if position.over:
        return bool(position.returns[1] > 0)
    key = position.state.tobytes()
    if key not in known:
        after = (white_wins(position.play(action), known) for action in position.legal_actions())
        known[key] = any(after) if position.to_move == 1 else all(after)
    return known[key]


def test_white_wins_on_the_4x4_board() -> None:
    """Source: Wikipedia, "Reversi": with perfect play the second player wins on 4x4 and 6x6."""
    assert white_wins(Othello(4).start(), {})


def test_drawing_names_and_sizes() -> None:
    position = Othello(4).start().play(1)
    assert str(position) == ". X . .\n. X X .\n. X O .\n. . . ."
    assert [Othello().action_name(action) for action in (0, 19, 63, 64)] == ["a1", "d3", "h8", "pass"]
    with pytest.raises(UserError, match="size must be even, got 5"):
        Othello(5)
