"""Positions whose right answer is known: tic-tac-toe solved, 2048 where one move survives, 2x2 2048 by expectimax."""

from __future__ import annotations

import functools

import numpy as np
import pytest

from tests import naive
from tests.agents import naive_search as oracle
from tests.agents.positions import DIRECTION, board_position, marks_position
from turnier.agents.agent import Decision
from turnier.agents.registry import make_agent
from turnier.arena.match import MatchSpec
from turnier.arena.play import play_matches
from turnier.core.kernel import JIT

pytestmark = pytest.mark.skipif(not JIT, reason="thousands of searches; the contract runs small ones in plain Python")

MC = "mc(iterations=2000)"
UCT = "mctse(iterations=2000,selection=uct,exploration=1.4)"
MCTS = "mcts(iterations=2000,exploration=0.7)"
GRAVE = "grave(iterations=2000,exploration=0.7,bias=0.1)"
PUCT = "puct(iterations=2000,evaluator=score,solver=true)"
GUMBEL = PUCT.replace("solver", "selection=gumbel,solver")
ALL_MARKS = oracle.all_marks()
OTHER = {"X": "O", "O": "X"}


def mover(marks: str) -> str:
    found = naive.mover(marks)
    assert found is not None
    return found


@functools.cache
def decide(agent: str, marks: str) -> Decision:
    position = marks_position(marks)
    return make_agent(agent).start(position.game, position.to_move, 7).act(position)


@pytest.mark.parametrize("agent", [MC, UCT, MCTS, GRAVE])
def test_a_win_in_one_is_never_missed(agent: str) -> None:
    """Where the mover can win at once, it does, or plays what wins against every reply (all its rollouts were won)."""
    positions = [marks for marks in ALL_MARKS if oracle.winning_cells(marks, mover(marks))]
    assert len(positions) == 321
    at_once = 0
    for marks in positions:
        decision = decide(agent, marks)
        sign = 1 if mover(marks) == "X" else -1
        assert decision.values[decision.action] == 1.0 or len(oracle.cells(marks)) == 1, marks
        assert sign * oracle.random_outcome(naive.put(marks, decision.action)) == 1, marks
        at_once += decision.action in oracle.winning_cells(marks, mover(marks))
    assert at_once > 0.9 * len(positions)


@pytest.mark.parametrize("agent", [UCT, MCTS, GRAVE])
def test_tree_search_blocks_every_threat(agent: str) -> None:
    """Where the mover cannot win at once, the opponent threatens one cell and not all is lost, that cell is taken."""
    positions = [
        marks
        for marks in ALL_MARKS
        if not oracle.winning_cells(marks, mover(marks))
        and len(oracle.winning_cells(marks, OTHER[mover(marks)])) == 1
        and oracle.minimax(marks) != (-1 if mover(marks) == "X" else 1)
    ]
    assert len(positions) > 80
    for marks in positions:
        assert [decide(agent, marks).action] == oracle.winning_cells(marks, OTHER[mover(marks)]), marks


@pytest.mark.parametrize(
    "agent",
    [UCT, "mctse(iterations=2000)", MCTS, "mcts(iterations=2000)", GRAVE, PUCT, GUMBEL, "expectimax(depth=9)"],
)
def test_tree_search_plays_tictactoe_perfectly(agent: str) -> None:
    """No action of the search is worse than the best one, by minimax, in any position."""
    assert len(ALL_MARKS) == 627
    for marks in ALL_MARKS:
        sign = 1 if mover(marks) == "X" else -1
        after = naive.put(marks, decide(agent, marks).action)
        assert sign * oracle.minimax(after) == sign * oracle.minimax(marks), marks


def test_flat_monte_carlo_does_not() -> None:
    """The rollouts of `mc` know nothing of good replies: somewhere its best mean is not the best action."""
    wrong = [m for m in ALL_MARKS if oracle.minimax(naive.put(m, decide(MC, m).action)) != oracle.minimax(m)]
    assert 0 < len(wrong) < 60


def test_greedy_takes_the_win_in_one() -> None:
    """One ply over the returns so far wins at once wherever it can; elsewhere all is alike and the first is played."""
    for marks in ALL_MARKS:
        decision = decide("greedy", marks)
        wins = oracle.winning_cells(marks, mover(marks))
        assert decision.action == (wins or oracle.cells(marks))[0], marks
        assert list(np.flatnonzero(decision.values)) == wins, marks


