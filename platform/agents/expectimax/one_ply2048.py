"""One decision ahead at 2048 on the 4x4 board with an n-tuple network: what `greedy` and `expectimax(depth=1)` play.

The actions, values and visits are the same as with the general kernels, bit for bit. Boards move and entries are found
as in learning, for all actions together; arena/one_ply2048.py plays whole matches by the same kernel.
"""

from __future__ import annotations

import numpy as np
from numba import types

from turnier.agents.abi import ACT, VALUES, VISITS, SeatKernels
from turnier.agents.evaluator import Evaluator
from turnier.agents.expectimax.lowered2048 import lowered_board, raise_values
from turnier.agents.ntuple.board2048_kernels import at_most_15, find_entries_of_images, sum_entries_of_images
from turnier.agents.ntuple.evaluator import NTuple
from turnier.agents.ntuple.learn2048 import move_all
from turnier.agents.ntuple.network_kernels import AT_END, PACKED, TUPLES, EntryTable, Header, Index
from turnier.core.kernel import kernel, pointer
from turnier.games.abi import Actions, Floats
from turnier.games.twenty48.rules import BOARD, HIGH

_U = np.uint64
_F64, _I64 = types.float64, types.int64
_8 = _U(8)
# The settings: whether an action without alternative is evaluated (greedy does, expectimax does not); see lowered2048.
FORCED, DOWNGRADE = 0, 1
# Boards, high tiles and rewards by action, places of entries, and values by action.
WORK = types.Tuple([Index, Index, Actions, Index, Floats])


@kernel(WORK(Header))
def new_work(words):
    boards, highs, gains = np.empty(4, np.uint64), np.empty(4, np.uint64), np.empty(4, np.int64)
    return boards, highs, gains, np.empty(4 * 8 * words[TUPLES], np.uint64), np.empty(4)


@kernel(_I64(_I64, _F64, _F64, Header, EntryTable, WORK), inline=True)
def best_move(legal, points, share, words, entries, work):
    """Returns the first of the best of the actions in `legal`, which `move_all` has made, and fills in their values.

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


@kernel(ACT)
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


def looks_one_ply_ahead(seat: SeatKernels) -> bool:
    """Returns whether `seat` decides by `act_one_ply2048`."""
    return seat.act is getattr(act_one_ply2048, "kernel_pointer", act_one_ply2048)  # compiles nothing for other games


def is_packed_network(evaluator: Evaluator, seat: SeatKernels) -> bool:
    """Returns whether a seat's evaluator is a network that the kernels for packed boards of 2048 read."""
    return type(evaluator) is NTuple and bool(seat.evaluator.weights.view(np.int64)[PACKED])


def one_ply_seat(seat: SeatKernels, forced: bool, downgrade: int) -> SeatKernels:
    """Returns the seat, whose evaluator is a packed network, with the kernel that looks one decision ahead."""
    return seat._replace(act=pointer(act_one_ply2048, ACT), settings=np.array([forced, downgrade], np.float64))
