"""The search of MCTS on a tree: iterations, proofs, and the choice of an action."""

from __future__ import annotations

import math

import numpy as np

from ...core.kernel import kernel, types
from ...core.rng import Rng
from ...games.abi import GAME, NO_WIN, TERMINAL, Actions, Floats, State
from ...games.generic import copy_state
from ..abi import EVALUATOR, SCRATCH, VALUES, VISITS, Root, new_scratch
from ..final_move import EXTRA_CHUNKS, ROOT_CHILDREN, SECURE, choose, is_settled, new_root_children, report
from .tree import (
    ACTION,
    COUNT,
    FIRST,
    INVERSE_ROOT,
    MEAN,
    NODES,
    NONE,
    OPEN,
    PROVEN,
    STATS,
    STATUS,
    TREE,
    TRIED,
    WIDTH,
    enter,
    expand,
    select_child,
    try_child,
)

# An iteration's space: that for evaluators, a state, its returns, values, frozen chance, a path and its movers.
WORK = types.Tuple([SCRATCH, State, Floats, Floats, Rng, Actions, Actions])
ITERATIONS, TREE_DEPTH, EXPLORATION, FINAL, SECURITY, MINIMUM, SOLVER, FORCED_DEPTH, NUM_SETTINGS = range(9)
BEST = 1.0  # the best value: a return / max_return is never higher


@kernel(types.void(TREE, types.int64, types.int64, Floats))
def prove(tree, node, mover, values):
    """Gives a node its exact values; `mover` is the seat that chose it, NONE at the root."""
    tree.nodes[node, STATUS] = PROVEN
    tree.proofs[node] = values
    if mover != NONE:
        tree.stats[node, MEAN] = values[mover]
        tree.stats[node, INVERSE_ROOT] = 0.0


@kernel(types.int64(TREE, types.int64, types.int64))
def proof_of(tree, node, mover):
    """Returns the child that proves a node in which `mover` moves, or NONE.

    It is one with the best possible value for the mover or, if all children are proven, the best of them.
    """
    first = tree.nodes[node, FIRST]
    best, complete = NONE, tree.nodes[node, TRIED] == tree.nodes[node, WIDTH]
    for child in range(first, first + tree.nodes[node, TRIED]):
        if tree.nodes[child, STATUS] != PROVEN:
            complete = False
        elif best == NONE or tree.stats[child, MEAN] > tree.stats[best, MEAN]:
            best = child
    if best != NONE and (complete or tree.stats[best, MEAN] >= BEST):
        return best
    return NONE


@kernel(types.void(TREE, Actions, Actions, types.int64, Floats))
def back_up_proof(tree, path, movers, length, values):
    """Proves ancestors of the proven node at the path's end; `values` become those of the highest one proven.

    movers[i] chose path[i]. Nothing is proven through chance, which could have had another outcome.
    """
    for i in range(length - 1, -1, -1):
        proof = NONE
        if tree.nodes[path[i], STATUS] == OPEN:
            proof = proof_of(tree, path[i], movers[i + 1])
        if proof == NONE:
            return
        values[:] = tree.proofs[proof]
        prove(tree, path[i], movers[i], values)


@kernel(types.void(NODES, STATS, Actions, Actions, types.int64, Floats, types.boolean))
def back_up(nodes, stats, path, movers, length, values, minimum):
    """Adds an iteration's values to the means, or the minima, of the nodes of its path (Kutsch 2017, 5)."""
    nodes[0, COUNT] += 1
    for i in range(1, length + 1):
        node = path[i]
        nodes[node, COUNT] += 1
        if nodes[node, STATUS] != PROVEN:
            n, value, mean = float(nodes[node, COUNT]), values[movers[i]], stats[node, MEAN]
            if minimum:
                stats[node, MEAN] = value if n == 1.0 else min(mean, value)
            else:
                stats[node, MEAN] = mean + (value - mean) / n
            stats[node, INVERSE_ROOT] = 1.0 / math.sqrt(n)


@kernel(types.void(GAME, EVALUATOR, Floats, TREE, State, Floats, Rng, types.int64))
def search(game, evaluator, settings, tree, root_state, returns, rng, iterations):
    """Runs iterations on a tree, new or searched before, until all are done or the root is proven."""
    tree_depth = np.int64(settings[TREE_DEPTH])
    work = (
        new_scratch(game, root_state),
        np.empty_like(root_state),
        np.empty_like(returns),
        np.empty_like(returns),
        np.empty(4, np.uint64),
        np.zeros(tree_depth + 1, np.int64),
        np.empty(tree_depth + 1, np.int64),
    )
    iterate(game, evaluator, settings, tree, root_state, returns, rng, iterations, work)


