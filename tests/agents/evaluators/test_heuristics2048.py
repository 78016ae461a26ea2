"""The five heuristics of 2048 against plain Python, by hand, and in expectation (Kutsch 2017, 7.1 and 9.4)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import naive
from tests.agents import naive_search as oracle
from tests.agents.positions import DIRECTION, board_position
from tests.naive import Board
from turnier.agents.evaluators.heuristics2048 import Heuristics2048
from turnier.agents.registry import EVALUATORS, make_agent
from turnier.contract.evaluators import estimate
from turnier.core.kernel import JIT
from turnier.core.parameters import parameters_of
from turnier.core.rng import stream
from turnier.games.game import Position

LARGEST = 3_932_156.0
SWITCHES = ("use_empty", "use_corner", "use_row", "use_merge", "use_rollout")
WEIGHTS = ("empty0", "empty1", "empty2", "corner", "row0", "row1", "merge", "rollout")
METHODS = {"empty_method": 3, "row_method": 2}
# Which weights each heuristic reads, by method.
READS = {
    "use_empty": ("empty0", "empty1", "empty2"),
    "use_corner": ("corner",),
    "use_row": ("row0", "row1"),
    "use_merge": ("merge",),
    "use_rollout": ("rollout",),
}
OFF = dict.fromkeys(SWITCHES, False)


def rows(tiles: list[int]) -> Board:
    return tuple(tuple(tiles[i : i + 4]) for i in (0, 4, 8, 12))


@st.composite
def boards(draw: Any) -> Board:
    """Boards of any tiles, of few different tiles (merges), and with chains from a corner that may break off."""
    kind = draw(st.sampled_from(("any", "few", "chain")))
    top = 17 if kind == "any" else draw(st.integers(1, 4))
    tiles = [2**e if e else 0 for e in draw(st.lists(st.integers(0, top), min_size=16, max_size=16))]
    if kind == "chain":
        falling = sorted(draw(st.sets(st.integers(1, 17), min_size=1, max_size=16)), reverse=True)
        tiles[: len(falling)] = [2**e for e in falling]
        if draw(st.booleans()):  # a second corner as high as the first
            tiles[draw(st.sampled_from((3, 12, 15)))] = tiles[0]
        tiles[4:8], tiles[12:16] = tiles[7:3:-1], tiles[15:11:-1]  # rows to snake
    board = rows(tiles)
    for _ in range(draw(st.integers(0, 3))):
        board = tuple(zip(*board[::-1], strict=True))
    board = board[::-1] if draw(st.booleans()) else board
    return board if any(map(any, board)) else naive.place(board, 0, 2)


@st.composite
def evaluators(draw: Any) -> Heuristics2048:
    values: dict[str, Any] = {name: draw(st.booleans()) for name in SWITCHES}
    values |= {name: draw(st.floats(0, 1)) for name in WEIGHTS}
    values |= {name: draw(st.integers(0, methods - 1)) for name, methods in METHODS.items()}
    return Heuristics2048(**values)


SCORES = st.integers(0, int(LARGEST)).map(float)


def evaluate(evaluator: Heuristics2048, position: Position, depth: int = 0, method: int = 2, seed: int = 1) -> float:
    kernels = evaluator.kernels(position.game, depth, method)
    return float(estimate(position.game, kernels, position.state, position.returns, stream(seed))[0])


def alone(switch: str, **changes: Any) -> Heuristics2048:
    """Returns an evaluator with one heuristic only."""
    return Heuristics2048(**OFF | {switch: True} | changes)


def points(switch: str, board: Board, score: float = 0.0, **changes: Any) -> float:
    """Returns the bonus of one heuristic, in points."""
    return evaluate(alone(switch, **changes), board_position(board, score)) * LARGEST


@given(boards(), SCORES, evaluators())
def test_the_sum_of_all_bonuses_equals_the_oracle(board: Board, score: float, evaluator: Heuristics2048) -> None:
    """Any switches, weights and methods; a rollout of depth 0 leaves the score as it is."""
    expected = oracle.heuristics(board, score, score, LARGEST, evaluator)
    assert evaluate(evaluator, board_position(board, score)) == pytest.approx(expected, rel=1e-12, abs=1e-15)


@given(boards(), SCORES, st.floats(0, 1), st.integers(0, 2))
def test_each_heuristic_alone_equals_the_oracle(board: Board, score: float, w: float, method: int) -> None:
    """Each of the five, and each of its methods, in points."""
    row = method % 2
    got_expected = {
        "empty": (
            points("use_empty", board, score, empty_method=method, **{f"empty{method}": w}),
            oracle.empty_bonus(board, score, method, w),
        ),
        "corner": (points("use_corner", board, score, corner=w), oracle.corner_bonus(board, w)),
        "row": (
            points("use_row", board, score, row_method=row, **{f"row{row}": w}),
            oracle.chain_sum(board, row == 1) * w,
        ),
        "merge": (points("use_merge", board, score, merge=w), oracle.merge_sum(board) * w),
        "rollout": (points("use_rollout", board, score, rollout=w), score * w),
    }
    for name, (got, expected) in got_expected.items():
        assert got == pytest.approx(expected, rel=1e-12, abs=1e-9), name


FOLDED = ((1024, 512, 128, 64), (2, 8, 16, 32), (0, 0, 0, 0), (0, 0, 0, 0))
TWO_CORNERS = ((64, 32, 16, 64), (2, 2, 8, 32), (0, 0, 0, 8), (0, 0, 0, 0))
NO_CORNER = ((2, 512, 2, 0), (4, 8, 0, 0), (0, 0, 0, 0), (0, 0, 0, 4))
BY_HAND: list[tuple[str, Board, dict[str, Any], float]] = [
    # Chains: along a snake, round its turns, until a tile is not lower (method 0) or not half (method 1).
    ("use_row", FOLDED, {"row_method": 0, "row0": 1.0}, 1024 + 512 + 128 + 64 + 32 + 16 + 8 + 2),
    ("use_row", FOLDED, {"row_method": 1, "row1": 1.0}, 1024 + 512),
    ("use_row", FOLDED, {"row_method": 0, "row0": 0.25}, 1786 / 4),
    # The best of both corners' chains: 64 32 16, and not 64 2, 64 16 or 64 32 8.
    ("use_row", TWO_CORNERS, {"row_method": 0, "row0": 1.0}, 64 + 32 + 16),
    ("use_row", TWO_CORNERS, {"row_method": 1, "row1": 1.0}, 64 + 32 + 16),
    ("use_row", ((64, 64, 0, 0), (32, 0, 0, 0), (16, 0, 0, 0), (4, 2, 0, 0)), {"row0": 1.0}, 64 + 32 + 16 + 4 + 2),
    ("use_row", NO_CORNER, {"row_method": 0, "row0": 1.0}, 0),
    ("use_row", NO_CORNER, {"row_method": 1, "row1": 1.0}, 0),
    # An empty cell ends a chain.
    ("use_row", ((64, 0, 32, 16), (2, 2, 2, 2), (4, 4, 4, 4), (8, 8, 8, 8)), {"row0": 1.0}, 64 + 2),
    # A chain of one tile.
    ("use_row", ((64, 64, 0, 0), (64, 0, 0, 0), (0, 0, 0, 0), (0, 0, 0, 0)), {"row0": 1.0}, 64),
    ("use_corner", FOLDED, {"corner": 0.5}, 512),
    ("use_corner", NO_CORNER, {"corner": 0.5}, 0),
    # Three equal tiles are one merge, four are two; a gap parts them; rows and columns both count.
    ("use_merge", ((4, 4, 4, 0), (0, 0, 0, 0), (0, 0, 0, 0), (0, 0, 0, 0)), {"merge": 1.0}, 4),
    ("use_merge", ((0, 4, 4, 4), (0, 0, 0, 0), (0, 0, 0, 0), (0, 0, 0, 0)), {"merge": 1.0}, 4),
    ("use_merge", ((4, 4, 4, 4), (0, 0, 0, 0), (0, 0, 0, 0), (0, 0, 0, 0)), {"merge": 1.0}, 8),
    ("use_merge", ((4, 0, 4, 0), (0, 4, 0, 4), (4, 0, 4, 0), (0, 4, 0, 4)), {"merge": 1.0}, 0),
    ("use_merge", ((8, 8, 0, 0), (8, 2, 0, 0), (2, 2, 0, 0), (0, 0, 0, 0)), {"merge": 0.5}, (8 + 8 + 2 + 2) / 2),
    ("use_merge", ((2, 2, 16, 16), (4, 8, 2, 4), (0, 0, 0, 0), (0, 0, 0, 0)), {"merge": 1.0}, 2 + 16),
    # FOLDED has 8 empty cells, 1024 as the highest tile, and 5,000 points here.
    ("use_empty", FOLDED, {"empty_method": 0, "empty0": 1.0}, 2**8),
    ("use_empty", FOLDED, {"empty_method": 0, "empty0": 0.0}, 1),
    ("use_empty", FOLDED, {"empty_method": 1, "empty1": 0.5}, 1024 * 8 / 2),
    ("use_empty", FOLDED, {"empty_method": 2, "empty2": 0.5}, 5000 * 8 / 2),
    ("use_rollout", FOLDED, {"rollout": 0.25}, 1250),
]


@pytest.mark.parametrize(("switch", "board", "changes", "expected"), BY_HAND)
def test_bonuses_by_hand(switch: str, board: Board, changes: dict[str, Any], expected: float) -> None:
    assert points(switch, board, 5000.0, **changes) == pytest.approx(expected, rel=1e-12, abs=1e-9)


def test_published_best_weights_by_hand() -> None:
    """K's best candidate (9.4) on one board: empty method 1, corner, row method 0, merge, rollout of depth 0."""
    best = EVALUATORS.make(
        "heuristics2048(empty0=0,empty1=0.7214131449043863,empty2=0,empty_method=1,corner=0.48066258192020583,"
        "row0=0.4778659656963287,row1=0,row_method=0,merge=0.8079838161879548,rollout=0.8435028456190605)"
    )
    board = ((256, 64, 32, 8), (4, 4, 4, 2), (2, 0, 0, 0), (0, 0, 0, 0))
    expected = (
        256 * 7 * 0.7214131449043863
        + 256 * 0.48066258192020583
        + (256 + 64 + 32 + 8 + 2) * 0.4778659656963287
        + 4 * 0.8079838161879548
        + 1500 * 0.8435028456190605
    )
    assert evaluate(best, board_position(board, 1500.0)) == pytest.approx(expected / LARGEST, rel=1e-12)


