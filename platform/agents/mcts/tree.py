"""The search tree of MCTS: rows of arrays, with the children of a node side by side.

Node 0 is the root. A node stands for the position after its action and the chance outcomes drawn when it was created;
these are frozen: drawn again from the node's own seed whenever its path is replayed. Values are those of the seat that
chose the node's action (Max-N), so selection reads two adjacent numbers per child.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ...core.kernel import kernel, types
from ...core.rng import Rng, below, next_word, seed_stream
from ...games.abi import CHANCE, GAME, Actions, Floats, State
from ...games.generic import copy_state, draw_outcome

NONE = -1  # no such node, no such action
MAX_NODES = 4_000_000  # a full tree learns from rollouts at its nodes, but does not grow

ROOT_LOGS = np.array([math.sqrt(math.log(visits + 1.0)) for visits in range(1 << 12)])  # see `root_log`

# Columns of `nodes`.
ACTION, COUNT, FIRST, WIDTH, TRIED, STATUS, COLUMNS = range(7)
# Values of STATUS: unknown, exact value known, or reached by chance (and then never proven).
OPEN, PROVEN, DRAWN = 0, 1, 2
# Columns of `stats`; a proven node has its exact value and, with nothing left to explore, 0 instead of 1/sqrt(n).
MEAN, INVERSE_ROOT = 0, 1


class MctsTree(NamedTuple):
    """Unused rows are arbitrary; the system gives memory only for touched rows."""

    nodes: Any  # [capacity, COLUMNS] action, visits n, first child, children (0 = not expanded), tried ones, status
    stats: Any  # [capacity, 2] mean value for the seat that chose the node, 1/sqrt(n)
    seeds: Any  # [capacity] of the outcomes after the action, if status is DRAWN
    proofs: Any  # [capacity, seats] exact values, if status is PROVEN
    size: Any  # [1] nodes in use


NODES, STATS, SEEDS = types.Array(types.int32, 2, "C"), types.Array(types.float64, 2, "C"), Rng
TREE = types.NamedTuple([NODES, STATS, SEEDS, STATS, types.Array(types.int64, 1, "C")], MctsTree)


@kernel(types.void(NODES, STATS, types.int64))
def clear_node(nodes, stats, node):
    """Resets a node except for its action."""
    nodes[node, COUNT] = 0
    nodes[node, WIDTH] = 0
    nodes[node, TRIED] = 0
    nodes[node, STATUS] = OPEN
    stats[node, MEAN] = 0.0
    stats[node, INVERSE_ROOT] = 0.0


@kernel(types.void(TREE))
def clear_tree(tree):
    """Leaves the root only."""
    clear_node(tree.nodes, tree.stats, 0)
    tree.nodes[0, ACTION] = NONE
    tree.size[0] = 1


@kernel(types.int64(types.int64, types.int64))
def tree_words(capacity, seats):
    """Returns the words of memory for `tree_in`."""
    return capacity * (COLUMNS // 2 + 4 + seats) + 1


@kernel(TREE(types.int64, types.int64, Floats))
def tree_in(capacity, seats, memory):
    """Returns a tree with only its root in the given memory, see `tree_words`."""
    seeds, proofs, nodes = 1 + 2 * capacity, 1 + 3 * capacity, 1 + (3 + seats) * capacity
    tree = MctsTree(
        memory[nodes:].view(np.int32)[: capacity * COLUMNS].reshape(capacity, COLUMNS),
        memory[1:seeds].reshape(capacity, 2),
        memory[seeds:proofs].view(np.uint64),
        memory[proofs:nodes].reshape(capacity, seats),
        memory[:1].view(np.int64),
    )
    clear_tree(tree)
    return tree


@kernel(TREE(types.int64, types.int64))
def new_tree(capacity, seats):
    """Returns a tree with only its root."""
    return tree_in(capacity, seats, np.empty(tree_words(capacity, seats)))


@kernel(types.int64(GAME, TREE, types.int64, State, Actions))
def expand(game, tree, node, state, choices):
    """Makes room for all children of a node, none tried yet; returns their number, 0 if the tree is full."""
    first = tree.size[0]
    if first + choices.size > tree.stats.shape[0]:
        return 0
    n = game.legal(state, choices)
    for i in range(n):
        tree.nodes[first + i, ACTION] = choices[i]
    tree.nodes[node, FIRST] = first
    tree.nodes[node, WIDTH] = n
    tree.size[0] = first + n
    return n


@kernel(types.int64(NODES, STATS, types.int64, types.int64))
def take_child(nodes, stats, node, untried):
    """Makes an untried child the next tried one and returns it; tried ones come first."""
    tried = nodes[node, TRIED]
    child = nodes[node, FIRST] + tried
    action = nodes[untried, ACTION]
    nodes[untried, ACTION] = nodes[child, ACTION]
    nodes[child, ACTION] = action
    nodes[node, TRIED] = tried + 1
    clear_node(nodes, stats, child)
    return child


@kernel(types.int64(NODES, STATS, types.int64, Rng))
def try_child(nodes, stats, node, rng):
    """Makes a random untried child the next tried one and returns it."""
    tried = nodes[node, TRIED]
    untried = nodes[node, FIRST] + tried + below(rng, nodes[node, WIDTH] - tried)
    return take_child(nodes, stats, node, untried)


@kernel(types.float64(types.int64))
def root_log(visits):
    """sqrt(ln(n + 1))"""
    return ROOT_LOGS[visits] if visits < ROOT_LOGS.size else math.sqrt(math.log(float(visits) + 1.0))


@kernel(types.int64(NODES, STATS, types.int64, types.float64))
def select_child(nodes, stats, node, exploration):
    """Returns the child with the best UCT value X + K sqrt(ln(n + 1) / n_c), of equals the one tried first."""
    first = nodes[node, FIRST]
    weight = exploration * root_log(nodes[node, COUNT])
    best, best_score = first, -math.inf
    for child in range(first, first + nodes[node, WIDTH]):
        score = stats[child, MEAN] + weight * stats[child, INVERSE_ROOT]
        if score > best_score:
            best, best_score = child, score
    return best


@kernel(types.int64(GAME, NODES, SEEDS, types.int64, State, Floats, Rng, Rng, Actions, Floats), inline=True)
def enter(game, nodes, seeds, node, state, returns, rng, frozen, choices, probs):
    """Plays a node's action and the outcomes after it in place; returns the next mover. `frozen` is scratch space.

    The first time draws a seed from `rng`, which determines the outcomes from then on.
    """
    game.step(state, nodes[node, ACTION], returns)
    mover = game.to_move(state)
    if mover == CHANCE:
        if nodes[node, STATUS] != DRAWN:
            nodes[node, STATUS] = DRAWN
            seeds[node] = next_word(rng)
        seed_stream(seeds[node], frozen)
        while mover == CHANCE:
            game.step(state, draw_outcome(game, state, frozen, choices, probs), returns)
            mover = game.to_move(state)
    return mover


@kernel(types.int64(GAME, TREE, State, Floats, types.int64, State, Floats, types.int64))
def find_position(game, tree, root_state, root_returns, first, state, returns, plies):
    """Returns the most visited node with the given state and returns below the root's child `first`, or NONE.

    It is at most `plies` below the root. Depth first: every node's state is made from its parent's.
    """
    states, gains = np.empty((plies + 1, state.size), np.int64), np.empty((plies + 1, returns.size))
    choices, probs, frozen = np.empty(game.max_choices, np.int64), np.empty(game.max_choices), np.empty(4, np.uint64)
    path, tried = np.zeros(plies + 1, np.int64), np.zeros(plies + 1, np.int64)
    states[0], gains[0] = root_state, root_returns
    best, best_count, level = NONE, 0, 0
    while level >= 0:
        node = path[level]
        child = first if level == 0 else tree.nodes[node, FIRST] + tried[level]
        if level == plies or tried[level] == (1 if level == 0 else tree.nodes[node, TRIED]):
            level -= 1
            continue
        tried[level] += 1
        if tree.nodes[child, COUNT] <= best_count:
            continue  # nodes below it have even fewer visits
        level += 1
        copy_state(states[level - 1], states[level])
        gains[level] = gains[level - 1]
        enter(game, tree.nodes, tree.seeds, child, states[level], gains[level], frozen, frozen, choices, probs)
        if np.array_equal(states[level], state) and np.array_equal(gains[level], returns):
            best, best_count = child, tree.nodes[child, COUNT]
        path[level], tried[level] = child, 0
    return best


@kernel(types.void(TREE, types.int64, TREE))
def copy_subtree(tree, root, target):
    """Fills `target`, of the same capacity, with a node's subtree, level by level; the node becomes the root."""
    sources = np.empty(tree.stats.shape[0], np.int32)
    clear_tree(target)
    sources[0] = root
    node = 0
    while node < target.size[0]:
        source = sources[node]
        if source != NONE:
            target.nodes[node], target.stats[node] = tree.nodes[source], tree.stats[source]
            target.seeds[node], target.proofs[node] = tree.seeds[source], tree.proofs[source]
            first, width = target.size[0], tree.nodes[source, WIDTH]
            target.nodes[node, FIRST] = first
            for i in range(width):
                child = tree.nodes[source, FIRST] + i
                # An untried child has only its action.
                target.nodes[first + i, ACTION] = tree.nodes[child, ACTION]
                sources[first + i] = child if i < tree.nodes[source, TRIED] else NONE
            target.size[0] += width
        node += 1
    # Chance before the root is over, and a node proven without children names no action.
    if target.nodes[0, STATUS] == DRAWN or target.nodes[0, TRIED] == 0:
        target.nodes[0, STATUS] = OPEN
