"""The search tree of MCTS-Expectimax: a struct of arrays that outlives a call: a search can resume.

Levels alternate between decision nodes (a seat is to move; K calls them chance nodes) and action nodes (an action was
chosen, the afterstate; K's expectimax nodes). Children form linked lists in order of creation. Source: Kutsch 2017, 5.

If several threads search one tree, each has a copy of it, see tree_copies.py. Visits are then added before their
rollouts, which sends the next ones elsewhere, but a mean covers only finished rollouts: if values have both signs, a
visit without a value would be a gain for the losing side (Liu and others, "Watch the unobserved", 2020).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...core.helper_threads import LINE
from ...core.kernel import kernel, tell_type, types

NONE = -1  # no such node
# Indices into `counts`.
NUM_NODES, NUM_ACTION_NODES, DONE = 0, 1, 2
ME, SHARE = 3, 4  # the copy's thread, and the number of nodes that each thread may add
COUNTS = 5
UNKNOWN = -1  # `untried` of a decision node that selection has not visited yet
IS_ACTION = -(1 << 62)  # `untried` of an action node, plus a bit for each of its outcomes
PENDING_BITS = 40
COUNTED = (1 << PENDING_BITS) - 1  # the bits of `visits` that count visits
PENDING = 1 << PENDING_BITS  # added to a visit's 1 while its rollout is under way in one of several threads
VALUES = 7  # words of a node before its values; with one seat it fills a cache line
NODES_PER_ITERATION = 3  # at most: a new outcome, an action below it and its outcome
MEMO_BITS = 12
MEMO = 1 << MEMO_BITS  # outcomes that a tree remembers besides their lists
MEMO_WORDS = MEMO // 2


class MctseTree(NamedTuple):
    """Node 0 is the root, a decision node. Thread t adds the nodes 1 + t * share, 2 + t * share, and so on."""

    parent: Any  # [capacity] node, or NONE of the root
    first_child: Any  # [capacity] node or NONE
    next_sibling: Any  # [capacity] node or NONE
    label: Any  # [capacity] an action node's action, or the code of a decision node's chance outcomes
    untried: Any  # [capacity] number of a decision node's legal actions without a node yet, or UNKNOWN; see IS_ACTION
    visits: Any  # [capacity]; between searches nothing is PENDING
    same: Any  # [capacity] the node in this copy for one that another thread added
    values: Any  # [capacity, seats] sums of rollout values, or the least of them
    largest: Any  # [seats] largest rollout value of this search, at least 0
    progress: Any  # [1] how far exploration has fallen, from 0 to 1; the same in the whole search
    next_node: Any  # [threads] the next node of each, as far as known
    counts: Any  # [COUNTS] nodes, action nodes, iterations so far, and the others named by the indices
    memo: Any  # [MEMO] outcomes found last, by hash; entries may be arbitrary, so readers must check


_COLUMN, _INTS, _FLOATS = (
    types.Array(types.int64, 1, "A"),
    types.Array(types.int64, 1, "C"),
    types.Array(types.float64, 1, "C"),
)
_VALUES, _MEMO = types.Array(types.float64, 2, "A"), types.Array(types.int32, 1, "C")
TREE = types.NamedTuple([_COLUMN] * 7 + [_VALUES, _FLOATS, _FLOATS, _INTS, _INTS, _MEMO], MctseTree)
tell_type(MctseTree, TREE)


@kernel(types.int64(types.int64, types.int64))
def tree_words(capacity, seats):
    """Returns the number of words that `tree_in` needs for the nodes."""
    return capacity * (VALUES + seats) + MEMO_WORDS + LINE


@kernel(types.int64(types.int64, types.int64))
def capacity_of(words, seats):
    """Returns the number of nodes that fit into that many words, see `tree_words`."""
    return (words - MEMO_WORDS - LINE) // (VALUES + seats)


@kernel(TREE(_INTS, types.int64, _FLOATS, _FLOATS, _INTS, _INTS, types.int64))
def tree_in(space, capacity, largest, progress, next_node, counts, me):
    """Returns a thread's copy of a tree with only its root, in the given arrays; see `tree_words` and MctseTree."""
    width = VALUES + largest.size
    start = (-(space.ctypes.data >> 3)) & 7  # words to the start of a cache line
    end = start + capacity * width
    nodes = space[start:end].reshape(capacity, width)
    tree = MctseTree(
        nodes[:, 0],
        nodes[:, 1],
        nodes[:, 2],
        nodes[:, 3],
        nodes[:, 4],
        nodes[:, 5],
        nodes[:, 6],
        nodes.view(np.float64)[:, VALUES:],
        largest,
        progress,
        next_node,
        counts,
        space[end : end + MEMO_WORDS].view(np.int32),
    )
    counts[ME], counts[SHARE] = me, (capacity - 1) // next_node.size
    clear(tree)
    return tree


@kernel(TREE(types.int64, types.int64, types.int64, types.int64))
def new_tree_copy(share, seats, threads, me):
    """Returns a thread's copy of a tree with only its root, to which every thread may add `share` nodes."""
    capacity = 1 + threads * share
    return tree_in(
        np.empty(tree_words(capacity, seats), np.int64),
        capacity,
        np.zeros(seats + 2 * LINE, np.float64)[LINE : LINE + seats],
        np.zeros(1 + 2 * LINE, np.float64)[LINE : LINE + 1],
        np.zeros(threads + 2 * LINE, np.int64)[LINE : LINE + threads],
        np.zeros(COUNTS + 2 * LINE, np.int64)[LINE : LINE + COUNTS],
        me,
    )


@kernel(TREE(types.int64, types.int64))
def new_tree(capacity, seats):
    """Returns a tree with only its root, for one thread and at most `capacity` nodes."""
    return new_tree_copy(capacity - 1, seats, 1, 0)


