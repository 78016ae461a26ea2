"""The weight matrices of 2048 against a plain formula, by hand, and as symmetries (Stähli and Sager 2019)."""

from __future__ import annotations

from collections import Counter
from itertools import groupby, pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import naive
from tests.agents.positions import DIRECTION, board_position
from tests.naive import Board
from turnier.agents.evaluators.matrix2048 import Matrix2048
from turnier.agents.registry import EVALUATORS, make_agent
from turnier.contract.evaluators import estimate
from turnier.core.rng import stream
from turnier.games.registry import make_game

LARGEST = 3_932_156.0
# As the text prints them.
LEFT = ((3, 2, 1, 0),) * 4
CORNER = ((6, 5, 4, 1), (5, 4, 1, 0), (4, 1, 0, -1), (1, 0, -1, -2))
SNAKE = ((15, 14, 13, 12), (8, 9, 10, 11), (7, 6, 5, 4), (0, 1, 2, 3))
CORNERS = ((3, 1, 1, 3), (1, 0, 0, 1), (1, 0, 0, 1), (3, 1, 1, 3))
MATRICES = {"snake": SNAKE, "left": LEFT, "corner": CORNER, "corners": CORNERS}


def turned(board: Board) -> list[Board]:
    """Returns the eight symmetries of a board: four turns, each as it is and mirrored."""
    found = []
    for _ in range(4):
        board = tuple(zip(*board[::-1], strict=True))
        found += [board, board[::-1]]
    return found


def lines(board: Board) -> list[tuple[int, ...]]:
    return [*board, *zip(*board, strict=True)]


def weighted(board: Board, matrix: Board) -> int:
    return sum(w * g for ws, gs in zip(matrix, board, strict=True) for w, g in zip(ws, gs, strict=True))


def matrix_score(board: Board, matrix: Board, transforms: bool) -> int:
    return max(weighted(board, m) for m in (turned(matrix) if transforms else [matrix]))


def differences(board: Board) -> int:
    return sum(abs(a - b) for line in lines(board) for a, b in pairwise(line))


