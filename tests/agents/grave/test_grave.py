"""GRAVE and MAST: the same search in plain Python, what becomes of it without them, and what they are worth."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from tests.agents import agent_cases as cases
from tests.agents.grave import naive_grave as oracle
from tests.agents.positions import board_position, marks_position
from tests.contract.tiny_games import Fuse, Pig
from turnier.agents.grave.agent import Grave
from turnier.agents.grave.knowledge import MOST_WORDS, TIMES, TOTAL, Knowledge, enough_tables, knowledge_in
from turnier.agents.grave.search import search
from turnier.agents.mcts.tree import ACTION, COUNT, FIRST, MEAN, NONE, TRIED, WIDTH, new_tree
from turnier.agents.registry import make_agent
from turnier.arena.match import MatchSpec
from turnier.arena.play import play_matches
from turnier.contract import agents as contract
from turnier.contract.law import check_laws
from turnier.core.kernel import JIT
from turnier.core.rng import stream
from turnier.games.game import Position
from turnier.games.registry import make_game

CAPACITY = 3_000  # nodes of the trees in these tests
POSITIONS = {
    "tictactoe": marks_position("........."),
    "tictactoe late": marks_position("XO.OX...."),
    "connect four": make_game("connect_four(rows=4,columns=4)").start(),
    "2048 2x2": board_position(((2, 0), (0, 2))),
    "fuse": Fuse().start(),
    "pig": Pig(target=8).start(),
}
VARIANTS: dict[str, dict[str, Any]] = {
    "plain": {},
    "own tables": {"ref": 0},
    "few visits": {"ref": 4, "bias": 0.1},
    "exploration": {"ref": 3, "exploration": 0.4, "mast": 1.0},
    "shallow": {"ref": 2, "tree_depth": 2, "rollout_depth": 3, "score_method": 1},
    "uct": {"selection": "uct", "exploration": 1.4},
    "random playouts": {"ref": 2, "mast": 0.0},
}


def grave(**changes: Any) -> Grave:
    agent = make_agent("grave").replace(**changes)
    assert isinstance(agent, Grave)
    return agent


def searched(agent: Grave, position: Position, iterations: int, tables: int) -> tuple[Any, Knowledge]:
    """Returns the tree and the knowledge of a search in two chunks, with so many AMAF tables."""
    game, kernels = position.game, agent.kernels(position.game)
    tree, moves, rng = new_tree(CAPACITY, game.num_seats), game.num_seats * game.num_actions, stream(1)
    words = np.full(CAPACITY + 1 + 2 * moves * (tables + 1), 7.0)  # arbitrary
    knowledge = knowledge_in(CAPACITY, tables, moves, words)
    for chunk in (iterations // 3, iterations - iterations // 3):
        arrays = (position.view(position.to_move), position.returns, rng)
        search(game.kernels, kernels.evaluator, kernels.settings, tree, knowledge, *arrays, chunk)
    return tree, knowledge


def pairs(tree: Any, node: int, plain: oracle.Known) -> Iterator[tuple[int, oracle.Known]]:
    """Yields every node of a tree with that of the oracle; their children must be the same, in the same order."""
    yield node, plain
    first, tried = tree.nodes[node, [FIRST, TRIED]] if tree.nodes[node, WIDTH] else (0, 0)
    children = range(first, first + tried)
    assert [int(tree.nodes[child, ACTION]) for child in children] == [child.action for child in plain.children]
    for child, other in zip(children, plain.children, strict=True):
        assert isinstance(other, oracle.Known)
        yield from pairs(tree, child, other)


@pytest.mark.parametrize("where", POSITIONS)
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("tables", [200, 3])
def test_the_search_is_the_plain_one(where: str, variant: str, tables: int) -> None:
    """Tree, visits and means, every node's AMAF table, and the means of all moves."""
    position, agent = POSITIONS[where], grave(**VARIANTS[variant])
    actions, iterations = position.game.num_actions, 80
    tables = tables if agent.selection == "grave" else 0
    tree, knowledge = searched(agent, position, iterations, tables)
    plain = oracle.grave(agent, iterations, position, stream(1), tables)
    moves = [(seat, action) for seat in range(position.game.num_seats) for action in range(actions)]
    with_table = 0
    for node, known in pairs(tree, 0, plain.root):
        assert tree.nodes[node, COUNT] == known.visits
        assert node == 0 or tree.stats[node, MEAN] == known.mean
        table = knowledge.table_of[node]
        assert (table != NONE) == known.has_table
        if known.has_table:
            seen = [known.amaf(move) for move in moves]
            assert knowledge.tables[table, :, TIMES].tolist() == [len(values) for values in seen]
            assert knowledge.tables[table, :, TOTAL] == pytest.approx([sum(values) for values in seen], abs=1e-12)
            with_table += 1
    assert with_table == knowledge.given[0] <= tables
    assert knowledge.counts.tolist() == [plain.means.get(move, (0, 1.0))[0] for move in moves]
    assert knowledge.means.tolist() == [plain.means.get(move, (0, 1.0))[1] for move in moves]


