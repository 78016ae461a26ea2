"""Solving formation tables, a layer (the states of one sum of tiles) at a time, as kernels over ranges of a layer.

The value of a state is the probability of the goal under the best play, in 65,535ths, rounded to the nearest; computed
in whole numbers, so that every machine gets the same table. A move leads to a board of the same sum; its value, the
mean over the tiles that chance may place, needs only the next two layers.
"""

from __future__ import annotations

import numpy as np

from ...core.kernel import kernel, types
from ...games.abi import Actions
from ...games.twenty48.board import MOVED, transpose
from .formation import CHANGED, FIXED_MOVES, LOW_SHIFT, NO_ROWS, SUM_BITS, Numbering

CERTAIN = 65535
FIXED_MOVE = np.uint64(0xFFFFFFFFFFFFFFFF)  # not a board, since some cells are fixed
_I64 = types.int64
_I2, _I3 = types.Array(types.int64, 2, "C"), types.Array(types.int64, 3, "C")
Values = types.Array(types.uint16, 1, "C")
NUMBERING = types.NamedTuple(
    [Actions] * 8 + [_I2, Actions, _I2, _I2, _I2, _I3, Actions, Actions, _I64, _I2, _I64], Numbering
)
_SUM = (1 << SUM_BITS) - 1
_LOW = (1 << LOW_SHIFT) - 1
_UPPER = (1 << 48) - 1  # of a board: the rows of high numbers
_LOW_NUMBER = (1 << CHANGED - LOW_SHIFT) - 1


@kernel(types.boolean(_I2, _I64))
def is_goal(goals, board):
    """Whether the free cells are a goal. goals, [goals, 2]: see Numbering."""
    for i in range(goals.shape[0]):
        if board & goals[i, 0] == goals[i, 1]:
            return True
    return False


@kernel(types.void(NUMBERING, _I64, _I64, _I64, Values, Values, Values))
def fill_expectations(n, total, first, last, next_layer, layer_after, expected):
    """Fills `expected` for the boards of a sum on which chance places a tile, for high numbers at places of
    `high_order` in a range. next_layer, layer_after: values of the next two sums."""
    high_words, high_order, weights, offsets = n.high_words, n.high_order, n.weights, n.offsets
    low_order, low_start, low_places = n.low_order, n.low_start, n.low_places
    high_boards, low_boards, goals = n.high_boards, n.low_boards, n.goals
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
        near = False  # whether the upper rows are those of a goal
        for i in range(goals.shape[0]):
            near |= ((board ^ goals[i, 1]) & goals[i, 0] & _UPPER) == 0
        for j in range(count):
            low = low_order[begin + j]
            low_board = low_boards[low]
            if near and is_goal(goals, board | low_board):
                expected[target + j] = CERTAIN
                continue
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


@kernel(types.uint64(_I64, types.uint64, _I64))
def moved_board(walls, board, direction):
    """Returns the free cells after a move, or FIXED_MOVE if a fixed tile would move.

    Args:
        walls: the number of fixed cells of each row, then of each column, four bits each.
        board: the free cells; fixed cells are empty.
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
                if high_after == NO_ROWS or low_after == NO_ROWS or (high_after == high and low_after == low):
                    continue
                value = expected[origin + (high_words[high_after] >> SUM_BITS) * count + low_places[low_after]]
                best = max(best, np.int64(value))
            for side in range(2):
                word = 0
                for c in range(4):
                    word += columns[side, c, lines[c] | ((low_board >> 4 * c + 48) & 15)]
                # Legal if some column changed, and none has a moving fixed tile or a tile that is too large.
                if word >> CHANGED == 0 or word >> FIXED_MOVES != 0:
                    continue
                high_word, low_after = high_words[word & _LOW], (word >> LOW_SHIFT) & _LOW_NUMBER
                sum_after = low_sums_of[low_after]
                count_after = low_start[sum_after + 1] - low_start[sum_after]
                value = expected[
                    offsets[total, sum_after] + (high_word >> SUM_BITS) * count_after + low_places[low_after]
                ]
                best = max(best, np.int64(value))
            values[target + j] = best
