"""MCTS-Expectimax on several cores: batches of iterations on every thread's copy of one tree."""

from __future__ import annotations

import numpy as np

from ...core.atomics import load, store, yield_processor
from ...core.helper_threads import GONE, SHARE, Post, await_helpers, call_helpers
from ...core.kernel import kernel, types
from ...core.packing import Package, packing
from ...core.rng import Rng, fork_streams
from ...games.abi import GAME, Floats, State
from ...games.generic import copy_state
from ..abi import EVALUATOR, SEAT, Root, new_scratch
from ..final_move import EXTRA_CHUNKS
from .search import ITERATIONS, MINIMUM, descend, final_action, needs_more, set_progress
from .tree import DONE, ME, PENDING, TREE, back_up, clear
from .tree_copies import (
    COPIES,
    FRESH,
    LARGEST_BATCH,
    MOST_ITERATIONS,
    OVER,
    hand_out,
    listen,
    take_batch,
    tell_paths,
    tell_values,
)

RNGS = types.Array(types.uint64, 2, "C")  # [threads, 4 or more]


@kernel(types.void(GAME, EVALUATOR, Floats, TREE, COPIES, State, Floats, Rng, Post))
def share_search(game, evaluator, settings, tree, copies, root_state, returns, rng, post):
    """Runs a thread's share of the iterations handed out, and applies the others' reports.

    A batch of paths is selected before its first rollout.
    """
    scratch = new_scratch(game, root_state)
    choices, probs = scratch.choices, scratch.probs
    state, gains, values = np.empty_like(root_state), np.empty_like(returns), np.empty_like(returns)
    states, found = np.empty((LARGEST_BATCH, state.size), np.int64), np.empty((LARGEST_BATCH, gains.size))
    firsts, leaves = np.empty(LARGEST_BATCH, np.int64), np.empty(LARGEST_BATCH, np.int64)
    me, threads = tree.counts[ME], copies.told.shape[0]
    heard, ends = np.zeros((threads, 2), np.int64), np.empty((threads, LARGEST_BATCH), np.int64)
    minimum = settings[MINIMUM] > 0.0
    told = 0
    if copies.work[FRESH] > 0:
        clear(tree)
    set_progress(tree, settings, returns[game.to_move(root_state)])
    batch = take_batch(copies)
    while batch > 0:
        listen(tree, copies, minimum, heard, ends, values)
        # Rows are copied word by word: slicing an array made here counts a reference, which waits for all writes.
        for i in range(batch):
            copy_state(root_state, state)
            for seat in range(gains.size):
                gains[seat] = returns[seat]
            firsts[i] = tree.next_node[me]
            leaves[i] = descend(game, tree, settings, state, gains, rng, choices, probs, 1 + PENDING)
            for word in range(state.size):
                states[i, word] = state[word]
            for seat in range(gains.size):
                found[i, seat] = gains[seat]
        tell_paths(tree, copies, told, batch, firsts, leaves)
        for i in range(batch):
            for word in range(state.size):
                state[word] = states[i, word]
            for seat in range(gains.size):
                gains[seat] = found[i, seat]
                values[seat] = 0.0
            evaluator.evaluate(game, evaluator.weights, state, gains, 1, rng, values, scratch)
            back_up(tree, leaves[i], values, minimum, -PENDING)
            for seat in range(gains.size):
                found[i, seat] = values[seat]
        tell_values(tree, copies, told, batch, found)
        told += batch
        batch = take_batch(copies)
    store(copies.told, (me, OVER), 1)
    while not listen(tree, copies, minimum, heard, ends, values) and load(post, GONE) == 0:
        yield_processor()


_SHARE = (GAME, SEAT, TREE, COPIES, State, Floats, Rng)  # a thread's
_write, _read = packing(types.Tuple(_SHARE))


@kernel(types.void(Package, *_SHARE))
def pack_share(words, game, seat, tree, copies, state, returns, rng):
    _write(words, (game, seat, tree, copies, state, returns, rng))


@kernel(SHARE)
def share_mctse(packed, post):
    """A helper's share of a search."""
    game, seat, tree, copies, state, returns, rng = _read(packed)
    share_search(game, seat.evaluator, seat.settings, tree, copies, state, returns, rng, post)


@kernel(types.void(Package, types.int64, types.boolean, Post))
def lead_search(packed, iterations, fresh, post):
    """Runs iterations with the helpers, on the tree or on a new one."""
    game, seat, tree, copies, state, returns, rng = _read(packed)
    while iterations > 0:
        now = min(iterations, MOST_ITERATIONS)
        hand_out(copies, now, fresh)
        call_helpers(post)
        share_search(game, seat.evaluator, seat.settings, tree, copies, state, returns, rng, post)
        await_helpers(post)
        iterations, fresh = iterations - now, False


@kernel(types.int64(Package, Rng, RNGS, Root, Post))
def lead_mctse(packed, rng, rngs, root, post):
    """As act_mctse, with the helpers; the threads' own streams, `rngs`, are forked from `rng`."""
    game, seat, tree, _, state, _, _ = _read(packed)
    choices, settings, mover = np.empty(game.max_choices, np.int64), seat.settings, game.to_move(state)
    tree.counts[DONE] = 0
    if game.legal(state, choices) == 1:
        return choices[0]
    fork_streams(rng, rngs)
    iterations = np.int64(settings[ITERATIONS])
    lead_search(packed, iterations, True, post)
    for _ in range(EXTRA_CHUNKS):
        if not needs_more(tree, mover, settings):
            break
        lead_search(packed, iterations // EXTRA_CHUNKS, False, post)
    return final_action(tree, mover, settings, root)
