"""Inside MCTS-Expectimax: the tree's invariants, selection by hand, K's table 1, the same search in plain Python."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import naive
from tests.agents import naive_search as oracle
from tests.agents.positions import board_position, estimate, marks_position
from turnier.agents.abi import VALUES
from turnier.agents.agent import seat_rng
from turnier.agents.mctse import Mctse
from turnier.agents.mctse_search import choose, is_settled, report, search, select_action
from turnier.agents.registry import EVALUATORS, make_agent
from turnier.agents.tree import (
    DONE,
    NONE,
    NUM_ACTION_NODES,
    NUM_NODES,
    UNKNOWN,
    add_node,
    back_up,
    find_child,
    new_tree,
)
from turnier.games.abi import CHANCE, JIT, TERMINAL
from turnier.games.game import Game, Position
from turnier.games.generic import draw_outcome
from turnier.games.rng import below, stream

needs_jit = pytest.mark.skipif(not JIT, reason="thousands of iterations")
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
    tree = new_tree(capacity or 2 * sum(chunks) + 1, game.num_seats)
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


@BOTH
def test_tree_invariants(where: str, limits: str) -> None:
    """Limits hold, every node stands for a position of the game, and visits add up along every edge.

    An iteration ends at one decision node and adds to every node above it. So an action node's visits and values are
    the sums of its children's; a decision node has the visits that ended there besides.
    """
    position, iterations = POSITIONS[where], 300
    agent = mctse(rollout_depth=10, **LIMITS[limits])
    tree, game = grow(agent, position, iterations), position.game
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
        if here.node != 0:
            assert ended_here >= 1  # the rollout that the node was created for
        if tree.untried[here.node] == UNKNOWN:
            assert not labels
        else:
            assert tree.untried[here.node] + len(labels) == len(possible)
        if unlimited:
            assert ended_here == (0 if here.node == 0 else visits if not possible else 1)
            if tree.untried[here.node] > 0:  # every action is tried before one is tried again
                assert all(tree.visits[child] == 1 for child in here.children)
    assert len(nodes) == tree.counts[NUM_NODES] <= tree.visits.size
    assert action_nodes == tree.counts[NUM_ACTION_NODES] <= agent.maxnodes
    assert deepest <= agent.tree_depth
    if limits in ("one node", "few nodes"):
        assert action_nodes == agent.maxnodes  # the limit was reached, so that it was tested
    if limits in ("depth 1", "depth 2"):
        assert deepest == agent.tree_depth
    if limits == "depth 1":
        assert action_nodes == len(legal(game, position.state))


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
    whole, chunks = (grow(agent, POSITIONS[where], *c, capacity=500) for c in ((200,), (100, 60, 40)))
    n = int(whole.counts[NUM_NODES])
    assert n > 2
    assert np.array_equal(whole.counts, chunks.counts) and np.array_equal(whole.largest, chunks.largest)
    for name in ("first_child", "next_sibling", "label", "untried", "visits", "values"):
        assert np.array_equal(getattr(whole, name)[:n], getattr(chunks, name)[:n]), name


@pytest.mark.parametrize("capacity", [1, 2, 3, 8, 51])
def test_a_full_tree_stays_inside_its_arrays(capacity: int) -> None:
    """The number of nodes never exceeds the capacity, whatever the limit of action nodes says."""
    tree = grow(mctse(maxnodes=UNLIMITED, rollout_depth=5), POSITIONS["2048 4x4"], 200, capacity=capacity)
    assert capacity - 1 <= tree.counts[NUM_NODES] <= capacity
    assert tree.visits[0] == tree.counts[DONE] == 200


def test_children_lists_by_hand() -> None:
    """add_node puts a node in front of its parent's children; find_child finds by label; back_up adds along a path."""
    tree = new_tree(6, 2)
    assert tree.counts[NUM_NODES] == 1 and tree.first_child[0] == NONE and tree.untried[0] == UNKNOWN
    a, b = add_node(tree, 0, 7), add_node(tree, 0, 3)
    c = add_node(tree, a, 7)
    assert children(tree, 0) == [b, a] and children(tree, a) == [c] and children(tree, b) == []
    assert [find_child(tree, 0, label) for label in (7, 3, 5)] == [a, b, NONE]
    assert find_child(tree, b, 7) == NONE
    path = np.array([0, a, c, b, b])
    back_up(tree, path, 3, np.array([0.5, -0.25]), False)
    back_up(tree, path, 1, np.array([-2.0, 1.0]), False)
    assert tree.visits[:4].tolist() == [2, 1, 0, 1]
    assert tree.values[:4].tolist() == [[-1.5, 0.75], [0.5, -0.25], [0.0, 0.0], [0.5, -0.25]]
    assert tree.largest.tolist() == [0.5, 1.0] and tree.counts[DONE] == 2


