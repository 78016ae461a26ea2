"""What agents' values are read in: points are points, whatever unit an evaluator or a network has."""

from __future__ import annotations

import pytest

from tests.agents.two_seat_games import Coins
from turnier.agents.agent import Agent
from turnier.agents.evaluator import ONLY_RANKS
from turnier.agents.registry import make_agent
from turnier.commands.own.templates import agent, kernel_agent
from turnier.games.game import Position
from turnier.games.registry import make_game

LEFT = 0  # merges the two 2
BOARD = "2 2 4 8 / . . . . / . . . . / . . . 4, score 100"


def read(text: str, position: Position, action: int) -> float:
    """Returns an action's value as people read it."""
    made = make_agent(text)
    decision = made.start(position.game, position.to_move, 1).act(position)
    assert decision.visits[action] > 0
    return float(decision.values[action]) * made.value_unit(position.game).scale


@pytest.mark.parametrize(
    ("text", "points"),
    [
        ("greedy", 104),
        ("greedy(evaluator=rollout,rollout_depth=0)", 104),
        ("expectimax(depth=1)", 104),
        ("majority(agent=greedy,members=2)", 104),
        ("root_parallel(agent=expectimax(depth=1),members=2)", 104),
        ("formations(otherwise=greedy)", 104),
        ("formations(otherwise=greedy(evaluator=rollout,rollout_depth=0))", 104),
        ("mc(iterations=2,rollout_depth=1)", 104 + 2),  # a random move earns about as much again
        ("mctse(iterations=50,evaluator=score)", 104 + 4),
        ("puct(iterations=50,evaluator=score)", 104 + 4),
    ],
)
def test_points_are_points(text: str, points: float) -> None:
    assert read(text, make_game("2048").position_of(BOARD), LEFT) == pytest.approx(points, abs=8 * (points > 104))


def test_a_rollouts_length_is_in_plies() -> None:
    position = make_game("2048").position_of(BOARD)
    assert read("mc(iterations=3,evaluator=rollout_length,rollout_depth=1)", position, LEFT) == 1
    assert make_agent("mc(evaluator=rollout_length)").value_unit(position.game).text == "plies"


@pytest.mark.parametrize("text", ["greedy", "maxn(depth=1)", "mcts(iterations=2,evaluator=score,tree_depth=1)"])
def test_searches_of_several_seats_say_what_the_mover_gains(text: str) -> None:
    position = Coins(length=4).start()
    for action in (0, 1):
        assert read(text, position, action) == position.stepped(action).returns[position.to_move]


@pytest.mark.parametrize("template", [agent.Template, kernel_agent.Template])
def test_what_people_write_first_says_points(template: type[Agent]) -> None:
    position, made = make_game("2048").position_of(BOARD), template()
    gained = made.start(position.game).act(position).values[LEFT] * made.value_unit(position.game).scale
    assert gained == 4


@pytest.mark.parametrize(
    ("text", "game", "unit"),
    [
        ("greedy", "2048", "points"),
        ("mcts", "tictactoe", "-1 is lost, 1 is won"),
        ("expectimax(evaluator=rows2048)", "2048", ONLY_RANKS),
        ("mctse(evaluator=forgetful2048)", "2048", ONLY_RANKS),
        ("greedy(evaluator=matrix2048)", "2048", ONLY_RANKS),
        ("formations", "2048", ONLY_RANKS),
        ("mc(score_method=2)", "2048", f"{ONLY_RANKS}: points, 3,932,156 less for a rollout that ended the game"),
        ("mc", "2048", "points"),
        ("mc(evaluator=score)", "2048", "points"),
        ("mc", "yavalath", "-1 is lost, 1 is won"),
        ("majority(agent=minimax)", "spe_ed", ONLY_RANKS),
        ("combi", "spe_ed", ONLY_RANKS),
        ("mcts(evaluator=survivors)", "spe_ed", "-1 is lost, 1 is won"),
    ],
)
def test_values_that_are_no_results_are_said_to_rank_moves(text: str, game: str, unit: str) -> None:
    assert make_agent(text).value_unit(make_game(game)).text == unit


def test_other_units() -> None:
    game = Coins(length=2)
    assert read("alphabeta", game.start(), 1) == pytest.approx(5)  # half of a lead of ten
    for text in ("openspiel_mcts", "perfect"):  # results as the library has them; wins, whatever they are worth
        assert make_agent(text).value_unit(game).scale == 1
