"""Rules of MCTS-Expectimax by hand: lists of children, backups, selection, the final choice, K's table 1."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.agents import naive_search as oracle
from tests.agents.mctse.mctse_trees import children, mctse
from tests.agents.positions import board_position
from turnier.agents.abi import VALUES
from turnier.agents.mctse.search import EXPLORATION, final_action, needs_more, select_action, set_progress
from turnier.agents.mctse.tree import (
    DONE,
    MEMO,
    NONE,
    NUM_NODES,
    UNKNOWN,
    add_child,
    back_up,
    find_child,
    find_or_add_outcome,
    new_tree,
)
from turnier.core.kernel import JIT

needs_jit = pytest.mark.skipif(not JIT, reason="thousands of iterations")


def test_children_lists_by_hand() -> None:
    """add_child puts a node in front of its parent's children; find_child finds by label; back_up adds up to it."""
    tree = new_tree(6, 2)
    assert tree.counts[NUM_NODES] == 1 and tree.first_child[0] == NONE and tree.untried[0] == UNKNOWN
    a, b = add_child(tree, 0, 7), add_child(tree, 0, 3)
    c = add_child(tree, a, 7)
    assert children(tree, 0) == [b, a] and children(tree, a) == [c] and children(tree, b) == []
    assert [find_child(tree, 0, label) for label in (7, 3, 5)] == [a, b, NONE]
    assert find_child(tree, b, 7) == NONE
    back_up(tree, c, np.array([0.5, -0.25]), False, 1)
    back_up(tree, 0, np.array([-2.0, 1.0]), False, 1)
    assert tree.visits[:4].tolist() == [2, 1, 0, 1]
    assert tree.values[:4].tolist() == [[-1.5, 0.75], [0.5, -0.25], [0.0, 0.0], [0.5, -0.25]]
    assert tree.largest.tolist() == [0.5, 1.0] and tree.counts[DONE] == 2


def test_outcomes_are_found_whatever_the_memo_holds() -> None:
    """Also codes that share a bit of the action node, and with more outcomes than the memo has places for."""
    tree, rng = new_tree(2 * MEMO, 1), np.random.default_rng(5)
    actions = [add_child(tree, 0, label) for label in range(4)]
    codes = (1, 2, 62, 63, 123, 1 << 59, (1 << 59) + 61)
    known: dict[tuple[int, int], int] = {}
    for turn in range(300):
        tree.memo[:] = rng.integers(-5, 2 * MEMO + 5, MEMO) if turn % 3 else np.iinfo(tree.memo.dtype).min
        action, code = actions[rng.integers(4)], codes[rng.integers(len(codes))]
        fresh, nodes = (action, code) not in known, tree.counts[NUM_NODES]
        for _ in range(2):
            node = find_or_add_outcome(tree, action, code)
            assert node == known.setdefault((action, code), node)
        assert tree.counts[NUM_NODES] == nodes + fresh and (tree.parent[node], tree.label[node]) == (action, code)
    assert len(known) == 28
    for action in actions:
        assert set(children(tree, action)) == {node for (above, _), node in known.items() if above == action}
    many = [find_or_add_outcome(tree, actions[0], code) for code in range(1000, 1000 + MEMO + 9)]
    assert [find_or_add_outcome(tree, actions[0], code) for code in range(1000, 1000 + MEMO + 9)] == many
    assert len(set(many)) == len(many)


def test_the_pessimistic_backup_keeps_the_least_value() -> None:
    """Kutsch 2017, eq. 4: a node is worth the least of the rollouts below it, however often it was visited."""
    tree = new_tree(3, 1)
    risky, safe = add_child(tree, 0, 0), add_child(tree, 0, 1)
    for node, value in ((risky, 0.9), (safe, 0.3), (risky, 0.1), (safe, 0.2), (risky, 0.9)):
        back_up(tree, node, np.array([value]), True, 1)
    assert tree.values[:3, 0].tolist() == [0.1, 0.1, 0.2] and tree.visits[:3].tolist() == [5, 3, 2]
    assert tree.largest.tolist() == [0.9]
    settings = np.array(mctse(backup="minimum", exploration=0).settings(), np.float64)
    assert select_action(tree, 0, 0, settings) == safe
    root = np.zeros((2, 2))
    assert final_action(tree, 0, settings, root) == 1 and root[VALUES].tolist() == [0.1, 0.2]


