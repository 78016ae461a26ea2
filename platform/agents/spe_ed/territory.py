"""What belongs to whom: the free cells that a player reaches before all others, by steps to the side.

It is what the document wishes for, play that shuts others in (Brot 2021, 7.4): a move that cuts others off from cells
makes these one's own. Speeds and jumps are left out of it.
"""

from __future__ import annotations

from numba import types

from turnier.agents.spe_ed.field import ALIVE, CELL, OUT, Field, Walkers, offset_of
from turnier.games.abi import kernel

OWNER, QUEUE, STEPS, SPACE_ROWS = range(4)
Space = types.Array(types.int32, 2, "C")  # [SPACE_ROWS, cells of the field], scratch
_FREE, _TAKEN, _NOBODY = -1, -2, -3  # in place of an owner; nobody's are those that several reach at once


@kernel(types.float64(Field, types.int64, Walkers, Space))
def own_share(field, stride, walkers, space):
    """The part that player 0 has of all cells with an owner, their own places included, 0 to 1."""
    for cell in range(field.size):
        space[OWNER, cell] = _FREE if field[cell] == 0 else _TAKEN
    filled = 0
    for who in range(walkers.shape[0]):
        if walkers[who, ALIVE] != OUT:
            start = walkers[who, CELL]
            space[OWNER, start], space[STEPS, start] = who, 0
            space[QUEUE, filled] = start
            filled += 1
    done, own, owned = 0, 0, 0
    while done < filled:
        cell = space[QUEUE, done]
        done += 1
        owner, steps = space[OWNER, cell], space[STEPS, cell] + 1
        own += owner == 0
        owned += owner >= 0
        for heading in range(4):
            beside = cell + offset_of(heading, stride)
            known = space[OWNER, beside]
            if known == _FREE:
                space[OWNER, beside], space[STEPS, beside] = owner, steps
                space[QUEUE, filled] = beside
                filled += 1
            elif known >= 0 and known != owner and space[STEPS, beside] == steps:
                space[OWNER, beside] = _NOBODY
    return own / owned
