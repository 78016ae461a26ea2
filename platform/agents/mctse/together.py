"""MCTS-Expectimax in many positions at once: their rollouts are played side by side."""

from __future__ import annotations

import numpy as np
from numba import types

from turnier.agents.abi import ACT_TOGETHER, EVALUATOR, JOBS, SCRATCH, Roots, new_jobs, new_scratch
from turnier.agents.final_move import EXTRA_CHUNKS
from turnier.agents.mctse.search import ITERATIONS, MINIMUM, descend, final_action, needs_more
from turnier.agents.mctse.tree import COUNTS, TREE, back_up, capacity_of, tree_in
from turnier.core.kernel import kernel
from turnier.core.packing import Package, lend, new_shelf, shelf
from turnier.games.abi import GAME, Counts, Floats, Gains, Rngs, States

put_tree, get_tree = shelf(TREE)
# What a decision needs: shelf of trees, their largest values, next nodes and counts, memory, jobs, iterations left.
PARTS = types.Tuple([Package, Gains, States, States, States, JOBS, Counts])
SHARE = 4  # of the rollouts under way, one in so many is awaited before the next are begun


@kernel(types.void(GAME, Floats, Package, States, Gains, SCRATCH, JOBS, Counts, types.int64, Counts))
def begin_iterations(game, settings, trees, states, returns, scratch, jobs, leaves, size, left):
    """Selects and expands in the trees of the first `size` jobs done that have iterations left; their leaves wait."""
    settings, trees, states, returns, scratch, jobs = lend((settings, trees, states, returns, scratch, jobs))
    leaves, left = lend((leaves, left))
    for i in jobs.done[:size]:
        if left[i] > 0:
            left[i] -= 1
            state, gained = jobs.states[i], jobs.returns[i]
            for word in range(state.size):
                state[word] = states[i, word]
            for seat in range(gained.size):
                gained[seat] = returns[i, seat]
            leaves[i] = descend(
                game, get_tree(trees, i), settings, state, gained, jobs.rngs[i], scratch.choices, scratch.probs, 0
            )
            jobs.waiting[i] = 1


@kernel(types.void(Package, JOBS, Counts, types.int64, types.boolean))
def back_up_all(trees, jobs, leaves, finished, minimum):
    """Backs up the jobs done."""
    trees, jobs, leaves = lend((trees, jobs, leaves))
    for i in jobs.done[:finished]:
        back_up(get_tree(trees, i), leaves[i], jobs.totals[i], minimum, 1)


@kernel(types.void(GAME, EVALUATOR, Floats, Package, States, Gains, JOBS, Counts))
def search_together(game, evaluator, settings, trees, states, returns, jobs, left):
    """Runs `left` iterations, [n], on every tree; they become 0."""
    scratch, leaves = new_scratch(game, states[0]), np.empty(left.size, np.int64)
    finished = left.size
    for i in range(finished):
        jobs.done[i] = i
    while finished > 0:
        begin_iterations(game, settings, trees, states, returns, scratch, jobs, leaves, finished, left)
        finished = evaluator.evaluate_together(game, evaluator.weights, jobs, max(1, left.size // SHARE))
        back_up_all(trees, jobs, leaves, finished, settings[MINIMUM] > 0.0)


@kernel(types.void(GAME, EVALUATOR, Floats, States, Gains, Rngs, Roots, Counts, PARTS))
def decide(game, evaluator, settings, states, returns, rngs, roots, actions, parts):
    """Plants a tree for each position in its memory, searches them and chooses; the parts belong to the caller."""
    trees, largest, next_node, counts, memory, jobs, left = parts
    iterations, choices = np.int64(settings[ITERATIONS]), np.empty(game.max_choices, np.int64)
    capacity = capacity_of(memory.shape[1], largest.shape[1])
    for i in range(actions.size):
        put_tree(trees, i, tree_in(memory[i], capacity, largest[i], next_node[i], counts[i], 0))
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
    parts = (trees, largest, next_node, counts, memory, jobs, left)
    decide(game, evaluator, settings, states, returns, rngs, roots, actions, parts)
