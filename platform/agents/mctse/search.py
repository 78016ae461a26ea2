"""The kernels of MCTS-Expectimax: select, expand, evaluate, back up."""

from __future__ import annotations

import math

import numpy as np

from ...core.kernel import kernel, types
from ...core.rng import Rng, below
from ...games.abi import CHANCE, GAME, TERMINAL, Actions, Floats, State
from ...games.generic import copy_state, draw_outcome
from ..abi import EVALUATOR, SCRATCH, Root, new_scratch
from ..final_move import ROOT_CHILDREN, SECURE, choose, is_settled, new_root_children, report
from .tree import (
    COUNTED,
    DONE,
    NONE,
    NUM_ACTION_NODES,
    TREE,
    UNKNOWN,
    add_child,
    back_up,
    find_child,
    find_or_add_outcome,
    has_room,
    mean_value,
    num_children,
)

ITERATIONS, MAXNODES, TREE_DEPTH, EXPLORATION, NORMALISED, FINAL, SECURITY, MINIMUM = range(8)
EXPLORATION_END, EXPLORATION_POINTS, NUM_SETTINGS = 8, 9, 10
LOGS = np.array([-math.inf, *(math.log(visits) for visits in range(1, 1 << 12))])
NORMALISE_AFTER = 100  # iterations (Kutsch 2017, 5)
PLAYED = types.Tuple((types.int64, types.int64, types.boolean))  # what `play_action` returns


@kernel(types.void(TREE, Floats, types.float64))
def set_progress(tree, settings, points):
    """Lets K of this search follow the mover's return so far, from its first value to its last."""
    whole = settings[EXPLORATION_POINTS]
    tree.progress[0] = min(1.0, max(0.0, points / whole)) if whole > 0.0 else 0.0


@kernel(types.int64(TREE, types.int64, types.int64, Floats))
def select_action(tree, node, mover, settings):
    """Picks the action node by UCT, or UCTN (K eq. 3): v_i / (n_i m) + K sqrt(ln n_p / n_i).

    m is the largest rollout value of this search; K may change with the points so far (idea 2 there).
    """
    exploration = settings[EXPLORATION] + tree.progress[0] * (settings[EXPLORATION_END] - settings[EXPLORATION])
    scale = 1.0
    if settings[NORMALISED] > 0.0 and tree.counts[DONE] >= NORMALISE_AFTER and tree.largest[mover] > 0.0:
        scale = 1.0 / tree.largest[mover]
    minimum = settings[MINIMUM] > 0.0
    visits = tree.visits[node] & COUNTED
    log_parent = LOGS[visits] if visits < LOGS.size else math.log(float(visits))
    best, best_score = NONE, -math.inf
    child = tree.first_child[node]
    while child != NONE:
        mean = mean_value(tree, child, mover, minimum)
        score = mean * scale + exploration * math.sqrt(log_parent / float(tree.visits[child] & COUNTED))
        if score > best_score:
            best, best_score = child, score
        child = tree.next_sibling[child]
    return best


@kernel(types.int64(GAME, TREE, types.int64, State, Rng, Actions))
def untried_action(game, tree, node, state, rng, choices):
    """Draws one of the legal actions that have no action node yet."""
    n = game.legal(state, choices)
    skip = below(rng, tree.untried[node])
    for i in range(n):
        if find_child(tree, node, choices[i]) == NONE:
            if skip == 0:
                return choices[i]
            skip -= 1
    return NONE  # never: `untried` counts exactly these


@kernel(types.int64(GAME, State, Rng, Floats, Actions, Floats))
def draw_chance(game, state, rng, returns, choices, probs):
    """Draws outcomes until a seat is to move or the game is over; returns a code for their sequence."""
    code = 0
    while game.to_move(state) == CHANCE:
        outcome = draw_outcome(game, state, rng, choices, probs)
        game.step(state, outcome, returns)
        code = (code & 0x7FFFFFFFFF) * 1_000_003 + outcome + 1  # stays below 2**60
    return code


