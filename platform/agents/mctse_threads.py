"""MCTS-Expectimax on several cores: batches of iterations on every thread's copy of one tree."""

from __future__ import annotations

import numpy as np
from numba import types

from turnier.agents.abi import EVALUATOR, Root, new_scratch
from turnier.agents.atomics import yield_processor
from turnier.agents.crew import SHARE_DONE, STOP, Post, await_helpers, await_work, call_helpers, count_in
from turnier.agents.mcts_search import MOST_CHUNKS
from turnier.agents.mctse_search import ITERATIONS, MINIMUM, descend, is_settled, report
from turnier.agents.packed import PACKED, unpack
from turnier.agents.tree import ME, PENDING, TREE, add_visits, back_up, clear
from turnier.agents.tree_copies import (
    BACK,
    BEGUN,
    COPIES,
    FRESH,
    LARGEST_BATCH,
    MOST_ITERATIONS,
    OVER,
    hand_out,
    listen,
    publish,
    take_batch,
    tell,
    tell_values,
)
from turnier.games.abi import GAME, Floats, Rng, State, kernel
from turnier.games.generic import copy_state
from turnier.games.rng import fork_streams

RNGS = types.Array(types.uint64, 2, "A")  # [threads, 4]


@kernel(types.void(GAME, EVALUATOR, Floats, TREE, COPIES, State, Floats, Rng))
def share_search(game, evaluator, settings, tree, copies, root_state, returns, rng):
    """Runs a thread's share of the iterations handed out, and what the others told of theirs.

    A batch of paths is selected before the first of its rollouts, and backed up after the last.
    """
    scratch = new_scratch(game, root_state)
    choices, probs = scratch.choices, scratch.probs
    values, leaves = np.empty_like(returns), np.empty(LARGEST_BATCH, np.int64)
    states, gains = np.empty((LARGEST_BATCH, root_state.size), np.int64), np.empty((LARGEST_BATCH, returns.size))
    me, threads = tree.counts[ME], copies.told.shape[0]
    heard, ends = np.zeros((threads, 2), np.int64), np.empty((threads, LARGEST_BATCH), np.int64)
    minimum = settings[MINIMUM] > 0.0
    told = 0
    if copies.work[FRESH] > 0:
        clear(tree)
    batch = take_batch(copies)
    while batch > 0:
        listen(tree, copies, minimum, heard, ends, values)
        for i in range(batch):
            copy_state(root_state, states[i])
            for seat in range(returns.size):
                gains[i, seat] = returns[seat]
            first = tree.next_node[me]
            leaves[i] = descend(game, tree, settings, states[i], gains[i], rng, choices, probs)
            add_visits(tree, leaves[i], 1 + PENDING)
            tell(tree, copies, told + i, first, leaves[i])
        publish(tree, copies, BEGUN, told + batch)
        for i in range(batch):
            for seat in range(returns.size):
                values[seat] = 0.0
            evaluator.evaluate(game, evaluator.weights, states[i], gains[i], 1, rng, values, scratch)
            back_up(tree, leaves[i], values, minimum, -PENDING)
            tell_values(tree, copies, told + i, values)
        told += batch
        publish(tree, copies, BACK, told)
        batch = take_batch(copies)
    publish(tree, copies, OVER, 1)
    while not listen(tree, copies, minimum, heard, ends, values):
        yield_processor()


@kernel(types.void(PACKED, TREE, COPIES, State, Floats, Rng, Post))
def serve_mctse(packed, tree, copies, state, returns, rng, post):
    """Does shares, search after search, until the crew is dismissed."""
    game, seat = unpack(packed)
    work = await_work(post, 0)
    while work != STOP:
        share_search(game, seat.evaluator, seat.settings, tree, copies, state, returns, rng)
        count_in(post, SHARE_DONE)
        work = await_work(post, work)


@kernel(types.void(PACKED, TREE, COPIES, State, Floats, Rng, types.int64, types.boolean, Post))
def lead_search(packed, tree, copies, state, returns, rng, iterations, fresh, post):
    """Runs iterations with the helpers, on the tree or on a fresh one."""
    game, seat = unpack(packed)
    while iterations > 0:
        now = min(iterations, MOST_ITERATIONS)
        hand_out(copies, now, fresh)
        call_helpers(post)
        share_search(game, seat.evaluator, seat.settings, tree, copies, state, returns, rng)
        await_helpers(post)
        iterations, fresh = iterations - now, False


@kernel(types.int64(PACKED, TREE, COPIES, State, Floats, Rng, Rng, RNGS, Root, Post))
def lead_mctse(packed, tree, copies, state, returns, own, rng, rngs, root, post):
    """As act_mctse, with the helpers; `own` is the leader's row of `rngs`, which are forked from `rng`."""
    game, seat = unpack(packed)
    choices, settings, mover = np.empty(game.max_choices, np.int64), seat.settings, game.to_move(state)
    if game.legal(state, choices) == 1:
        return choices[0]
    fork_streams(rng, rngs)
    iterations = np.int64(settings[ITERATIONS])
    lead_search(packed, tree, copies, state, returns, own, iterations, True, post)
    for _ in range(MOST_CHUNKS):
        if is_settled(tree, mover, settings):
            break
        lead_search(packed, tree, copies, state, returns, own, iterations // MOST_CHUNKS, False, post)
    return report(tree, mover, settings, root)
