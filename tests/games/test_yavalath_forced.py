"""Wins by forcing moves: the triangles of Weitz 2022, 3.3.2, and what is not enough; proofs by all defences."""

from __future__ import annotations

import numpy as np
import pytest

from turnier.contract.games.forced_wins import refutation
from turnier.core.kernel import JIT
from turnier.games.abi import NO_WIN
from turnier.games.game import Position
from turnier.games.yavalath.board import coordinates
from turnier.games.yavalath.game import Yavalath

Cell = tuple[int, int]
# Three stones (q, r) with the opponent's three far away and their side to move: won by four forcing moves and the four.
WON: dict[str, list[Cell]] = {
    "small triangle": [(0, 0), (1, 0), (0, 1)],
    "medium triangle": [(0, 0), (2, 0), (0, 2)],
    "large triangle": [(0, 0), (3, 0), (0, 3)],
}
OPEN: dict[str, list[Cell]] = {
    "triangle of four": [(0, 0), (4, 0), (0, 4)],
    "pair": [(0, 0), (1, 0)],
    "pair with a gap": [(0, 0), (2, 0)],
}
FAR: dict[int, list[Cell]] = {5: [(4, -4), (-4, 4), (-4, 0)], 6: [(5, -5), (-5, 5), (-5, 0)]}
NEEDED = 4  # forcing moves


def turned(shape: list[Cell], turns: int) -> list[Cell]:
    """Returns a shape turned by 60 degrees some times around its first stone."""
    for _ in range(turns):
        shape = [(-r, q + r) for q, r in shape]
    return shape


def position_of(size: int, shape: list[Cell], blocks: list[Cell] | None = None) -> Position:
    """Returns the position where the first player has made a shape and the second has played far away or `blocks`."""
    game = Yavalath(size=size)
    index = {cell: i for i, cell in enumerate(coordinates(size))}
    position = game.start()
    for own, other in zip(shape, blocks or FAR[size], strict=False):
        position = position.play(index[own]).play(index[other])
    return position


@pytest.mark.parametrize("turns", range(6 if JIT else 1))
@pytest.mark.parametrize("size", FAR)
@pytest.mark.parametrize("shape", WON)
def test_an_open_triangle_wins_by_four_forcing_moves(shape: str, size: int, turns: int) -> None:
    position = position_of(size, turned(WON[shape], turns))
    forced_win = position.game.kernels.forced_win
    assert forced_win(position.state, NEEDED - 1) == NO_WIN
    assert refutation(position.game, position.state, np.zeros(2), NEEDED) is None


@pytest.mark.parametrize("shape", OPEN)
def test_wider_triangles_and_pairs_do_not_win_by_force(shape: str) -> None:
    position = position_of(6, OPEN[shape])
    assert position.game.kernels.forced_win(position.state, 9 if JIT else 4) == NO_WIN


def test_a_triangle_with_the_opponent_at_its_sides_does_not_win() -> None:
    position = position_of(5, WON["small triangle"], [(-1, 0), (0, 2), (2, -1)])
    assert position.game.kernels.forced_win(position.state, 9 if JIT else 4) == NO_WIN


def test_a_win_at_once_needs_no_forcing_move() -> None:
    """C3 D3 and F3 in a row of the first player, E3 is free."""
    position = position_of(5, [(-2, 2), (-1, 2), (1, 2)])
    action = position.game.kernels.forced_win(position.state, 0)
    assert position.game.action_name(action) == "E3"


def test_the_opponents_four_is_answered_first() -> None:
    """A large triangle does not help who has to block a four and threatens nothing by it."""
    lost = position_of(6, [(0, 0), (3, 0), (0, 3)], [(-5, 0), (-5, 1), (-5, 3)])
    assert lost.game.kernels.forced_win(lost.state, 9 if JIT else 4) == NO_WIN


def test_a_block_that_makes_a_three_loses() -> None:
    """The only answer to the threat in E3 would be the opponent's third stone in a column."""
    game = Yavalath()
    index = {cell: i for i, cell in enumerate(coordinates(5))}
    position = game.start()
    for cell in [(-2, 2), (0, 1), (-1, 2), (0, 0), (4, -4), (-4, 0)]:
        position = position.play(index[cell])
    assert position.game.kernels.forced_win(position.state, 0) == NO_WIN
    action = position.game.kernels.forced_win(position.state, 1)
    assert position.game.action_name(action) == "F3"
    assert refutation(game, position.state, np.zeros(2), 1) is None


def test_three_players_have_none() -> None:
    assert not Yavalath(players=3).kernels.has_forced_win
