"""The table of rows2048 against plain Python, row by row, and its boards against sums by hand."""

from __future__ import annotations

from itertools import groupby, pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import naive
from tests.agents.positions import board_position
from tests.naive import Board
from turnier.agents.evaluator import OWN
from turnier.agents.evaluators.rows2048 import NUM_ROWS, Rows2048, row_table
from turnier.contract.evaluators import estimate
from turnier.core.parameters import parameters_of
from turnier.core.rng import stream
from turnier.games.game import Position
from turnier.games.registry import make_game

LARGEST = 3_932_156.0
DEFAULT = Rows2048()
RANGES = {field.name: (info.low, info.high) for field, info in parameters_of(Rows2048)}


def line_value(line: list[int], p: Rows2048) -> float:
    """Returns the points of a line of exponents."""
    tiles = [e for e in line if e]
    merges = sum(n for n in (len(list(run)) for _, run in groupby(tiles)) if n > 1)
    powers = [float(e) ** p.monotonicity_power for e in line]
    steps = [b - a for a, b in pairwise(powers)]
    rises, falls = sum(s for s in steps if s > 0), -sum(s for s in steps if s < 0)
    value = p.lost + p.empty * line.count(0) + p.merges * merges - p.monotonicity * min(rises, falls)
    value -= p.sum * sum(float(e) ** p.sum_power for e in line)
    return value + (p.corner * max(line) if max(line) in (line[0], line[3]) else 0.0)


def exponents(row: int) -> list[int]:
    return [row >> 4 * i & 15 for i in range(4)]


def arguments(p: Rows2048) -> tuple[float, ...]:
    return tuple(getattr(p, field.name) for field, _ in parameters_of(Rows2048))


@st.composite
def evaluators(draw: Any) -> Rows2048:
    return Rows2048(**{name: draw(st.floats(low, high)) for name, (low, high) in RANGES.items()})


@given(evaluators(), st.lists(st.integers(0, NUM_ROWS - 1), min_size=40, max_size=40))
def test_the_table_equals_plain_python(p: Rows2048, rows: list[int]) -> None:
    table = row_table(*arguments(p))
    for row in [0, NUM_ROWS - 1, 0x1111, 0x0110, 0x2011, *rows]:
        assert table[row] == pytest.approx(line_value(exponents(row), p), rel=1e-12, abs=1e-6), exponents(row)


def test_every_default_row_equals_plain_python() -> None:
    table = row_table(*arguments(DEFAULT))
    assert table.shape == (NUM_ROWS,)
    for row in range(0, NUM_ROWS, 7):
        assert table[row] == pytest.approx(line_value(exponents(row), DEFAULT), rel=1e-12)


NAMES = ("lost", "empty", "merges", "monotonicity", "monotonicity_power", "sum", "sum_power", "corner")
NOTHING = dict.fromkeys(NAMES, 0.0)
BY_HAND = [
    ({"lost": 7.0}, [1, 2, 3, 4], 7.0),
    ({"empty": 3.0}, [0, 2, 0, 0], 9.0),
    ({"merges": 5.0}, [2, 0, 2, 1], 10.0),
    ({"merges": 5.0}, [3, 3, 3, 1], 15.0),
    ({"merges": 5.0}, [2, 2, 4, 4], 20.0),
    ({"merges": 5.0}, [2, 1, 2, 1], 0.0),
    ({"monotonicity": 2.0, "monotonicity_power": 1.0}, [1, 4, 2, 3], -2.0 * 2),
    ({"monotonicity": 2.0, "monotonicity_power": 2.0}, [5, 4, 4, 0], 0.0),
    ({"sum": 1.0, "sum_power": 2.0}, [1, 2, 0, 3], -14.0),
    ({"corner": 10.0}, [1, 2, 0, 3], 30.0),
    ({"corner": 10.0}, [1, 3, 0, 2], 0.0),
]


@pytest.mark.parametrize(("changes", "line", "points"), BY_HAND)
def test_each_feature_by_hand(changes: dict[str, float], line: list[int], points: float) -> None:
    """A line read from both ends is worth the same."""
    table = row_table(*(NOTHING | changes).values())
    for read in (line, line[::-1]):
        assert table[sum(e << 4 * i for i, e in enumerate(read))] == pytest.approx(points)


def evaluate(p: Rows2048, position: Position) -> float:
    kernels = p.kernels(position.game, 0, 2)
    return float(estimate(position.game, kernels, position.state, position.returns, stream(1))[0]) * LARGEST


def board_value(board: Board, p: Rows2048) -> float:
    lines = [*board, *zip(*board, strict=True)]
    return sum(line_value([min(tile.bit_length() - 1, 15) if tile else 0 for tile in line], p) for line in lines)


@given(st.lists(st.integers(0, 17), min_size=16, max_size=16), evaluators())
def test_a_board_is_the_sum_of_its_lines(cells: list[int], p: Rows2048) -> None:
    """Tiles above 32,768 count as 32,768; a board without a legal move is worth nothing."""
    tiles = [2**e if e else 0 for e in cells]
    board = tuple(tuple(tiles[i : i + 4]) for i in (0, 4, 8, 12))
    expected = board_value(board, p) if naive.legal(board) else 0.0
    assert evaluate(p, board_position(board, 12.0)) == pytest.approx(expected, rel=1e-9, abs=1e-4)


def test_a_lost_board_is_worth_nothing_and_an_afterstate_is_not_lost() -> None:
    board = ((2, 4, 2, 4), (4, 2, 4, 2), (2, 4, 2, 4), (4, 2, 4, 2))
    assert evaluate(DEFAULT, board_position(board)) == 0.0
    almost = board_position(((2, 4, 2, 4), (4, 2, 4, 2), (2, 4, 2, 4), (4, 2, 4, 4)))
    assert evaluate(DEFAULT, almost.play(0, draw_chance=False)) > 1_000_000


def test_sums_of_the_table_are_exact_in_any_order() -> None:
    table = DEFAULT.kernels(make_game("2048"), 0, 2).weights[OWN:]
    lines = np.random.default_rng(1).choice(table, (1000, 8))
    assert np.array_equal(lines.sum(axis=1), lines[:, ::-1].cumsum(axis=1)[:, -1])
    assert (lines[:, 0] + lines[:, 1] - lines[:, 0] == lines[:, 1]).all()


def test_equal_parameters_share_one_table() -> None:
    game = make_game("2048")
    one, other = (Rows2048(empty=100.0).kernels(game, depth, 2) for depth in (0, 5))
    assert one.weights is other.weights
    assert DEFAULT.kernels(game, 0, 2).weights is not one.weights
