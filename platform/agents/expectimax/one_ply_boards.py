"""One decision ahead on any game's board with an n-tuple network: what `greedy` plays.

The same actions, values and visits as by the general kernel, which finds all entries of every board that may follow.
Here only those are looked up that an action changes, as in learning.
"""

from __future__ import annotations

import numpy as np
from numba import types

from turnier.agents.abi import ACT, VALUES, VISITS, Root, SeatKernels
from turnier.agents.evaluator import Evaluator
from turnier.agents.ntuple.board_lookups import BOARD, new_board, set_board, step_of_sweep, value_of_action
from turnier.agents.ntuple.evaluator import NTuple
from turnier.agents.ntuple.network_kernels import AT_END, LOOK_AHEAD, OUTPUTS, PACKED, EntryTable, Header
from turnier.core.kernel import kernel
from turnier.core.packing import lend
from turnier.games.abi import GAME, TERMINAL, Actions, Floats, State
from turnier.games.generic import copy_state


@kernel(ACT)
def act_one_ply(game, evaluator, settings, state, returns, rng, root):
    words, table = evaluator.weights.view(np.int64), evaluator.weights.view(np.float32)
    actions, values = np.empty(game.max_choices, np.int64), np.empty(words[OUTPUTS], np.float32)
    after, after_returns = np.empty_like(state), np.empty_like(returns)
    return best_on_board(
        game, words, table, state, returns, root, new_board(words), actions, values, after, after_returns
    )


@kernel(types.int64(GAME, Header, EntryTable, State, Floats, Root, BOARD, Actions, EntryTable, State, Floats))
def best_on_board(game, words, table, state, returns, root, board, actions, values, after, after_returns):
    """Returns the first of the best actions, and fills `root` in; from `board` on, arrays are scratch space."""
    words, table, state, returns, root, board = lend((words, table, state, returns, root, board))
    actions, values, after, after_returns = lend((actions, values, after, after_returns))
    mover, n = game.to_move(state), game.legal(state, actions)
    share, seats, outputs = 1.0 / game.max_return, returns.size, words[OUTPUTS]
    best, step = actions[0], 0
    set_board(game, words, state, board)
    for i in range(n):
        action = actions[i]
        copy_state(state, after)
        for seat in range(seats):
            after_returns[seat] = returns[seat]
        game.step(after, action, after_returns)
        next_mover, worth = game.to_move(after), 0.0
        if i == 0:
            step = step_of_sweep(game, words, after, action, n, board)
        if next_mover == TERMINAL or words[AT_END] == 0:
            worth += after_returns[mover] * share
        if next_mover != TERMINAL:
            value_of_action(game, words, table, board, after, action, next_mover, step, values)
            value = share * float(values[mover if outputs > 1 else 0])
            worth += value if outputs > 1 or mover == 0 else -value
        root[VISITS, action], root[VALUES, action] = 1.0, worth
        if worth > root[VALUES, best] or i == 0:
            best = action
    return best


def fits_boards(evaluator: Evaluator, seat: SeatKernels) -> bool:
    """Returns whether `act_one_ply` plays what `greedy` would: of networks without kernels or rules of their own."""
    if type(evaluator) is not NTuple:
        return False
    words = seat.evaluator.weights.view(np.int64)
    return bool(words[PACKED] == 0 and words[LOOK_AHEAD] == 0)