def test_bonuses_of_the_thesiss_program_by_hand() -> None:
    """Its highest tile is a 2: it counts empty cells twice, and sees a corner and a row only where a 2 lies there."""
    weights = "empty_method=1,empty1=0.75,corner=0.5,row0=0.25,row_method=0,merge=0.8,rollout=0.5"
    program, text = (EVALUATORS.make(f"{name}({weights})") for name in ("forgetful2048", "heuristics2048"))
    board = ((256, 64, 32, 8), (4, 4, 4, 2), (2, 0, 0, 0), (0, 0, 0, 0))
    in_corner = ((2, 64, 32, 8), (4, 4, 4, 256), (8, 0, 0, 0), (0, 0, 0, 0))
    for tiles, corner in ((board, 0.0), (in_corner, 2 * 0.5 + 2 * 0.25)):
        expected = 2 * 7 * 0.75 + corner + 4 * 0.8 + 1500 * 0.5
        assert evaluate(program, board_position(tiles, 1500.0)) * LARGEST == pytest.approx(expected, rel=1e-12)
    assert evaluate(text, board_position(board, 1500.0)) * LARGEST > 2000


@given(boards(), SCORES, evaluators())
def test_the_value_is_the_same_on_turned_and_mirrored_boards(board: Board, score: float, e: Heuristics2048) -> None:
    value = evaluate(e, board_position(board, score))
    for _ in range(4):
        board = tuple(zip(*board[::-1], strict=True))
        for turned in (board, board[::-1]):
            assert evaluate(e, board_position(turned, score)) == pytest.approx(value, rel=1e-12)