@kernel(types.void(TREE))
def clear(tree):
    """Leaves only the root."""
    tree.counts[:ME] = 0
    tree.largest[:] = 0.0
    tree.progress[0] = 0.0
    for thread in range(tree.next_node.size):
        tree.next_node[thread] = 1 + thread * tree.counts[SHARE]
    put_node(tree, 0, NONE, 0, UNKNOWN)


@kernel(types.boolean(TREE, types.int64), inline=True)
def is_action(tree, node):
    return tree.untried[node] < UNKNOWN


@kernel(types.int64(types.int64), inline=True)
def outcome_bit(code):
    """Returns one of 61 bits for a code; an action node without it has no outcome with that code."""
    return 1 << (code % 61)


@kernel(types.void(TREE, types.int64, types.int64, types.int64, types.int64))
def put_node(tree, node, parent, label, untried):
    """Makes a node without children or rollouts its parent's youngest child."""
    tree.counts[NUM_NODES] += 1
    tree.parent[node] = parent
    tree.first_child[node] = NONE
    tree.next_sibling[node] = NONE
    tree.label[node] = label
    tree.untried[node] = untried
    tree.visits[node] = 0
    tree.values[node, :] = 0.0
    tree.same[node] = node
    if parent != NONE:
        tree.next_sibling[node] = tree.first_child[parent]
        tree.first_child[parent] = node
        if is_action(tree, parent):
            tree.untried[parent] |= outcome_bit(label)


@kernel(types.int64(TREE, types.int64, types.int64))
def add_child(tree, parent, label):
    """Adds the thread's next node to a decision node, as an action, or to an action node; returns it."""
    me = tree.counts[ME]
    node = tree.next_node[me]
    tree.next_node[me] = node + 1
    if is_action(tree, parent):
        put_node(tree, node, parent, label, UNKNOWN)
    else:
        put_node(tree, node, parent, label, IS_ACTION)
        tree.counts[NUM_ACTION_NODES] += 1
        tree.untried[parent] -= 1
    return node


@kernel(types.int64(TREE, types.int64, types.int64), inline=True)
def find_child(tree, parent, label):
    """Returns the child with that label, or NONE."""
    child = tree.first_child[parent]
    while child != NONE:
        if tree.label[child] == label:
            return child
        child = tree.next_sibling[child]
    return NONE


@kernel(types.int64(types.int64, types.int64))
def memo_place(action, code):
    """Returns the place of an outcome in the memo."""
    mixed = np.uint64(action) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(code) * np.uint64(0xC2B2AE3D27D4EB4F)
    return np.int64(mixed >> np.uint64(64 - MEMO_BITS))


@kernel(types.int64(TREE, types.int64, types.int64), inline=True)
def find_or_add_outcome(tree, action, code):
    """Returns an action node's outcome with that code, a new one if there is none.

    An action node has up to dozens of outcomes, each in its own cache line: walking through them took a quarter of the
    time of 32 searches in step.
    """
    place = memo_place(action, code)
    guess = np.int64(tree.memo[place])
    known = 0 < guess < tree.next_node[0] and tree.same[guess] == guess
    if known and tree.parent[guess] == action and tree.label[guess] == code:
        return guess
    node = NONE
    if tree.untried[action] & outcome_bit(code):
        node = find_child(tree, action, code)
    if node == NONE:
        node = add_child(tree, action, code)
    tree.memo[place] = node
    return node


@kernel(types.int64(TREE, types.int64))
def num_children(tree, node):
    child, count = tree.first_child[node], 0
    while child != NONE:
        child = tree.next_sibling[child]
        count += 1
    return count


@kernel(types.boolean(TREE))
def has_room(tree):
    """Whether this thread may add the nodes of an iteration."""
    me = tree.counts[ME]
    return tree.next_node[me] + NODES_PER_ITERATION <= 1 + (me + 1) * tree.counts[SHARE]


@kernel(types.void(TREE, types.int64, types.int64), inline=True)
def add_visits(tree, leaf, visits):
    """Adds `visits` to a node and to all above it."""
    node = leaf
    while node != NONE:
        tree.visits[node] += visits
        node = tree.parent[node]


@kernel(types.void(TREE, types.int64, _FLOATS, types.boolean, types.int64), inline=True)
def back_up(tree, leaf, values, minimum, visits):
    """Adds a rollout's values to a node and all above it, or takes the minimum (Kutsch 2017, eq. 4).

    `visits` is added to theirs: 1, or -PENDING if the visit is counted already.
    """
    node = leaf
    while node != NONE:
        for seat in range(values.size):
            if not minimum:
                tree.values[node, seat] += values[seat]
            elif returned(tree, node) == 0 or values[seat] < tree.values[node, seat]:
                tree.values[node, seat] = values[seat]
        tree.visits[node] += visits
        node = tree.parent[node]
    for seat in range(values.size):
        tree.largest[seat] = max(tree.largest[seat], values[seat])
    tree.counts[DONE] += 1


@kernel(types.int64(TREE, types.int64), inline=True)
def returned(tree, node):
    """Returns the number of a node's visits whose rollouts have finished."""
    visits = tree.visits[node]
    return (visits & COUNTED) - (visits >> PENDING_BITS)


@kernel(types.float64(TREE, types.int64, types.int64, types.boolean), inline=True)
def mean_value(tree, node, seat, minimum):
    """Returns a node's value to a seat: the mean of its rollouts' values, or the least; 0 before any."""
    rollouts = returned(tree, node)
    if minimum or rollouts == 0:
        return tree.values[node, seat]
    return tree.values[node, seat] / float(rollouts)