@pytest.mark.parametrize("game", ["tictactoe", "nim"])
@pytest.mark.parametrize("final", ["max", "robust_max", "secure"])
def test_with_neither_it_is_mcts(game: str, final: str) -> None:
    """The same matches, move by move, where random playouts draw the same numbers."""
    assert not make_game(game).kernels.has_playout, "it would draw others"
    same = f"iterations=60,exploration=1.2,final={final},tree_depth=5"
    one, other = (
        play_matches([MatchSpec(game, (make_agent(agent).full_text(),) * 2, seed) for seed in range(4)])
        for agent in (f"grave({same},selection=uct,mast=0.0)", f"mcts({same})")
    )
    found = [(each.plies, each.scores, each.nodes) for each in one]
    assert found == [(each.plies, each.scores, each.nodes) for each in other]
    assert len(set(found)) > 1


def test_means_learn_which_cells_are_worth_more() -> None:
    """In tic-tac-toe the centre is best for either seat, and corners are better than edges."""
    _, knowledge = searched(grave(selection="uct", exploration=0.7, mast=0.5), POSITIONS["tictactoe"], 900, 0)
    for cells in (knowledge.means[:9], knowledge.means[9:]):
        assert cells.argmax() == 4 and cells[[0, 2, 6, 8]].mean() > cells[[1, 3, 5, 7]].mean() + 0.05
    _, never = searched(grave(mast=0.0), POSITIONS["tictactoe"], 900, 10)
    assert not never.counts.any(), "random playouts learn nothing"


@pytest.mark.skipif(not JIT, reason="thousands of searches")
@pytest.mark.parametrize(
    ("iterations", "parameters"), [(150, "mast=0.0"), (600, "selection=uct,exploration=1.0")], ids=["grave", "mast"]
)
def test_each_of_both_beats_mcts_with_equal_iterations(iterations: int, parameters: str) -> None:
    """At Yavalath, in both seats."""
    ours, theirs = f"grave(iterations={iterations},{parameters})", f"mcts(iterations={iterations})"
    seats = (make_agent(ours).full_text(), make_agent(theirs).full_text())
    points = [
        record.scores[seat] / 2 + 0.5
        for seat in (0, 1)
        for record in play_matches([MatchSpec("yavalath", seats[:: 1 - 2 * seat], seed) for seed in range(10)])
    ]
    assert sum(points) >= 14, "of 20; of equals it would be 10, with a standard error of 2.2"


def test_by_the_clock_it_decides_legally() -> None:
    laws = (contract.law_legal, contract.law_untouched, contract.law_arrays, contract.law_forced)
    for name in ("grave(milliseconds=2)", "grave(milliseconds=2,selection=uct)"):
        agent = make_agent(name)
        for game in ("tictactoe", "2048(size=2)"):
            made = make_game(game)
            assert agent.seat_kernels(made) is None
            check_laws(laws, agent, made)


def test_the_clock_forgets_the_last_decision() -> None:
    """A position searched after another one has the visits of its own search only."""
    player = grave(milliseconds=3).start(make_game("tictactoe"), 0, 1)
    for marks in ("XO.......", "XO.XO....", "........."):
        decision = player.act(marks_position(marks))
        assert not isinstance(decision, int)
        assert decision.nodes == decision.visits.sum() and set(np.flatnonzero(decision.visits)) <= {
            i for i, mark in enumerate(marks) if mark == "."
        }


def test_tables_fit_into_memory() -> None:
    """Every node gets one in small games; where there are many actions they are fewer, but the root has one."""
    assert enough_tables(1000, 122) == 2001
    assert enough_tables(10_000_000, 122) * 244 <= MOST_WORDS
    assert enough_tables(1000, MOST_WORDS) == 1


def test_hidden_games_are_refused() -> None:
    reason = make_agent("grave").cannot_play(make_game("openspiel(game=kuhn_poker)"))
    cases.law_sentence(reason)
    assert "ismcts plays them" in str(reason)