@given(boards(), SCORES, evaluators(), st.sampled_from(SWITCHES), st.floats(0, 1))
def test_what_is_switched_off_or_another_method_is_not_read(
    board: Board, score: float, evaluator: Heuristics2048, switch: str, other: float
) -> None:
    """A heuristic that is off adds nothing, whatever its weights; one that is on reads its method's weight only."""
    position = board_position(board, score)
    changed = dict.fromkeys(READS[switch], other)
    off = evaluator.replace(**{switch: False})
    assert evaluate(off, position) == evaluate(off.replace(**changed), position)
    method = getattr(evaluator, f"{switch[4:]}_method", 0)
    del changed[READS[switch][method]]
    on = evaluator.replace(**{switch: True})
    assert evaluate(on, position) == evaluate(on.replace(**changed), position)
    share = evaluate(alone(switch, **{name: getattr(evaluator, name) for name in (*WEIGHTS, *METHODS)}), position)
    assert evaluate(on, position) == pytest.approx(evaluate(off, position) + share, rel=1e-12, abs=1e-15)


def test_the_fifteen_parameters_of_kutsch_exist() -> None:
    """Five switches that are on, eight weights in [0, 1], two methods; the defaults are neutral."""
    declared = {field.name: (field.default, info) for field, info in parameters_of(Heuristics2048)}
    assert set(declared) == {*SWITCHES, *WEIGHTS, *METHODS} and len(declared) == 15
    assert all(declared[name][0] is True for name in SWITCHES)
    for name in WEIGHTS:
        default, info = declared[name]
        assert (default, info.low, info.high, info.log) == (0.5, 0, 1, False)
    for name, methods in METHODS.items():
        default, info = declared[name]
        assert (default, info.low, info.high) == (0, 0, methods - 1) and isinstance(default, int)


