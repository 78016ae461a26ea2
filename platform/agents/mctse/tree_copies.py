"""One search tree on several cores: every thread has a copy and reports its changes to the others.

If all threads write to one tree (Chaslot, Winands and van den Herik, "Parallel Monte-Carlo tree search", 2008), its
cache lines move between the cores, which takes some 0.1 to 0.3 microseconds each time; an iteration takes 2 and touches
dozens of them. Here each iteration's additions are passed on, half a cache line that the others read in one go; so the
copies agree except for the batches under way, and no thread waits for another.

A node has the same number in all copies. If two threads add the same child, each keeps its own, and also accepts the
other's number for it. A limit on the tree's size applies to the nodes known to a thread: each may exceed it by its
batch.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...core.atomics import fetch_add, load, prefetch, store
from ...core.helper_threads import LINE
from ...core.kernel import kernel, tell_type, types
from ...games.abi import Floats
from .tree import (
    IS_ACTION,
    ME,
    NODES_PER_ITERATION,
    NONE,
    NUM_ACTION_NODES,
    PENDING,
    SHARE,
    TREE,
    UNKNOWN,
    add_visits,
    back_up,
    find_child,
    is_action,
    put_node,
)

MOST_ITERATIONS = 4096  # handed out at once; after them all copies are equal
LARGEST_BATCH = 16  # iterations that a thread takes, and reports, at once
# Words of `work`; those that all threads write lie apart.
STARTED, LAST, BATCH, FRESH = 0, LINE, LINE + 1, LINE + 2
# Words of a thread's row in `told`: iterations begun, iterations finished, and whether there will be no more.
BEGUN, BACK, OVER = 0, 1, 2
ENTRY = 1 + NODES_PER_ITERATION  # words: 4 * the node below which it added nodes + their number, and their labels


class Copies(NamedTuple):
    """The threads' reports to each other while they search copies of one tree."""

    work: Any  # [2 * LINE] iterations handed out
    told: Any  # [threads, LINE]
    entries: Any  # [threads, MOST_ITERATIONS, ENTRY]
    values: Any  # [threads, MOST_ITERATIONS, seats] of their rollouts


_INTS, _TABLE = types.Array(types.int64, 1, "C"), types.Array(types.int64, 2, "C")
COPIES = types.NamedTuple([_INTS, _TABLE, types.Array(types.int64, 3, "C"), types.Array(types.float64, 3, "C")], Copies)
tell_type(Copies, COPIES)


def new_copies(threads: int, seats: int) -> Copies:
    return Copies(
        np.zeros(2 * LINE, np.int64),
        np.zeros((threads, LINE), np.int64),
        np.zeros((threads, MOST_ITERATIONS, ENTRY), np.int64),
        np.zeros((threads, MOST_ITERATIONS, seats)),
    )


