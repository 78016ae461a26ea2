"""Lookups of boards in formation tables, as kernels over the words of a file (table_file.py)."""

from __future__ import annotations

import numpy as np

from ...core.kernel import kernel, types
from ...games.abi import Actions, Floats
from ...games.twenty48.board import count_empty, reverse_columns, reverse_rows, transpose
from .formation import LOW_SHIFT, OVER, SUM_BITS
from .solve_kernels import CERTAIN, FIXED_MOVE, Values, moved_board
from .table_file import (
    A_BASES,
    A_GOALS,
    A_HIGH,
    A_LOW_PLACES,
    A_LOW_START,
    A_LOW_SUMS,
    A_OFFSETS,
    A_ROWS,
    DIFFER,
    EDGE,
    FALLS,
    FIRST_TABLE,
    FIXED,
    GOALS,
    GOALS_FOR,
    LIMITS_FOR,
    LOW_SUMS,
    M_TABLES,
    SHORT,
    TABLE_WORDS,
    WALLS,
)

_U = np.uint64
_U64, _I64, _F64 = types.uint64, types.int64, types.float64
_0, _1, _15, _16 = (_U(n) for n in (0, 1, 15, 16))
_ROW = _U(0xFFFF)
_LOW_NUMBER = (1 << OVER - LOW_SHIFT) - 1
_HIGH_NUMBER = (1 << LOW_SHIFT) - 1
_SUM = (1 << SUM_BITS) - 1
TOO_LARGE = -1  # instead of a place
IRREGULAR = -1  # instead of a rank


@kernel(_U64(_U64, _I64))
def image(b, i):
    """Returns one of the eight images of a board."""
    b = reverse_rows(b) if i & 1 else b
    b = reverse_columns(b) if i & 2 else b
    return transpose(b) if i & 4 else b


@kernel(_I64(_I64, _I64))
def action_behind(action, i):
    """Returns the action on a board by the action on its image."""
    if i & 4:
        action ^= 2
    if i & 2 and action >= 2:
        action ^= 1
    if i & 1 and action < 2:
        action ^= 1
    return action


@kernel(_I64(Actions, _I64, _U64))
def place_of(words, head, board):
    """Returns the place of the value of the free cells, or TOO_LARGE; `head`: the begin of the table's head."""
    rows = words[head + A_ROWS]
    word = (
        words[rows + np.int64(board & _ROW)]
        + words[rows + 65536 + np.int64((board >> _16) & _ROW)]
        + words[rows + 2 * 65536 + np.int64((board >> _U(32)) & _ROW)]
        + words[rows + 3 * 65536 + np.int64(board >> _U(48))]
    )
    if word >> OVER != 0:
        return TOO_LARGE
    high, low = words[words[head + A_HIGH] + (word & _HIGH_NUMBER)], (word >> LOW_SHIFT) & _LOW_NUMBER
    low_sum = words[words[head + A_LOW_SUMS] + low]
    total = (high & _SUM) + low_sum
    start = words[head + A_LOW_START] + low_sum
    return (
        words[words[head + A_BASES] + total]
        + words[words[head + A_OFFSETS] + total * words[head + LOW_SUMS] + low_sum]
        + (high >> SUM_BITS) * (words[start + 1] - words[start])
        + words[words[head + A_LOW_PLACES] + low]
    )


@kernel(types.boolean(Actions, _I64, _U64))
def is_reached(words, head, board):
    """Whether the free cells are a goal of a table."""
    first = words[head + A_GOALS]
    for at in range(first, first + 2 * words[head + GOALS], 2):
        if np.int64(board) & words[at] == words[at + 1]:
            return True
    return False


@kernel(_F64(Actions, Values, _I64, _U64))
def chance_probability(words, values, head, board):
    """Returns the probability of the goal if chance is to place a tile on the free cells."""
    if place_of(words, head, board) == TOO_LARGE:
        return 0.0
    if is_reached(words, head, board):
        return 1.0
    occupied, twos, fours, empty = board | _U(words[head + FIXED]), np.int64(0), np.int64(0), 0
    for cell in range(16):
        shift = _U(4 * cell)
        if (occupied >> shift) & _15 == _0:
            twos += np.int64(values[place_of(words, head, board | _1 << shift)])
            fours += np.int64(values[place_of(words, head, board | _U(2) << shift)])
            empty += 1
    return float(9 * twos + fours) / float(10 * empty * CERTAIN)


