"""Trees of MCTS-Expectimax for tests: how to grow, walk and check them, on several positions under several limits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from tests.agents.positions import board_position, marks_position
from turnier.agents.mctse.agent import Mctse
from turnier.agents.mctse.search import search
from turnier.agents.mctse.tree import DONE, NODES_PER_ITERATION, NONE, NUM_ACTION_NODES, NUM_NODES, UNKNOWN, new_tree
from turnier.agents.mctse.tree_copies import LARGEST_BATCH
from turnier.agents.registry import EVALUATORS, make_agent
from turnier.core.rng import stream
from turnier.games.abi import CHANCE
from turnier.games.game import Game, Position

SCORE = EVALUATORS.make("score")
UNLIMITED = 1_000_000


def mctse(**changes: Any) -> Mctse:
    agent = make_agent("mctse").replace(**changes)
    assert isinstance(agent, Mctse)
    return agent


def grow(agent: Mctse, position: Position, *chunks: int, capacity: int = 0, seed: int = 1) -> Any:
    """Returns the tree of a search that ran in chunks of iterations on one stream of random numbers."""
    game, rng = position.game, stream(seed)
    kernels = agent.kernels(game)
    tree = new_tree(capacity or NODES_PER_ITERATION * sum(chunks) + 1, game.num_seats)
    for iterations in chunks:
        arrays = (position.state, position.returns, rng)
        search(game.kernels, kernels.evaluator, kernels.settings, tree, *arrays, iterations)
    return tree


def children(tree: Any, node: int) -> list[int]:
    found = []
    child = tree.first_child[node]
    while child != NONE:
        found.append(int(child))
        child = tree.next_sibling[child]
    return found


@dataclass
class Visited:
    """A node of a tree with the position that it stands for; an action node has its afterstate."""

    node: int
    state: np.ndarray
    returns: np.ndarray
    action_levels: int
    is_action: bool
    children: list[int] = field(default_factory=list)


def walk(tree: Any, position: Position) -> Iterator[Visited]:
    """Yields every node of a tree below a position, stepping the game along the labels (one outcome at a time)."""
    game = position.game
    waiting = [Visited(0, position.state.copy(), position.returns.copy(), 0, False)]
    while waiting:
        here = waiting.pop()
        here.children = children(tree, here.node)
        yield here
        for child in here.children:
            state, returns = here.state.copy(), here.returns.copy()
            label = int(tree.label[child])
            if not here.is_action:
                game.kernels.step(state, label, returns)
            elif game.kernels.to_move(state) == CHANCE:
                game.kernels.step(state, label - 1, returns)  # the code of a single outcome is the outcome + 1
                assert game.kernels.to_move(state) != CHANCE
            else:
                assert label == 0  # nothing was drawn
            levels = here.action_levels + (not here.is_action)
            waiting.append(Visited(child, state, returns, levels, not here.is_action))


def together(agent: Mctse) -> Any:
    """How a node's values follow from those below it."""
    return np.min if agent.backup == "minimum" else np.sum


def legal(game: Game, state: np.ndarray) -> list[int]:
    return game.position(state).legal_actions()


POSITIONS = {
    "tictactoe": marks_position("........."),
    "tictactoe late": marks_position("XO.OX...."),
    "2048 2x2": board_position(((2, 0), (0, 2))),
    "2048 3x3": board_position(((2, 4, 2), (8, 2, 0), (0, 0, 2)), score=40.0),
    "2048 4x4": board_position(((2, 4, 2, 0), (8, 2, 0, 0), (0, 0, 2, 16), (0, 0, 0, 2)), score=100.0),
}
LIMITS: dict[str, dict[str, Any]] = {
    "no limit": {"maxnodes": UNLIMITED, "tree_depth": 1000},
    "few nodes": {"maxnodes": 7, "tree_depth": 1000},
    "one node": {"maxnodes": 1, "tree_depth": 1000},
    "depth 1": {"maxnodes": UNLIMITED, "tree_depth": 1},
    "depth 2": {"maxnodes": UNLIMITED, "tree_depth": 2},
    "uct": {"maxnodes": 40, "tree_depth": 4, "selection": "uct", "exploration": 0.3},
    "uctn, method 2": {"maxnodes": 100, "tree_depth": 5, "score_method": 2},
    "pessimistic": {"maxnodes": 80, "tree_depth": 5, "backup": "minimum"},
    "score": {"maxnodes": 60, "tree_depth": 6, "evaluator": SCORE},
}
BOTH = pytest.mark.parametrize(
    ("where", "limits"), [(w, n) for w in POSITIONS for n in LIMITS], ids=lambda text: text.replace(" ", "-")
)


def check_invariants(agent: Mctse, position: Position, tree: Any, iterations: int) -> tuple[int, int]:
    """Limits hold, every node stands for a position of the game, and visits add up along every edge.

    An iteration ends at one decision node and adds to every node above it. So an action node's visits and values are
    the sums of its children's; a decision node has the visits that ended there besides. Returns the number of action
    nodes and the most of them on a path.
    """
    game = position.game
    assert tree.counts[DONE] == tree.visits[0] == iterations
    unlimited = agent.maxnodes >= iterations and agent.tree_depth >= iterations
    nodes, action_nodes, deepest = set(), 0, 0
    for here in walk(tree, position):
        assert here.node not in nodes
        nodes.add(here.node)
        action_nodes += here.is_action
        deepest = max(deepest, here.action_levels)
        visits = int(tree.visits[here.node])
        below_visits = int(sum(tree.visits[child] for child in here.children))
        labels = [int(tree.label[child]) for child in here.children]
        assert len(set(labels)) == len(labels)
        if here.is_action:
            assert visits == below_visits > 0
            joined = together(agent)(tree.values[here.children], axis=0)
            assert tree.values[here.node] == pytest.approx(joined, abs=1e-9)
            continue
        ended_here = visits - below_visits
        possible = legal(game, here.state)
        assert set(labels) <= set(possible)
        assert ended_here >= 0
        if tree.untried[here.node] == UNKNOWN:
            assert agent.threads > 1 or not labels  # this thread was never here, others may have been
        else:
            assert tree.untried[here.node] + len(labels) == len(possible)
        if unlimited:
            # One rollout where its action was new, none where only its outcome was: then it was expanded at once.
            # Threads that do not know of each other's node yet have one each.
            assert ended_here in (range(1) if here.node == 0 else range(1 + agent.threads) if possible else (visits,))
            if tree.untried[here.node] > 0:  # every action is tried before one is tried again
                assert all(tree.visits[child] <= agent.threads for child in here.children)
    assert len(nodes) == tree.counts[NUM_NODES] <= tree.visits.size
    assert action_nodes == tree.counts[NUM_ACTION_NODES] <= agent.maxnodes + (agent.threads - 1) * LARGEST_BATCH
    assert deepest <= agent.tree_depth
    return action_nodes, deepest
