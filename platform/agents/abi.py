"""The agent side of the kernel ABI: evaluators and decision kernels as function pointers.

An evaluator estimates each seat's final return; a decision kernel (`act`) chooses an action. Both get the game as
`GameKernels`, so each compiles once for all games, and whole matches of compiled agents run in compiled code.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from numba import types
from numba.core.types import FunctionType

from turnier.games.abi import GAME, Actions, Floats, Rng, State
from turnier.games.game import MAX_SEATS

# (game, weights, state, rng, values[seats], choices, probs): `values` holds the returns so far and becomes the
# estimated final returns (in the evaluator's own unit); the state is scratch and may be played on, `choices` and
# `probs` [max_choices] are scratch too.
EVALUATE = types.void(GAME, Floats, State, Rng, Floats, Actions, Floats)


class EvaluatorKernels(NamedTuple):
    """An evaluator as compiled code sees it."""

    evaluate: Any
    weights: Any  # [num_weights]


EVALUATOR = types.NamedTuple([FunctionType(EVALUATE), Floats], EvaluatorKernels)

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
SEATS = types.UniTuple(SEAT, MAX_SEATS)  # filled up with the first seat where a game has fewer
