"""The agent side of the kernel ABI: evaluators and decision kernels as function pointers.

An evaluator estimates each seat's final return; a decision kernel (`act`) chooses an action. Both get the game as
`GameKernels`, so each compiles once for all games, and whole matches of compiled agents run in compiled code.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.core.types import FunctionType

from turnier.core.kernel import kernel, tell_type
from turnier.core.rng import Rng
from turnier.games.abi import GAME, Actions, Counts, Floats, Gains, Rngs, State, States
from turnier.games.game import MAX_SEATS


class Scratch(NamedTuple):
    """Space that a search allocates once per decision and lends to evaluators."""

    state: Any  # [state_words]
    returns: Any  # [seats]
    choices: Any  # [max_choices]
    probs: Any  # [max_choices]


SCRATCH = types.NamedTuple([State, Floats, Actions, Floats], Scratch)


@kernel(SCRATCH(GAME, State))
def new_scratch(game, state):
    return Scratch(
        np.empty_like(state),
        np.empty(game.num_seats),
        np.empty(game.max_choices, np.int64),
        np.empty(game.max_choices),
    )


# (game, weights, state, returns[seats] so far, count, rng, totals[seats], scratch): adds `count` independent estimates
# of every seat's final return (in the evaluator's own unit) to `totals`; state and returns stay as they are. Counting
# here and not in the caller saves a call with all these arguments per rollout, nearly half the time of shallow ones.
EVALUATE = types.void(GAME, Floats, State, Floats, types.int64, Rng, Floats, SCRATCH)


# (game, weights, states[n, words], returns[n, seats] so far, counts[n], rngs[n, 4], totals[n, seats], gains[n, seats],
# ended[n]): the same of n states, each by a stream of its own, and the same numbers; gains and ended are scratch space.
EVALUATE_TOGETHER = types.void(GAME, Floats, States, Gains, Counts, Rngs, Gains, Gains, Counts)


@kernel(EVALUATE_TOGETHER)
def absent_evaluate_together(game, weights, states, returns, counts, rngs, totals, gains, ended):
    pass


class EvaluatorKernels(NamedTuple):
    """An evaluator as compiled code sees it."""

    evaluate: Any
    weights: Any  # [num_weights]
    evaluate_together: Any
    has_together: int


EVALUATOR = types.NamedTuple(
    [FunctionType(EVALUATE), Floats, FunctionType(EVALUATE_TOGETHER), types.int64], EvaluatorKernels
)
tell_type(EvaluatorKernels, EVALUATOR)

# Rows of `root`, [2, num_actions]: what a search found out about each action, zero for actions never tried.
VISITS, VALUES = 0, 1
Root = types.Array(types.float64, 2, "C")

# (game, evaluator, settings, state, returns[seats] so far, rng, root[2, num_actions]) -> action. The state stays as it
# is; `root` comes in zeroed and gets visits and mean values for the mover.
ACT = types.int64(GAME, EVALUATOR, Floats, State, Floats, Rng, Root)


class SeatKernels(NamedTuple):
    """One seat of a match as compiled code sees it."""

    act: Any
    evaluator: Any
    settings: Any  # [num_settings]


SEAT = types.NamedTuple([FunctionType(ACT), EVALUATOR, Floats], SeatKernels)
tell_type(SeatKernels, SEAT)
SEATS = types.UniTuple(SEAT, MAX_SEATS)  # filled up with the first seat where a game has fewer
