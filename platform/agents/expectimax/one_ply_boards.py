"""One decision ahead on any game's board with an n-tuple network, for `greedy`.

The actions, values and visits are those of the general kernel, which looks up all entries of every next board. Here
only the entries that an action changes are looked up, as in learning.
"""

from __future__ import annotations

import numpy as np

from ...core.kernel import kernel, types
from ...games.abi import GAME, TERMINAL, Actions, Floats, Gains, State
from ...games.generic import copy_state
from ..abi import ACT, VALUES, VISITS, SeatKernels
from ..evaluator import Evaluator
from ..ntuple.board_lookups import BOARD, new_board, set_board, step_of_sweep, sum_board, value_of_action
from ..ntuple.evaluator import NTuple
from ..ntuple.network_kernels import AT_END, BOUND, LOOK_AHEAD, OUTPUTS, PACKED, EntryTable, Header, squeezed, stage_of


@kernel(ACT)
def act_one_ply(game, evaluator, settings, state, returns, rng, root):
    words, table = evaluator.weights.view(np.int64), evaluator.weights.view(np.float32)
    actions, values = np.empty(game.max_choices, np.int64), np.empty((game.max_choices, returns.size))
    n, mover, board = game.legal(state, actions), game.to_move(state), new_board(words)
    set_board(game, words, state, board)
    worth_of_actions(
        game, words, table, state, returns, actions, n, board, np.empty(words[OUTPUTS], np.float32),
        np.empty_like(state), np.empty_like(returns), values, np.empty(game.max_choices, np.int64),
    )  # fmt: skip
    best = 0
    for i in range(n):
        root[VISITS, actions[i]], root[VALUES, actions[i]] = 1.0, values[i, mover]
        if values[i, mover] > values[best, mover]:
            best = i
    return actions[best]


@kernel(
    types.void(
        GAME, Header, EntryTable, State, Floats, Actions, types.int64, BOARD, EntryTable, State, Floats, Gains, Actions
    )
)
def worth_of_actions(
    game, words, table, state, returns, actions, n, board, outputs, after, after_returns, values, over
):
    """Fills in the values of the states after the first n actions to every seat, / max_return.

    Args:
        board: that of the state, see `set_board`.
        outputs, after, after_returns: scratch space.
        values: [n or more, seats]; over: [n or more] whether the game is over then.
    """
    share, seats, step = 1.0 / game.max_return, returns.size, 0
    for i in range(n):
        action = actions[i]
        copy_state(state, after)
        for seat in range(seats):
            after_returns[seat] = returns[seat]
        game.step(after, action, after_returns)
        next_mover = game.to_move(after)
        over[i] = next_mover == TERMINAL
        if i == 0:
            step = step_of_sweep(game, words, after, action, n, board)
        so_far = next_mover == TERMINAL or words[AT_END] == 0
        for seat in range(seats):
            values[i, seat] = after_returns[seat] * share if so_far else 0.0
        if next_mover != TERMINAL:
            value_of_action(game, words, table, board, after, action, next_mover, step, outputs)
            for o in range(words[OUTPUTS]):
                values[i, o] += share * float(outputs[o])
            if words[OUTPUTS] == 1 and seats == 2:
                values[i, 1] -= share * float(outputs[0])


@kernel(types.void(GAME, Header, EntryTable, Floats, types.int64, BOARD, Floats))
def worth_of_board(game, words, table, returns, mover, board, values):
    """Fills in the evaluator's values of a board to every seat when `mover` is to move, / max_return.

    Args:
        board: as left by `set_board` or `worth_of_actions`.
        values: [seats]
    """
    outputs, share = words[OUTPUTS], 1.0 / game.max_return
    phase = stage_of(words, board.cells) * values.size + mover
    if board.known[phase] == 0:
        sum_board(words, table, board, phase)
    for seat in range(values.size):
        values[seat] = returns[seat] * share if words[AT_END] == 0 else 0.0
    for o in range(outputs):
        total = np.float32(board.sums[phase * outputs + o])
        value = share * float(squeezed(words, total) if words[BOUND] != 0 else total)
        values[o] += value
        if outputs == 1 and values.size == 2:
            values[1] -= value


def fits_boards(evaluator: Evaluator, seat: SeatKernels) -> bool:
    """Returns whether `act_one_ply` plays as `greedy` does: if the network has no kernels or rules of its own."""
    if type(evaluator) is not NTuple:
        return False
    words = seat.evaluator.weights.view(np.int64)
    return bool(words[PACKED] == 0 and words[LOOK_AHEAD] == 0)
