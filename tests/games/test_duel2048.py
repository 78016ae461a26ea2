"""2048 for two: the moves are those of 2048, the tiles those of the second player, and the points are a sum of zero."""

from __future__ import annotations

import random

import numpy as np
import pytest

from turnier.core.errors import UserError
from turnier.games.abi import TERMINAL
from turnier.games.game import Position
from turnier.games.registry import make_game
from turnier.games.twenty48.rules import MOVES

BOARD = [[2, 0, 0], [4, 4, 0], [8, 16, 32]]


def position_of(rows: list[list[int]]) -> Position:
    game = make_game(f"duel2048(size={len(rows)})")
    return game.read_board(" / ".join(" ".join(map(str, row)) for row in rows) + ", score 20", 1)


def tiles(position: Position) -> list[int]:
    return [1 << e if e else 0 for e in position.game.cell_values(position.state).tolist()]


def test_one_turn_by_hand() -> None:
    position = position_of(BOARD)
    assert position.to_move == 0 and position.returns.tolist() == [20, -20]
    moved = position.play(0)  # left
    assert tiles(moved) == [2, 0, 0, 8, 0, 0, 8, 16, 32] and moved.returns.tolist() == [28, -28]
    assert moved.to_move == 1
    assert moved.legal_actions() == [MOVES + 2 * cell + four for cell in (1, 2, 4, 5) for four in (0, 1)]
    assert moved.game.action_name(MOVES + 5) == "4 at row 1, column 3"
    placed = moved.play(MOVES + 5)
    assert tiles(placed) == [2, 0, 4, 8, 0, 0, 8, 16, 32] and placed.to_move == 0
    assert placed.returns.tolist() == [28, -28]


def test_a_board_may_say_that_a_tile_is_to_be_placed() -> None:
    game = make_game("duel2048(size=3)")
    position = game.read_board("2 . . / . . . / . . 4, score 20, seat 1 to move", 1)
    assert position.to_move == 1 and position.returns.tolist() == [20, -20] and len(position.legal_actions()) == 14
    with pytest.raises(UserError, match="no free cell"):
        game.read_board("2 4 8 / 2 4 8 / 2 4 8, seat 1 to move", 1)


def test_the_last_tile_may_end_the_game() -> None:
    """A 2 in the last free cell leaves a move, a 4 leaves none."""
    position = position_of([[4, 4, 2], [4, 16, 32], [2, 8, 4]]).play(0)
    assert tiles(position)[:3] == [8, 2, 0]
    assert [position.play(MOVES + 4 + placed).to_move for placed in (0, 1)] == [0, TERMINAL]


@pytest.mark.parametrize("size", [2, 3, 4])
def test_moves_are_those_of_2048(size: int) -> None:
    """In random games, actions lead to the same boards and points, and games end in the same positions."""
    duel, plain, draws = make_game(f"duel2048(size={size})"), make_game(f"2048(size={size})"), random.Random(size)
    ended = 0
    for seed in range(10):
        position = duel.start(seed)
        assert sum(tile > 0 for tile in tiles(position)) == 2 and set(tiles(position)) <= {0, 2, 4}
        for _ in range(60):
            if position.over:
                ended += 1
                break
            if position.to_move == 0:
                alone = plain.position(position.state)
                assert alone.legal_actions() == position.legal_actions()
                action = draws.choice(position.legal_actions())
                after = alone.play(action, draw_chance=False)
                gained = position.returns[0] + after.returns[0]
                position = position.play(action)
                assert np.array_equal(plain.cell_values(after.state), duel.cell_values(position.state))
                assert position.returns.tolist() == [gained, -gained]
            else:
                position = position.play(draws.choice(position.legal_actions()))
    assert ended or size == 4
    assert {tuple(tiles(duel.start(seed))) for seed in range(20)} != {tuple(tiles(duel.start(0)))}