@pytest.mark.parametrize(
    ("final", "security", "expected"),
    [("max", 0.0, 0), ("robust", 0.0, 2), ("robust_max", 0.0, 2), ("secure", 0.0, 0), ("secure", 0.5, 1)],
)
def test_final_rules_by_hand(final: str, security: float, expected: int) -> None:
    """Kutsch 2017, 4.1: best mean, most visits, both, best lower bound mean - L / sqrt(n)."""
    tree = fan([(4, 0.9), (25, 0.8), (100, 0.3)], 129, 1.0)
    settings = np.array(mctse(final=final, security=security).settings(), np.float64)
    assert final_action(tree, 0, settings, np.zeros((2, 3))) == expected
    assert needs_more(tree, 0, settings) == (final == "robust_max")


def fan(stats: list[tuple[int, float]], done: int, largest: float, seat: int = 0) -> Any:
    """Returns a tree whose root has one action node per (visits, mean value of the seat)."""
    tree = new_tree(1 + len(stats), 2)
    for label, (visits, mean) in enumerate(stats):
        child = add_child(tree, 0, label)
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


@pytest.mark.parametrize(
    ("points", "whole", "expected"),
    [(0.0, 1000.0, 0.4), (250.0, 1000.0, 0.31), (1000.0, 1000.0, 0.04), (5000.0, 1000.0, 0.04), (-9.0, 1000.0, 0.4),
     (5000.0, 0.0, 0.4)],
)  # fmt: skip
def test_exploration_follows_the_points_so_far(points: float, whole: float, expected: float) -> None:
    """K goes evenly from its first value to its last (Kutsch 2017, 5, idea 2), or stays if no points are given."""
    stats = [(4, 0.3), (50, 0.5), (9, 0.41), (300, 0.52)]
    tree = fan(stats, 400, 1.0)
    changes = {"selection": "uct", "exploration": 0.4, "exploration_end": 0.04, "exploration_points": whole}
    settings = np.array(mctse(**changes).settings(), np.float64)
    set_progress(tree, settings, points)
    scores = [oracle.uct(mean, visits, 363, expected, 1.0) for visits, mean in stats]
    assert tree.label[select_action(tree, 0, 0, settings)] == int(np.argmax(scores))
    assert settings[EXPLORATION] + tree.progress[0] * (0.04 - 0.4) == pytest.approx(expected)


@pytest.mark.parametrize("threads", [1, 2])
def test_every_way_of_searching_lets_exploration_follow_the_points(threads: int) -> None:
    """At the end of the fall a search is the one whose K is the last value from the start; before, it is another."""
    board = ((0, 16, 8, 32), (4, 64, 4, 4), (16, 0, 8, 16), (128, 32, 2, 16))
    fixed, falling = {"exploration": 0.0}, {"exploration": 100.0, "exploration_points": 1200.0}
    one = {"iterations": 400, "selection": "uct", "threads": threads, "rollout_depth": 20}

    def spread(score: float, **changes: Any) -> float:
        position = board_position(board, score=score)
        visits = mctse(**one, **changes).start(position.game, 0, 1).act(position).visits
        return float(visits.max() / visits.min())

    assert spread(1200.0, **falling) > 3 and spread(1200.0, **fixed) > 3
    assert spread(0.0, **falling) < 1.5


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
    nodes = [int(add_child(tree, 0, label)) for label in range(len(means))]
    for i in range(iterations):
        node = nodes[i] if i < len(means) else int(select_action(tree, 0, 0, settings))
        back_up(tree, node, np.array([means[int(tree.label[node])]]), False, 1)
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
