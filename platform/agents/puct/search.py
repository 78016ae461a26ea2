"""Tree search with priors on the tree of MCTS: every new state is expanded at once.

A node has the seat's mean value and, instead of 1/sqrt(n), its prior, which becomes 0 if the node is proven, since
nothing is left to explore there. Its children begin with the values of one decision ahead. If chance follows an action,
the node's children are its outcomes so far, rows linked by the column of actions, with their codes in `seeds`.
Elsewhere `seeds` has the logarithm of the prior, and `proofs` a node's first value until it is proven.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ...core.kernel import kernel, types
from ...core.rng import Rng
from ...games.abi import CHANCE, GAME, NO_WIN, TERMINAL, Actions, Floats, State
from ...games.generic import copy_state
from ..abi import EVALUATOR, SCRATCH, VALUES, VISITS, Root, new_scratch
from ..expectimax.one_ply_boards import worth_of_board
from ..final_move import ROBUST, ROOT_CHILDREN, choose, new_root_children
from ..mcts.search import BEST, back_up_proof, prove
from ..mcts.tree import (
    ACTION,
    COUNT,
    DRAWN,
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
    clear_node,
    expand,
)
from ..mctse.search import draw_chance
from .gumbel import best_improved
from .heads import rank_by_heads
from .ranking import RANKING, add_learned_logits, limit, new_ranking, rank_actions, set_logits_of_values, set_softmax

(
    ITERATIONS, TREE_DEPTH, EXPLORATION, TEMPERATURE, FROM_BEST, SOLVER, FORCED_DEPTH, GUMBEL, CONSIDERED, VALUE_SCALE,
    BY_NETWORK, POLICY, BY_HEADS, NUM_SETTINGS,
) = range(14)  # fmt: skip
PRIOR = INVERSE_ROOT
MIXED = 0.25  # share of the noise
LOW, HIGH = 0, 1  # of a search's extremes


class Work(NamedTuple):
    """An iteration's space."""

    scratch: Any
    ranking: Any
    state: Any  # [state_words]
    returns: Any  # [seats]
    values: Any  # [seats] of the iteration
    path: Any  # [longest path] nodes
    movers: Any  # [longest path] the seat that chose each; NONE for an outcome
    policy: Any  # [max_choices] scratch space


WORK = types.NamedTuple([SCRATCH, RANKING, State, Floats, Floats, Actions, Actions, Floats], Work)


@kernel(WORK(GAME, EVALUATOR, Floats, State))
def new_work(game, evaluator, settings, state):
    longest = 2 * np.int64(settings[TREE_DEPTH]) + 3  # an action and its outcome, and a proven child at the end
    return Work(
        new_scratch(game, state),
        new_ranking(game, evaluator, state, settings[BY_NETWORK] > 0.0, np.int64(settings[POLICY])),
        np.empty_like(state),
        np.empty(game.num_seats),
        np.empty(game.num_seats),
        np.zeros(longest, np.int64),
        np.full(longest, NONE),
        np.empty(game.max_choices),
    )


@kernel(types.void(Floats, types.int64))
def clear_extremes(extremes, seats):
    """Resets the range of a search's values: -1 to 1, or for a single seat that of the values found."""
    extremes[LOW] = -1.0 if seats > 1 else math.inf
    extremes[HIGH] = 1.0 if seats > 1 else -math.inf


