"""Matches of the same agents in step, in compiled code: common parts of their decisions are done side by side.

Each match has its own random streams, so its moves are the same as if played alone.
"""

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
    SEATS,
    STATUS,
    VALUES,
    VISITS,
    WHOLE,
)
from ..core.clock import nanoseconds
from ..core.kernel import kernel, types
from ..games.abi import CHANCE, GAME, TERMINAL, Actions, Floats, State
from ..games.generic import copy_state, draw_outcome

ENOUGH = 16  # decisions worth making together: fewer leave too many lanes empty
UNDER_WAY = -1  # status of a match
STOP, DECIDED, OVER, NUM_SIGNALS = range(4)  # places of `stop`: if not 0, stop; decisions and finished matches so far

_I1, _I2, _I3 = (types.Array(types.int64, dimensions, "C") for dimensions in (1, 2, 3))
_F2, _U2, _U3 = types.Array(types.float64, 2, "C"), types.Array(types.uint64, 2, "C"), types.Array(types.uint64, 3, "C")


@kernel(types.int64(GAME, State, _U2, _I1, types.int64, Floats, _I2, _I1, _I1, Actions, Floats))
def to_decision(game, state, rngs, opening, max_plies, returns, counts, plies, ends, choices, probs):
    """Plays a match to its next decision and returns the seat to decide; without one, the status says why."""
    if ends[END] == 0:
        game.init(state, rngs[0])
        if opening.size > plies.size:
            ends[STATUS] = FULL
            return CHANCE
        for ply in opening:
            game.step(state, ply, returns)
            plies[ends[END]] = ply
            ends[END] += 1
    mover = game.to_move(state)
    while mover == CHANCE and ends[END] < plies.size:
        ply = draw_outcome(game, state, rngs[0], choices, probs)
        plies[ends[END]] = ply
        ends[END] += 1
        game.step(state, ply, returns)
        mover = game.to_move(state)
    if mover == TERMINAL:
        ends[STATUS] = NORMAL
    elif ends[END] == plies.size:
        ends[STATUS] = FULL
    elif max_plies > 0 and counts[DECISIONS].sum() == max_plies:
        ends[STATUS] = LIMIT
    return mover


@kernel(types.void(GAME, SEATS, _I2, _U3, _I1, types.int64, _F2, _I3, _I2, _I2, _I2, _I1))
def play_in_step(game, seats, states, rngs, opening, max_plies, returns, counts, plies, ends, memory, stop):
    """Plays matches in place until all have a status, which is FULL if a row of `plies` is too short.

    states [n, words], rngs [n, 1 + seats, 4], returns [n, seats], counts [n, NUM_COUNTS, seats], plies [n, room],
    ends [n, 3]: the plies so far, UNDER_WAY, nanoseconds; memory [in_step, words] for the seats; stop [1], or
    [NUM_SIGNALS] to be told how far the matches are. All matches begin with the same legal `opening`. With more room,
    and UNDER_WAY in place of FULL, a further call continues them.
    """
    num_seats, in_step, clock = returns.shape[1], memory.shape[0], np.empty(2, np.int64)
    choices, probs = np.empty(game.max_choices, np.int64), np.empty(game.max_choices)
    views, gained = np.empty((in_step, states.shape[1]), np.int64), np.empty((in_step, num_seats))
    streams, roots = np.empty((in_step, 4), np.uint64), np.empty((in_step, 2, game.num_actions))
    active, movers = np.empty(in_step, np.int64), np.empty(in_step, np.int64)
    mine, actions = np.empty(in_step, np.int64), np.empty(in_step, np.int64)
    while stop[STOP] == 0:
        began = nanoseconds(clock)
        size, over = 0, 0
        for i in range(states.shape[0]):
            if ends[i, STATUS] == UNDER_WAY and size < in_step:
                movers[size] = to_decision(
                    game,
                    states[i],
                    rngs[i],
                    opening,
                    max_plies,
                    returns[i],
                    counts[i],
                    plies[i],
                    ends[i],
                    choices,
                    probs,
                )
                active[size] = i
                size += ends[i, STATUS] == UNDER_WAY
                over += ends[i, STATUS] != UNDER_WAY and ends[i, STATUS] != FULL
        if stop.size == NUM_SIGNALS:
            stop[DECIDED] += size
            stop[OVER] += over
        if size == 0:
            return
        for mover in range(num_seats):
            seat, m, asked = seats[mover], 0, nanoseconds(clock)
            for k in range(size):
                if movers[k] == mover:
                    i = active[k]
                    mine[m] = i
                    copy_state(states[i], views[m])
                    if game.has_observe:
                        game.observe(states[i], mover, views[m])
                    gained[m], streams[m] = returns[i], rngs[i, 1 + mover]
                    m += 1
            if m == 0:
                continue
            roots[:m] = 0.0
            if seat.in_step > 0 and m >= ENOUGH:
                seat.act_together(
                    game,
                    seat.evaluator,
                    seat.settings,
                    views[:m],
                    gained[:m],
                    streams[:m],
                    roots[:m],
                    actions[:m],
                    memory,
                )
            else:
                for k in range(m):
                    actions[k] = seat.act(
                        game, seat.evaluator, seat.settings, views[k], gained[k], streams[k], roots[k]
                    )
            share = (nanoseconds(clock) - asked) // m
            for k in range(m):
                i = mine[k]
                rngs[i, 1 + mover] = streams[k]
                if num_seats > 1:
                    counts[i, NANOSECONDS, mover] += share
                legal = False
                for number in range(game.legal(states[i], choices)):
                    legal |= choices[number] == actions[k]
                if not legal:
                    ends[i, STATUS] = ILLEGAL
                    continue
                nodes, numbers = np.int64(0), True
                for action in range(game.num_actions):
                    nodes += np.int64(roots[k, VISITS, action])
                    numbers &= roots[k, VALUES, action] == roots[k, VALUES, action]
                if not numbers:
                    ends[i, STATUS] = NAN
                    continue
                counts[i, DECISIONS, mover] += 1
                counts[i, NODES, mover] += nodes
                plies[i, ends[i, END]] = actions[k]
                ends[i, END] += 1
                game.step(states[i], actions[k], returns[i])
        share = (nanoseconds(clock) - began) // size
        for k in range(size):
            ends[active[k], WHOLE] += share
