"""Search with priors: the same search in plain Python, known cases of the formulas, and what they are good for."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.agents.positions import board_position, marks_position
from tests.agents.puct.naive_puct import Node, Search
from tests.contract.tiny_games import Fuse, Pennies, Pig
from turnier.agents.agent import seat_rng
from turnier.agents.mcts.tree import ACTION, COUNT, DRAWN, FIRST, MEAN, NONE, PROVEN, STATUS, WIDTH, new_tree
from turnier.agents.ntuple.evaluator import cells_value
from turnier.agents.ntuple.network_kernels import OUTPUTS
from turnier.agents.ntuple.weights import weights_from_file
from turnier.agents.puct.agent import Puct, search_all
from turnier.agents.puct.gumbel import set_improved_policy
from turnier.agents.puct.search import (
    BY_NETWORK,
    HIGH,
    LOW,
    PRIOR,
    clear_extremes,
    final_child,
    iterate,
    new_work,
    select_by_prior,
)
from turnier.agents.registry import AGENTS, EVALUATORS, make_agent
from turnier.arena.match import MatchSpec
from turnier.arena.play import play_matches
from turnier.contract.evaluators import estimate
from turnier.core.errors import UserError
from turnier.core.rng import stream
from turnier.games.game import Position
from turnier.games.registry import make_game


def puct(**changes: Any) -> Puct:
    agent = make_agent("puct").replace(**{"rollout_depth": 8, "iterations": 120, **changes})
    assert isinstance(agent, Puct)
    return agent


def grown(agent: Puct, position: Position, noise: Any = None, capacity: int = 30_000) -> tuple[Any, int]:
    """Returns the tree of a search, and its favourite."""
    game, rng = position.game, seat_rng(5, position.to_move, position.game.num_seats)
    kernels, tree = agent.kernels(game), new_tree(capacity, game.num_seats)
    noise = np.zeros(game.kernels.max_choices) if noise is None else noise
    arrays = (tree, position.view(position.to_move), position.returns, rng, np.empty(2), noise)
    return tree, int(search_all(game.kernels, kernels.evaluator, kernels.settings, *arrays))


def shape(tree: Any, node: int = 0, chosen: bool = False) -> list[Any]:
    """Returns a tree as nested lists: all that a search has learned."""
    row, first = tree.nodes[node], int(tree.nodes[node, FIRST])
    proof = tree.proofs[node].tolist() if row[STATUS] == PROVEN else None
    mean = float(tree.stats[node, MEAN]) if chosen else 0.0
    if row[STATUS] == DRAWN:
        below, outcome = [], first
        while outcome != NONE:
            below.append(shape(tree, outcome))
            outcome = int(tree.nodes[outcome, ACTION])
        return [int(row[COUNT]), mean, proof, below[::-1]]
    children = range(first, first + int(row[WIDTH])) if row[WIDTH] else range(0)
    below = [[int(tree.nodes[child, ACTION]), shape(tree, child, chosen=True)] for child in children]
    return [int(row[COUNT]), mean, proof, below]


def plain_shape(node: Node) -> list[Any]:
    mean = node.mean if node.chooser >= 0 else 0.0
    if node.drawn is not None:
        return [node.visits, mean, node.proof, [plain_shape(outcome) for outcome in node.drawn.values()]]
    return [node.visits, mean, node.proof, [[child.action, plain_shape(child)] for child in node.children]]


POSITIONS = {
    "tictactoe": marks_position("........."),
    "tictactoe late": marks_position("XO.OX...."),
    "2048 2x2": board_position(((2, 0), (0, 2))),
    "2048 4x4": board_position(((2, 4, 2, 0), (8, 2, 0, 0), (0, 0, 2, 16), (0, 0, 0, 2)), score=100.0),
    "yavalath among three": make_game("yavalath(size=3,players=3)").start(),
    "fuse": Fuse().start(),
    "pig": Pig(target=8).start(),
    "pig alone": Pig(players=1, target=6).start(),
    "pennies": Pennies(rounds=2).start(),
}
VARIANTS: dict[str, dict[str, Any]] = {
    "plain": {},
    "cool": {"temperature": 0.02, "exploration": 3.0},
    "depth 1": {"tree_depth": 1},
    "from best": {"leaf": "best", "temperature": 1.0},
    "solver": {"solver": True, "leaf": "best"},
    "score": {"evaluator": EVALUATORS.make("score"), "solver": True},
    "gumbel": {"selection": "gumbel"},
    "gumbel of 3": {"selection": "gumbel", "considered": 3, "value_scale": 1.0, "solver": True},
    "gumbel in few": {"selection": "gumbel", "iterations": 5, "considered": 4},
}
BOTH = pytest.mark.parametrize(
    ("where", "variant"), [(w, n) for w in POSITIONS for n in VARIANTS], ids=lambda text: text.replace(" ", "-")
)


@BOTH
def test_the_search_equals_a_plain_one(where: str, variant: str) -> None:
    """The whole tree, bit for bit: visits, means, outcomes and proofs; and with noise at the root."""
    position, agent = POSITIONS[where], puct(**VARIANTS[variant])
    game = position.game
    evaluator = agent.kernels(game).evaluator
    for noise in (np.zeros(game.kernels.max_choices), np.random.default_rng(1).gumbel(size=game.kernels.max_choices)):
        rng = seat_rng(5, position.to_move, game.num_seats)
        plain = Search(
            agent, position, rng, lambda s, r, rng=rng: [float(v) for v in estimate(game, evaluator, s, r, rng)]
        )
        tree, favourite = grown(agent, position, noise)
        if agent.selection == "gumbel":
            best = plain.halve(noise)
            assert (best is None) == (favourite == NONE)
            assert best is None or best.action == tree.nodes[favourite, ACTION]
        else:
            plain.iterate()
            plain.mix(noise)
            for _ in range(agent.iterations - 1):
                plain.iterate()
        assert shape(tree) == plain_shape(plain.root)
        assert tree.nodes[0, COUNT] == agent.iterations or plain.root.proof is not None


@pytest.mark.parametrize(
    ("game_text", "network"),
    [
        ("yavalath(size=3)", "ntuple(tuples=5,length=3)"),
        ("yavalath(size=3,players=3)", "ntuple(tuples=5,length=3)"),
        ("othello(size=4)", "ntuple(tuples=5,length=4)"),
    ],
)
def test_a_network_ranks_actions_as_the_evaluator_does(game_text: str, network: str, trained: Any) -> None:
    """The look-ups that actions change give the same tree as asking for every state after them."""
    game = make_game(game_text)
    agent = puct(evaluator=EVALUATORS.make(f"ntuple(file={trained(game_text, network)})"), leaf="best", solver=True)
    kernels = agent.kernels(game)
    shapes = []
    for by_network in (True, False):
        settings = kernels.settings.copy()
        assert settings[BY_NETWORK] == 1.0
        settings[BY_NETWORK] = by_network
        tree, position = new_tree(30_000, game.num_seats), game.start()
        arrays = (tree, position.state, position.returns, stream(1), np.empty(2), np.zeros(game.kernels.max_choices))
        search_all(game.kernels, kernels.evaluator, settings, *arrays)
        shapes.append(shape(tree))
    assert shapes[0] == shapes[1] and shapes[0][0] == agent.iterations


@pytest.mark.parametrize("selection", ["puct", "gumbel"])
@pytest.mark.parametrize(
    ("game_text", "network", "plies"),
    [
        ("yavalath(size=3)", "ntuple(tuples=5,length=3)", (3, 9, 1)),  # by a sweep
        ("yavalath(size=3,players=3)", "ntuple(tuples=5,length=3)", (3, 9)),  # an output for each seat
        ("othello(size=4)", "ntuple(tuples=5,length=4)", (1,)),  # actions that change several cells
        ("connect_four", "ntuple(tuples=5,length=4)", (3, 2, 3, 2, 3)),  # an action may end the game
    ],
)
def test_a_policy_gives_the_priors(
    game_text: str, network: str, plies: tuple[int, ...], selection: str, trained: Any
) -> None:
    """The whole tree is that of a plain search which sums the policy's entries of every state after an action."""
    game, policy = make_game(game_text), trained(game_text, network, policy=True)
    position = game.start()
    for ply in plies:
        position = position.play(ply)
    values = EVALUATORS.make(f"ntuple(file={trained(game_text, network)})")
    agent = puct(evaluator=values, policy=str(policy), selection=selection, solver=True, iterations=200)
    weights = weights_from_file(str(policy), agent.digest)
    words, cells = weights.view(np.int64), np.zeros(game.kernels.max_choices + game.num_cells, np.int64)

    def logit(state: Any, mover: int) -> float:
        game.kernels.cells(state, cells)
        outputs = int(words[OUTPUTS])
        return float(cells_value(words, weights.view(np.float32), cells, mover * outputs + mover * (outputs > 1)))

    evaluator, rng = agent.kernels(game).evaluator, seat_rng(5, position.to_move, game.num_seats)
    plain = Search(agent, position, rng, lambda s, r: [float(v) for v in estimate(game, evaluator, s, r, rng)], logit)
    tree, favourite = grown(agent, position, np.zeros(game.kernels.max_choices))
    if selection == "gumbel":
        best = plain.halve([0.0] * game.kernels.max_choices)
        assert (best is None) == (favourite == NONE)
    else:
        for _ in range(agent.iterations):
            plain.iterate()
    assert shape(tree) == plain_shape(plain.root)
    priors = {round(float(p), 6) for p in tree.stats[1 : 1 + tree.nodes[0, WIDTH], PRIOR]}
    assert len(priors) > 1 or plain.root.proof is not None


