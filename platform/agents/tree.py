"""The search tree of MCTS-Expectimax: a struct of arrays that outlives a call, so that a search can go on.

Levels alternate between decision nodes (a seat is to move; K calls them chance nodes) and action nodes (an action was
chosen, the afterstate; K's expectimax nodes). Children form linked lists in order of creation. Source: Kutsch 2017, 5.

Several threads may search one tree (Chaslot, Winands and van den Herik, "Parallel Monte-Carlo tree search", 2008).
Then visits are added on the way down, so that rollouts under way send the next ones elsewhere, but a mean is that of
rollouts that came back: where values have both signs, a visit without a value would be a gain for who is losing (Liu
and others, "Watch the unobserved", 2020). Nodes appear to others when they are complete.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numba import types

from turnier.agents.atomics import (
    compare_exchange,
    exchange,
    fetch_add,
    fetch_add_float,
    fetch_max_float,
    fetch_min_float,
    load,
    prefetch,
    store,
    yield_processor,
)
from turnier.games.abi import kernel

NONE = -1  # no such node
# Indices into `counts`; what several threads write at once lies apart, lest they wait for each other's cache lines.
NUM_NODES, LOCK = 0, 1  # LOCK is 1 while a thread adds an action
DONE = 16
THREADS, LEAST = 32, 33  # how many search the tree; 1 where values are the least ones and several threads search
STARTED, LAST, BATCH = 48, 49, 50  # iterations begun, how many there are to be, how many a thread takes at once
NUM_ACTION_NODES = 64
RESERVED = 80  # nodes that several threads have taken, used or not yet
COUNTS = 88
NEXT, END, ADDED = 0, 1, 2  # of a thread's own block: its next node, its end, and how many nodes it added
PENDING_BITS = 40
COUNTED = (1 << PENDING_BITS) - 1  # the bits of `visits` that count visits
PENDING = 1 << PENDING_BITS  # what a visit adds besides 1 while its rollout is under way in one of several threads
BLOCK = 16  # nodes that a thread reserves at once, so that those it adds share no cache line with the others'
LARGEST_BATCH = 16
NODES_PER_ITERATION = 3  # at most: a new outcome, an action below it and its outcome
UNKNOWN = -1  # `untried` of a decision node that selection has not visited yet


class Tree(NamedTuple):
    """Node 0 is the root, a decision node."""

    first_child: Any  # [capacity] node or NONE
    next_sibling: Any  # [capacity] node or NONE
    label: Any  # [capacity] the action of an action node, the chance outcomes' code of a decision node
    untried: Any  # [capacity] legal actions of a decision node without an action node yet, or UNKNOWN
    visits: Any  # [capacity]; between searches nothing is PENDING
    values: Any  # [capacity, seats] sums of rollout values, or the least of them
    largest: Any  # [seats] largest value of a rollout of this search, at least 0
    counts: Any  # [COUNTS] nodes, action nodes, iterations so far, and what else the indices name


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
        np.zeros(COUNTS, np.int64),
    )
    clear(tree, 1, False)
    return tree


@kernel(types.void(TREE, types.int64, types.boolean))
def clear(tree, threads, minimum):
    """Leaves only the root, for that many threads; `minimum` says how they will back up."""
    tree.counts[:] = 0
    tree.largest[:] = 0.0
    tree.counts[THREADS] = threads
    tree.counts[LEAST] = 1 if minimum and threads > 1 else 0
    tree.counts[RESERVED] = BLOCK
    add_node(tree, NONE, 0)
    tree.visits[0] = 0


@kernel(types.void(TREE, types.int64))
def begin(tree, iterations):
    """Asks for more iterations: several threads take them in batches, small beside what each of them does."""
    tree.counts[STARTED] = tree.counts[DONE]
    tree.counts[LAST] = tree.counts[DONE] + iterations
    share = iterations // (32 * tree.counts[THREADS]) if tree.counts[THREADS] > 1 else 1
    tree.counts[BATCH] = max(1, min(share, LARGEST_BATCH))


@kernel(types.void(TREE))
def lock(tree):
    """Waits until no other thread adds actions."""
    while exchange(tree.counts, LOCK, 1) != 0:
        for _ in range(100):
            if load(tree.counts, LOCK) == 0:
                break
        else:
            yield_processor()  # who has the lock may have lost the processor


@kernel(types.void(TREE))
def unlock(tree):
    store(tree.counts, LOCK, 0)


@kernel(types.void(TREE, types.int64, types.int64))
def blank(tree, node, label):
    """Makes a node without children or rollouts; among several threads with its maker's visit."""
    tree.first_child[node] = NONE
    tree.label[node] = label
    tree.untried[node] = UNKNOWN
    tree.visits[node] = 1 + PENDING if tree.counts[THREADS] > 1 else 0
    tree.values[node, :] = math.inf if tree.counts[LEAST] > 0 else 0.0
    tree.next_sibling[node] = NONE


