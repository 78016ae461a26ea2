"""Flat Monte Carlo: its means are exact expectations of random play, its visits are its iterations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests import naive
from tests.agents import naive_search as oracle
from tests.agents.positions import board_position, marks_position
from turnier.agents.agent import Agent
from turnier.agents.registry import make_agent
from turnier.core.kernel import JIT
from turnier.games.game import Position

needs_jit = pytest.mark.skipif(not JIT, reason="thousands of rollouts")
UNLIMITED = 1_000_000

BOARDS_2X2: list[naive.Board] = [
    ((2, 0), (0, 2)),
    ((4, 2), (2, 4)),
    ((8, 2), (2, 0)),
    ((16, 4), (8, 4)),
    ((4, 4), (8, 32)),
]
BOARDS_3X3: list[naive.Board] = [((4, 2, 8), (2, 16, 4), (8, 2, 2)), ((2, 4, 2), (8, 2, 0), (0, 0, 2))]


def mc(**changes: Any) -> Agent:
    return make_agent("mc").replace(**changes)


def means(agent: Agent, position: Position, runs: int) -> tuple[np.ndarray, np.ndarray]:
    """Returns each action's mean value over independent decisions, and its standard error."""
    player = agent.start(position.game, position.to_move, 23)
    values = np.array([player.act(position).values for _ in range(runs)])
    return values.mean(axis=0), values.std(axis=0, ddof=1) / runs**0.5


def check(board: naive.Board, depth: int | None, method: int, score: float = 0.0) -> None:
    position = board_position(board, score)
    agent = mc(iterations=1000, rollout_depth=UNLIMITED if depth is None else depth, score_method=method)
    mean, error = means(agent, position, 60)
    largest = position.game.max_return
    for direction in naive.legal(board):
        action = naive.DIRECTIONS.index(direction)
        expected = oracle.rollout_value(board, direction, depth, method, largest) + score / largest
        assert abs(mean[action] - expected) <= 5 * error[action] + 1e-12, direction
        # So small that an error in the rules would show: in points, or in how often the game is over.
        assert error[action] * largest < 0.25 if method == 1 else error[action] < 0.005


@needs_jit
@pytest.mark.parametrize("board", BOARDS_2X2)
@pytest.mark.parametrize("score", [0.0, 48.0])
def test_means_converge_to_the_exact_return_of_random_play(board: naive.Board, score: float) -> None:
    """Method 1, rollouts to the end: an action's mean x max_return is the expected final score of random play."""
    check(board, None, 1, score)


@needs_jit
@pytest.mark.parametrize("board", BOARDS_2X2[:3] + BOARDS_3X3)
@pytest.mark.parametrize("depth", [1, 2])
@pytest.mark.parametrize("method", [1, 2])
def test_means_converge_to_the_exact_game_score_at_a_depth(board: naive.Board, depth: int, method: int) -> None:
    """Cut rollouts: method 1 is the expected PN, method 2 takes 1 off as often as the game is over by then."""
    check(board, depth, method)


@needs_jit
@pytest.mark.parametrize("marks", [".........", "X........", "XO..X....", "XOX.O...X"])
def test_means_converge_to_random_play_for_the_mover_of_two_seats(marks: str) -> None:
    """In tic-tac-toe an action's mean is the expected outcome of random play, seen by the seat to move."""
    position = marks_position(marks)
    mean, error = means(mc(iterations=500), position, 40)
    sign = 1 if naive.mover(marks) == "X" else -1
    for cell in oracle.cells(marks):
        expected = sign * float(oracle.random_outcome(naive.put(marks, cell)))
        assert abs(mean[cell] - expected) <= 5 * error[cell] + 1e-12
        assert error[cell] < 0.02


@pytest.mark.parametrize("iterations", [1, 7])
def test_every_legal_action_gets_the_iterations(iterations: int) -> None:
    """Iterations are per available action (Kutsch 2017, 3)."""
    for position in (marks_position("XO......."), board_position(((2, 4), (0, 2)))):
        decision = mc(iterations=iterations).start(position.game, position.to_move).act(position)
        expected = np.zeros(position.game.num_actions)
        expected[position.legal_actions()] = iterations
        assert decision.visits.tolist() == expected.tolist()
        assert decision.nodes == iterations * len(position.legal_actions())


@pytest.mark.parametrize("method", [1, 2])
def test_depth_zero_counts_the_action_alone(method: int) -> None:
    """Without rollouts the value is PN after the move and its tile; method 2 takes 1 off where that is the end."""
    board = ((4, 4), (8, 16))
    assert [oracle.survives(board, direction) for direction in ("left", "right")] == [1, 0]
    position = board_position(board, 10.0)
    decision = mc(iterations=50, rollout_depth=0, score_method=method).start(position.game).act(position)
    pn = (10 + 8) / position.game.max_return
    assert decision.values.tolist() == pytest.approx([pn, pn - (method == 2), 0, 0])