NEARLY_FULL = ((2, 4, 8, 16), (4, 2, 16, 8), (2, 8, 4, 2), (0, 2, 4, 8))


@pytest.mark.skipif(not JIT, reason="many rollouts")
@pytest.mark.parametrize("depth", [1, 2])
def test_the_rollout_counts_its_final_score(depth: int) -> None:
    """The mean bonus of rollouts is the exact expected score after `depth` random plies, times the weight."""
    position = board_position(NEARLY_FULL, 300.0)
    evaluator = alone("use_rollout", rollout=0.75)
    samples = [evaluate(evaluator, position, depth, seed=seed) * LARGEST for seed in range(1500)]
    expected = 0.75 * (300 + float(naive.random_play(NEARLY_FULL, depth)[0]))
    error = np.std(samples) / len(samples) ** 0.5
    assert 0 < error < 0.4
    assert abs(np.mean(samples) - expected) < 5 * error


def test_the_game_score_method_does_not_change_the_rollout_bonus() -> None:
    """The rollout's share is its final score, even where the game ended inside the rollout."""
    position = board_position(NEARLY_FULL, 300.0)
    evaluator = alone("use_rollout")
    values = [[evaluate(evaluator, position, 1000, method, seed) for seed in range(20)] for method in (1, 2)]
    assert values[0] == values[1] and len(set(values[0])) > 1


@given(boards(), SCORES, evaluators())
def test_greedy_evaluates_the_board_after_the_move(board: Board, score: float, evaluator: Heuristics2048) -> None:
    """greedy(heuristics2048) values each afterstate as the oracle does, with the move's points, and plays the best."""
    evaluator = evaluator.replace(use_rollout=False)
    position = board_position(board, score)
    if position.over:
        return
    agent = make_agent("greedy").replace(evaluator=evaluator)
    decision = agent.start(position.game).act(position)
    expected = {}
    for direction in naive.legal(board):
        after, gained = naive.slide(board, direction)
        expected[DIRECTION[direction]] = oracle.heuristics(after, score + gained, 0.0, LARGEST, evaluator)
    assert {a: decision.values[a] for a in expected} == pytest.approx(expected, rel=1e-12, abs=1e-15)
    assert expected[decision.action] == pytest.approx(max(expected.values()), rel=1e-12)
