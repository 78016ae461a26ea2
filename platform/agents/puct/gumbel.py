"""Gumbel AlphaZero's choice of actions below the root: a policy improved by the values found.

Source: Danihelka et al. 2022, "Policy improvement by planning with Gumbel": eq. 8 (sigma), 10 and 33 (values of actions
without visits), 11 (improved policy) and 14 (selection).
"""

from __future__ import annotations

import math

import numpy as np

from ...core.kernel import kernel, types
from ...games.abi import Actions, Floats
from ..mcts.tree import COUNT, FIRST, MEAN, PROVEN, STATUS, TREE, WIDTH

VISITS_BEFORE = 50.0  # c_visit


@kernel(types.float64(TREE, types.int64, types.int64))
def mixed_value(tree, node, mover):
    """Returns the value to the mover assumed for a node's actions without visits.

    That is the mean of the node's own first value and, once per visit, the mean of the visited actions by prior.
    """
    nodes, logits = tree.nodes, tree.seeds.view(np.float64)
    visits, weights, total = 0.0, 0.0, 0.0
    for child in range(nodes[node, FIRST], nodes[node, FIRST] + nodes[node, WIDTH]):
        if nodes[child, COUNT] > 0:
            prior = math.exp(logits[child])
            visits += float(nodes[child, COUNT])
            weights += prior
            total += prior * tree.stats[child, MEAN]
    own = tree.proofs[node, mover]
    return (own + visits * total / weights) / (1.0 + visits) if weights > 0.0 else own


@kernel(types.void(TREE, types.int64, types.int64, types.float64, Floats))
def set_improved_logits(tree, node, mover, value_scale, scores):
    """Fills in logit + sigma(Q) of a node's children: sigma(Q) = (50 + the most visits of a child) * value_scale * Q.

    Q is 0 for a loss and 1 for a win; for a single seat 0 for its worst child and 1 for its best.
    """
    nodes, first, width = tree.nodes, tree.nodes[node, FIRST], tree.nodes[node, WIDTH]
    logits, unvisited = tree.seeds.view(np.float64), mixed_value(tree, node, mover)
    low, high, most = math.inf, -math.inf, 0.0
    for i in range(width):
        known = nodes[first + i, COUNT] > 0 or nodes[first + i, STATUS] == PROVEN
        scores[i] = tree.stats[first + i, MEAN] if known else unvisited
        low, high = min(low, scores[i]), max(high, scores[i])
        most = max(most, float(nodes[first + i, COUNT]))
    if tree.proofs.shape[1] > 1:
        low, high = -1.0, 1.0
    scale = (VISITS_BEFORE + most) * value_scale / (high - low) if high > low else 0.0
    for i in range(width):
        scores[i] = logits[first + i] + scale * (scores[i] - low)


@kernel(types.void(TREE, types.int64, types.int64, types.float64, Floats))
def set_improved_policy(tree, node, mover, value_scale, policy):
    """Fills in the improved policy of a node's children: the softmax of those logits."""
    width, high, total = tree.nodes[node, WIDTH], -math.inf, 0.0
    set_improved_logits(tree, node, mover, value_scale, policy)
    for i in range(width):
        high = max(high, policy[i])
    for i in range(width):
        policy[i] = math.exp(policy[i] - high)
        total += policy[i]
    for i in range(width):
        policy[i] /= total


@kernel(types.int64(TREE, types.int64, types.int64, types.float64, Floats))
def best_improved(tree, node, mover, value_scale, policy):
    """Returns the child furthest below the improved policy, by pi - n / (1 + N), of equals the first."""
    set_improved_policy(tree, node, mover, value_scale, policy)
    nodes, first, width, visits = tree.nodes, tree.nodes[node, FIRST], tree.nodes[node, WIDTH], 1.0
    for child in range(first, first + width):
        visits += float(nodes[child, COUNT])
    best, best_score = first, -math.inf
    for i in range(width):
        score = policy[i] - float(nodes[first + i, COUNT]) / visits
        if score > best_score:
            best, best_score = first + i, score
    return best


@kernel(types.void(Floats, types.int64, Actions))
def sort_by_score(scores, count, places):
    """Sorts the first `count` places by falling score, stably: by insertion, as they are few."""
    for i in range(1, count):
        place = places[i]
        at = i
        while at > 0 and scores[places[at - 1]] < scores[place]:
            places[at] = places[at - 1]
            at -= 1
        places[at] = place