def offered(board: Board) -> list[int]:
    """Returns the tile of every merge of neighbours; of three equal ones only one pair merges."""
    runs = [(tile, len(list(run))) for line in lines(board) for tile, run in groupby(line) if tile]
    return [tile for tile, length in runs for _ in range(length // 2)]


def expected(board: Board, e: Matrix2048) -> float:
    """Returns the value of a board as the text computes it, in tile values; 0 where no move is left."""
    if not naive.legal(board):
        return 0.0
    return expected_after(board, e)


def expected_after(board: Board, e: Matrix2048) -> float:
    """Returns the value of a board to which chance adds a tile next."""
    penalty = e.difference * differences(board)
    if e.matrix != "combined":
        return matrix_score(board, MATRICES[e.matrix], e.transforms) - penalty
    value = (
        float(sum(getattr(e, name) * matrix_score(board, m, e.transforms) for name, m in MATRICES.items())) - penalty
    )
    empty, merges = sum(row.count(0) for row in board), offered(board)
    if empty > e.many_empty:
        return value - e.merges * len(merges)
    if empty < e.few_empty:
        return value + e.merges * len(merges)
    return value + e.merges * sum(merges)


def evaluate(evaluator: Matrix2048, board: Board, score: float = 0.0, count: int = 1) -> float:
    position = board_position(board, score)
    kernels = evaluator.kernels(position.game, 0, 2)
    sum_ = estimate(position.game, kernels, position.state, position.returns, stream(1), count)
    return float(sum_[0]) * LARGEST


def alone(matrix: str, **changes: Any) -> Matrix2048:
    return Matrix2048(matrix, difference=0.0).replace(**changes)


@st.composite
def boards(draw: Any) -> Board:
    """Boards with 0 to 15 empty cells, of any tiles or of few different ones (merges)."""
    top = draw(st.sampled_from((2, 4, 17)))
    tiles = [2**e for e in draw(st.lists(st.integers(1, top), min_size=1, max_size=16))]
    cells = draw(st.permutations(tiles + [0] * (16 - len(tiles))))
    return tuple(tuple(cells[i : i + 4]) for i in (0, 4, 8, 12))


WEIGHT = st.floats(0, 10)
EVALUATORS_DRAWN = st.builds(
    Matrix2048,
    matrix=st.sampled_from((*MATRICES, "combined")),
    transforms=st.booleans(),
    many_empty=st.integers(0, 16),
    few_empty=st.integers(0, 16),
    **dict.fromkeys(("difference", "snake", "left", "corner", "corners", "merges"), WEIGHT),
)


@given(boards(), EVALUATORS_DRAWN, st.integers(1, 3))
def test_the_value_equals_the_plain_formula(board: Board, evaluator: Matrix2048, count: int) -> None:
    """Any matrix, transforms, weights and thresholds; the score so far does not count."""
    got = evaluate(evaluator, board, score=5000.0, count=count)
    assert got == pytest.approx(count * expected(board, evaluator), rel=1e-12, abs=1e-6)


@given(boards())
def test_the_defaults_are_the_published_combination(board: Board) -> None:
    snake, left, corner, corners = (matrix_score(board, m, True) for m in (SNAKE, LEFT, CORNER, CORNERS))
    empty, merges = sum(row.count(0) for row in board), offered(board)
    points = -len(merges) if empty > 9 else len(merges) if empty < 6 else sum(merges)
    value = snake + 0.2 * left + 0.2 * corner + 0.1 * corners - 0.01 * differences(board) + 0.2 * points
    if naive.legal(board):
        assert evaluate(Matrix2048(), board) == pytest.approx(value, rel=1e-12, abs=1e-6)


def test_a_game_that_is_over_is_worth_nothing() -> None:
    """With one tile changed a move is left, and the board is worth a lot."""
    over = ((256, 128, 64, 32), (8, 4, 8, 16), (4, 2, 4, 2), (2, 4, 2, 4))
    assert evaluate(Matrix2048(), over) == 0.0
    assert evaluate(Matrix2048(), (*over[:3], (4, 4, 2, 4))) > 1000


@given(boards(), EVALUATORS_DRAWN)
def test_turned_and_mirrored_boards_are_worth_the_same(board: Board, evaluator: Matrix2048) -> None:
    evaluator = evaluator.replace(transforms=True)
    value = evaluate(evaluator, board)
    for other in turned(board):
        assert evaluate(evaluator, other) == pytest.approx(value, rel=1e-12, abs=1e-6)


def test_the_snakes_are_those_of_the_text() -> None:
    """The text's list, four of them written as 15 - W, is exactly the eight symmetries."""
    snake = np.array(SNAKE)
    four = [snake, np.flip(snake), np.transpose(snake), np.transpose(np.flip(snake))]
    listed = {tuple(map(int, m.ravel())) for m in (*four, *(15 - m for m in four))}
    ours = [tuple(map(int, column)) for column in Matrix2048().columns("snake").T]
    assert Counter(ours) == dict.fromkeys(listed, 1) and len(listed) == 8


@pytest.mark.parametrize(("matrix", "number"), [("snake", 8), ("left", 4), ("corner", 4), ("corners", 1)])
def test_each_transform_is_kept_once(matrix: str, number: int) -> None:
    """Symmetric matrices have fewer different transforms; without transforms it is the printed one."""
    symmetries = {tuple(tile for row in m for tile in row) for m in turned(MATRICES[matrix])}
    assert {tuple(map(int, column)) for column in Matrix2048().columns(matrix).T} == symmetries
    assert Matrix2048().columns(matrix).shape == (16, number) and len(symmetries) == number
    as_it_stands = Matrix2048(transforms=False).columns(matrix).T.tolist()
    assert as_it_stands == [[w for row in MATRICES[matrix] for w in row]]


TILES = ((2, 4, 0, 0), (0, 0, 0, 0), (0, 0, 0, 0), (0, 0, 0, 16))
BY_HAND: list[tuple[Matrix2048, float]] = [
    (alone("snake", transforms=False), 15 * 2 + 14 * 4 + 3 * 16),
    # Best: from the 16 up the last column; the 4 is then the twelfth and the 2 the thirteenth.
    (alone("snake"), 15 * 16 + 4 * 4 + 3 * 2),
    (alone("left", transforms=False), 3 * 2 + 2 * 4),
    # Best: large on the right.
    (alone("left"), 3 * 16 + 4),
    (alone("corner", transforms=False), 6 * 2 + 5 * 4 - 2 * 16),
    (alone("corner"), 6 * 16 - 2 * 2 - 1 * 4),
    (alone("corners", transforms=False), 3 * 2 + 4 + 3 * 16),
    (alone("corners"), 3 * 2 + 4 + 3 * 16),
    # The leaf of the text's search: neighbours differ by 2, 2, 4, 4, 16, 16 here.
    (alone("corner", transforms=False, difference=2.0), 12 + 20 - 32 - 2 * 44),
    (Matrix2048(), 262 + 0.2 * 52 + 0.2 * 88 + 0.1 * 58 - 0.01 * 44),
]


@pytest.mark.parametrize(("evaluator", "value"), BY_HAND, ids=str)
def test_values_by_hand(evaluator: Matrix2048, value: float) -> None:
    assert evaluate(evaluator, TILES) == pytest.approx(value, rel=1e-12)


MERGES_ONLY = Matrix2048(difference=0, snake=0, left=0, corner=0, corners=0, merges=1)
MIXED = (2, 4, 8, 16, 32, 64, 128, 256)  # nothing to merge


def filled(empty: int) -> Board:
    """Returns a board that offers exactly two merges, of 32s, with as many empty cells."""
    tiles = [32, 32, 32, 32, *(MIXED * 2)[: 12 - empty]]
    tiles += [0] * empty
    rows = [tuple(tiles[i : i + 4]) for i in (0, 4, 8, 12)]
    rows[2] = tuple(t and 2 * 4**i for i, t in enumerate(rows[2]))
    rows[1] = tuple(t and 4 * 4**i for i, t in enumerate(rows[1]))
    rows[3] = tuple(t and 1024 * 2**i for i, t in enumerate(rows[3]))
    return tuple(rows)


@pytest.mark.parametrize(
    ("empty", "value"), [(12, -2), (10, -2), (9, 64), (8, 64), (7, 64), (6, 64), (5, 2), (4, 2), (0, 2)]
)
def test_the_switch_on_empty_cells(empty: int, value: float) -> None:
    """More than nine: fewest merges; fewer than six: most; nine to six: the highest."""
    board = filled(empty)
    assert sum(row.count(0) for row in board) == empty and offered(board) == [32, 32]
    assert evaluate(MERGES_ONLY, board) == pytest.approx(value, rel=1e-12)


def test_the_thresholds_are_parameters() -> None:
    board = filled(8)
    assert evaluate(MERGES_ONLY.replace(many_empty=7), board) == pytest.approx(-2)
    assert evaluate(MERGES_ONLY.replace(few_empty=9), board) == pytest.approx(2)


def test_a_matrix_alone_reads_no_weight_of_the_combination() -> None:
    weights = dict.fromkeys(("snake", "left", "corner", "corners", "merges"), 3.0)
    for matrix in MATRICES:
        assert evaluate(alone(matrix, **weights), filled(5)) == evaluate(alone(matrix), filled(5))


@given(boards(), EVALUATORS_DRAWN)
def test_greedy_plays_the_best_board_after_the_move(board: Board, evaluator: Matrix2048) -> None:
    position = board_position(board)
    if position.over:
        return
    decision = make_agent("greedy").replace(evaluator=evaluator).start(position.game).act(position)
    after = {DIRECTION[d]: expected_after(naive.slide(board, d)[0], evaluator) for d in naive.legal(board)}
    assert {a: decision.values[a] * LARGEST for a in after} == pytest.approx(after, rel=1e-12, abs=1e-6)
    assert after[decision.action] == pytest.approx(max(after.values()), rel=1e-12, abs=1e-6)


@pytest.mark.parametrize("game", ["tictactoe", "2048(size=3)"])
def test_other_boards_are_refused(game: str) -> None:
    reason = EVALUATORS.make("matrix2048").cannot_evaluate(make_game(game))
    assert reason is not None and reason.startswith("matrix2048 evaluates the 4x4 board") and game in reason
