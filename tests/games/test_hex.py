"""Hex against connections found in plain Python, and small boards solved through the kernels."""

from __future__ import annotations

import random

import numpy as np
import pytest

from turnier.core.kernel import JIT
from turnier.games.game import Position
from turnier.games.hex import Hex
from turnier.games.registry import make_game


def connected(cells: list[int], size: int, seat: int) -> bool:
    """Whether a seat's stones connect its sides, by looking around from one side."""
    board = {(i // size, i % size) for i, value in enumerate(cells) if value == seat + 1}
    seen: set[tuple[int, int]] = set()
    found = [place for place in board if place[seat] == 0]
    while found:
        r, c = found.pop()
        seen.add((r, c))
        around = {(r - 1, c), (r - 1, c + 1), (r, c - 1), (r, c + 1), (r + 1, c - 1), (r + 1, c)}
        found += around & board - seen
    return any(place[seat] == size - 1 for place in seen)


@pytest.mark.parametrize("size", [2, 3, 5, 11, 19])
def test_a_game_ends_when_sides_are_connected_and_not_before(size: int) -> None:
    game, winners = Hex(size), set()
    for seed in range(2 if size == 19 or not JIT else 12):
        choose, position = random.Random(seed), game.start()
        while not position.over:
            cells = game.cell_values(position.state).tolist()
            assert not connected(cells, size, 0) and not connected(cells, size, 1)
            assert position.legal_actions() == [cell for cell, value in enumerate(cells) if value == 0]
            position = position.play(choose.choice(position.legal_actions()))
        cells = game.cell_values(position.state).tolist()
        won = [connected(cells, size, seat) for seat in range(2)]
        assert position.returns.tolist() == ([1, -1] if won[0] else [-1, 1]) and sum(won) == 1
        winners.add(won.index(True))
    assert len(winners) == 2 or size in (2, 19) or not JIT


def first_wins(position: Position, known: dict[tuple[int, ...], bool]) -> bool:
    """Whether seat 0 wins with best play."""
    if position.over:
        return bool(position.returns[0] > 0)
    key = (position.to_move, *position.game.cell_values(position.state).tolist())
    if key not in known:
        after = (first_wins(position.play(action), known) for action in position.legal_actions())
        known[key] = any(after) if position.to_move == 0 else all(after)
    return known[key]


@pytest.mark.parametrize(("size", "winning"), [(2, {"b1", "a2"}), (3, {"a2", "c2", "c1", "b2", "a3"})])
def test_the_first_seat_wins_small_boards_with_these_openings(size: int, winning: set[str]) -> None:
    game = Hex(size)
    start, known = game.start(), dict[tuple[int, ...], bool]()
    openings = {game.action_name(a) for a in start.legal_actions() if first_wins(start.play(a), known)}
    assert openings == winning


@pytest.mark.parametrize("size", [2, 3])
def test_the_second_seat_wins_where_it_may_swap(size: int) -> None:
    assert not first_wins(Hex(size, swap=True).start(), {})


def test_swapping_mirrors_the_stone_and_changes_its_side() -> None:
    position = Hex(3, swap=True).start()
    assert 9 not in position.legal_actions()
    position = position.play(1)
    assert position.legal_actions() == [0, 2, 3, 4, 5, 6, 7, 8, 9]
    position = position.play(9)
    assert str(position) == ". . .\n O . .\n  . . ."
    assert position.to_move == 0 and position.legal_actions() == [0, 1, 2, 4, 5, 6, 7, 8]
    for action in (0, 4, 1, 5):  # the swapped stone counts as touching the left side
        position = position.play(action)
    assert position.over and position.returns.tolist() == [-1, 1]


def test_neighbours_and_names() -> None:
    assert Hex(3).neighbours()[4] == (1, 2, 3, 5, 6, 7)
    assert [len(cells) for cells in Hex(3).neighbours()] == [2, 4, 3, 4, 6, 4, 3, 4, 2]
    names = [make_game("hex(swap=true)").action_name(action) for action in (0, 12, 120, 121)]
    assert names == ["a1", "b2", "k11", "swap"]
    assert np.array_equal(Hex(2).symmetries(), [[0, 1, 2, 3], [3, 2, 1, 0]])