def test_what_a_policy_needs(trained: Any, tmp_path: Path) -> None:
    values = trained("yavalath(size=3)", "ntuple(tuples=5,length=3)")
    policy = trained("yavalath(size=3)", "ntuple(tuples=5,length=3)", policy=True)
    for text, reason in (
        (f"puct(policy={values})", "which has values"),
        (f"greedy(evaluator=ntuple(file={policy}))", "which has a policy"),
        ("puct(digest=12)", "a digest must belong to a policy"),
        (f"puct(policy={tmp_path / 'none.npz'})", "which is not one"),
    ):
        with pytest.raises(UserError, match=reason):
            AGENTS.make(text)
    for game, evaluator, reason in (
        ("yavalath(size=3)", "rollout", "needs an n-tuple network as its evaluator"),
        ("connect_four", f"ntuple(file={values})", "is for yavalath"),
    ):
        with pytest.raises(UserError, match=reason):
            AGENTS.make(f"puct(policy={policy},evaluator={evaluator})").require(make_game(game))


def node_of(children: list[tuple[int, float, float]], visits: int) -> Any:
    """Returns a tree whose root has children with those visits, means and priors."""
    tree = new_tree(len(children) + 1, 2)
    tree.nodes[0, [COUNT, FIRST, WIDTH]] = visits, 1, len(children)
    for i, (count, mean, prior) in enumerate(children, 1):
        tree.nodes[i, COUNT], tree.nodes[i, STATUS] = count, 0
        tree.stats[i] = mean, prior
        tree.seeds.view(np.float64)[i] = math.log(prior)
    return tree


