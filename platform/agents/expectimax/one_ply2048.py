"""One decision ahead at 2048 on the 4x4 board with an n-tuple network, for `greedy` and `expectimax(depth=1)`.

The actions, values and visits are those of the general kernels, bit for bit. Boards move and entries are found as in
learning, for all actions together. Whole matches are ten times as fast as with calls of the act kernel.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...core.clock import nanoseconds
from ...core.kernel import kernel, pointer, types
from ...core.rng import Rng, next_word
from ...games.abi import GAME, Actions, Floats, State
from ...games.twenty48.board import random_tile
from ...games.twenty48.rules import BOARD, HIGH, PENDING
from ..abi import (
    ACT,
    DECISIONS,
    END,
    FULL,
    LIMIT,
    NANOSECONDS,
    NODES,
    NORMAL,
    PLAY_MATCHES,
    SEAT,
    STATUS,
    STOPPED,
    VALUES,
    VISITS,
    WHOLE,
    SeatKernels,
)
from ..evaluator import Evaluator
from ..ntuple.board2048_kernels import at_most_15, find_entries_of_images, sum_entries_of_images
from ..ntuple.evaluator import NTuple
from ..ntuple.learn2048 import move_all
from ..ntuple.network_kernels import AT_END, PACKED, TUPLES, EntryTable, Header, Index
from .lowered2048 import lowered_board, raise_values

_U = np.uint64
_F64, _I64 = types.float64, types.int64
_0, _8, _LOW32 = _U(0), _U(8), _U(0xFFFFFFFF)
_COUNTS = types.Array(_I64, 2, "C")
# The settings: whether to evaluate an only action (as greedy does, not expectimax); and see lowered2048.
FORCED, DOWNGRADE = 0, 1
# Boards, high tiles and rewards by action, places of entries, and values by action.
WORK = types.Tuple([Index, Index, Actions, Index, Floats])


@kernel(WORK(Header))
def new_work(words):
    boards, highs, gains = np.empty(4, np.uint64), np.empty(4, np.uint64), np.empty(4, np.int64)
    return boards, highs, gains, np.empty(4 * 8 * words[TUPLES], np.uint64), np.empty(4)


@kernel(_I64(_I64, _F64, _F64, Header, EntryTable, WORK), inline=True)
def best_move(legal, points, share, words, entries, work):
    """Returns the first of the best actions of `legal`, whose boards `move_all` has made, and fills in their values.

    Args:
        points: the returns before the move.
        share: 1 / max_return.
    """
    boards, highs, gains, index, values = work
    count = _8 * _U(words[TUPLES])
    gain_share = 0.0 if words[AT_END] != 0 else share
    for action in range(4):
        if legal >> action & 1:
            board = at_most_15(boards[action], highs[action])
            find_entries_of_images(words, board, entries, index, _U(action) * count)
    best = -1
    for action in range(4):
        if legal >> action & 1:
            value = float(sum_entries_of_images(words, entries, index, _U(action) * count))
            values[action] = (points + gains[action]) * gain_share + share * value
            if best < 0 or values[action] > values[best]:
                best = action
    return best


@kernel(types.UniTuple(_I64, 2)(GAME, SEAT, State, Rng, _I64, Floats, _COUNTS, Actions, _I64, Actions, WORK))
def play_one_ply(game, seat, state, rng, max_plies, returns, counts, plies, first, stop, work):
    """Plays a match from the empty board in place, see PLAY_MATCHES; returns its status and the end of its plies."""
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


@kernel(PLAY_MATCHES)
def play_many_one_ply(game, seats, drawing, states, rngs, opening, max_plies, returns, counts, plies, ends, stop):
    """Plays matches without an opening, see PLAY_MATCHES."""
    first, clock, seat = 0, np.empty(2, np.int64), seats[0]
    work = new_work(seat.evaluator.weights.view(np.int64))
    for i in range(states.shape[0]):
        began = nanoseconds(clock)
        status, end = play_one_ply(
            game, seat, states[i], rngs[i, 0], max_plies, returns[i], counts[i], plies, first, stop, work
        )
        if status == FULL or status == STOPPED:
            return i
        ends[i, END], ends[i, STATUS], ends[i, WHOLE] = end, status, nanoseconds(clock) - began
        counts[i, NANOSECONDS, 0] = ends[i, WHOLE]
        first = end
    return states.shape[0]


@kernel(ACT, plays_alone=play_many_one_ply)
def act_one_ply2048(game, evaluator, settings, state, returns, rng, root):
    words, entries = evaluator.weights.view(np.int64), evaluator.weights.view(np.float32)
    work = new_work(words)
    boards, highs, gains, _, values = work
    board, high, short = lowered_board(_U(state[BOARD]), _U(state[HIGH]), 16, np.int64(settings[DOWNGRADE]))
    legal = move_all(board, high, boards, highs, gains)
    if legal & (legal - 1) == 0 and settings[FORCED] == 0.0:
        return np.int64(legal > 1) + np.int64(legal > 2) + np.int64(legal > 4)
    best = best_move(legal, returns[0] - short, 1.0 / game.max_return, words, entries, work)
    for action in range(4):
        if legal >> action & 1:
            root[VISITS, action], root[VALUES, action] = 1.0, values[action]
    raise_values(root, short / game.max_return)
    return best


def is_packed_network(evaluator: Evaluator, seat: SeatKernels) -> bool:
    """Returns whether a seat's evaluator is a network for the kernels of packed 2048 boards."""
    return type(evaluator) is NTuple and bool(seat.evaluator.weights.view(np.int64)[PACKED])


def one_ply_seat(seat: SeatKernels, forced: bool, downgrade: int) -> SeatKernels:
    """Returns a seat with a packed network, with the kernel that looks one decision ahead."""
    return replace(seat, act=pointer(act_one_ply2048, ACT), settings=np.array([forced, downgrade], np.float64))