def test_perfect_play_never_loses_a_match() -> None:
    """Whole compiled matches: against the random agent the tree search never loses in either seat, and mostly wins."""
    agents = (make_agent(UCT.replace("2000", "1000")).full_text(), "random")
    for seat in (0, 1):
        seats = agents if seat == 0 else agents[::-1]
        records = play_matches([MatchSpec("tictactoe", seats, seed) for seed in range(20)])
        scores = [record.scores[seat] for record in records]
        assert min(scores) >= 0 and sum(scores) >= 12
        assert all(sum(record.scores) == 0 for record in records)


# 4x4 boards, and the only direction after which a move is left whatever tile appears; after every other legal one the
# game is over for sure.
ONE_SURVIVES: list[tuple[str, naive.Board]] = [
    ("up", ((64, 32, 8, 64), (8, 2, 8, 2), (4, 16, 2, 64), (8, 2, 8, 4))),
    ("up", ((2, 16, 32, 128), (32, 2, 32, 4), (4, 16, 2, 32), (256, 128, 16, 256))),
    ("down", ((16, 64, 2, 256), (64, 16, 8, 4), (32, 8, 32, 2), (2, 64, 32, 64))),
    ("down", ((2, 8, 2, 4), (2, 16, 128, 32), (2, 4, 256, 64), (16, 64, 2, 8))),
    ("right", ((16, 4, 64, 4), (64, 2, 8, 128), (4, 32, 2, 32), (2, 8, 128, 128))),
    ("right", ((4, 128, 256, 8), (2, 32, 2, 16), (4, 16, 32, 32), (8, 32, 8, 32))),
    ("left", ((4, 2, 64, 256), (16, 8, 16, 4), (8, 256, 32, 64), (4, 4, 2, 128))),
    ("left", ((8, 8, 4, 2), (8, 256, 2, 128), (64, 16, 4, 16), (128, 32, 8, 32))),
    ("up", ((8, 4, 8, 8), (32, 64, 32, 8), (8, 4, 16, 32), (2, 16, 64, 4))),
]


@pytest.mark.parametrize(("direction", "board"), ONE_SURVIVES, ids=str)
@pytest.mark.parametrize(
    "agent",
    [
        "mc(iterations=300)",
        "mc(iterations=300,rollout_depth=1)",
        "mctse(iterations=1000)",
        "mctse(iterations=1000,selection=uct,exploration=0.0566,rollout_depth=20)",
        "puct(iterations=300,evaluator=rows2048)",
        "puct(iterations=300,evaluator=rows2048,selection=gumbel)",
        "expectimax(depth=2,evaluator=rows2048)",
        "expectimax(depth=1,leaf=state,evaluator=rows2048)",
        "majority(agent=mc(iterations=300,rollout_depth=1),members=3)",
        "root_parallel(agent=mctse(iterations=500),members=2)",
    ],
)
def test_the_only_move_that_survives_is_played(agent: str, direction: str, board: naive.Board) -> None:
    assert len(naive.legal(board)) > 1
    assert all(oracle.survives(board, other) == (other == direction) for other in naive.legal(board))
    position = board_position(board, score=5000.0)
    for seed in range(5):
        decision = make_agent(agent).start(position.game, 0, seed).act(position)
        assert decision.action == DIRECTION[direction]


def small_boards() -> list[naive.Board]:
    """Returns the 2x2 boards that play can reach with actions of different worth, one of each symmetric class."""
    classes: dict[naive.Board, naive.Board] = {}
    for board in sorted(oracle.reachable_boards(2)):
        family = {board}
        for _ in range(4):
            board = tuple(zip(*board[::-1], strict=True))
            family |= {board, board[::-1]}
        classes.setdefault(min(family), board)
    return [board for board in classes.values() if len(set(oracle.expectimax_actions(board).values())) > 1]


@pytest.mark.parametrize("selection", ["selection=uctn,exploration=0.3", "selection=uct,exploration=0.1"])
def test_tree_search_agrees_with_exact_expectimax(selection: str) -> None:
    """On every 2x2 board with better and worse actions the search plays one that expectimax says is best.

    The search's means include its exploration, so they stay below the optimum but for noise.
    """
    agent = make_agent(
        f"mctse(iterations=5000,maxnodes=1000000,tree_depth=100,rollout_depth=1000,score_method=1,{selection})"
    )
    boards = small_boards()
    assert len(boards) > 25
    for board in boards:
        exact = oracle.expectimax_actions(board)
        position = board_position(board)
        decision = agent.start(position.game, 0, 3).act(position)
        assert exact[naive.DIRECTIONS[decision.action]] == max(exact.values()), (board, exact, decision)
        assert decision.values[decision.action] * position.game.max_return < float(max(exact.values())) + 2