def test_selection_by_hand() -> None:
    """U = c P sqrt(N) / (1 + n), and Q from 0 to 1: (1 + 0.6) / 2 + 0.2 * 3 / 4 for the first child with c = 1."""
    tree = node_of([(3, 0.6, 0.2), (4, -0.4, 0.4), (1, -1.0, 0.4)], visits=9)
    extremes = np.empty(2)
    clear_extremes(extremes, 2)
    scores = [0.8 + 0.2 * 3 / 4, 0.3 + 0.4 * 3 / 5, 0.0 + 0.4 * 3 / 2]
    assert max(scores) == scores[0]
    assert select_by_prior(tree.nodes, tree.stats, 0, 1.0, extremes) == 1
    assert select_by_prior(tree.nodes, tree.stats, 0, 3.0, extremes) == 3
    clear_extremes(extremes, 1)
    assert extremes[LOW] == math.inf and extremes[HIGH] == -math.inf
    extremes[:] = -1.0, 0.6  # a single seat's values are stretched: 1, 0.375, 0
    assert select_by_prior(tree.nodes, tree.stats, 0, 1.8, extremes) == 1
    assert select_by_prior(tree.nodes, tree.stats, 0, 3.0, extremes) == 3


def test_the_improved_policy_by_hand() -> None:
    """softmax(log(0.5, 0.3, 0.2) + (50 + 4) * 0.1 * (1 + q) / 2): the third's q is (0.05 + 6 * 0.1 / 0.8) / 7."""
    tree, policy = node_of([(4, 0.5, 0.5), (2, -0.5, 0.3), (0, 0.9, 0.2)], visits=7), np.empty(3)
    tree.proofs[0] = 0.05, -0.05
    set_improved_policy(tree, 0, 0, 0.1, policy)
    weights = np.array([0.5, 0.3, 0.2]) * np.exp(2.7 * np.array([1.5, 0.5, 1 + 0.8 / 7]))
    assert policy == pytest.approx(weights / weights.sum())