@kernel(types.void(COPIES, types.int64, types.boolean))
def hand_out(copies, iterations, fresh):
    """Prepares iterations, at most MOST_ITERATIONS, on new trees or on the present ones."""
    threads = copies.told.shape[0]
    copies.told[:] = 0
    copies.work[STARTED] = 0
    copies.work[LAST] = iterations
    copies.work[BATCH] = max(1, min(iterations // (32 * threads), LARGEST_BATCH))
    copies.work[FRESH] = 1 if fresh else 0


@kernel(types.int64(COPIES))
def take_batch(copies):
    """Returns the number of this thread's next iterations, 0 at the end."""
    most = copies.work[BATCH]
    return max(0, min(most, copies.work[LAST] - fetch_add(copies.work, STARTED, most)))


# A batch is reported at once, after its searches: single reports would each wait for a cache line that the others have
# read.
@kernel(types.void(TREE, COPIES, types.int64, types.int64, _INTS, _INTS))
def tell_paths(tree, copies, told, batch, firsts, leaves):
    """Reports a batch's paths; each added the nodes from its first up to the next one's, and ended at its leaf."""
    me = tree.counts[ME]
    end = tree.next_node[me]
    for i in range(batch - 1, -1, -1):
        first, iteration = firsts[i], told + i
        copies.entries[me, iteration, 0] = 4 * (leaves[i] if end == first else tree.parent[first]) + end - first
        for node in range(first, end):
            copies.entries[me, iteration, 1 + node - first] = tree.label[node]
        end = first
    store(copies.told, (me, BEGUN), told + batch)


@kernel(types.void(TREE, COPIES, types.int64, types.int64, types.Array(types.float64, 2, "C")))
def tell_values(tree, copies, told, batch, values):
    """Reports the values of a batch's rollouts, [batch, seats]."""
    me = tree.counts[ME]
    for i in range(batch):
        for seat in range(values.shape[1]):
            copies.values[me, told + i, seat] = values[i, seat]
    store(copies.told, (me, BACK), told + batch)


@kernel(types.int64(TREE, COPIES, types.int64, types.int64), inline=True)
def follow(tree, copies, teller, iteration):
    """Adds the nodes of another thread's iteration and returns its leaf, or NONE.

    NONE: it added to a third thread's node that has not been reported to this one yet.
    """
    below, count = copies.entries[teller, iteration, 0] >> 2, copies.entries[teller, iteration, 0] & 3
    if below > 0 and below >= tree.next_node[(below - 1) // tree.counts[SHARE]]:
        return NONE
    node = tree.same[below] if below > 0 else 0
    for i in range(count):
        theirs = tree.next_node[teller]
        tree.next_node[teller] = theirs + 1
        label = copies.entries[teller, iteration, 1 + i]
        child = find_child(tree, node, label)
        if child != NONE:
            tree.same[theirs] = child
        elif is_action(tree, node):
            child = theirs
            put_node(tree, child, node, label, UNKNOWN)
        else:
            child = theirs
            put_node(tree, child, node, label, IS_ACTION)
            tree.counts[NUM_ACTION_NODES] += 1
            if tree.untried[node] != UNKNOWN:
                tree.untried[node] -= 1
        node = child
    return node


@kernel(types.void(COPIES, types.int64, types.int64, Floats), inline=True)
def hear_values(copies, teller, iteration, values):
    for seat in range(values.size):
        values[seat] = copies.values[teller, iteration, seat]


@kernel(types.boolean(TREE, COPIES, types.boolean, _TABLE, _TABLE, Floats))
def listen(tree, copies, minimum, heard, ends, values):
    """Applies the others' new reports to this copy; returns whether everything is done and applied.

    `heard`, [threads, 2], has its progress; `ends`, [threads, LARGEST_BATCH], the leaves of rollouts under way;
    `values`, [seats], is scratch.
    """
    all_heard = True
    for teller in range(copies.told.shape[0]):
        if teller == tree.counts[ME]:
            continue
        # Read in this order, at most one batch is begun but not back, as `ends` needs, wherever this thread is
        # interrupted; and a thread that is over begins no more.
        over, begun = load(copies.told, (teller, OVER)), load(copies.told, (teller, BEGUN))
        back = load(copies.told, (teller, BACK))
        for i in range(heard[teller, BEGUN], begun, 2):
            prefetch(copies.entries, (teller, i, 0))
        for i in range(heard[teller, BACK], back, 8):
            prefetch(copies.values, (teller, i, 0))
        for i in range(heard[teller, BACK], min(back, heard[teller, BEGUN])):
            hear_values(copies, teller, i, values)
            back_up(tree, ends[teller, i % LARGEST_BATCH], values, minimum, -PENDING)
            heard[teller, BACK] = i + 1
        for i in range(heard[teller, BEGUN], begun):
            end = follow(tree, copies, teller, i)
            if end == NONE:
                break
            heard[teller, BEGUN] = i + 1
            if i < back:
                hear_values(copies, teller, i, values)
                back_up(tree, end, values, minimum, 1)
                heard[teller, BACK] = i + 1
            else:
                add_visits(tree, end, 1 + PENDING)
                ends[teller, i % LARGEST_BATCH] = end
        if over == 0 or heard[teller, BEGUN] < begun:
            all_heard = False
    return all_heard
