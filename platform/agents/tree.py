"""The search tree of MCTS-Expectimax: a struct of arrays that outlives a call, so that a search can go on.

Levels alternate between decision nodes (a seat is to move; K calls them chance nodes) and action nodes (an action was
chosen, the afterstate; K's expectimax nodes). Children form linked lists in order of creation. Source: Kutsch 2017, 5.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import types

from turnier.games.abi import kernel

NONE = -1  # no such node
NUM_NODES, NUM_ACTION_NODES, DONE = 0, 1, 2  # indices into `counts`
UNKNOWN = -1  # `untried` of a decision node that selection has not visited yet


class Tree(NamedTuple):
    """Node 0 is the root, a decision node."""

    first_child: Any  # [capacity] node or NONE
    next_sibling: Any  # [capacity] node or NONE
    label: Any  # [capacity] the action of an action node, the chance outcomes' code of a decision node
    untried: Any  # [capacity] legal actions of a decision node without an action node yet, or UNKNOWN
    visits: Any  # [capacity]
    values: Any  # [capacity, seats] sums of rollout values, or the least of them
    largest: Any  # [seats] largest value of a rollout of this search, at least 0
    counts: Any  # [3] nodes, action nodes, iterations so far


_INTS, _FLOATS = types.Array(types.int64, 1, "C"), types.Array(types.float64, 1, "C")
TREE = types.NamedTuple([_INTS] * 5 + [types.Array(types.float64, 2, "C"), _FLOATS, _INTS], Tree)


@kernel(TREE(types.int64, types.int64))
def new_tree(capacity, seats):
    """Returns a tree with only its root; `capacity` nodes can never be exceeded."""
    tree = Tree(
        np.empty(capacity, np.int64),
        np.empty(capacity, np.int64),
        np.empty(capacity, np.int64),
        np.empty(capacity, np.int64),
        np.empty(capacity, np.int64),
        np.empty((capacity, seats), np.float64),
        np.zeros(seats, np.float64),
        np.zeros(3, np.int64),
    )
    add_node(tree, NONE, 0)
    return tree


@kernel(types.int64(TREE, types.int64, types.int64))
def add_node(tree, parent, label):
    """Appends a node as its parent's youngest child and returns it."""
    node = tree.counts[NUM_NODES]
    tree.counts[NUM_NODES] += 1
    tree.first_child[node] = NONE
    tree.label[node] = label
    tree.untried[node] = UNKNOWN
    tree.visits[node] = 0
    tree.values[node, :] = 0.0
    tree.next_sibling[node] = NONE
    if parent != NONE:
        tree.next_sibling[node] = tree.first_child[parent]
        tree.first_child[parent] = node
    return node


@kernel(types.int64(TREE, types.int64, types.int64))
def find_child(tree, parent, label):
    """Returns the child with that label, or NONE."""
    child = tree.first_child[parent]
    while child != NONE and tree.label[child] != label:
        child = tree.next_sibling[child]
    return child


@kernel(types.void(TREE, _INTS, types.int64, _FLOATS, types.boolean))
def back_up(tree, path, length, values, minimum):
    """Adds a rollout's values to the nodes of a path, [length], or lowers them to it (Kutsch 2017, eq. 4)."""
    for seat in range(values.size):
        for i in range(length):
            if not minimum:
                tree.values[path[i], seat] += values[seat]
            elif tree.visits[path[i]] == 0 or values[seat] < tree.values[path[i], seat]:
                tree.values[path[i], seat] = values[seat]
        tree.largest[seat] = max(tree.largest[seat], values[seat])
    for i in range(length):
        tree.visits[path[i]] += 1
    tree.counts[DONE] += 1


@kernel(types.float64(TREE, types.int64, types.int64, types.boolean))
def mean_value(tree, node, seat, minimum):
    """Returns what a node is worth to a seat: the mean of its rollouts' values, or the least of them."""
    value = tree.values[node, seat]
    return value if minimum else value / float(tree.visits[node])