def test_the_pessimistic_backup_keeps_the_least_value() -> None:
    """Kutsch 2017, eq. 4: a node is worth the least of the rollouts below it, however often it was visited."""
    tree = new_tree(3, 1)
    risky, safe = add_node(tree, 0, 0), add_node(tree, 0, 1)
    for node, value in ((risky, 0.9), (safe, 0.3), (risky, 0.1), (safe, 0.2), (risky, 0.9)):
        back_up(tree, np.array([0, node]), 2, np.array([value]), True)
    assert tree.values[:3, 0].tolist() == [0.1, 0.1, 0.2] and tree.visits[:3].tolist() == [5, 3, 2]
    assert tree.largest.tolist() == [0.9]
    settings = np.array(mctse(backup="minimum", exploration=0).settings(), np.float64)
    assert select_action(tree, 0, 0, settings) == safe
    root = np.zeros((2, 2))
    assert report(tree, 0, settings, root) == 1 and root[VALUES].tolist() == [0.1, 0.2]


@pytest.mark.parametrize(
    ("final", "security", "expected"),
    [("max", 0.0, 0), ("robust", 0.0, 2), ("robust_max", 0.0, 2), ("secure", 0.0, 0), ("secure", 0.5, 1)],
)
def test_final_rules_by_hand(final: str, security: float, expected: int) -> None:
    """Kutsch 2017, 4.1: best mean, most visits, both, best lower bound mean - L / sqrt(n)."""
    tree = fan([(4, 0.9), (25, 0.8), (100, 0.3)], 129, 1.0)
    settings = np.array(mctse(final=final, security=security).settings(), np.float64)
    assert tree.label[choose(tree, 0, settings)] == expected
    assert is_settled(tree, 0, settings) == (final != "robust_max")


def fan(stats: list[tuple[int, float]], done: int, largest: float, seat: int = 0) -> Any:
    """Returns a tree whose root has one action node per (visits, mean value of the seat)."""
    tree = new_tree(1 + len(stats), 2)
    for label, (visits, mean) in enumerate(stats):
        child = add_node(tree, 0, label)
        tree.visits[child] = visits
        tree.values[child, seat] = visits * mean
        tree.values[child, 1 - seat] = -5.0 * visits * mean  # to be ignored
    tree.visits[0] = sum(visits for visits, _ in stats)
    tree.counts[DONE] = done
    tree.largest[seat], tree.largest[1 - seat] = largest, 77.0
    return tree


