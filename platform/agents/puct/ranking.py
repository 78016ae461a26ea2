"""The values of a state's actions one decision ahead, and priors from these or from a policy."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ...core.kernel import kernel, types
from ...core.rng import Rng
from ...games.abi import GAME, TERMINAL, Actions, Floats, Gains, State
from ...games.generic import copy_state
from ..abi import EVALUATOR, SCRATCH
from ..expectimax.one_ply_boards import worth_of_actions
from ..ntuple.board_lookups import BOARD, new_board, set_board
from ..ntuple.network_kernels import BASES, OUTPUTS, EntryTable
from .policy import logits_of_actions

UNPROVEN = 0.999  # at most; beyond, as networks may go, a proven loss would look better than an open position


@kernel(types.void(Floats))
def limit(values):
    """Limits estimates for several seats to between a loss and a win; values: [seats]."""
    for seat in range(values.size if values.size > 1 else 0):
        values[seat] = min(max(values[seat], -UNPROVEN), UNPROVEN)


class Ranking(NamedTuple):
    """The actions of one state with their values and priors, and working space."""

    choices: Any  # [max_choices] ascending
    values: Any  # [max_choices, seats] of the state after each
    over: Any  # [max_choices] whether the game is over then
    priors: Any  # [max_choices] probabilities
    logits: Any  # [max_choices] their logarithms
    after: Any  # [state_words]
    after_returns: Any  # [seats]
    outputs: Any  # [outputs] of a network
    board: Any  # of a network
    policy_outputs: Any  # [outputs] of a policy
    policy_board: Any  # of a policy


RANKING = types.NamedTuple(
    [Actions, Gains, Actions, Floats, Floats, State, Floats, EntryTable, BOARD, EntryTable, BOARD], Ranking
)


@kernel(RANKING(GAME, EVALUATOR, State, types.boolean, types.int64))
def new_ranking(game, evaluator, state, by_network, policy):
    """Returns space; policy: see `rank_actions`."""
    nothing = np.zeros(BASES, np.int64)
    words = evaluator.weights.view(np.int64) if by_network else nothing
    policy_words = evaluator.weights.view(np.int64)[policy:] if policy > 0 else nothing
    return Ranking(
        np.empty(game.max_choices, np.int64),
        np.empty((game.max_choices, game.num_seats)),
        np.zeros(game.max_choices, np.int64),
        np.empty(game.max_choices),
        np.empty(game.max_choices),
        np.empty_like(state),
        np.empty(game.num_seats),
        np.empty(words[OUTPUTS], np.float32),
        new_board(words),
        np.empty(policy_words[OUTPUTS], np.float32),
        new_board(policy_words),
    )


@kernel(types.void(GAME, EVALUATOR, types.boolean, State, Floats, types.int64, Rng, SCRATCH, RANKING))
def rank_actions(game, evaluator, by_network, state, returns, n, rng, scratch, ranking):
    """Evaluates the states after the first n of `ranking.choices`, before chance, as `greedy` does."""
    choices, values, over = ranking.choices, ranking.values, ranking.over
    after, after_returns = ranking.after, ranking.after_returns
    if by_network:
        words, table = evaluator.weights.view(np.int64), evaluator.weights.view(np.float32)
        set_board(game, words, state, ranking.board)
        worth_of_actions(
            game, words, table, state, returns, choices, n, ranking.board, ranking.outputs, after, after_returns,
            values, over,
        )  # fmt: skip
    for i in range(n if not by_network else 0):
        copy_state(state, after)
        for seat in range(returns.size):
            after_returns[seat] = returns[seat]
            values[i, seat] = 0.0
        game.step(after, choices[i], after_returns)
        over[i] = game.to_move(after) == TERMINAL
        evaluator.evaluate(game, evaluator.weights, after, after_returns, 1, rng, values[i], scratch)
    for i in range(n):
        if over[i] == 0:
            limit(values[i])


@kernel(types.void(GAME, EVALUATOR, types.int64, State, Floats, types.int64, types.int64, RANKING))
def add_learned_logits(game, evaluator, policy, state, returns, n, mover, ranking):
    """Adds a policy's logits to those of the actions that `rank_actions` has evaluated.

    Args:
        policy: the begin of its weights among those of the evaluator.
    """
    words, table = evaluator.weights.view(np.int64)[policy:], evaluator.weights.view(np.float32)[2 * policy :]
    logits_of_actions(
        game, words, table, state, returns, mover, ranking.choices, n, ranking.policy_board, ranking.policy_outputs,
        ranking.after, ranking.after_returns, ranking.logits,
    )  # fmt: skip


@kernel(types.void(Gains, types.int64, types.int64, types.float64, Floats))
def set_logits_of_values(values, n, mover, temperature, logits):
    """Fills in the logits of n actions: the mover's values, from 0 to 1, divided by the temperature, up to a constant.

    A single seat's values, which may be any numbers, are scaled to 0 for its worst action and 1 for its best.
    """
    low, high = math.inf, -math.inf
    for i in range(n):
        low, high = min(low, values[i, mover]), max(high, values[i, mover])
    span = 2.0
    if values.shape[1] == 1:
        span = high - low if high > low else 1.0
    for i in range(n):
        logits[i] = (values[i, mover] - high) / (span * temperature)


@kernel(types.void(Floats, types.int64, Floats))
def set_softmax(logits, n, priors):
    """Fills in the softmax of the first n logits, which become its logarithms."""
    high, total = -math.inf, 0.0
    for i in range(n):
        high = max(high, logits[i])
    for i in range(n):
        logits[i] -= high
        priors[i] = math.exp(logits[i])
        total += priors[i]
    for i in range(n):
        priors[i] /= total
        logits[i] -= math.log(total)
