"""Laws of every evaluator's kernel: it adds to the totals, counts, and leaves what it evaluates as it is."""

from __future__ import annotations

import numpy as np
import pytest

from tests.agents.positions import board_position, estimate, marks_position
from turnier.agents.abi import new_scratch
from turnier.agents.registry import EVALUATORS
from turnier.core.rng import stream
from turnier.games.game import Position

POSITIONS = {
    "tictactoe": marks_position("XO......."),
    "tictactoe over": marks_position("XXXOO...."),
    "2048 2x2": board_position(((2, 4), (0, 2)), 12.0),
    "2048 4x4": board_position(((2, 4, 8, 16), (4, 2, 16, 8), (2, 8, 4, 2), (0, 2, 4, 8)), 300.0),
    "2048 4x4 over": board_position(((2, 4, 2, 4), (4, 2, 4, 2), (2, 4, 2, 4), (4, 2, 4, 2)), 500.0),
}
CASES = [
    (name, where)
    for name in EVALUATORS.names()
    for where, position in POSITIONS.items()
    if EVALUATORS.make(name).cannot_evaluate(position.game) is None
]


def afterstate(position: Position) -> Position:
    """Returns the position after its first legal action, before chance, or itself where it is over."""
    return position if position.over else position.play(position.legal_actions()[0], draw_chance=False)


@pytest.mark.parametrize(("name", "where"), CASES)
@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("method", [1, 2])
def test_estimates_add_up(name: str, where: str, after: bool, method: int) -> None:
    """`count` estimates are `count` calls of one, on the same stream; state, returns and weights stay as they are."""
    position = afterstate(POSITIONS[where]) if after else POSITIONS[where]
    game = position.game
    kernels = EVALUATORS.make(name).kernels(game, 4, method)
    state, returns, weights = position.state.copy(), position.returns.copy(), kernels.weights.copy()
    one_by_one, at_once = stream(3), stream(3)
    singles = [estimate(game, kernels, state, returns, one_by_one) for _ in range(7)]
    assert estimate(game, kernels, state, returns, at_once, count=7) == pytest.approx(
        np.sum(singles, axis=0), rel=1e-12
    )
    assert np.array_equal(one_by_one, at_once)
    assert not estimate(game, kernels, state, returns, at_once, count=0).any()
    totals = np.full(game.num_seats, 0.25)
    kernels.evaluate(
        game.kernels, kernels.weights, state, returns, 1, stream(3), totals, new_scratch(game.kernels, state)
    )
    assert totals == pytest.approx(singles[0] + 0.25, rel=1e-12)
    assert np.array_equal(state, position.state) and np.array_equal(returns, position.returns)
    assert np.array_equal(kernels.weights, weights)


@pytest.mark.parametrize("where", ["tictactoe over", "2048 4x4 over"])
@pytest.mark.parametrize("method", [1, 2])
def test_a_finished_game_is_worth_its_returns(where: str, method: int) -> None:
    """Where the game is over a rollout adds nothing: returns / max_return, and less 1 by method 2 for one seat."""
    position = POSITIONS[where]
    kernels = EVALUATORS.make("rollout").kernels(position.game, 50, method)
    expected = position.returns / position.game.max_return - (method == 2 and position.game.num_seats == 1)
    assert estimate(position.game, kernels, position.state, position.returns, stream(1)) == pytest.approx(expected)
    score = EVALUATORS.make("score").kernels(position.game, 50, method)
    assert estimate(position.game, score, position.state, position.returns, stream(1)).tolist() == list(
        position.returns
    )


@pytest.mark.parametrize(
    ("where", "depth", "expected"),
    [("XOXOXOOX.", 50, 1.0), ("XO.......", 3, 3.0), ("XXXOO....", 50, 0.0)],  # one cell left, cut short, over
)
def test_the_length_of_a_rollout_counts_plies(where: str, depth: int, expected: float) -> None:
    position = marks_position(where)
    kernels = EVALUATORS.make("rollout_length").kernels(position.game, depth, 1)
    assert (
        estimate(position.game, kernels, position.state, position.returns, stream(1), count=4).tolist()
        == [4 * expected] * 2
    )