@given(
    stats=st.lists(st.tuples(st.integers(1, 5000), st.floats(-1, 1)), min_size=1, max_size=9),
    done=st.sampled_from((0, 1, 99, 100, 101, 3500)),
    largest=st.sampled_from((0.0, 1e-7, 0.004, 0.9, 1.0)),
    selection=st.sampled_from(("uct", "uctn")),
    exploration=st.sampled_from((0.0, 0.0566, math.sqrt(2), 10.0)),
    seat=st.integers(0, 1),
)
def test_selection_follows_the_formula(
    stats: list[tuple[int, float]], done: int, largest: float, selection: str, exploration: float, seat: int
) -> None:
    """The chosen node maximises v/n + K sqrt(ln n_p / n), for UCTN with v/n divided by m from 100 iterations on.

    While m, the largest value of the search, is not positive, UCTN is UCT; values and m are those of the seat to move.
    """
    tree = fan(stats, done, largest, seat)
    settings = np.array(mctse(selection=selection, exploration=exploration).settings(), np.float64)
    m = largest if selection == "uctn" and done >= 100 and largest > 0 else 1.0
    total = sum(visits for visits, _ in stats)
    scores = [oracle.uct(mean, visits, total, exploration, m) for visits, mean in stats]
    chosen = scores[int(tree.label[select_action(tree, 0, seat, settings)])]
    assert chosen == pytest.approx(max(scores), rel=1e-9, abs=1e-12)


def test_selection_of_equals_is_the_youngest() -> None:
    """Of equal scores the first in the list of children, the youngest, is chosen: the rule is fixed, not luck."""
    tree = fan([(10, 0.5)] * 4, 40, 1.0)
    assert tree.label[select_action(tree, 0, 0, np.array(mctse().settings(), np.float64))] == 3


def bandit(means: list[float], iterations: int, largest: float, **changes: Any) -> list[int]:
    """Returns the visits of actions that always give the same value, chosen by the kernels' own rule."""
    agent = mctse(**changes)
    settings = np.array(agent.settings(), np.float64)
    tree = new_tree(1 + len(means), 1)
    tree.largest[0] = largest
    nodes = [int(add_node(tree, 0, label)) for label in range(len(means))]
    for i in range(iterations):
        node = nodes[i] if i < len(means) else int(select_action(tree, 0, 0, settings))
        back_up(tree, np.array([0, node]), 2, np.array([means[int(tree.label[node])]]), False)
    return [int(tree.visits[node]) for node in nodes]


def test_uctn_gives_the_visits_that_kutsch_printed() -> None:
    """Source: Kutsch 2017, table 1 (its columns sum up to 4,000 visits): means of 732, 862, 1,024 and 823 points.

    K does not print m, the largest rollout; with 3,900 points UCTN's visits come within 10 % of K's 566/941/1763/730.
    UCT cannot tell the means apart, since they are divided by 3,932,156: about 1,000 visits each.
    """
    pn = [points / 3_932_156 for points in (732, 862, 1024, 823)]
    uctn = bandit(pn, 4000, 3900 / 3_932_156)
    assert uctn == pytest.approx([566, 941, 1763, 730], rel=0.1)
    uct = bandit(pn, 4000, 3900 / 3_932_156, selection="uct")
    assert uct == pytest.approx([1000] * 4, rel=0.01)


@needs_jit
def test_uctn_prefers_better_actions_where_uct_cannot() -> None:
    """K's table 1 in a real search: on one board UCTN visits the best mean most and the worst least, UCT all alike."""
    position = board_position(((0, 16, 8, 32), (4, 64, 4, 4), (16, 0, 8, 16), (128, 32, 2, 16)), score=1200.0)
    visits, values = {}, {}
    for selection in ("uctn", "uct"):
        agent = mctse(selection=selection)
        decision = agent.start(position.game, 0, 1).act(position)
        actions = position.legal_actions()
        assert len(actions) == 4
        visits[selection], values[selection] = decision.visits[actions], decision.values[actions]
    assert visits["uct"].sum() == visits["uctn"].sum() == 3500
    assert visits["uct"].max() / visits["uct"].min() < 1.02
    order = np.argsort(values["uctn"])
    assert visits["uctn"][order[-1]] == visits["uctn"].max() and visits["uctn"][order[0]] == visits["uctn"].min()
    assert visits["uctn"].max() / visits["uctn"].min() > 1.5
    assert values["uct"].max() / values["uct"].min() > 1.05  # UCT's rollouts saw the difference, too


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

    tree = new_tree(2 * iterations + 1, game.num_seats)
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