@kernel(types.int64(TREE, types.int64, types.int64))
def add_node(tree, parent, label):
    """Appends a node as its parent's youngest child and returns it."""
    node = tree.counts[NUM_NODES]
    tree.counts[NUM_NODES] += 1
    blank(tree, node, label)
    if parent != NONE:
        tree.next_sibling[node] = tree.first_child[parent]
        tree.first_child[parent] = node
    return node


@kernel(types.int64(TREE, _INTS))
def own_node(tree, own):
    """Returns an unused node of the thread's own block, which stays the next one until own[NEXT] goes on."""
    if own[NEXT] == own[END]:
        own[NEXT] = fetch_add(tree.counts, RESERVED, BLOCK)
        own[END] = own[NEXT] + BLOCK
    return own[NEXT]


@kernel(types.int64(TREE, types.int64, types.int64, types.int64))
def find_from(tree, child, end, label):
    """Returns the node with that label in the part of a list from `child` to before `end`, or NONE."""
    while child != end:
        if tree.label[child] == label:
            return child
        child = tree.next_sibling[child]
    return NONE


@kernel(types.int64(TREE, types.int64, types.int64))
def find_child(tree, parent, label):
    """Returns the child with that label, or NONE."""
    return find_from(tree, load(tree.first_child, parent), NONE, label)


@kernel(types.int64(TREE, _INTS, types.int64, types.int64))
def child_with(tree, own, parent, label):
    """Returns the child with that label, which is added where there is none, with a visit; for several threads.

    They add to one list by exchanging its head; who comes second looks through what the others put in front.
    """
    head = load(tree.first_child, parent)
    child = find_from(tree, head, NONE, label)
    if child == NONE:
        node = own_node(tree, own)
        blank(tree, node, label)
    while child == NONE:
        tree.next_sibling[node] = head
        now = compare_exchange(tree.first_child, parent, head, node)
        if now == head:
            own[NEXT] += 1
            own[ADDED] += 1
            return node
        child = find_from(tree, now, head, label)
        head = now
    fetch_add(tree.visits, child, 1 + PENDING)
    return child


@kernel(types.boolean(TREE))
def has_room(tree):
    """Whether an iteration may add its nodes, in every thread at once."""
    if tree.counts[THREADS] == 1:
        return tree.counts[NUM_NODES] + NODES_PER_ITERATION <= tree.visits.size
    return tree.counts[RESERVED] + BLOCK * tree.counts[THREADS] <= tree.visits.size


@kernel(types.void(TREE, _INTS, types.int64, _FLOATS, types.boolean))
def back_up(tree, path, length, values, minimum):
    """Adds a rollout's values to the nodes of a path, [length], or lowers them to it (Kutsch 2017, eq. 4)."""
    if tree.counts[THREADS] > 1:
        back_up_shared(tree, path, length, values, minimum)
        return
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


@kernel(types.void(TREE, _INTS, types.int64))
def fetch_path(tree, path, length):
    """Has what `back_up` will write brought to this core, while it makes the rollout."""
    for i in range(length):
        prefetch(tree.visits, path[i])
        prefetch(tree.values, (path[i], 0))


@kernel(types.void(TREE, _INTS, types.int64, _FLOATS, types.boolean))
def back_up_shared(tree, path, length, values, minimum):
    """Does the same beside other threads; the visits are there already and only stop pending."""
    for seat in range(values.size):
        for i in range(length):
            if minimum:
                fetch_min_float(tree.values, (path[i], seat), values[seat])
            else:
                fetch_add_float(tree.values, (path[i], seat), values[seat])
        if values[seat] > tree.largest[seat]:
            fetch_max_float(tree.largest, seat, values[seat])
    for i in range(length):
        fetch_add(tree.visits, path[i], -PENDING)


@kernel(types.float64(TREE, types.int64, types.int64, types.boolean))
def mean_value(tree, node, seat, minimum):
    """Returns what a node is worth to a seat: the mean of its rollouts' values, or the least of them.

    A node is worth nothing yet while its first rollout is under way in some thread.
    """
    value = tree.values[node, seat]
    if minimum:
        return value if value < math.inf else 0.0
    visits = load(tree.visits, node)
    returned = (visits & COUNTED) - (visits >> PENDING_BITS)
    return value / float(returned) if returned > 0 else 0.0
