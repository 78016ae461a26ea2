"""Whole matches in compiled code, for agents whose decisions are kernels."""

from __future__ import annotations

import numpy as np

from ..agents.abi import (
    DECISIONS,
    END,
    FULL,
    ILLEGAL,
    LIMIT,
    NAN,
    NANOSECONDS,
    NODES,
    NORMAL,
    PLAY_MATCHES,
    SEATS,
    STATUS,
    STOPPED,
    VALUES,
    VISITS,
    WHOLE,
)
from ..core.clock import nanoseconds
from ..core.kernel import kernel, types
from ..core.rng import below
from ..games.abi import CHANCE, GAME, TERMINAL
from ..games.generic import copy_state, draw_outcome

_I1, _I2 = types.Array(types.int64, 1, "C"), types.Array(types.int64, 2, "C")
_F1, _U2 = types.Array(types.float64, 1, "C"), types.Array(types.uint64, 2, "C")
_F2, _B = types.Array(types.float64, 2, "C"), types.boolean
_SCRATCH = _I1, _F1, _F2, _I1, _I1  # choices, probs, root, view and clock


@kernel(
    types.UniTuple(types.int64, 2)(
        GAME, SEATS, _I1, _B, _I1, _U2, _I1, types.int64, _F1, _I2, _I1, types.int64, _I1, *_SCRATCH
    )
)
def play_one(
    game, seats, drawing, timed, state, rngs, opening, max_plies, returns, counts, plies, first, stop,
    choices, probs, root, view, clock,
):  # fmt: skip
    """Plays a match in place and returns (status, end of its plies). rngs: [1 + seats, 4]; counts: [NUM_COUNTS, seats].

    Seats that are `drawing` (1) draw one of the legal actions, see `draws_evenly`. `timed`: times every decision. The
    last arguments are scratch space.
    """
    chance_rng = rngs[0]
    written, actions, began = first, 0, 0
    game.init(state, chance_rng)
    if first + opening.size > plies.size:
        return FULL, written
    for ply in opening:
        game.step(state, ply, returns)
        plies[written] = ply
        written += 1
    while True:
        mover = game.to_move(state)
        if mover == TERMINAL:
            return NORMAL, written
        if written == plies.size:
            return FULL, written
        if mover == CHANCE:
            ply = draw_outcome(game, state, chance_rng, choices, probs)
        else:
            if stop[0] != 0:
                return STOPPED, written
            if max_plies > 0 and actions == max_plies:
                return LIMIT, written
            if timed:
                began = nanoseconds(clock)
            if drawing[mover] != 0:
                ply = choices[below(rngs[1 + mover], game.legal(state, choices))]
            else:
                if game.has_observe:
                    game.observe(state, mover, view)
                else:
                    copy_state(state, view)
                for action in range(game.num_actions):
                    root[VISITS, action] = root[VALUES, action] = 0.0
                seat = seats[mover]
                ply = seat.act(game, seat.evaluator, seat.settings, view, returns, rngs[1 + mover], root)
            if timed:
                counts[NANOSECONDS, mover] += nanoseconds(clock) - began
            if drawing[mover] == 0:
                legal = False
                for i in range(game.legal(state, choices)):
                    legal |= choices[i] == ply
                if not legal:
                    return ILLEGAL, written
                nodes, numbers = np.int64(0), True
                for action in range(game.num_actions):
                    nodes += np.int64(root[VISITS, action])
                    numbers &= root[VALUES, action] == root[VALUES, action]
                if not numbers:
                    return NAN, written
                counts[NODES, mover] += nodes
            counts[DECISIONS, mover] += 1
            actions += 1
        plies[written] = ply
        written += 1
        game.step(state, ply, returns)


@kernel(PLAY_MATCHES)
def play_many(game, seats, drawing, states, rngs, opening, max_plies, returns, counts, plies, ends, stop):
    """Plays matches; see PLAY_MATCHES.

    Decisions are timed where several seats share a match and one of them thinks. Otherwise they share the match's time:
    a clock takes longer than a draw.
    """
    first, num_seats, timed = 0, returns.shape[1], False
    for seat in range(num_seats if num_seats > 1 else 0):
        timed |= drawing[seat] == 0
    choices, probs, root = (
        np.empty(game.max_choices, np.int64),
        np.empty(game.max_choices),
        np.empty((2, game.num_actions)),
    )
    view, clock = np.empty(states.shape[1], np.int64), np.empty(2, np.int64)
    for i in range(states.shape[0]):
        began = nanoseconds(clock)
        status, end = play_one(
            game, seats, drawing, timed, states[i], rngs[i], opening, max_plies, returns[i], counts[i], plies, first,
            stop, choices, probs, root, view, clock,
        )  # fmt: skip
        if status == FULL or status == STOPPED:
            return i
        ends[i, END], ends[i, STATUS], ends[i, WHOLE] = end, status, nanoseconds(clock) - began
        decisions = 0
        for seat in range(num_seats):
            decisions += counts[i, DECISIONS, seat]
        for seat in range(num_seats if decisions and not timed else 0):
            counts[i, NANOSECONDS, seat] = ends[i, WHOLE] * counts[i, DECISIONS, seat] // decisions
        first = end
    return states.shape[0]
