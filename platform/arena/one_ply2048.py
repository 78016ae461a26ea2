"""Whole matches of 2048 by agents that look one decision ahead with an n-tuple network, ten times as fast.

The same plies, scores and counts as by play_kernel.py, bit for bit.
"""

from __future__ import annotations

import numpy as np
from numba import types

from turnier.agents.abi import SEAT, SEATS
from turnier.agents.expectimax.lowered2048 import lowered_board
from turnier.agents.expectimax.one_ply2048 import DOWNGRADE, FORCED, WORK, best_move, new_work
from turnier.agents.ntuple.learn2048 import move_all
from turnier.arena.play_kernel import DECISIONS, END, FULL, LIMIT, NANOSECONDS, NODES, NORMAL, STATUS, STOPPED, WHOLE
from turnier.core.clock import nanoseconds
from turnier.core.kernel import kernel
from turnier.core.rng import Rng, next_word
from turnier.games.abi import GAME, Actions, Floats, Gains, State, States
from turnier.games.twenty48.board import random_tile
from turnier.games.twenty48.rules import BOARD, HIGH, PENDING

_U = np.uint64
_0, _LOW32 = _U(0), _U(0xFFFFFFFF)
_I64 = types.int64
_COUNTS = types.Array(_I64, 2, "C")


@kernel(types.UniTuple(_I64, 2)(GAME, SEAT, State, Rng, _I64, Floats, _COUNTS, Actions, _I64, Actions, WORK))
def play_one_ply(game, seat, state, rng, max_plies, returns, counts, plies, first, stop, work):
    """Plays a match from the empty board in place: (status, where its plies end); see `play_one`."""
    weights, settings = seat.evaluator.weights, seat.settings
    words, entries = weights.view(np.int64), weights.view(np.float32)
    boards, highs, gains, _, _ = work
    share, forced = 1.0 / game.max_return, settings[FORCED] != 0.0
    downgrade = np.int64(settings[DOWNGRADE])
    board, high, pending = _0, _0, 2
    points, nodes, actions, written, status = 0, 0, 0, first, NORMAL
    while True:
        if written == plies.size:
            status = FULL
            break
        outcome = random_tile(board, high, 16, next_word(rng) & _LOW32)
        board |= _U(1 + (outcome & 1)) << _U(4 * (outcome >> 1))
        plies[written] = outcome
        written += 1
        pending -= 1
        if pending > 0:
            continue
        legal = move_all(board, high, boards, highs, gains)
        if legal == 0:
            pending = -1
            break
        if written == plies.size:
            status = FULL
            break
        if stop[0] != 0:
            status = STOPPED
            break
        if max_plies > 0 and actions == max_plies:
            status = LIMIT
            break
        several = legal & (legal - 1) != 0
        if several or forced:
            nodes += (legal & 1) + (legal >> 1 & 1) + (legal >> 2 & 1) + (legal >> 3)
        best = np.int64(legal > 1) + np.int64(legal > 2) + np.int64(legal > 4)
        if several:
            short = 0
            if downgrade > 0:
                lower, lower_high, short = lowered_board(board, high, 16, downgrade)
                if short > 0:
                    move_all(lower, lower_high, boards, highs, gains)
            best = best_move(legal, float(points) - short, share, words, entries, work)
            if short > 0:
                move_all(board, high, boards, highs, gains)
        plies[written] = best
        written += 1
        actions += 1
        points += gains[best]
        board, high, pending = boards[best], highs[best], 1
    state[BOARD], state[HIGH], state[PENDING] = np.int64(board), np.int64(high), pending
    returns[0], counts[DECISIONS, 0], counts[NODES, 0] = float(points), actions, nodes
    return status, written


@kernel(
    _I64(GAME, SEATS, Actions, States, types.Array(types.uint64, 3, "C"), Actions, _I64, Gains,
         types.Array(_I64, 3, "C"), Actions, _COUNTS, Actions)
)  # fmt: skip
def play_many_one_ply(game, seats, drawing, states, rngs, opening, max_plies, returns, counts, plies, ends, stop):
    """`play_many` where the opening is empty."""
    first, clock, seat = 0, np.empty(2, np.int64), seats[0]
    work = new_work(seat.evaluator.weights.view(np.int64))
    for i in range(states.shape[0]):
        began = nanoseconds(clock)
        start_rng = rngs[i, 0].copy()
        status, end = play_one_ply(
            game, seat, states[i], rngs[i, 0], max_plies, returns[i], counts[i], plies, first, stop, work
        )
        if status == FULL or status == STOPPED:
            rngs[i, 0] = start_rng  # played again from its start when there is more room
            returns[i], counts[i] = 0.0, 0
            return i
        ends[i, END], ends[i, STATUS], ends[i, WHOLE] = end, status, nanoseconds(clock) - began
        counts[i, NANOSECONDS, 0] = ends[i, WHOLE]
        first = end
    return states.shape[0]
