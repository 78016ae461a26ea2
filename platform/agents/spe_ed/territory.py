"""What belongs to whom: the free cells that a player reaches before all others, by steps to the side.

It is what the document wishes for, play that shuts others in (Brot 2021, 7.4): a move that cuts others off from cells
makes these one's own. Speeds and jumps are left out of it.
"""

from __future__ import annotations

import numpy as np
from numba import types

from turnier.agents.spe_ed.field import ALIVE, CELL, OUT, Field, Walkers, offset_of
from turnier.core.kernel import kernel

MARK, QUEUE, SPACE_ROWS = range(3)
Space = types.Array(types.int32, 2, "C")  # [SPACE_ROWS, cells of the field], scratch
# A mark that is not negative is four times the steps to a cell plus whose it is; nobody's are those that the player and
# others reach at once.
_FREE, _TAKEN = -1, -2
_OWN, _OTHERS, _NOBODY = range(3)


@kernel(types.float64(Field, types.int64, Walkers, Space))
def own_share(field, stride, walkers, space):
    """The part that player 0 reaches first of the cells that it or others do, places included, 0 to 1."""
    for place in range(field.size):
        space[MARK, place] = _FREE if field[place] == 0 else _TAKEN
    filled = 0
    for who in range(walkers.shape[0]):
        if walkers[who, ALIVE] != OUT:
            start = walkers[who, CELL]
            space[MARK, start] = _OWN if who == 0 else _OTHERS
            space[QUEUE, filled] = start
            filled += 1
    own, owned, done = 0, 0, 0
    while done < filled:
        cell = np.int64(space[QUEUE, done])
        done += 1
        mark = space[MARK, cell]
        whose = mark & 3
        own += int(whose == _OWN)
        owned += int(whose != _NOBODY)
        nearest = (mark | 3) + 1  # a step further, nobody's marks are smaller
        for heading in range(4):
            beside = cell + offset_of(heading, stride)
            known = space[MARK, beside]
            if known == _FREE:
                space[MARK, beside] = nearest + whose
                space[QUEUE, filled] = beside
                filled += 1
            elif known >= nearest and known != nearest + whose:
                space[MARK, beside] = nearest + _NOBODY
    return own / owned
