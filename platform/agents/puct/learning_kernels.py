"""Learning of values and a policy, as n-tuple networks, from single positions of self-play.

Both networks have the same shape without stages, and so the same header. They learn change by change, as TD does: with
temporal coherence each entry at its own rate.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...core.kernel import kernel, types
from ...games.abi import GAME, Actions, Floats, Gains, State, States
from ...games.generic import copy_state
from ..expectimax.one_ply_boards import worth_of_actions
from ..ntuple.board_lookups import BOARD, new_board, set_board, shift_entries
from ..ntuple.network_kernels import (
    ENTRIES,
    OUTPUTS,
    SYMMETRIES,
    TUPLES,
    WIDTH,
    EntryTable,
    Header,
    Index,
    add_coherently_apart,
    add_plainly,
    sum_entries,
)
from .policy import output_of
from .ranking import limit, set_logits_of_values, set_softmax
from .self_play_kernels import Shares

RATE, POLICY_RATE, COHERENT, TEMPERATURE, NUM_RATES = range(5)  # of `rates`
_U = np.uint64
_U64, _I64, _F32, _F64 = types.uint64, types.int64, types.float32, types.float64
Targets = types.Array(types.float32, 2, "C")


class Space(NamedTuple):
    """The working memory of learning."""

    board: Any
    ahead: Any  # the same board, for the values of the boards after it
    worth: Any  # [max_choices, seats] of those
    over: Any  # [max_choices]
    outputs: Any  # [outputs]
    index: Any  # [max_choices * look-ups] places of entries that actions change, by action
    numbers: Any  # [max_choices * look-ups] numbers of those look-ups
    ends: Any  # [max_choices] end of an action's
    shares: Any  # [look-ups] errors of the board's own entries
    logits: Any  # [max_choices]
    priors: Any  # [max_choices]
    legal: Any  # [max_choices]
    after: Any  # [words]
    returns: Any  # [seats]
    after_returns: Any  # [seats]


SPACE = types.NamedTuple(
    [
        BOARD, BOARD, Gains, Actions, EntryTable, Index, Index, Actions, EntryTable, Floats, Floats, Actions, State,
        Floats, Floats,
    ],
    Space,
)  # fmt: skip


@kernel(SPACE(GAME, Header, State))
def new_space(game, words, state):
    lookups = words[SYMMETRIES] * words[TUPLES]
    return Space(
        new_board(words),
        new_board(words),
        np.empty((game.max_choices, game.num_seats)),
        np.empty(game.max_choices, np.int64),
        np.empty(words[OUTPUTS], np.float32),
        np.empty(game.max_choices * lookups, np.uint64),
        np.empty(game.max_choices * lookups, np.uint64),
        np.empty(game.max_choices, np.int64),
        np.empty(lookups, np.float32),
        np.empty(game.max_choices),
        np.empty(game.max_choices),
        np.empty(game.max_choices, np.int64),
        np.empty_like(state),
        np.empty(game.num_seats),
        np.empty(game.num_seats),
    )


@kernel(types.void(Header, EntryTable, Index, _U64, _U64, _F32, types.boolean))
def add_change(words, table, index, first, count, change, coherent):
    """Adds a change to some entries."""
    if coherent:
        add_coherently_apart(words, table, index, first, count, _U(0), change)
    else:
        add_plainly(table, index, first, count, _U(0), change)


@kernel(types.void(GAME, Header, EntryTable, Floats, _I64, EntryTable, SPACE))
def learn_values(game, words, table, rates, mover, targets, space):
    """Moves the values of `space.board`, with the mover to move, towards the targets [outputs]."""
    lookups, outputs, index = words[SYMMETRIES] * words[TUPLES], words[OUTPUTS], space.index
    for o in range(outputs):
        block = (mover * outputs + o) * words[ENTRIES] * words[WIDTH]
        for i in range(lookups):
            index[i] = _U(space.board.now[i] + block)
        value = sum_entries(table, index, _U(0), _U(words[TUPLES]), _U(words[SYMMETRIES]), _U(0))
        change = np.float32(rates[RATE] / float(lookups)) * (targets[o] - value)
        add_change(words, table, index, _U(0), _U(lookups), change, rates[COHERENT] != 0.0)


@kernel(types.void(GAME, Header, EntryTable, State, _I64, _I64, _F64, SPACE))
def rank_by_values(game, words, table, state, n, mover, temperature, space):
    """Fills in the logits of n actions by their values, as in a search, as if no returns had been earned before."""
    space.returns[:] = 0.0
    set_board(game, words, state, space.ahead)
    worth_of_actions(
        game, words, table, state, space.returns, space.legal, n, space.ahead, space.outputs, space.after,
        space.after_returns, space.worth, space.over,
    )  # fmt: skip
    for i in range(n):
        if space.over[i] == 0:
            limit(space.worth[i])
    set_logits_of_values(space.worth, n, mover, temperature, space.logits)


@kernel(types.void(GAME, Header, EntryTable, State, Actions, _I64, _I64, SPACE))
def rank_by_changes(game, words, table, state, legal, n, mover, space):
    """Adds the policy's logits of n actions up to a constant, and fills in their entries.

    Entries that an action does not change add the same to all actions.
    """
    board, written = space.board, 0
    block = _U((mover * words[OUTPUTS] + output_of(words, mover)) * words[ENTRIES] * words[WIDTH])
    for i in range(n):
        copy_state(state, space.after)
        space.returns[:] = 0.0
        game.step(space.after, legal[i], space.returns)
        game.cells(space.after, board.after_cells)
        changed, logit = shift_entries(words, table, board, block), 0.0
        for k in range(changed):
            number = board.changed[k]
            place = _U(board.shifted[number]) + block
            logit += np.float64(table[place]) - np.float64(table[_U(board.now[number]) + block])
            space.index[written], space.numbers[written] = place, number
            board.shifted[number] = board.now[number]
            written += 1
        space.logits[i] += logit
        space.ends[i] = written


@kernel(types.void(GAME, Header, EntryTable, EntryTable, Floats, State, _I64, Shares, SPACE))
def learn_policy(game, words, values, table, rates, state, mover, wanted, space):
    """Moves the priors of a state's actions towards the wanted shares, [actions], by the policy alone.

    A step down the gradient of the cross-entropy: each action's error is divided among the entries that it changes, and
    subtracted from the board's entries in their place.
    """
    n = game.legal(state, space.legal)
    rank_by_values(game, words, values, state, n, mover, rates[TEMPERATURE], space)
    rank_by_changes(game, words, table, state, space.legal, n, mover, space)
    set_softmax(space.logits, n, space.priors)
    lookups, coherent = words[SYMMETRIES] * words[TUPLES], rates[COHERENT] != 0.0
    space.shares[:] = np.float32(0)
    first = 0
    for i in range(n):
        end = space.ends[i]
        change = np.float32(rates[POLICY_RATE] * (np.float64(wanted[i]) - space.priors[i]) / float(max(end - first, 1)))
        add_change(words, table, space.index, _U(first), _U(end - first), change, coherent)
        for k in range(first, end):
            space.shares[space.numbers[k]] -= change
        first = end
    block = _U((mover * words[OUTPUTS] + output_of(words, mover)) * words[ENTRIES] * words[WIDTH])
    for i in range(lookups):
        if space.shares[i] != np.float32(0):
            space.index[0] = _U(space.board.now[i]) + block
            add_change(words, table, space.index, _U(0), _U(1), space.shares[i], coherent)


@kernel(types.void(GAME, Header, EntryTable, EntryTable, Floats, States, Targets, Actions, Shares, Actions))
def learn_positions(game, words, values, policy, rates, states, targets, ends, policies, order):
    """Lets both networks learn from positions.

    Args:
        words: the header of either; values, policy: their entries, learned in place; an empty policy is not learned.
        rates: [NUM_RATES]
        states: [n, state words]
        targets: [n, outputs] of the values.
        ends: [n + 1] the ends of the positions' shares of `policies`, after a 0; empty if nothing was found.
        policies: targets of the policy, a share for each legal action.
        order: numbers of the positions, in the order of learning.
    """
    space = new_space(game, words, states[0])
    for at in order:
        state = states[at]
        mover = game.to_move(state)
        set_board(game, words, state, space.board)
        learn_values(game, words, values, rates, mover, targets[at], space)
        if policy.size > 0 and ends[at + 1] > ends[at]:
            learn_policy(game, words, values, policy, rates, state, mover, policies[ends[at] : ends[at + 1]], space)