@kernel(types.int64(GAME, EVALUATOR, Floats, TREE, types.int64, State, Floats, types.int64, Rng, Floats, WORK))
def expand_ranked(game, evaluator, settings, tree, node, state, returns, mover, rng, extremes, work):
    """Gives a node its children with first values and priors; returns their number, 0 if the tree is full.

    With BY_HEADS it also fills in the node's values, `work.values`.
    """
    ranking, seats = work.ranking, returns.size
    n = expand(game, tree, node, state, ranking.choices)
    if n == 0:
        return 0
    if settings[BY_HEADS] > 0.0:
        rank_by_heads(game, evaluator, state, returns, n, mover, rng, work.scratch, ranking, work.values)
    else:
        by_network = settings[BY_NETWORK] > 0.0
        rank_actions(game, evaluator, by_network, state, returns, n, rng, work.scratch, ranking)
        set_logits_of_values(ranking.values, n, mover, settings[TEMPERATURE], ranking.logits)
    if settings[POLICY] > 0.0:
        add_learned_logits(game, evaluator, np.int64(settings[POLICY]), state, returns, n, mover, ranking)
    set_softmax(ranking.logits, n, ranking.priors)
    logits, first = tree.seeds.view(np.float64), tree.nodes[node, FIRST]
    tree.nodes[node, TRIED] = n
    for i in range(n):
        child, value = first + i, ranking.values[i, mover]
        clear_node(tree.nodes, tree.stats, child)
        tree.stats[child, MEAN], tree.stats[child, PRIOR] = value, ranking.priors[i]
        logits[child] = ranking.logits[i]
        if seats == 1:
            extremes[LOW], extremes[HIGH] = min(extremes[LOW], value), max(extremes[HIGH], value)
        if ranking.over[i] != 0 and settings[SOLVER] > 0.0:
            prove(tree, child, mover, ranking.values[i])
    return n


@kernel(types.void(RANKING, types.int64, types.int64, Floats))
def values_of_best(ranking, n, mover, values):
    """Sets `values` to those of the mover's first best action."""
    best = 0
    for i in range(n):
        if ranking.values[i, mover] > ranking.values[best, mover]:
            best = i
    for seat in range(values.size):
        values[seat] = ranking.values[best, seat]


@kernel(types.int64(NODES, STATS, types.int64, types.float64, Floats))
def select_by_prior(nodes, stats, node, exploration, extremes):
    """Returns the child with the largest Q + c P sqrt(N) / (1 + n), of equals the first; Q is from 0 to 1.

    Source: Silver et al. 2017, methods (PUCT); Schrittwieser et al. 2020, eq. 5 (Q between the extremes found so far).
    """
    span = extremes[HIGH] - extremes[LOW]
    scale = 1.0 / span if span > 0.0 else 0.0
    weight = exploration * math.sqrt(float(nodes[node, COUNT]))
    first = nodes[node, FIRST]
    best, best_score = first, -math.inf
    for child in range(first, first + nodes[node, WIDTH]):
        own = (stats[child, MEAN] - extremes[LOW]) * scale
        score = own + weight * stats[child, PRIOR] / (1.0 + float(nodes[child, COUNT]))
        if score > best_score:
            best, best_score = child, score
    return best


@kernel(types.int64(TREE, types.int64, types.int64))
def outcome_of(tree, node, code):
    """Returns the child of an action's node for outcomes of chance, a new one if needed, NONE if the tree is full.

    Args:
        code: see `draw_chance`.
    """
    nodes = tree.nodes
    newest = row = int(nodes[node, FIRST]) if nodes[node, WIDTH] > 0 else NONE
    while row != NONE:
        if tree.seeds[row] == np.uint64(code):
            return row
        row = int(nodes[row, ACTION])
    row = tree.size[0]
    if row == tree.stats.shape[0]:
        return NONE
    tree.size[0] = row + 1
    clear_node(nodes, tree.stats, row)
    nodes[row, ACTION], tree.seeds[row] = newest, np.uint64(code)
    nodes[node, FIRST] = row
    nodes[node, WIDTH] += 1
    return row


@kernel(types.void(TREE, Actions, Actions, types.int64, Floats, Floats))
def back_up(tree, path, movers, length, values, extremes):
    """Adds an iteration's values to the nodes of its path."""
    tree.nodes[0, COUNT] += 1
    for i in range(1, length + 1):
        node, mover = path[i], movers[i]
        tree.nodes[node, COUNT] += 1
        if mover != NONE and tree.nodes[node, STATUS] != PROVEN:
            mean = tree.stats[node, MEAN] if tree.nodes[node, COUNT] > 1 else 0.0
            tree.stats[node, MEAN] = mean + (values[mover] - mean) / float(tree.nodes[node, COUNT])
    if values.size == 1:
        extremes[LOW], extremes[HIGH] = min(extremes[LOW], values[0]), max(extremes[HIGH], values[0])


