"""The action by formation tables for a board of 2048, if any."""

from __future__ import annotations

import numpy as np
from numba import types

from ...core.kernel import kernel
from ...games.abi import Actions, Floats
from .lookup import head_of, image, probabilities
from .solve_kernels import Values
from .table_file import FIXED, M_TABLES, SHORT

LEAST_FIVE, LEAST_SIX = 0, 1  # settings: probabilities from which tables with five and six fixed tiles are followed
FIVE, SIX = 0.9, 0.0  # their defaults
_U = np.uint64
_0, _15 = _U(0), _U(15)


@kernel(types.int64(Actions, Values, Floats, types.uint64, Floats))
def followed_action(words, values, settings, board, chances):
    """Returns the action by the tables, or -1; `chances`, [8], gets the probabilities of all actions.

    Args:
        words, values: a file of tables, the same memory.
        settings: LEAST_FIVE and LEAST_SIX; a table's own limit counts if it is lower.
        board: tiles above 32,768 count as 32,768.
        chances: see `probabilities`.
    """
    found = np.empty(8)
    best, best_count = -1.0, np.int64(16)
    for picture in range(8):
        seen = image(board, picture)
        if seen & _15 == _0:
            continue
        for table in range(words[M_TABLES]):
            head = head_of(words, table)
            probability = probabilities(words, values, seen, head, picture, found)
            if probability <= 0.0:
                continue
            fixed, count = _U(words[head + FIXED]), np.int64(0)
            for cell in range(16):
                count += np.int64((fixed >> _U(4 * cell)) & _U(1))
            least = min(settings[LEAST_FIVE] if count == 5 else settings[LEAST_SIX], 1.0 - words[head + SHORT] / 1000.0)
            if probability >= least and (count < best_count or (count == best_count and probability > best)):
                best, best_count = probability, count
                chances[:] = found
    action = -1
    for i in range(4):
        if best >= 0.0 and chances[i] >= 0.0:
            gain = 0.0 if action < 0 else chances[i] - chances[action]
            if action < 0 or gain > 0.0 or (gain == 0.0 and chances[4 + i] > chances[4 + action]):
                action = i
    return action
