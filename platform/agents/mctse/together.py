"""MCTS-Expectimax in many positions at once, with rollouts side by side."""

from __future__ import annotations

import numpy as np

from ...core.atomics import prefetch
from ...core.kernel import kernel, types
from ...core.packing import Package, new_shelf, shelf
from ...games.abi import GAME, Counts, Floats, Gains, Rngs, States
from ..abi import ACT_TOGETHER, EVALUATOR, JOBS, SCRATCH, Roots, new_jobs, new_scratch
from ..final_move import EXTRA_CHUNKS
from .search import ITERATIONS, MINIMUM, TREE_DEPTH, final_action, needs_more, play_action, set_progress
from .tree import COUNTS, NONE, TREE, back_up, capacity_of, find_or_add_outcome, memo_place, tree_in

put_tree, get_tree = shelf(TREE)
# For a decision: the shelf of trees, their largest values, progress, next nodes and counts, memory, jobs, iterations
# left.
PARTS = types.Tuple([Package, Gains, Gains, States, States, States, JOBS, Counts])
SHARE = 4  # one in this many rollouts under way is awaited before the next begin


@kernel(types.int64(States, Gains, JOBS, Counts, Counts, types.int64, Counts))
def begin_iterations(states, returns, jobs, leaves, searches, size, left):
    """Begins iterations in the trees of the first `size` jobs done that have some left; their leaves wait.

    Writes their numbers to `searches` and returns how many there are.
    """
    begun = 0
    for i in jobs.done[:size]:
        if left[i] > 0:
            left[i] -= 1
            state, gained = jobs.states[i], jobs.returns[i]
            for word in range(state.size):
                state[word] = states[i, word]
            for seat in range(gained.size):
                gained[seat] = returns[i, seat]
            leaves[i] = 0
            jobs.waiting[i] = 1
            searches[begun] = i
            begun += 1
    return begun


@kernel(types.void(GAME, Floats, Package, SCRATCH, JOBS, Counts, States, types.int64))
def descend_together(game, settings, trees, scratch, jobs, leaves, steps, under_way):
    """`descend` in the first `under_way` trees of `steps`, level by level, so that their reads overlap.

    A level reads three places that 32 trees in turn evict from every cache: the memo, the outcome, its first action.
    `steps`, [4, n], is space: the search, its action node, the outcome's code, whether the action node is new.
    """
    searches, actions, codes, fresh = steps[0], steps[1], steps[2], steps[3]
    for _ in range(np.int64(settings[TREE_DEPTH])):
        going = 0
        for i in searches[:under_way]:
            tree = get_tree(trees, i)
            action, code, is_fresh = play_action(
                game,
                tree,
                settings,
                leaves[i],
                jobs.states[i],
                jobs.returns[i],
                jobs.rngs[i],
                scratch.choices,
                scratch.probs,
            )
            if action != NONE:
                searches[going], actions[going], codes[going], fresh[going] = i, action, code, is_fresh
                going += 1
                prefetch(tree.memo, memo_place(action, code))
        for k in range(going):
            tree = get_tree(trees, searches[k])
            prefetch(tree.parent, np.int64(tree.memo[memo_place(actions[k], codes[k])]))
        under_way = 0
        for k in range(going):
            i = searches[k]
            tree = get_tree(trees, i)
            leaves[i] = find_or_add_outcome(tree, actions[k], codes[k])
            if not fresh[k]:
                searches[under_way] = i
                under_way += 1
                prefetch(tree.parent, tree.first_child[leaves[i]])


@kernel(types.void(Package, JOBS, Counts, types.int64, types.boolean))
def back_up_all(trees, jobs, leaves, finished, minimum):
    """Backs up the jobs done."""
    for i in jobs.done[:finished]:
        prefetch(get_tree(trees, i).parent, leaves[i])
    for i in jobs.done[:finished]:
        back_up(get_tree(trees, i), leaves[i], jobs.totals[i], minimum, 1)


@kernel(types.void(GAME, EVALUATOR, Floats, Package, States, Gains, JOBS, Counts))
def search_together(game, evaluator, settings, trees, states, returns, jobs, left):
    """Runs `left` iterations, [n], on every tree; they become 0."""
    scratch, leaves = new_scratch(game, states[0]), np.empty(left.size, np.int64)
    steps = np.empty((4, left.size), np.int64)
    finished = left.size
    for i in range(finished):
        jobs.done[i] = i
    while finished > 0:
        begun = begin_iterations(states, returns, jobs, leaves, steps[0], finished, left)
        descend_together(game, settings, trees, scratch, jobs, leaves, steps, begun)
        finished = evaluator.evaluate_together(game, evaluator.weights, jobs, max(1, left.size // SHARE))
        back_up_all(trees, jobs, leaves, finished, settings[MINIMUM] > 0.0)


@kernel(types.void(GAME, EVALUATOR, Floats, States, Gains, Rngs, Roots, Counts, PARTS))
def decide(game, evaluator, settings, states, returns, rngs, roots, actions, parts):
    """Creates a tree for each position in its memory, searches them and chooses; `parts` is the caller's space."""
    trees, largest, progress, next_node, counts, memory, jobs, left = parts
    iterations, choices = np.int64(settings[ITERATIONS]), np.empty(game.max_choices, np.int64)
    capacity = capacity_of(memory.shape[1], largest.shape[1])
    for i in range(actions.size):
        put_tree(trees, i, tree_in(memory[i], capacity, largest[i], progress[i], next_node[i], counts[i], 0))
        set_progress(get_tree(trees, i), settings, returns[i, game.to_move(states[i])])
        jobs.rngs[i] = rngs[i]
        left[i] = iterations if game.legal(states[i], choices) > 1 else 0
        actions[i] = choices[0]
    searched = left > 0
    search_together(game, evaluator, settings, trees, states, returns, jobs, left)
    for _ in range(EXTRA_CHUNKS):
        for i in range(actions.size):
            if searched[i] and needs_more(get_tree(trees, i), game.to_move(states[i]), settings):
                left[i] = iterations // EXTRA_CHUNKS
        search_together(game, evaluator, settings, trees, states, returns, jobs, left)
    for i in range(actions.size):
        rngs[i] = jobs.rngs[i]
        if searched[i]:
            actions[i] = final_action(get_tree(trees, i), game.to_move(states[i]), settings, roots[i])


@kernel(ACT_TOGETHER)
def act_mctse_together(game, evaluator, settings, states, returns, rngs, roots, actions, memory):
    n, seats = returns.shape
    trees, jobs, left = new_shelf(n), new_jobs(game, n, states.shape[1]), np.zeros(n, np.int64)
    largest, next_node, counts = np.empty((n, seats)), np.empty((n, 1), np.int64), np.empty((n, COUNTS), np.int64)
    parts = (trees, largest, np.empty((n, 1)), next_node, counts, memory, jobs, left)
    decide(game, evaluator, settings, states, returns, rngs, roots, actions, parts)