def test_halving_gives_visits_to_fewer_and_fewer() -> None:
    """17 iterations among 4 of 9: the root's own, 2 each for 4, 4 each for 2 (Danihelka et al. 2022, figure 1)."""
    tree, favourite = grown(puct(selection="gumbel", iterations=17, considered=4), POSITIONS["tictactoe"])
    visits = sorted(tree.nodes[1 : 1 + 9, COUNT].tolist(), reverse=True)
    assert visits == [6, 6, 2, 2, 0, 0, 0, 0, 0]
    assert tree.nodes[favourite, COUNT] == 6


@pytest.mark.parametrize("capacity", [1, 9, 10, 30])
@pytest.mark.parametrize("where", ["tictactoe", "2048 4x4"])
def test_a_full_tree_stays_inside_its_arrays_and_learns_on(where: str, capacity: int) -> None:
    tree, _ = grown(puct(), POSITIONS[where], capacity=capacity)
    assert tree.size[0] <= capacity and tree.nodes[0, COUNT] == 120


def test_a_search_in_chunks_equals_one_search() -> None:
    agent, position = puct(), POSITIONS["pig"]
    game, kernels = position.game, agent.kernels(position.game)
    tree, extremes, rng = new_tree(30_000, 2), np.empty(2), seat_rng(5, position.to_move, 2)
    clear_extremes(extremes, 2)
    work = new_work(game.kernels, kernels.evaluator, kernels.settings, position.state)
    arrays = (tree, position.state, position.returns, rng, extremes)
    for chunk in (50, 1, 69):
        iterate(game.kernels, kernels.evaluator, kernels.settings, *arrays, chunk, NONE, work)
    assert shape(tree) == shape(grown(agent, position)[0])


def test_a_proven_child_is_played_where_it_is_no_worse() -> None:
    tree = node_of([(3, 0.6, 0.2), (4, -0.4, 0.4), (1, 0.0, 0.4)], visits=9)
    tree.nodes[0, 4], tree.nodes[1:, ACTION] = 3, [7, 8, 5]
    root = np.zeros((2, 9))
    assert tree.nodes[final_child(tree, NONE, root), ACTION] == 8
    assert tree.nodes[final_child(tree, 1, root), ACTION] == 7
    tree.nodes[3, STATUS] = PROVEN
    assert tree.nodes[final_child(tree, NONE, root), ACTION] == 5
    assert tree.nodes[final_child(tree, 1, root), ACTION] == 7
    assert root[0].tolist() == [0, 0, 0, 0, 0, 1, 0, 3, 4]


@pytest.mark.parametrize("selection", ["puct", "gumbel"])
def test_tictactoe_is_never_lost(selection: str) -> None:
    """Against random and perfect play; some games are won. Without rollouts, whose noise misleads Gumbel's choice."""
    agent = f"puct(iterations=2000,evaluator=score,selection={selection},solver=true)"
    perfect = "alphabeta(depth=9)"
    specs = [
        MatchSpec("tictactoe", pair, seed)
        for seed in range(10)
        for pair in ((agent, "random"), ("random", agent), (agent, perfect), (perfect, agent))
    ]
    scores = [record.scores[spec.agents.index(agent)] for spec, record in zip(specs, play_matches(specs), strict=True)]
    assert min(scores) >= 0.0 and max(scores[2::4] + scores[3::4]) == 0.0 and sum(scores) > 10


def test_a_proof_ends_the_search() -> None:
    decision = puct(iterations=100_000, solver=True).start(marks_position("XX.OO....").game, 0, 1)
    found = decision.act(marks_position("XX.OO...."))
    assert found.action == 2 and found.values[2] == 1.0 and found.nodes < 100