@kernel(PLAYED(GAME, TREE, Floats, types.int64, State, Floats, Rng, Actions, Floats), inline=True)
def play_action(game, tree, settings, node, state, returns, rng, choices, probs):
    """Selects an action at a decision node, or expands one, and plays it and the chance outcomes after it.

    Returns the action node, or NONE if the descent ends; the outcome's code; whether the action node is new.
    """
    mover = game.to_move(state)
    if mover == TERMINAL or not has_room(tree):
        return NONE, 0, False
    if tree.untried[node] == UNKNOWN:
        tree.untried[node] = game.legal(state, choices) - num_children(tree, node)
    fresh = tree.untried[node] > 0
    if fresh:
        if tree.counts[NUM_ACTION_NODES] >= settings[MAXNODES]:
            return NONE, 0, False
        chosen = add_child(tree, node, untried_action(game, tree, node, state, rng, choices))
    else:
        chosen = select_action(tree, node, mover, settings)
    game.step(state, tree.label[chosen], returns)
    return chosen, draw_chance(game, state, rng, returns, choices, probs), fresh


@kernel(types.int64(GAME, TREE, Floats, State, Floats, Rng, Actions, Floats, types.int64), inline=True)
def descend(game, tree, settings, state, returns, rng, choices, probs, mark):
    """Selects and expands (K, algorithms 8 and 9), from the root's state in place to below a new action node.

    The rollout starts there. Returns that node; adds `mark` to the visits of all nodes on the way.
    """
    node = 0
    tree.visits[0] += mark
    for _ in range(np.int64(settings[TREE_DEPTH])):
        chosen, code, fresh = play_action(game, tree, settings, node, state, returns, rng, choices, probs)
        if chosen == NONE:
            break
        node = find_or_add_outcome(tree, chosen, code)
        tree.visits[chosen] += mark
        tree.visits[node] += mark
        if fresh:
            break
    return node


@kernel(types.void(GAME, EVALUATOR, Floats, TREE, State, Floats, Rng, types.int64))
def search(game, evaluator, settings, tree, root_state, returns, rng, iterations):
    """Runs iterations on a tree, new or searched before; a full tree still learns from rollouts at its nodes."""
    scratch, state, spare = new_scratch(game, root_state), np.empty_like(root_state), np.empty((2, returns.size))
    iterate(game, evaluator, settings, tree, root_state, returns, rng, iterations, scratch, state, spare[0], spare[1])


@kernel(types.void(GAME, EVALUATOR, Floats, TREE, State, Floats, Rng, types.int64, SCRATCH, State, Floats, Floats))
def iterate(
    game, evaluator, settings, tree, root_state, returns, rng, iterations, scratch, state, leaf_returns, values
):
    """Runs the iterations of `search` in its arrays."""
    minimum = settings[MINIMUM] > 0.0
    set_progress(tree, settings, returns[game.to_move(root_state)])
    for _ in range(iterations):
        copy_state(root_state, state)
        for seat in range(returns.size):
            leaf_returns[seat] = returns[seat]
            values[seat] = 0.0
        leaf = descend(game, tree, settings, state, leaf_returns, rng, scratch.choices, scratch.probs, 0)
        evaluator.evaluate(game, evaluator.weights, state, leaf_returns, 1, rng, values, scratch)
        back_up(tree, leaf, values, minimum, 1)


@kernel(ROOT_CHILDREN(TREE, types.int64, Floats))
def root_children(tree, mover, settings):
    """Returns the root's children for the final move, the youngest first."""
    caution = settings[SECURITY] if settings[FINAL] == SECURE else 0.0
    children = new_root_children(num_children(tree, 0))
    child = tree.first_child[0]
    for i in range(children.actions.size):
        children.actions[i] = tree.label[child]
        children.visits[i] = float(tree.visits[child])
        children.values[i] = mean_value(tree, child, mover, settings[MINIMUM] > 0.0)
        children.bounds[i] = children.values[i] - caution / math.sqrt(children.visits[i])
        child = tree.next_sibling[child]
    return children


@kernel(types.boolean(TREE, types.int64, Floats))
def needs_more(tree, mover, settings):
    """Whether the final move asks for more iterations."""
    return not is_settled(root_children(tree, mover, settings), settings[FINAL])


@kernel(types.int64(TREE, types.int64, Floats, Root))
def final_action(tree, mover, settings, root):
    """Fills `root` with the root's children and returns the action to play."""
    children = root_children(tree, mover, settings)
    report(children, root)
    return children.actions[choose(children, settings[FINAL])]
