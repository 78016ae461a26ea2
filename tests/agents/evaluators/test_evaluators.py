"""Every registry evaluator keeps its laws, broken ones prove that each law can fail; what rollouts are worth."""

from __future__ import annotations

import pytest

from tests.agents.evaluators import broken_evaluators as broken
from tests.agents.positions import board_position, marks_position
from turnier.agents.evaluator import Evaluator
from turnier.agents.registry import EVALUATORS
from turnier.contract import evaluators as laws
from turnier.contract.evaluators import estimate
from turnier.contract.law import Law, LawBroken, check_laws
from turnier.core.errors import UserError
from turnier.core.rng import stream
from turnier.games.registry import make_game

POSITIONS = {
    "tictactoe over": marks_position("XXXOO...."),
    "2048 4x4 over": board_position(((2, 4, 2, 4), (4, 2, 4, 2), (2, 4, 2, 4), (4, 2, 4, 2)), 500.0),
}
GAMES = ("tictactoe", "2048(size=2)", "2048", "spe_ed(width=8,height=9)")
CASES = [
    (name, game)
    for name in EVALUATORS.names()
    for game in GAMES
    if EVALUATORS.make(name).cannot_evaluate(make_game(game)) is None
]
BREAKS: list[tuple[Law, type[Evaluator]]] = [
    (laws.law_estimates_are_numbers, broken.Undefined),
    (laws.law_changes_nothing, broken.ChangesState),
    (laws.law_changes_nothing, broken.ChangesWeights),
    (laws.law_changes_nothing, broken.WritesOutside),
    (laws.law_counts, broken.CountsOnce),
    (laws.law_counts, broken.DrawsOnce),
    (laws.law_adds, broken.Overwrites),
    (laws.law_repeats, broken.GlobalRandom),
    (laws.law_draws, broken.DeniesDrawing),
]


@pytest.mark.parametrize(("name", "game"), CASES)
def test_evaluators_keep_the_laws(name: str, game: str) -> None:
    check_laws(laws.EVALUATOR_LAWS, EVALUATORS.make(name), make_game(game))


def test_every_evaluator_is_tested() -> None:
    assert {name for name, _ in CASES} == set(EVALUATORS.names())


@pytest.mark.parametrize(("law", "cls"), BREAKS, ids=lambda value: value.__name__)
def test_every_law_can_fail(law: Law, cls: type[Evaluator]) -> None:
    with pytest.raises(LawBroken, match=f"{law.__name__} is broken by "):
        check_laws(laws.EVALUATOR_LAWS, cls(), make_game("tictactoe"))
    check_laws(laws.EVALUATOR_LAWS, broken.Sound(), make_game("tictactoe"))


def test_no_law_is_left_without_a_broken_evaluator() -> None:
    assert {law for law, _ in BREAKS} == set(laws.EVALUATOR_LAWS)


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


FULL = ((2, 4, 2, 4), (4, 2, 4, 2), (2, 4, 2, 4), (4, 2, 4, 1024))  # no move is left
ONE_MOVE = ((0, 0), (0, 1024))


@pytest.mark.parametrize(
    ("board", "tile", "depth", "expected"),
    [
        (FULL, 1024, 50, 1.0),  # over, with the tile
        (FULL, 2048, 50, -1.0),  # over without it
        (ONE_MOVE, 1024, 0, 1.0),
        (ONE_MOVE, 2048, 3, 0.0),  # cut short
        (ONE_MOVE, 2048, 5000, -1.0),  # a board of 2 x 2 has no room for it
    ],
)
def test_a_rollout_is_won_by_its_tile(
    board: tuple[tuple[int, ...], ...], tile: int, depth: int, expected: float
) -> None:
    position = board_position(board, 500.0)
    kernels = EVALUATORS.make(f"tile2048(tile={tile})").kernels(position.game, depth, 2)
    assert estimate(position.game, kernels, position.state, position.returns, stream(1), count=3) == [3 * expected]


def test_a_tile_that_wins_is_one_of_the_game() -> None:
    with pytest.raises(UserError, match="power of two, got 1000"):
        EVALUATORS.make("tile2048(tile=1000)")
