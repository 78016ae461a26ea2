"""What belongs to whom: the free cells that a player reaches before all others, by steps to the side.

It is what the document wishes for, play that shuts others in (Brot 2021, 7.4): a move that cuts others off from cells
makes these one's own. Speeds and jumps are left out of it.
"""

from __future__ import annotations

import numpy as np
from numba import types

from turnier.agents.spe_ed.field import (
    CELL,
    FASTER,
    HEADING,
    MOVES,
    PACE,
    TAKEN,
    TURN,
    Field,
    Walkers,
    is_free,
    offset_of,
    paint,
)
from turnier.games.abi import Floats, kernel
from turnier.games.spe_ed_board import jumps

NOBODY = 254  # as the owner of a cell that several reach at once
_FIRST_OWNER = 2  # owners are marked from here on; TAKEN and less say nothing of an owner


@kernel(types.int64(Field, types.int64, Walkers, types.int32[::1], types.int32[::1]))
def own_cells(field, stride, walkers, queue, steps):
    """The cells that player 0 reaches first; owners are written into `field`.

    Args:
        queue, steps: [cells] scratch space.
    """
    filled = 0
    for who in range(walkers.shape[0]):
        start = walkers[who, CELL]
        field[start], steps[start] = _FIRST_OWNER + who, 0
        queue[filled] = start
        filled += 1
    done, own = 0, 0
    while done < filled:
        cell = np.int64(queue[done])
        done += 1
        owner = field[cell]
        own += owner == _FIRST_OWNER
        for heading in range(4):
            beside = cell + offset_of(heading, stride)
            if field[beside] == 0:
                field[beside], steps[beside] = owner, steps[cell] + 1
                queue[filled] = beside
                filled += 1
            elif field[beside] > TAKEN and field[beside] != owner and steps[beside] == steps[cell] + 1:
                field[beside] = NOBODY
    return own


@kernel(types.void(Field, types.int64, Walkers, types.int64, Floats))
def territories(field, stride, walkers, round_number, out):
    """Writes the own cells after every own move that enters only free ones, [MOVES]; 0 for the others."""
    mine, queue, steps = np.empty_like(field), np.empty(field.size, np.int32), np.empty(field.size, np.int32)
    moved = walkers.copy()
    for action in range(MOVES):
        out[action] = 0.0
        pace = walkers[0, PACE] + FASTER[action]
        jump = jumps(round_number, pace)
        offset = offset_of((walkers[0, HEADING] + TURN[action]) & 3, stride)
        if is_free(field, walkers[0, CELL], offset, pace, jump):
            mine[:] = field
            paint(mine, walkers[0, CELL], offset, pace, jump, TAKEN)
            moved[0, CELL] = walkers[0, CELL] + pace * offset
            out[action] = own_cells(mine, stride, moved, queue, steps)
