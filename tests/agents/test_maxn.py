"""Max-N equals a plain-Python Max-N in small games of one to three seats, with and without the table of states."""

from __future__ import annotations

import numpy as np
import pytest

from tests import naive
from tests.agents import naive_search as oracle
from tests.agents.agent_cases import law_sentence
from tests.agents.positions import marks_position
from tests.agents.two_seat_games import Coins, Takeaway
from tests.contract.tiny_games import Fuse, Pennies, Pig, Wander
from turnier.agents.agent import Agent, Decision
from turnier.agents.registry import make_agent
from turnier.core.errors import UserError
from turnier.core.kernel import JIT
from turnier.games.game import Game, Position
from turnier.games.registry import make_game

GAMES: tuple[Game, ...] = (Fuse(), Fuse(length=2), Coins(), Takeaway(), Pennies(), Wander(side=3))
needs_jit = pytest.mark.skipif(not JIT, reason="millions of nodes")


def line(position: Position, depth: int) -> tuple[tuple[float, ...], int, int]:
    """Returns the line of best play by the definition: each seat's return at its end, its plies, its first action."""
    if position.over or depth == 0:
        return tuple(position.returns), 0, -1
    mover, best = position.to_move, None
    for action in position.legal_actions():
        returns, plies, _ = line(position.play(action), depth - 1)
        own = returns[mover]
        rank = (own, -plies if own > 0 else plies if own < 0 else 0)
        if best is None or rank > best[0]:
            best = (rank, (returns, plies + 1, action))
    assert best is not None
    return best[1]


def random_positions(game: Game, count: int, seed: int = 0) -> list[Position]:
    """Returns positions with a choice, from random games, as their movers see them."""
    draws, found = np.random.default_rng(seed), []
    while len(found) < count:
        position = game.start(len(found))
        seen = []
        while not position.over:
            seen.append(position)
            position = position.play(int(draws.choice(position.legal_actions())))
        seen = [position for position in seen if len(position.legal_actions()) > 1]
        if seen:
            position = seen[draws.integers(len(seen))]
            found.append(game.position(position.view(position.to_move), position.returns))
    return found


def decide(agent: Agent, position: Position) -> Decision:
    return agent.start(position.game, position.to_move, 5).act(position)


def maxn(depth: int, hash: bool = True) -> Agent:
    return make_agent("maxn").replace(depth=depth, hash=hash)


@pytest.mark.parametrize("game", GAMES, ids=str)
@pytest.mark.parametrize("hash", [False, True])
def test_values_and_actions_are_those_of_the_definition(game: Game, hash: bool) -> None:
    for position in random_positions(game, 12):
        for depth in (1, 2, 3, 5):
            decision = decide(maxn(depth, hash), position)
            returns, _, action = line(position, depth)
            assert decision.action == action, (position.state, depth)
            assert decision.values[action] == returns[position.to_move]
            for other in position.legal_actions():
                expected = line(position.play(other), depth - 1)[0]
                assert decision.values[other] == expected[position.to_move]


@needs_jit
def test_tictactoe_is_solved() -> None:
    """Searched to the end, every reachable position has its minimax value, and the table changes nothing but nodes."""
    for marks in oracle.all_marks():
        position = marks_position(marks)
        if len(position.legal_actions()) == 1:
            continue
        with_table, without = (decide(maxn(9, hash), position) for hash in (True, False))
        sign = 1 if naive.mover(marks) == "X" else -1
        assert with_table.values[with_table.action] == sign * oracle.minimax(marks), marks
        assert with_table.action == without.action and np.array_equal(with_table.values, without.values)
        assert with_table.nodes <= without.nodes


@needs_jit
def test_the_whole_tree_of_tictactoe_is_counted() -> None:
    """Without a table every one of the 549,946 nodes but the root is searched, with it a few per state."""
    start = make_game("tictactoe").start()
    assert decide(maxn(9, hash=False), start).nodes == 549_945
    assert decide(maxn(9), start).nodes < 20_000


def test_a_win_at_once_is_played_at_once() -> None:
    """Wherever the mover can win with its next stone it does, though an earlier action may win later."""
    for marks in oracle.all_marks():
        wins = oracle.winning_cells(marks, str(naive.mover(marks)))
        if wins and marks.count(".") < (9 if JIT else 5):
            assert decide(maxn(5), marks_position(marks)).action in wins, marks


@needs_jit
def test_rollouts_value_the_end_of_the_game_as_it_is() -> None:
    agent = make_agent("maxn(depth=9,evaluator=rollout)")
    for marks in ["X........", "XO.......", "XOX.O....", ".X.OO.X.."]:
        decision, sign = decide(agent, marks_position(marks)), 1 if naive.mover(marks) == "X" else -1
        assert decision.values[decision.action] == sign * oracle.minimax(marks)


def test_rollouts_value_the_horizon() -> None:
    """A rollout to the end of a won position wins: of a heap of two, taking both wins and taking one loses."""
    decision = decide(make_agent("maxn(depth=1,evaluator=rollout)"), Takeaway(heap=2).start())
    assert decision.values.tolist() == [-1.0, 1.0, 0.0] and decision.action == 1


@pytest.mark.parametrize("game", [make_game("2048"), make_game("2048(size=2)"), Pig()], ids=str)
def test_games_with_chance_are_refused_in_a_sentence(game: Game) -> None:
    law_sentence(maxn(3).cannot_play(game))
    with pytest.raises(UserError, match="maxn plays games without chance"):
        maxn(3).start(game)