@kernel(types.void(GAME, EVALUATOR, Floats, TREE, State, Floats, Rng, types.int64, WORK))
def iterate(game, evaluator, settings, tree, root_state, returns, rng, iterations, work):
    """Runs the iterations of `search` in its arrays."""
    scratch, state, leaf_returns, values, frozen, path, movers = work
    choices, probs = scratch.choices, scratch.probs
    nodes, stats, seeds = tree.nodes, tree.stats, tree.seeds
    tree_depth, exploration = np.int64(settings[TREE_DEPTH]), settings[EXPLORATION]
    minimum, solver = settings[MINIMUM] > 0.0, settings[SOLVER] > 0.0
    forced_depth = np.int64(settings[FORCED_DEPTH]) if game.has_forced_win else 0
    movers[0] = NONE
    first_mover = game.to_move(root_state)
    for _ in range(iterations):
        if nodes[0, STATUS] == PROVEN:
            return
        copy_state(root_state, state)
        for seat in range(values.size):
            leaf_returns[seat] = returns[seat]
            values[seat] = 0.0
        node, length, mover, fresh = 0, 0, first_mover, False
        # Selection and expansion, down to a node that is new, an end of the tree, or proven.
        while not fresh and length < tree_depth and mover != TERMINAL and nodes[node, STATUS] != PROVEN:
            if nodes[node, WIDTH] == 0 and expand(game, tree, node, state, choices) == 0:
                break
            fresh = nodes[node, TRIED] < nodes[node, WIDTH]
            node = try_child(nodes, stats, node, rng) if fresh else select_child(nodes, stats, node, exploration)
            length += 1
            path[length], movers[length] = node, mover
            mover = enter(game, nodes, seeds, node, state, leaf_returns, rng, frozen, choices, probs)
        if nodes[node, STATUS] == PROVEN:
            values[:] = tree.proofs[node]
        elif fresh and forced_depth > 0 and mover != TERMINAL and nodes[node, STATUS] == OPEN:
            forced = game.forced_win(state, forced_depth) != NO_WIN
            for seat in range(values.size if forced else 0):
                # Several others share the loss.
                values[seat] = BEST if seat == mover else -BEST / float(values.size - 1)
            if forced:
                prove(tree, node, movers[length], values)
        if nodes[node, STATUS] != PROVEN:
            evaluator.evaluate(game, evaluator.weights, state, leaf_returns, 1, rng, values, scratch)
            if solver and mover == TERMINAL and nodes[node, STATUS] == OPEN:
                prove(tree, node, movers[length], values)
        if solver and nodes[node, STATUS] == PROVEN:
            back_up_proof(tree, path, movers, length, values)
        back_up(nodes, stats, path, movers, length, values, minimum)


@kernel(ROOT_CHILDREN(TREE, Floats))
def root_children(tree, settings):
    """Returns the root's tried children for the final move."""
    caution = settings[SECURITY] if settings[FINAL] == SECURE else 0.0
    children = new_root_children(tree.nodes[0, TRIED])
    for i in range(children.actions.size):
        child = tree.nodes[0, FIRST] + i
        children.actions[i] = tree.nodes[child, ACTION]
        children.visits[i] = float(tree.nodes[child, COUNT])
        children.values[i] = tree.stats[child, MEAN]
        children.bounds[i] = tree.stats[child, MEAN] - caution * tree.stats[child, INVERSE_ROOT]
        children.proven[i] = tree.nodes[child, STATUS] == PROVEN
    return children


@kernel(types.void(GAME, EVALUATOR, Floats, TREE, State, Floats, Rng))
def search_all(game, evaluator, settings, tree, state, returns, rng):
    """Runs the iterations of one decision, and up to as many again until robust_max has a child."""
    iterations = np.int64(settings[ITERATIONS])
    search(game, evaluator, settings, tree, state, returns, rng, iterations)
    for _ in range(EXTRA_CHUNKS):
        if is_settled(root_children(tree, settings), settings[FINAL]):
            return
        search(game, evaluator, settings, tree, state, returns, rng, max(iterations // EXTRA_CHUNKS, 1))


@kernel(types.int64(TREE, Floats, Root))
def final_child(tree, settings, root):
    """Fills `root` with the root's children and returns the one to play."""
    children = root_children(tree, settings)
    report(children, root)
    return tree.nodes[0, FIRST] + choose(children, settings[FINAL])


@kernel(types.int64(GAME, types.int64, State, Root))
def without_search(game, forced_depth, state, root):
    """Returns the only legal action or one that wins by force (as if visited once), otherwise NONE."""
    choices = np.empty(game.max_choices, np.int64)
    if game.legal(state, choices) == 1:
        return choices[0]
    if game.has_forced_win and forced_depth > 0:
        action = game.forced_win(state, forced_depth)
        if action != NO_WIN:
            root[VISITS, action] = 1.0
            root[VALUES, action] = BEST
            return action
    return NONE
