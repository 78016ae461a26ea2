"""Wins by forcing moves in Yavalath for two: each move threatens a four, so the reply is forced.

Source of the idea: Weitz 2022, 3.3.1 (forcing moves) and 3.3.2 (the triangles that win by them).
"""

from __future__ import annotations

import numpy as np

from ...core.kernel import kernel, types
from .. import abi
from ..abi import NO_WIN, State
from .board import (
    CELLS_AT,
    FOUR,
    MOVER,
    NOTHING,
    NUM_CELLS,
    SITES,
    SIZE,
    STONES,
    THREE,
    makes,
    occupied,
    threats,
    toggle,
)


@kernel(types.int64(State, types.int64, types.int64, types.int64))
def _force(state, colour, depth, answer):
    """A site that wins by force for `colour`, which cannot make a four now, or -1; the state is left as it was.

    `answer` is the opponent's only site for a four, which must be occupied, or -1. A threat wins if it is double, if
    its only answer makes a losing three, or if forcing can continue after the answer.
    """
    if depth <= 0:
        return np.int64(-1)
    size = state[SIZE]
    for cell in range(NUM_CELLS[size]):
        site = SITES[size, cell]
        if occupied(state, site) or (answer >= 0 and site != answer) or makes(state, colour, site) != NOTHING:
            continue
        toggle(state, colour, site)
        count, block = threats(state, colour, site)
        wins = count > 1
        if count == 1:
            wins = makes(state, 1 - colour, block) == THREE
            if not wins and depth > 1:
                toggle(state, 1 - colour, block)
                counts, back = threats(state, 1 - colour, block)
                wins = counts < 2 and _force(state, colour, depth - 1, back) >= 0
                toggle(state, 1 - colour, block)
        toggle(state, colour, site)
        if wins:
            return site
    return np.int64(-1)


@kernel(abi.FORCED_WIN)
def forced_win(state, depth):
    size, colour, answer = state[SIZE], state[STONES] & 1, np.int64(-1)
    if state[MOVER] < 0:
        return NO_WIN
    dangers = 0
    for cell in range(NUM_CELLS[size]):
        site = SITES[size, cell]
        if not occupied(state, site):
            if makes(state, colour, site) == FOUR:
                return cell
            if makes(state, 1 - colour, site) == FOUR:
                dangers += 1
                answer = site
    site = np.int64(-1) if dangers > 1 else _force(state, colour, depth, answer)
    return NO_WIN if site < 0 else CELLS_AT[size, site]
