"""A learned policy: an n-tuple network of the board after an action, added to the logit of the action's value.

Its entries of a phase are those of the choosing seat, even if the action ends the game.
"""

from __future__ import annotations

import numpy as np

from ...core.kernel import kernel, types
from ...games.abi import GAME, Actions, Floats, State
from ...games.generic import copy_state
from ..ntuple.board_lookups import BOARD, set_board, step_of_sweep, value_of_action
from ..ntuple.network_kernels import NUM_CELLS, OUTPUTS, EntryTable, Header


@kernel(types.int64(Header, types.int64))
def output_of(words, mover):
    """Returns the output with a seat's logits."""
    return mover if words[OUTPUTS] > 1 else 0


@kernel(
    types.void(
        GAME, Header, EntryTable, State, Floats, types.int64, Actions, types.int64, BOARD, EntryTable, State, Floats,
        Floats,
    )
)  # fmt: skip
def logits_of_actions(
    game, words, table, state, returns, mover, actions, n, board, outputs, after, after_returns, logits
):
    """Adds to the logits of the first n actions of a state in which the mover chooses.

    Args:
        words: the policy's header; table: its entries.
        board, outputs, after, after_returns: scratch space.
        logits: [n or more]
    """
    set_board(game, words, state, board)
    step = 0
    for i in range(n):
        action = actions[i]
        if i == 0 or step == 0 or action >= words[NUM_CELLS]:  # a sweep needs no board after
            copy_state(state, after)
            for seat in range(returns.size):
                after_returns[seat] = returns[seat]
            game.step(after, action, after_returns)
        if i == 0:
            step = step_of_sweep(game, words, after, action, n, board)
        value_of_action(game, words, table, board, after, action, mover, step, outputs)
        logits[i] += np.float64(outputs[output_of(words, mover)])
