"""The agent side of the kernel ABI: evaluators and decision kernels as function pointers.

An evaluator estimates each seat's final return; a decision kernel (`act`) chooses an action. Both get the game as
`GameKernels`, so each compiles once for all games, and whole matches of compiled agents run in compiled code.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..core.compilation.by_reference import ByReference, LateType, pointer_type, reference_type
from ..core.kernel import kernel, mark_of, tell_type, types
from ..core.rng import Rng
from ..games.abi import GAME, Actions, Counts, Floats, Gains, Rngs, State, States
from ..games.game import MAX_SEATS


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
        np.empty_like(state), np.empty(game.num_seats), np.empty(game.max_choices, np.int64), np.empty(game.max_choices)
    )


# (game, weights, state, returns[seats] so far, count, rng, totals[seats], scratch): adds `count` independent estimates
# of every seat's final return (in the evaluator's own unit) to `totals`; state and returns stay as they are. Counting
# here and not in the caller saves a call with all these arguments per rollout, nearly half the time of shallow ones.
EVALUATE = types.void(GAME, Floats, State, Floats, types.int64, Rng, Floats, SCRATCH)


class Jobs(NamedTuple):
    """Positions to be evaluated side by side, one row each, and space that evaluators use."""

    states: Any  # [n, state_words]
    returns: Any  # [n, seats] so far
    counts: Any  # [n] estimates of a position, one after the other
    waiting: Any  # [n] 1 = not yet begun
    rngs: Any  # [n, 4] a stream for each position
    totals: Any  # [n, seats] sums of the estimates of finished jobs
    done: Any  # [n] numbers of the finished jobs
    gains: Any  # [n, seats]
    ended: Any  # [n]
    lanes: Any  # [lane_words]


JOBS = types.NamedTuple([States, Gains, Counts, Counts, Rngs, Gains, Counts, Gains, Counts, Counts], Jobs)
tell_type(Jobs, JOBS)


@kernel(JOBS(GAME, types.int64, types.int64))
def new_jobs(game, n, words):
    """Returns n jobs of one estimate each, none of them waiting."""
    return Jobs(
        np.empty((n, words), np.int64),
        np.empty((n, game.num_seats)),
        np.ones(n, np.int64),
        np.zeros(n, np.int64),
        np.empty((n, 4), np.uint64),
        np.zeros((n, game.num_seats)),
        np.empty(n, np.int64),
        np.zeros((n, game.num_seats)),
        np.zeros(n, np.int64),
        np.zeros(game.lane_words, np.int64),
    )


# (game, weights, jobs, enough) -> finished: evaluates waiting jobs as EVALUATE does, with the same numbers, until
# `enough` or all of them are finished; the next call continues the others, and may find more waiting.
EVALUATE_TOGETHER = types.int64(GAME, Floats, JOBS, types.int64)


@kernel(EVALUATE_TOGETHER, stand_in=True)
def absent_evaluate_together(game, weights, jobs, enough):
    return 0


@dataclass(frozen=True, eq=False)
class EvaluatorKernels(ByReference):
    """An evaluator as compiled code sees it."""

    evaluate: Any
    weights: Any  # [num_weights]
    evaluate_together: Any
    has_together: int


EVALUATOR = reference_type(EvaluatorKernels, pointer_type(EVALUATE), Floats, LateType(EVALUATE_TOGETHER), types.int64)

# Rows of `root`, [2, num_actions]: what a search found about each action, zero for actions never tried.
VISITS, VALUES = 0, 1
Root = types.Array(types.float64, 2, "C")

# (game, evaluator, settings, state, returns[seats] so far, rng, root[2, num_actions]) -> action. The state is left
# unchanged; `root`, zero at first, gets visits and mean values for the mover.
ACT = types.int64(GAME, EVALUATOR, Floats, State, Floats, Rng, Root)

# (game, evaluator, settings, states[n, words], returns[n, seats] so far, rngs[n, 4], roots[n, 2, num_actions],
# actions[n], memory[n or more, memory_words]): the same for n positions, each of another match, with the same actions
# and random numbers; fills `actions`. The memory may hold anything.
Roots = types.Array(types.float64, 3, "C")
ACT_TOGETHER = types.void(GAME, EVALUATOR, Floats, States, Gains, Rngs, Roots, Actions, States)


@kernel(ACT_TOGETHER, stand_in=True)
def absent_act_together(game, evaluator, settings, states, returns, rngs, roots, actions, memory):
    pass


@dataclass(frozen=True, eq=False)
class SeatKernels(ByReference):
    """One seat of a match as compiled code sees it."""

    act: Any
    evaluator: Any
    settings: Any  # [num_settings + memory_words]
    act_together: Any
    in_step: int  # how many positions it should get at once; 0 = one only
    memory_words: int


# Status of a match; FULL = no room left in `plies`, NAN = a seat found values that are not numbers.
NORMAL, ILLEGAL, LIMIT, FULL, STOPPED, NAN = 0, 1, 2, 3, 4, 5
DECISIONS, NODES, NANOSECONDS, NUM_COUNTS = range(4)  # rows of a match's `counts`, a column a seat
END, STATUS, WHOLE = range(3)  # of a match's `ends`: where its plies end, its status, its nanoseconds

SEAT = reference_type(
    SeatKernels, pointer_type(ACT), EVALUATOR, Floats, LateType(ACT_TOGETHER), types.int64, types.int64
)
SEATS = types.UniTuple(SEAT, MAX_SEATS)  # filled up with the first seat if a game has fewer

# (game, seats, drawing[seats] 1 = draws_evenly, states[n, words], rngs[n, 1 + seats, 4], opening, max_plies,
# returns[n, seats], counts[n, NUM_COUNTS, seats], plies, ends[n, 3], stop[1]) -> matches done: plays match after match
# from the start while `plies` has room; states become final ones. All begin with the same legal opening. The arrays of
# a match that is stopped, or that the room is too small for, are left as they then are: it must begin anew.
_I64, _I3 = types.int64, types.Array(types.int64, 3, "C")
PLAY_MATCHES = _I64(
    GAME, SEATS, Actions, States, types.Array(types.uint64, 3, "C"), Actions, _I64, Gains, _I3, Actions, States, Actions
)


def plays_alone(seat: SeatKernels) -> Any | None:
    """Returns the kernel PLAY_MATCHES that is faster for a seat's one-seat matches without an opening, if there is one.

    It is the act kernel's mark `plays_alone`; plies, scores and counts are the same bit for bit.
    """
    return mark_of(seat.act, "plays_alone")


def draws_evenly(seat: SeatKernels) -> bool:
    """Returns whether a seat plays uniformly random legal actions, as its act kernel's mark says.

    Matches then draw the actions themselves: calls of the kernel would take most of their time.
    """
    return mark_of(seat.act, "draws_evenly") is True
