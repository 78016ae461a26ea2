"""Solving formation tables, a layer (the states of one sum of tiles) at a time, as kernels over ranges of a layer.

The value of a state is the probability of the goal under the best play, in 65,535ths, rounded to the nearest; all is
done in whole numbers, so that every machine gets the same table. A move leads to a board of the same sum, whose value,
the mean over the tiles that chance may place, needs the next two layers only.
"""

from __future__ import annotations

import numpy as np
from numba import types

from turnier.agents.formations.formation import (
    CHANGED,
    FIXED_MOVES,
    GOAL,
    LOW_SHIFT,
    OVER,
    ROWS_FIXED_MOVE,
    ROWS_GOAL,
    ROWS_OVER,
    SUM_BITS,
    Numbering,
)
from turnier.core.kernel import kernel
from turnier.games.abi import Actions
from turnier.games.twenty48.board import MOVED, transpose

CERTAIN = 65535
FIXED_MOVE = np.uint64(0xFFFFFFFFFFFFFFFF)  # no board, since some cells are fixed
_I64 = types.int64
_I2, _I3 = types.Array(types.int64, 2, "C"), types.Array(types.int64, 3, "C")
Values = types.Array(types.uint16, 1, "C")
NUMBERING = types.NamedTuple(
    [Actions] * 8 + [_I2, Actions, _I2, _I2, _I2, _I3, Actions, Actions, _I64, _I64, _I64, _I64], Numbering
)
_SUM = (1 << SUM_BITS) - 1
_LOW = (1 << LOW_SHIFT) - 1
_NUMBERS = (1 << CHANGED) - 1
_LOW_NUMBER = (1 << CHANGED - LOW_SHIFT) - 1
_NEVER = (1 << FIXED_MOVES) * 7


@kernel(types.void(NUMBERING, _I64, _I64, _I64, Values, Values, Values))
def fill_expectations(n, total, first, last, next_layer, layer_after, expected):
    """Fills `expected` for the boards of a sum on which chance places a tile, for high numbers at places of
    `high_order` in a range. next_layer, layer_after: values of the next two sums."""
    high_words, high_order, weights, offsets = n.high_words, n.high_order, n.weights, n.offsets
    low_order, low_start, low_places = n.low_order, n.low_start, n.low_places
    high_boards, low_boards = n.high_boards, n.low_boards
    low_sums = low_start.size - 1
    for at in range(first, last):
        high = high_order[at]
        high_sum = high_words[high] & _SUM
        low_sum = total - high_sum
        if low_sum < 0 or low_sum >= low_sums:
            continue
        begin, count = low_start[low_sum], low_start[low_sum + 1] - low_start[low_sum]
        place = high_words[high] >> SUM_BITS
        target = offsets[total, low_sum] + place * count
        board = high_boards[high]
        for j in range(count):
            low = low_order[begin + j]
            low_board = low_boards[low]
            twos, fours, empty = 0, 0, 0
            for cell in range(12):
                if weights[cell] != 0 and (board >> 4 * cell) & 15 == 0:
                    one = high_words[high + weights[cell]] >> SUM_BITS
                    two = high_words[high + 2 * weights[cell]] >> SUM_BITS
                    twos += next_layer[offsets[total + 1, low_sum] + one * count + j]
                    fours += layer_after[offsets[total + 2, low_sum] + two * count + j]
                    empty += 1
            for cell in range(12, 16):
                if (low_board >> 4 * cell) & 15 == 0:
                    count_one = low_start[low_sum + 2] - low_start[low_sum + 1]
                    count_two = low_start[low_sum + 3] - low_start[low_sum + 2]
                    twos += next_layer[
                        offsets[total + 1, low_sum + 1] + place * count_one + low_places[low + weights[cell]]
                    ]
                    fours += layer_after[
                        offsets[total + 2, low_sum + 2] + place * count_two + low_places[low + 2 * weights[cell]]
                    ]
                    empty += 1
            if empty > 0:
                expected[target + j] = (9 * twos + fours + 5 * empty) // (10 * empty)


@kernel(types.boolean(types.uint64, types.uint64, _I64))
def merges_up(line, anchor, length):
    """Whether moves towards the lowest cell of a line of ranks make `anchor` there; see formation.merges_up."""
    cells = line
    while True:
        first = cells & np.uint64(15)
        if first == np.uint64(0):
            return False
        if first >= anchor:
            return True
        # The chain after one move: only up to the first gap.
        after, slot, i, merged = np.uint64(0), 0, 0, False
        while i < length:
            tile = (cells >> np.uint64(4 * i)) & np.uint64(15)
            if tile == np.uint64(0):
                break
            if i + 1 < length and tile == (cells >> np.uint64(4 * i + 4)) & np.uint64(15):
                tile += np.uint64(1)
                i += 1
                merged = True
            after |= tile << np.uint64(4 * slot)
            slot += 1
            i += 1
        if not merged:
            return False
        cells = after


