"""Expectimax for 4x4 boards of 2048 with a table of rows: the values of the generic search, many times faster.

Boards are words as in games/twenty48/board.py. The last decision before the leaves, which takes nearly all the time, is
made together for all tiles that chance can place on a board: a tile changes one row, so the other three rows are moved
and valued only once. Sums are exact in any order (see evaluators/rows2048.py), so the values are those of the generic
search, bit for bit.
"""

from __future__ import annotations

import math

import numpy as np

from ...core.kernel import kernel, types
from ...core.rng import GOLDEN
from ...games.abi import Floats
from ...games.twenty48.board import MOVED, count_empty, legal_mask, slide, transpose
from ...games.twenty48.rules import BOARD
from ..abi import ACT, VALUES, VISITS, Root
from ..evaluator import OWN
from ..evaluators.corner2048 import HOPELESS, NOTHING
from .lowered2048 import lowered, raise_values
from .schedule2048 import depth_of
from .search import BITS, CUTOFF, DEEPER, DOWNGRADE, LIMIT, STOPPED, search_root, table_bits
from .table2048 import NO_LIMIT, UNKNOWN, VALUE, Keys, is_fused, keep, known_ahead, new_slots, slot_of, tag_of

# Of `work`, which begins with scratch space of `last_value`: the number of leaves still allowed, a setting, and the
# value below which boards are not searched further.
LEAVES_LEFT, TAKES_DEEPER, FLOOR = 32, 33, 34

_U = np.uint64
_U64, _F64, _I64 = types.uint64, types.float64, types.int64
_0, _2, _8, _12 = (_U(n) for n in (0, 2, 8, 12))
_16, _24, _32, _48, _RIGHT = (_U(n) for n in (16, 24, 32, 48, 65536))
_ROW, _CELL = _U(0xFFFF), _U(15)
_PAIRS, _COLUMN = _U(0x000000FF000000FF), _U(0x000F000F000F000F)
_OWN = _U(OWN)
NO_MOVE = -math.inf


@kernel(_F64(_U64, Floats))
def rows_value(b, weights):
    """The sum of a table with the weights of rows2048 over the four rows of a board."""
    return (
        weights[_OWN + (b & _ROW)]
        + weights[_OWN + ((b >> _16) & _ROW)]
        + weights[_OWN + ((b >> _32) & _ROW)]
        + weights[_OWN + (b >> _48)]
    )


@kernel(_F64(_U64, Floats))
def board_value(b, weights):
    return rows_value(b, weights) + rows_value(transpose(b), weights)


@kernel(_U64(_U64))
def spread(row):
    """A row as the first column of a board."""
    row = (row | (row << _24)) & _PAIRS
    return (row | (row << _12)) & _COLUMN


@kernel(_I64(_U64, Floats, Floats, _U64, _U64), inline=True)
def best_along_rows(b, weights, best, row_stride, column_stride):
    """Moves a board left and right after each tile that chance can place on it; returns the number of legal moves.

    `best` gets the larger of its entry and the value of a legal move's board, at tile - 1 + row * row_stride + column *
    column_stride.
    """
    legal = 0
    left, right = slide(b, 0), slide(b, 65536)
    left_columns, right_columns = transpose(left), transpose(right)
    left_sum, right_sum = rows_value(left, weights), rows_value(right, weights)
    for r in range(4):
        shift, nibble = _U(16 * r), _U(4 * r)
        row = (b >> shift) & _ROW
        others, other_columns = ~(_ROW << shift), ~(_COLUMN << nibble)
        # The other three rows after the move, as columns; their value along the rows, and whether they change.
        left_others, right_others = left_columns & other_columns, right_columns & other_columns
        left_value = left_sum - weights[_OWN + ((left >> shift) & _ROW)]
        right_value = right_sum - weights[_OWN + ((right >> shift) & _ROW)]
        left_moves, right_moves = ((left ^ b) & others) != _0, ((right ^ b) & others) != _0
        for c in range(4):
            cell = _U(4 * c)
            if (row >> cell) & _CELL != _0:
                continue
            for tile in range(2):
                placed = row | (_U(1 + tile) << cell)
                at = _U(tile) + _U(r) * row_stride + _U(c) * column_stride
                highest = best[at]
                moved = _U(MOVED[placed])
                if left_moves or moved != placed:
                    columns = left_others | (spread(moved) << nibble)
                    value = left_value + weights[_OWN + moved] + rows_value(columns, weights)
                    if value > highest:
                        highest = value
                    legal += 1
                moved = _U(MOVED[_RIGHT + placed])
                if right_moves or moved != placed:
                    columns = right_others | (spread(moved) << nibble)
                    value = right_value + weights[_OWN + moved] + rows_value(columns, weights)
                    if value > highest:
                        highest = value
                    legal += 1
                best[at] = highest
    return legal


