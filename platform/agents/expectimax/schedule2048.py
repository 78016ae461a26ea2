"""Expectimax's depth on a 2048 board, by its empty cells and moves, or by its distinct tiles."""

from __future__ import annotations

import numpy as np

from ...core.kernel import kernel, types
from ...games.abi import GAME, Floats, State
from .search import AFTERSTATE, DEEPEST, DEPTH, EMPTY_STEP, LEAF, SCHEDULE, SHALLOWEST, STATE

FIXED, EMPTY, EMPTY_PLIES, DISTINCT, STEPS = range(5)  # SCHEDULE


@kernel(types.UniTuple(types.int64, 2)(GAME, Floats, State, Floats))
def depth_of(game, settings, state, returns):
    """Returns the decisions to look ahead and the kind of leaf; schedules other than FIXED read a 2048 board.

    The number of moves follows from board and score: making the tiles out of 2s scores the board's potential, less 4
    for every 4 placed by chance.
    """
    depth, leaf, schedule = np.int64(settings[DEPTH]), np.int64(settings[LEAF]), np.int64(settings[SCHEDULE])
    if schedule == FIXED:
        return depth, leaf
    deepest = np.int64(settings[DEEPEST])
    cells = np.empty(game.max_choices, np.int64)
    game.cells(state, cells)
    size = np.int64(state[0])
    empty, total, potential, seen = 0, 0, 0, 0
    for i in range(size * size):
        exponent = cells[i]
        if exponent == 0:
            empty += 1
        else:
            total += 1 << exponent
            potential += (exponent - 1) << exponent
            seen |= 1 << exponent
    if schedule == STEPS:
        shallowest = min(depth, np.int64(settings[SHALLOWEST]))
        return max(shallowest, depth - empty // np.int64(settings[EMPTY_STEP])), leaf
    if schedule == DISTINCT:
        distinct = 0
        while seen != 0:
            seen &= seen - 1
            distinct += 1
        return min(deepest, max(4, distinct - 1)), leaf
    fours = (potential - np.int64(returns[0])) // 4
    moves = total // 2 - fours - 2
    ahead = 7 - empty
    if moves < 300:
        ahead = max(ahead, 2)
    elif moves < 700:
        ahead = max(ahead, 3)
    elif moves < 4500:
        ahead = max(ahead, 4)
    else:
        ahead = max(ahead + 1, 5)
    if schedule == EMPTY_PLIES:
        return min(deepest, 1 + ahead // 2), STATE if ahead % 2 == 1 else AFTERSTATE
    return min(deepest, ahead), leaf
