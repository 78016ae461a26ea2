"""Inside MCTS-Expectimax: the tree's invariants, the same search in plain Python, game scores."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests import naive
from tests.agents import naive_search as oracle
from tests.agents.mctse.mctse_trees import (
    BOTH,
    LIMITS,
    POSITIONS,
    SCORE,
    UNLIMITED,
    check_invariants,
    children,
    grow,
    legal,
    mctse,
    together,
    walk,
)
from tests.agents.positions import board_position
from turnier.agents.agent import seat_rng
from turnier.agents.mctse.search import search
from turnier.agents.mctse.tree import DONE, NODES_PER_ITERATION, NUM_NODES, new_tree
from turnier.contract.evaluators import estimate
from turnier.core.kernel import JIT
from turnier.core.rng import below
from turnier.games.abi import CHANCE, TERMINAL
from turnier.games.game import Position
from turnier.games.generic import draw_outcome

needs_jit = pytest.mark.skipif(not JIT, reason="thousands of iterations")


@BOTH
def test_tree_invariants(where: str, limits: str) -> None:
    """What every tree keeps, and that limits were reached where they were to be tested."""
    position, iterations = POSITIONS[where], 300
    agent = mctse(rollout_depth=10, **LIMITS[limits])
    action_nodes, deepest = check_invariants(agent, position, grow(agent, position, iterations), iterations)
    if limits in ("one node", "few nodes"):
        assert action_nodes == agent.maxnodes
    if limits in ("depth 1", "depth 2"):
        assert deepest == agent.tree_depth
    if limits == "depth 1":
        assert action_nodes == len(legal(position.game, position.state))


@BOTH
def test_values_are_the_sums_of_what_ended_below(where: str, limits: str) -> None:
    """With the evaluator `score` an iteration is worth the returns where it ends, so every sum is known exactly."""
    position = POSITIONS[where]
    agent = mctse(**LIMITS[limits] | {"evaluator": SCORE})
    tree = grow(agent, position, 300)
    found = {here.node: here for here in walk(tree, position)}
    expected: dict[int, np.ndarray] = {}
    for node in sorted(found, reverse=True):  # children are created after their parents
        below_here = found[node].children
        ended = tree.visits[node] - sum(tree.visits[child] for child in below_here)
        own = [] if ended == 0 else [found[node].returns * (1 if limits == "pessimistic" else ended)]
        expected[node] = together(agent)(own + [expected[child] for child in below_here], axis=0)
        assert tree.values[node] == pytest.approx(expected[node], abs=1e-9)
    largest = np.max([here.returns for here in found.values() if not here.is_action and here.node != 0], axis=0)
    if limits not in ("few nodes", "one node") or position.returns.max() == 0:
        assert tree.largest == pytest.approx(np.maximum(largest, 0.0))
    assert len(found) > 2


@BOTH
def test_a_search_in_chunks_equals_one_search(where: str, limits: str) -> None:
    """A tree outlives a call: 100 + 60 + 40 iterations grow the same tree as 200, bit for bit."""
    agent = mctse(rollout_depth=10, **LIMITS[limits])
    whole, chunks = (grow(agent, POSITIONS[where], *c, capacity=700) for c in ((200,), (100, 60, 40)))
    n = int(whole.counts[NUM_NODES])
    assert n > 2
    assert np.array_equal(whole.counts, chunks.counts) and np.array_equal(whole.largest, chunks.largest)
    for name in ("first_child", "next_sibling", "label", "untried", "visits", "values"):
        assert np.array_equal(getattr(whole, name)[:n], getattr(chunks, name)[:n]), name


@pytest.mark.parametrize("capacity", [1, 2, 3, 8, 51])
def test_a_full_tree_stays_inside_its_arrays(capacity: int) -> None:
    """The number of nodes never exceeds the capacity, whatever the limit of action nodes says."""
    tree = grow(mctse(maxnodes=UNLIMITED, rollout_depth=5), POSITIONS["2048 4x4"], 200, capacity=capacity)
    assert capacity - NODES_PER_ITERATION < tree.counts[NUM_NODES] <= capacity
    assert tree.visits[0] == tree.counts[DONE] == 200


# --- The same search, in plain Python -----------------------------------------------------------------------------


class Walker:
    """A position that the oracle may change."""

    def __init__(self, position: Position) -> None:
        self.game = position.game
        self.state, self.returns = position.state.copy(), position.returns.copy()

    def mover(self) -> int | None:
        mover = int(self.game.kernels.to_move(self.state))
        return None if mover == TERMINAL else mover

    def chance(self) -> bool:
        return bool(self.game.kernels.to_move(self.state) == CHANCE)

    def legal(self) -> list[int]:
        return legal(self.game, self.state)

    def step(self, action: int) -> None:
        self.game.kernels.step(self.state, action, self.returns)


@BOTH
def test_the_search_equals_a_plain_one(where: str, limits: str) -> None:
    """Algorithms 7 to 9 written with objects and dictionaries visit every node as often and with the same values."""
    position, iterations = POSITIONS[where], 160
    agent = mctse(iterations=iterations, rollout_depth=8, **LIMITS[limits])
    game = position.game
    kernels, rng = agent.kernels(game), seat_rng(5, position.to_move, game.num_seats)
    choices, probs = np.zeros(game.kernels.max_choices, np.int64), np.zeros(game.kernels.max_choices)

    def evaluate(walker: Walker) -> list[float]:
        return list(estimate(game, kernels.evaluator, walker.state, walker.returns, rng))

    root = oracle.mctse(
        agent,
        iterations,
        lambda: Walker(position),
        lambda n: int(below(rng, n)),
        lambda walker: int(draw_outcome(game.kernels, walker.state, rng, choices, probs)),
        evaluate,
    )
    decision = agent.start(game, position.to_move, 5).act(position)
    expected = np.zeros((2, game.num_actions))
    for action, node in root.children.items():
        divisor = 1 if agent.backup == "minimum" else node.visits
        expected[:, action] = node.visits, node.values[position.to_move] / divisor
    assert decision.visits.tolist() == expected[0].tolist()
    assert decision.values == pytest.approx(expected[1], rel=1e-12, abs=1e-15)

    tree = new_tree(NODES_PER_ITERATION * iterations + 1, game.num_seats)
    arrays = (position.state, position.returns, seat_rng(5, position.to_move, game.num_seats))
    search(game.kernels, kernels.evaluator, kernels.settings, tree, *arrays, iterations)

    def shape(node: int) -> tuple[int, list[Any]]:
        return int(tree.visits[node]), sorted(shape(child) for child in children(tree, node))

    def plain(node: oracle.Node) -> tuple[int, list[Any]]:
        return node.visits, sorted(plain(child) for child in node.children.values())

    assert shape(0) == plain(root)


# --- Game scores ---------------------------------------------------------------------------------------------------

SMALL_BOARDS: list[naive.Board] = [((2, 4), (2, 8)), ((4, 2, 8), (2, 16, 4), (8, 2, 2)), ((16, 2), (4, 4))]


@needs_jit
@pytest.mark.parametrize("board", SMALL_BOARDS)
@pytest.mark.parametrize("method", [1, 2])
@pytest.mark.parametrize("depth", [0, 1, 3])
def test_means_are_the_exact_game_scores(board: naive.Board, method: int, depth: int) -> None:
    """With tree depth 1 an action's mean is the expected PN of random play (method 1), less 1 where it ends (2)."""
    position = board_position(board)
    game = position.game
    agent = mctse(
        iterations=400, rollout_depth=depth, tree_depth=1, score_method=method, selection="uct", exploration=100.0
    )
    player = agent.start(game, 0, 11)
    runs = np.array([player.act(position).values for _ in range(60)])
    if depth > 0:
        assert runs.std(axis=0).any()
    for direction in naive.legal(board):
        action = naive.DIRECTIONS.index(direction)
        expected = oracle.rollout_value(board, direction, depth, method, game.max_return)
        error = runs[:, action].std(ddof=1) / len(runs) ** 0.5
        assert error < 0.01
        assert abs(runs[:, action].mean() - expected) <= 5 * error + 1e-12