@kernel(_F64(_U64, Floats, Floats))
def last_value(b, weights, work):
    """The value of an afterstate with one decision left."""
    for i in range(LEAVES_LEFT):
        work[i] = NO_MOVE
    legal = best_along_rows(b, weights, work, _8, _2) + best_along_rows(transpose(b), weights, work, _2, _8)
    empty = float(count_empty(b))
    two, four = 0.9 / empty, 0.1 / empty
    total = 0.0
    for cell in range(16):
        if (b >> _U(4 * cell)) & _CELL == _0:
            for tile in range(2):
                value = work[2 * cell + tile]
                if value == NO_MOVE:  # over: worth 0, and counted as an evaluation
                    value = 0.0
                    legal += 1
                total += (four if tile == 1 else two) * value
    work[LEAVES_LEFT] -= float(legal)
    return total


@kernel(_F64(_U64, _I64, _F64, _F64, Floats, Floats, Floats, Keys))
def afterstate_value(b, depth, prob, cutoff, weights, work, table, keys):
    """The expectation over the tiles that chance places, then the best of `depth` decisions."""
    if depth == 0 or prob < cutoff:
        work[LEAVES_LEFT] -= 1.0
        return board_value(b, weights)
    if work[FLOOR] > 0.0:
        value = board_value(b, weights)
        if value < work[FLOOR]:
            work[LEAVES_LEFT] -= 1.0
            return value
    if work[LEAVES_LEFT] < 0.0:
        return 0.0  # the search is over its limit and goes to waste
    tag, slot = tag_of(depth, prob, cutoff), slot_of(b * GOLDEN, table)
    # Values hold no points, so those of deeper searches need no change.
    if known_ahead(b, depth, tag, work[TAKES_DEEPER] != 0.0, slot, table, keys) != UNKNOWN:
        return table[slot + VALUE]
    total = 0.0
    if depth == 1:
        total = last_value(b, weights, work)
    else:
        empty = float(count_empty(b))
        two, four = 0.9 / empty, 0.1 / empty
        for cell in range(16):
            if (b >> _U(4 * cell)) & _CELL != _0:
                continue
            for tile in range(2):
                share = four if tile == 1 else two
                board = b | (_U(1 + tile) << _U(4 * cell))
                turned = transpose(board)
                highest = NO_MOVE
                for action in range(4):
                    before = board if action < 2 else turned
                    after = slide(before, (action & 1) << 16)
                    if after == before:
                        continue
                    after = after if action < 2 else transpose(after)
                    value = afterstate_value(after, depth - 1, prob * share, cutoff, weights, work, table, keys)
                    if value > highest:
                        highest = value
                if highest == NO_MOVE:
                    highest = 0.0
                    work[LEAVES_LEFT] -= 1.0
                total += share * highest
    keep(b, tag, total, slot, table, keys)
    return total


@kernel(_F64(_U64, Floats))
def floor_of(board, weights):
    """Returns the value below which boards are hopeless in a search of this one.

    It is 0 if this one is worth less than a board without features, since all boards may then be below.
    """
    nothing = weights[NOTHING]
    if weights[HOPELESS] == 0.0 or board_value(board, weights) < nothing:
        return 0.0
    rank = np.int64(0)
    for cell in range(16):
        rank = max(rank, np.int64((board >> _U(4 * cell)) & _CELL))
    return nothing + weights[HOPELESS] * float(rank << rank)


@kernel(_I64(_U64, _I64, Floats, Floats, Root))
def best_action(board, depth, settings, weights, root):
    """Searches every action to `depth` decisions, the action included; returns the first of the best, or STOPPED."""
    legal = legal_mask(board)
    if legal & (legal - 1) == 0:
        for action in range(4):
            if legal >> action & 1:
                return action
    table = new_slots(table_bits(np.int64(settings[BITS]), depth))
    keys, work = table.view(np.uint64), np.empty(FLOOR + 1)
    work[TAKES_DEEPER] = settings[DEEPER]
    work[LEAVES_LEFT] = settings[LIMIT] if settings[LIMIT] > 0.0 else NO_LIMIT
    work[FLOOR] = floor_of(board, weights)
    best = -1
    for action in range(4):
        if legal >> action & 1 == 0:
            continue
        left = work[LEAVES_LEFT]
        after = slide(board if action < 2 else transpose(board), (action & 1) << 16)
        after = after if action < 2 else transpose(after)
        value = afterstate_value(after, depth - 1, 1.0, settings[CUTOFF], weights, work, table, keys)
        root[VISITS, action], root[VALUES, action] = max(1.0, left - work[LEAVES_LEFT]), value
        if best < 0 or value > root[VALUES, best]:
            best = action
    return STOPPED if work[LEAVES_LEFT] < 0.0 else best


@kernel(ACT)
def act_expectimax2048(game, evaluator, settings, state, returns, rng, root):
    depth, leaf = depth_of(game, settings, state, returns)
    state, returns, points = lowered(state, returns, np.int64(settings[DOWNGRADE]))
    action = 0
    if is_fused(state, depth, leaf):
        action = best_action(_U(state[BOARD]), depth, settings, evaluator.weights, root)
    else:
        action = search_root(game, evaluator, settings, depth, leaf, state, returns, rng, root)
    raise_values(root, points / game.max_return)
    return action
