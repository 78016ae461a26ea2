"""Inside MCTS: the same search in plain Python, selection and final rules by hand, frozen chance, backups, memory."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.agents.mcts import naive_mcts as oracle
from tests.agents.positions import board_position, marks_position
from tests.contract.tiny_games import Fuse, Pennies, Pig
from turnier.agents.agent import seat_rng
from turnier.agents.final_move import FINALS, is_settled
from turnier.agents.mcts.agent import Mcts
from turnier.agents.mcts.search import FINAL, back_up, final_child, prove, root_children, search, search_all
from turnier.agents.mcts.tree import (
    ACTION,
    COUNT,
    DRAWN,
    FIRST,
    INVERSE_ROOT,
    MEAN,
    NONE,
    OPEN,
    PROVEN,
    STATUS,
    TRIED,
    WIDTH,
    enter,
    expand,
    new_tree,
    select_child,
    try_child,
)
from turnier.agents.registry import EVALUATORS, make_agent
from turnier.arena.match import MatchSpec
from turnier.arena.play import play_matches
from turnier.contract.evaluators import estimate
from turnier.core.kernel import JIT
from turnier.core.rng import stream
from turnier.games.abi import CHANCE
from turnier.games.game import Position

SCORE = EVALUATORS.make("score")
CAPACITY = 20_000  # nodes of the trees in these tests


def mcts(**changes: Any) -> Mcts:
    agent = make_agent("mcts").replace(**changes)
    assert isinstance(agent, Mcts)
    return agent


def settings_of(agent: Mcts) -> np.ndarray:
    return np.array(agent.settings(), np.float64)


def grow(agent: Mcts, position: Position, *chunks: int, capacity: int = CAPACITY, rng: Any = None) -> Any:
    """Returns the tree of a search that ran in chunks of iterations on one stream of random numbers."""
    game, rng = position.game, stream(1) if rng is None else rng
    kernels = agent.kernels(game)
    tree = new_tree(capacity, game.num_seats)
    for iterations in chunks:
        arrays = (position.view(position.to_move), position.returns, rng)
        search(game.kernels, kernels.evaluator, kernels.settings, tree, *arrays, iterations)
    return tree


def tried(tree: Any, node: int) -> range:
    """Returns the tried children of a node."""
    first = int(tree.nodes[node, FIRST])
    return range(first, first + int(tree.nodes[node, TRIED])) if tree.nodes[node, WIDTH] else range(0)


def shape(tree: Any, node: int = 0) -> list[Any]:
    """Returns a tree as nested lists, in the order in which children were tried: all that a search has learnt."""
    proof = tree.proofs[node].tolist() if tree.nodes[node, STATUS] == PROVEN else None
    mean = float(tree.stats[node, MEAN]) if node else 0.0
    below_here = [shape(tree, child) for child in tried(tree, node)]
    return [int(tree.nodes[node, ACTION]), int(tree.nodes[node, COUNT]), mean, proof, below_here]


def plain_shape(node: oracle.Node) -> list[Any]:
    mean = node.mean if node.chooser >= 0 else 0.0
    return [node.action, node.visits, mean, node.proof, [plain_shape(child) for child in node.children]]


POSITIONS = {
    "tictactoe": marks_position("........."),
    "tictactoe late": marks_position("XO.OX...."),
    "2048 2x2": board_position(((2, 0), (0, 2))),
    "2048 4x4": board_position(((2, 4, 2, 0), (8, 2, 0, 0), (0, 0, 2, 16), (0, 0, 0, 2)), score=100.0),
    "fuse": Fuse().start(),
    "pig": Pig(target=8).start(),
    "pig alone": Pig(players=1, target=6).start(),
    "pennies": Pennies(rounds=2).start(),
}
SCORE_SOLVER = "score, solver"  # refused where values are points
VARIANTS: dict[str, dict[str, Any]] = {
    "plain": {},
    "not normalised": {"normalise": False, "exploration": 0.5},
    "depth 1": {"tree_depth": 1},
    "depth 2": {"tree_depth": 2, "score_method": 1},
    "solver": {"solver": True},
    "minimum": {"backup": "minimum"},
    "minimum, solver": {"backup": "minimum", "solver": True},
    "score": {"evaluator": SCORE},
    SCORE_SOLVER: {"evaluator": SCORE, "solver": True},
}
BOTH = pytest.mark.parametrize(
    ("where", "variant"),
    [(w, n) for w, p in POSITIONS.items() for n in VARIANTS if n != SCORE_SOLVER or p.game.max_return == 1],
    ids=lambda text: text.replace(" ", "-"),
)


@BOTH
def test_the_search_equals_a_plain_one(where: str, variant: str) -> None:
    """The whole tree, bit for bit: actions in the order of trying, visits, means and proofs."""
    position, iterations = POSITIONS[where], 200
    agent = mcts(iterations=iterations, rollout_depth=8, **VARIANTS[variant])
    game = position.game
    evaluator = agent.kernels(game).evaluator
    rng = seat_rng(5, position.to_move, game.num_seats)
    root = oracle.mcts(
        agent,
        iterations,
        position,
        rng,
        lambda state, returns: [float(v) for v in estimate(game, evaluator, state, returns, rng)],
    )
    tree = grow(agent, position, iterations, rng=seat_rng(5, position.to_move, game.num_seats))
    assert shape(tree) == plain_shape(root)
    assert tree.nodes[0, COUNT] == iterations or root.proof is not None

    for final in ("max", "robust", "secure"):
        choosing = agent.replace(final=final)
        decision = choosing.start(game, position.to_move, 5).act(position)
        assert decision.action == oracle.choose(choosing, root)
    expected = np.zeros((2, game.num_actions))
    for child in root.children:
        expected[:, child.action] = child.visits, child.mean
    assert decision.visits.tolist() == expected[0].tolist() and decision.values.tolist() == expected[1].tolist()


@BOTH
def test_a_search_in_chunks_equals_one_search(where: str, variant: str) -> None:
    agent = mcts(rollout_depth=8, **VARIANTS[variant])
    assert shape(grow(agent, POSITIONS[where], 200)) == shape(grow(agent, POSITIONS[where], 100, 60, 40))


@BOTH
def test_visits_add_up(where: str, variant: str) -> None:
    """A node's visits are its own rollout, its children's visits and what ended there; paths are not too long."""
    agent = mcts(rollout_depth=8, **VARIANTS[variant])
    tree = grow(agent, POSITIONS[where], 150)

    def check(node: int, depth: int) -> None:
        below_here = sum(int(tree.nodes[child, COUNT]) for child in tried(tree, node))
        ended = tree.nodes[node, COUNT] - below_here
        assert depth <= agent.tree_depth and ended >= (0 if node == 0 else 1)
        if tried(tree, node) and tree.nodes[node, STATUS] != PROVEN:
            assert ended == (0 if node == 0 else 1)
        if len(tried(tree, node)) < tree.nodes[node, WIDTH]:
            assert all(tree.nodes[child, COUNT] == 1 for child in tried(tree, node))
        for child in tried(tree, node):
            check(child, depth + 1)

    check(0, 0)


@pytest.mark.parametrize("capacity", [1, 9, 10, 19, 50])
def test_a_full_tree_stays_inside_its_arrays_and_learns_on(capacity: int) -> None:
    tree = grow(mcts(), POSITIONS["tictactoe"], 300, capacity=capacity)
    assert tree.size[0] <= capacity and tree.nodes[0, COUNT] == 300
    if capacity >= 10:
        assert tree.size[0] >= 10
        assert sum(int(tree.nodes[child, COUNT]) for child in tried(tree, 0)) == 300


def test_memory_of_the_largest_searches_is_bounded() -> None:
    """25,000 iterations at 61 actions can touch 1 + 2 x 25,000 x 61 rows at most, and all trees are capped."""
    tree = new_tree(1000, 2)
    row = sum(array.nbytes for array in (tree.nodes, tree.stats)) / 1000
    assert row * (1 + 25_000 * 61) < 100e6


# --- Selection and growth by hand -----------------------------------------------------------------------------------


def fan(stats: list[tuple[int, float]], proven: tuple[int, ...] = ()) -> Any:
    """Returns a tree whose root has one tried child per (visits, mean); some are proven to be worth their mean."""
    tree = new_tree(1 + len(stats), 2)
    tree.nodes[0, [FIRST, WIDTH, TRIED]] = 1, len(stats), len(stats)
    tree.nodes[0, COUNT] = sum(visits for visits, _ in stats)
    for i, (visits, mean) in enumerate(stats):
        tree.nodes[1 + i] = 10 + i, visits, 0, 0, 0, OPEN
        tree.stats[1 + i] = mean, 1 / math.sqrt(visits)
        if i in proven:
            prove(tree, 1 + i, 0, np.array([mean, -mean]))
    return tree


@given(
    stats=st.lists(st.tuples(st.integers(1, 5000), st.floats(-1, 1)), min_size=1, max_size=9),
    exploration=st.sampled_from((0.0, 0.1, 1.414, 10.0)),
    normalise=st.booleans(),
)
def test_selection_follows_the_formula(stats: list[tuple[int, float]], exploration: float, normalise: bool) -> None:
    """The chosen child maximises X + K sqrt(ln(n + 1) / n_c), X from 0 to 1 where rewards are normalised."""
    tree = fan(stats)
    weight = mcts(exploration=exploration, normalise=normalise).settings()[2]
    total = sum(visits for visits, _ in stats)
    scores = [
        ((mean + 1) / 2 if normalise else mean) + exploration * math.sqrt(math.log(total + 1) / visits)
        for visits, mean in stats
    ]
    chosen = scores[int(select_child(tree.nodes, tree.stats, 0, weight)) - 1]
    assert chosen == pytest.approx(max(scores), rel=1e-9, abs=1e-9)


def test_selection_of_equals_takes_the_first_tried_and_proven_children_are_not_explored() -> None:
    tree = fan([(10, 0.5)] * 4)
    assert select_child(tree.nodes, tree.stats, 0, 1.0) == 1
    tree = fan([(10, 0.5), (10, 0.5), (10, 0.9)], proven=(0, 2))
    assert select_child(tree.nodes, tree.stats, 0, 1.0) == 2  # 0.5 + exploration
    assert select_child(tree.nodes, tree.stats, 0, 0.1) == 3  # exactly 0.9


def test_every_action_is_tried_once_in_random_order() -> None:
    """Each of the nine first tries of tic-tac-toe falls on every action alike: 900 trees, five standard errors."""
    game = POSITIONS["tictactoe"].game
    rng, choices = stream(3), np.zeros(game.kernels.max_choices, np.int64)
    firsts = np.zeros((9, 9))
    for _ in range(900):
        tree = new_tree(10, 2)
        assert expand(game.kernels, tree, 0, game.new_state(), choices) == 9
        assert expand(game.kernels, tree, 1, game.new_state(), choices) == 0  # full
        order = [int(tree.nodes[try_child(tree.nodes, tree.stats, 0, rng), ACTION]) for _ in range(9)]
        assert sorted(order) == list(range(9))
        firsts[np.arange(9), order] += 1
    assert (np.abs(firsts - 100) < 5 * np.sqrt(900 * 8 / 81)).all()


def test_back_up_by_hand() -> None:
    """Each node takes the value of the seat that chose it, into its mean or its minimum."""
    rewards = [np.array(v) for v in ([0.5, -0.5], [-1.0, 1.0], [0.25, 0.75])]
    path, movers = np.array([0, 1, 2]), np.array([NONE, 0, 1])
    expected = {False: (-0.25 / 3, 1.25 / 3), True: (-1.0, -0.5)}
    for minimum in (False, True):
        tree = fan([(1, 0.0), (1, 0.0)])
        tree.nodes[:, COUNT] = 0
        for values in rewards:
            back_up(tree.nodes, tree.stats, path, movers, 2, values, minimum)
        assert tree.nodes[:3, COUNT].tolist() == [3, 3, 3]
        assert tree.stats[1:3, MEAN] == pytest.approx(expected[minimum])
        assert tree.stats[1:3, INVERSE_ROOT] == pytest.approx(1 / math.sqrt(3))


# --- The final choice -----------------------------------------------------------------------------------------------


def chosen(tree: Any, settings: Any) -> int:
    """Returns the node that is played."""
    return int(final_child(tree, settings, np.zeros((2, 64))))


def settled(tree: Any, settings: Any) -> bool:
    return bool(is_settled(root_children(tree, settings), settings[FINAL]))


#        best mean    most visits   best lower bound
CROWD = [(4, 0.75), (500, 0.25), (100, 0.5)]


@pytest.mark.parametrize(("final", "expected"), [("max", 1), ("robust", 2), ("robust_max", 2), ("secure", 3)])
def test_the_final_rules_on_a_tree_made_by_hand(final: str, expected: int) -> None:
    """Lower bounds are 0.75 - 1/2, 0.25 - 1/22, 0.5 - 1/10; without caution the secure child is the max child."""
    assert chosen(fan(CROWD), settings_of(mcts(final=final))) == expected
    assert chosen(fan(CROWD), settings_of(mcts(final="secure", security=0.0))) == 1


@pytest.mark.parametrize("final", FINALS)
def test_proven_children_count_for_what_they_are_worth(final: str) -> None:
    """A proven win is played, a proven loss is not, whatever their visits; a proven draw beats what seems a loss."""
    settings = settings_of(mcts(final=final))
    assert chosen(fan([*CROWD, (1, 1.0)], proven=(3,)), settings) == 4
    assert chosen(fan([(4, 1.0), (2, 1.0)], proven=(1,)), settings) == 2
    assert chosen(fan([*CROWD, (9999, -1.0)], proven=(3,)), settings) < 4
    assert chosen(fan([(50, -0.5), (1, 0.0), (60, -0.6)], proven=(1,)), settings) == 2
    assert chosen(fan([(50, -1.0), (1, 0.0), (60, -1.0)], proven=(0, 1, 2)), settings) == 2


def test_robust_max_is_settled_where_the_most_visited_is_the_best() -> None:
    settings = settings_of(mcts(final="robust_max"))
    assert not settled(fan(CROWD), settings)
    assert settled(fan([(4, 0.2), (500, 0.25), (500, 0.2)]), settings)
    assert settled(fan([(500, 0.2), (500, 0.25)]), settings)
    assert settled(fan([(4, 1.0), (500, 0.25)], proven=(0,)), settings)
    assert settled(fan(CROWD), settings_of(mcts(final="robust")))


def test_robust_max_continues_until_it_is_settled_or_twice_the_iterations() -> None:
    position = POSITIONS["tictactoe"]
    totals = set()
    for iterations in range(20, 60):
        agent = mcts(iterations=iterations, final="robust_max")
        game, kernels, tree = position.game, agent.kernels(position.game), new_tree(CAPACITY, 2)
        work = (game.kernels, kernels.evaluator, kernels.settings, tree, position.state, position.returns)
        search_all(*work, stream(iterations))
        total, chunk = int(tree.nodes[0, COUNT]), max(iterations // 10, 1)
        assert total <= iterations + 10 * chunk and (total - iterations) % chunk == 0
        assert settled(tree, kernels.settings) or total == iterations + 10 * chunk
        assert (total > iterations) == (not settled(grow(agent, position, iterations, rng=stream(iterations)),
                                                      kernels.settings))  # fmt: skip
        totals.add((total - iterations) // chunk)
    assert {0, 1} <= totals


# --- Frozen chance --------------------------------------------------------------------------------------------------


def visit(tree: Any, position: Position, child: int, rng: Any) -> tuple[int, ...]:
    """Returns the state after a child of the root, outcomes included."""
    state, returns, kernels = position.state.copy(), position.returns.copy(), position.game.kernels
    scratch = np.zeros(4, np.uint64), np.zeros(kernels.max_choices, np.int64), np.zeros(kernels.max_choices)
    enter(kernels, tree.nodes, tree.seeds, child, state, returns, rng, *scratch)
    return tuple(int(word) for word in state)


@pytest.mark.parametrize("where", ["2048 4x4", "pig"])
def test_chance_is_drawn_once_and_frozen(where: str) -> None:
    """However often a node is entered, its outcome is that of the first time; other trees draw other outcomes."""
    position = POSITIONS[where]
    seen: dict[int, set[tuple[int, ...]]] = {}
    for seed in range(30):
        tree = grow(mcts(rollout_depth=3), position, 40, rng=stream(seed))
        for child in tried(tree, 0):
            rng = stream(99)
            states = {visit(tree, position, child, rng) for _ in range(5)}
            assert len(states) == 1 and position.game.kernels.to_move(np.array(next(iter(states)))) != CHANCE
            assert (rng == stream(99)).all()
            if tree.nodes[child, STATUS] == DRAWN:
                seen.setdefault(int(tree.nodes[child, ACTION]), set()).update(states)
    assert seen and all(len(states) > 3 for states in seen.values())


def test_nothing_is_proven_over_chance() -> None:
    """One-seat pig, one turn left, a pot that wins when banked: banking is proven, rolling (a die) is never."""
    game = Pig(players=1, target=6)
    state = game.start().state.copy()
    state[5] = 6  # the pot
    tree = grow(mcts(solver=True, score_method=1), game.position(state), 400)
    assert tree.nodes[0, STATUS] == PROVEN and tree.proofs[0].tolist() == [1.0]
    state[5] = 0
    tree = grow(mcts(solver=True, score_method=1, tree_depth=200), game.position(state), 2000)
    statuses = {int(tree.nodes[c, ACTION]): int(tree.nodes[c, STATUS]) for c in tried(tree, 0)}
    assert statuses == {0: OPEN, 1: DRAWN} and tree.nodes[0, STATUS] == OPEN


@pytest.mark.skipif(not JIT, reason="whole games")
def test_a_game_of_2048_is_played_well_above_random() -> None:
    agent = "mcts(iterations=100,rollout_depth=20,tree_depth=1)"
    records = play_matches([MatchSpec("2048", (make_agent(agent).full_text(),), seed) for seed in range(3)])
    assert min(record.scores[0] for record in records) > 4000  # the random agent makes about 1,040 on average