@kernel(_I64(Actions, _I64, _U64))
def smallest_edge(words, head, board):
    """Returns the rank of the edge's smallest tile, or IRREGULAR.

    A board is regular if neighbouring fixed tiles differ and all fixed tiles are larger than the free ones.

    Args:
        words, head: of the table.
        board: with fixed tiles; those above 32,768 count as 32,768.
    """
    fixed, edge, falls = _U(words[head + FIXED]), _U(words[head + EDGE]), words[head + FALLS]
    smallest = _15
    for cell in range(16):
        shift = _U(4 * cell)
        if (fixed >> shift) & _15 == _0:
            continue
        tile = (board >> shift) & _15
        if tile == _0:
            return IRREGULAR
        for step in (1, 4):  # fixed cells come first in every line
            if cell & 3 == 3 if step == 1 else cell >= 12:
                continue
            beside = shift + _U(4 * step)
            other = (board >> beside) & _15
            if other == tile or (other > tile and (fixed >> beside) & _15 == _0):
                return IRREGULAR
        if (edge >> shift) & _15 != _0:
            smallest = min(smallest, tile)
    while falls != 0:
        larger, smaller = _U(4 * (falls >> 4 & 15)), _U(4 * (falls & 15))
        if (board >> larger) & _15 <= (board >> smaller) & _15:
            return IRREGULAR
        falls >>= 8
    differ = words[head + DIFFER]
    while differ != 0:
        if (board >> _U(4 * (differ >> 4 & 15))) & _15 == (board >> _U(4 * (differ & 15))) & _15:
            return IRREGULAR
        differ >>= 8
    return np.int64(smallest)


@kernel(_U64(_U64, _I64))
def raised(board, ranks):
    """Returns a board with tiles higher by that many ranks, at most 15."""
    after = _0
    for cell in range(16):
        rank = np.int64(board >> _U(4 * cell) & _15)
        if rank > 0:
            after |= _U(min(rank + ranks, 15)) << _U(4 * cell)
    return after


@kernel(_F64(Actions, Values, _U64, _I64, _I64, Floats))
def probabilities(words, values, board, head, picture, found):
    """Returns the probability of the goal for a board whose image is `board`, or -1 if it is not in the table.

    With small tiles on the edge, limits and goals are as many ranks lower: the table does not decide boards beyond
    them. The probabilities are those of its own goal, which is further off.

    `found`, [8], gets the probability of each action (-1 if it would move a fixed tile or none), then the number of
    empty cells after each.
    """
    free = board & ~_U(words[head + FIXED])
    for action in range(8):
        found[action] = -1.0
    smallest = smallest_edge(words, head, board)
    if smallest == IRREGULAR:
        return -1.0
    if place_of(words, head, raised(free, max(0, words[head + LIMITS_FOR] - smallest))) == TOO_LARGE:
        return -1.0
    if is_reached(words, head, raised(free, max(0, words[head + GOALS_FOR] - smallest))):
        return -1.0
    best = -1.0
    for action in range(4):
        after = moved_board(words[head + WALLS], free, action)
        if after != FIXED_MOVE and after != free:
            probability = chance_probability(words, values, head, after)
            real = action_behind(action, picture)
            found[real], found[4 + real] = probability, float(count_empty(after))
            best = max(best, probability)
    return best


@kernel(_I64(Actions, _I64))
def head_of(words, table):
    return FIRST_TABLE + TABLE_WORDS * table


LEAST_FIVE, LEAST_SIX = 0, 1  # settings: from which probability on tables of five and six fixed tiles are followed
FIVE, SIX = 0.9, 0.0  # where they are not given


@kernel(types.int64(Actions, Values, Floats, types.uint64, Floats))
def followed_action(words, values, settings, board, chances):
    """Returns the action that the tables name, or -1; `chances`, [8], gets the probabilities of all actions.

    Args:
        words, values: a file of tables, the same memory.
        settings: LEAST_FIVE and LEAST_SIX; a table with a lower one of its own is followed from there on.
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