@kernel(types.boolean(types.uint64, types.uint64, _I64, types.uint64))
def is_certain(board, fixed, goals, anchor):
    """Whether a board leads to the goal by moves in one direction, whatever chance does.

    Args:
        board: the free cells; no tile where cells are fixed.
        fixed: all four bits of the fixed cells.
        goals: see formation.goal_bits.
        anchor: the rank that has to be made.
    """
    for cell in range(16):
        if goals >> cell & 1 == 0:
            continue
        row, column = cell >> 2, cell & 3
        if (board >> np.uint64(4 * cell)) & np.uint64(15) >= anchor:
            return True
        held = column == 0 or (fixed >> np.uint64(4 * cell - 4)) & np.uint64(15) != np.uint64(0)
        if held and merges_up((board >> np.uint64(4 * cell)) & np.uint64(0xFFFF), anchor, 4 - column):
            return True
        if row == 0 or (fixed >> np.uint64(4 * cell - 16)) & np.uint64(15) != np.uint64(0):
            line = np.uint64(0)
            for k in range(4 - row):
                line |= ((board >> np.uint64(4 * (cell + 4 * k))) & np.uint64(15)) << np.uint64(4 * k)
            if merges_up(line, anchor, 4 - row):
                return True
    return False


@kernel(types.uint64(_I64, types.uint64, _I64))
def moved_board(walls, board, direction):
    """Returns the free cells after a move, or FIXED_MOVE where a fixed tile would move.

    Args:
        walls: the number of fixed cells of each row, then of each column, four bits each.
        board: the free cells; no tile where cells are fixed.
        direction: the action.
    """
    lines = board if direction < 2 else transpose(board)
    after = np.uint64(0)
    for i in range(4):
        fixed = np.uint64(4 * (walls >> (16 * (direction >> 1) + 4 * i) & 15))
        line = (lines >> np.uint64(16 * i)) & np.uint64(0xFFFF)
        moved = line
        if direction & 1 == 0:
            moved = np.uint64(MOVED[line >> fixed]) << fixed
        else:
            moved = np.uint64(MOVED[np.uint64(65536) + line])
            held = fixed == np.uint64(0) or fixed == np.uint64(16)
            if not held and (moved != line or (line >> fixed) & np.uint64(15) == np.uint64(0)):
                return FIXED_MOVE
        after |= moved << np.uint64(16 * i)
    return after if direction < 2 else transpose(after)


@kernel(types.void(NUMBERING, _I64, _I64, _I64, Values, Values))
def fill_values(n, total, first, last, expected, values):
    """Fills the values of a sum's states from `expected`, of the same sum, for a range of `high_order`."""
    high_words, high_order, offsets = n.high_words, n.high_order, n.offsets
    low_order, low_start, low_places, low_sums_of = n.low_order, n.low_start, n.low_places, n.low_sums
    high_boards, low_boards = n.high_boards, n.low_boards
    high_moves, low_moves, columns = n.high_moves, n.low_moves, n.columns
    low_sums = low_start.size - 1
    fixed, anchor = np.uint64(n.fixed), np.uint64(n.anchor)
    lines = np.empty(4, np.int64)
    for at in range(first, last):
        high = high_order[at]
        low_sum = total - (high_words[high] & _SUM)
        if low_sum < 0 or low_sum >= low_sums:
            continue
        begin, count = low_start[low_sum], low_start[low_sum + 1] - low_start[low_sum]
        origin = offsets[total, low_sum]
        target = origin + (high_words[high] >> SUM_BITS) * count
        board = high_boards[high]
        for c in range(4):
            lines[c] = (
                ((board >> 4 * c) & 15) << 12 | ((board >> 4 * c + 16) & 15) << 8 | ((board >> 4 * c + 32) & 15) << 4
            )
        for j in range(count):
            low = low_order[begin + j]
            low_board = low_boards[low]
            best = np.int64(0)
            for side in range(2):
                high_after, low_after = high_moves[side, high], low_moves[side, low]
                if high_after == ROWS_FIXED_MOVE or (high_after == high and low_after == low):
                    continue
                value = np.int64(0)
                if high_after == ROWS_GOAL:
                    value = np.int64(CERTAIN)
                elif high_after == ROWS_OVER or low_after == ROWS_OVER:
                    after = moved_board(n.walls, np.uint64(board | low_board), side)
                    value = np.int64(CERTAIN if is_certain(after, fixed, n.goals, anchor) else 0)
                else:
                    value = np.int64(
                        expected[origin + (high_words[high_after] >> SUM_BITS) * count + low_places[low_after]]
                    )
                best = max(best, value)
            for side in range(2):
                word = 0
                for c in range(4):
                    word += columns[side, c, lines[c] | ((low_board >> 4 * c + 48) & 15)]
                if word >> CHANGED == 0 or (word & _NEVER) != 0:
                    continue
                value = np.int64(0)
                if word >> GOAL != 0:
                    value = np.int64(CERTAIN)
                elif (word >> OVER) & 7 != 0:
                    after = moved_board(n.walls, np.uint64(board | low_board), 2 + side)
                    value = np.int64(CERTAIN if is_certain(after, fixed, n.goals, anchor) else 0)
                else:
                    high_word, low_after = high_words[word & _LOW], (word >> LOW_SHIFT) & _LOW_NUMBER
                    sum_after = low_sums_of[low_after]
                    count_after = low_start[sum_after + 1] - low_start[sum_after]
                    value = np.int64(
                        expected[
                            offsets[total, sum_after] + (high_word >> SUM_BITS) * count_after + low_places[low_after]
                        ]
                    )
                best = max(best, value)
            values[target + j] = best