@kernel(types.UniTuple(types.int64, 3)(GAME, Floats, TREE, Rng, Floats, types.int64, WORK), inline=True)
def descend(game, settings, tree, rng, extremes, through, work):
    """Selects actions from the root's state, `work.state`, in place, down to a node without children or proven.

    Returns that node, NONE if the tree has no room for outcomes of chance, the length of its path and the mover.
    """
    nodes, stats, path, movers = tree.nodes, tree.stats, work.path, work.movers
    state, returns, choices, probs = work.state, work.returns, work.scratch.choices, work.scratch.probs
    node, length, mover = 0, 0, game.to_move(state)
    for depth in range(np.int64(settings[TREE_DEPTH])):
        if nodes[node, WIDTH] == 0 or nodes[node, STATUS] == PROVEN:
            break
        if depth == 0 and through != NONE:
            node = through
        elif settings[GUMBEL] > 0.0:
            node = best_improved(tree, node, mover, settings[VALUE_SCALE], work.policy)
        else:
            node = select_by_prior(nodes, stats, node, settings[EXPLORATION], extremes)
        length += 1
        path[length], movers[length] = node, mover
        game.step(state, nodes[node, ACTION], returns)
        mover = game.to_move(state)
        if mover == CHANCE:
            nodes[node, STATUS] = DRAWN
            code = draw_chance(game, state, rng, returns, choices, probs)
            mover, node = game.to_move(state), outcome_of(tree, node, code)
            if node == NONE:
                break
            length += 1
            path[length], movers[length] = node, NONE
    return node, length, mover


@kernel(types.boolean(GAME, Floats, TREE, types.int64, types.int64, types.int64, WORK))
def is_forced(game, settings, tree, node, length, mover, work):
    """Returns whether the mover wins a new node by force; then proves it and fills in `work.values`."""
    if not game.has_forced_win or settings[FORCED_DEPTH] == 0.0 or mover == TERMINAL:
        return False
    if tree.nodes[node, WIDTH] > 0 or tree.nodes[node, STATUS] != OPEN:
        return False
    if game.forced_win(work.state, np.int64(settings[FORCED_DEPTH])) == NO_WIN:
        return False
    values = work.values
    for seat in range(values.size):  # several others share the loss
        values[seat] = BEST if seat == mover else -BEST / float(values.size - 1)
    prove(tree, node, work.movers[length], values)
    return True


@kernel(
    types.int64(GAME, EVALUATOR, Floats, TREE, types.int64, types.int64, types.int64, Rng, Floats, WORK), inline=True
)
def value_end(game, evaluator, settings, tree, node, length, mover, rng, extremes, work):
    """Fills in the values of a path's end, `work.values`, and expands it if possible; returns where proofs may begin.

    That is the end of the path or, if an action from there ends the game, one further.
    """
    values, state, returns = work.values, work.state, work.returns
    if node != NONE and tree.nodes[node, STATUS] == PROVEN:
        values[:] = tree.proofs[node]
        return length
    if node != NONE and is_forced(game, settings, tree, node, length, mover, work):
        return length
    n, solver = 0, settings[SOLVER] > 0.0
    if node != NONE and mover != TERMINAL and tree.nodes[node, WIDTH] == 0:
        n = expand_ranked(game, evaluator, settings, tree, node, state, returns, mover, rng, extremes, work)
    if n > 0 and settings[FROM_BEST] > 0.0:
        values_of_best(work.ranking, n, mover, values)
    elif n == 0 or settings[BY_HEADS] == 0.0:
        if n > 0 and settings[BY_NETWORK] > 0.0:  # the board is known now
            words, table = evaluator.weights.view(np.int64), evaluator.weights.view(np.float32)
            worth_of_board(game, words, table, returns, mover, work.ranking.board, values)
        else:
            values[:] = 0.0
            evaluator.evaluate(game, evaluator.weights, state, returns, 1, rng, values, work.scratch)
        if mover != TERMINAL:
            limit(values)
    if n > 0:
        tree.proofs[node] = values  # until it is proven
    if solver and mover == TERMINAL and node != NONE and tree.nodes[node, STATUS] == OPEN:
        prove(tree, node, work.movers[length], values)
    if n == 0 or not solver:
        return length
    work.path[length + 1], work.movers[length + 1] = tree.nodes[node, FIRST], mover
    return length + 1


@kernel(types.void(GAME, EVALUATOR, Floats, TREE, State, Floats, Rng, Floats, types.int64, types.int64, WORK))
def iterate(game, evaluator, settings, tree, root_state, returns, rng, extremes, iterations, through, work):
    """Runs iterations on a tree, new or searched before, until all are done or the root is proven.

    Args:
        extremes: [2] see `clear_extremes`.
        through: the root's child with which they begin, NONE = by selection.
    """
    nodes, state, state_returns, values = tree.nodes, work.state, work.returns, work.values
    path, movers = work.path, work.movers
    for _ in range(iterations):
        if nodes[0, STATUS] == PROVEN:
            return
        copy_state(root_state, state)
        for seat in range(returns.size):
            state_returns[seat] = returns[seat]
        node, length, mover = descend(game, settings, tree, rng, extremes, through, work)
        end = value_end(game, evaluator, settings, tree, node, length, mover, rng, extremes, work)
        if settings[SOLVER] > 0.0 and node != NONE and (end > length or nodes[node, STATUS] == PROVEN):
            back_up_proof(tree, path, movers, end, values)
        back_up(tree, path, movers, length, values, extremes)


@kernel(types.void(TREE, Floats))
def mix_priors(tree, noise):
    """Mixes noise into the priors of the root's children that are not proven, if it is not zero.

    Source: Silver et al. 2017, methods (Dirichlet noise).
    """
    total = 0.0
    for i in range(tree.nodes[0, WIDTH]):
        total += noise[i]
    for i in range(tree.nodes[0, WIDTH] if total > 0.0 else 0):
        child = tree.nodes[0, FIRST] + i
        if tree.nodes[child, STATUS] == OPEN:
            tree.stats[child, PRIOR] += MIXED * (noise[i] - tree.stats[child, PRIOR])


@kernel(ROOT_CHILDREN(TREE))
def root_children(tree):
    """Returns the root's children for the final move."""
    children = new_root_children(tree.nodes[0, TRIED])
    for i in range(children.actions.size):
        child = tree.nodes[0, FIRST] + i
        children.actions[i] = tree.nodes[child, ACTION]
        children.visits[i] = float(tree.nodes[child, COUNT])
        children.values[i] = children.bounds[i] = tree.stats[child, MEAN]
        children.proven[i] = tree.nodes[child, STATUS] == PROVEN
    return children


@kernel(types.int64(TREE, types.int64, Root))
def final_child(tree, favourite, root):
    """Fills `root` with the root's visited children; returns the one to play.

    That is the favourite or, if it is NONE, the most visited child, unless a proven one is no worse.
    """
    children = root_children(tree)
    for i in range(children.actions.size):
        if children.visits[i] > 0.0 or children.proven[i]:
            root[VISITS, children.actions[i]] = children.visits[i]
            root[VALUES, children.actions[i]] = children.values[i]
        if favourite != NONE and not children.proven[i]:
            children.visits[i] = 1.0 if i == favourite - tree.nodes[0, FIRST] else 0.0
    return tree.nodes[0, FIRST] + choose(children, ROBUST)
