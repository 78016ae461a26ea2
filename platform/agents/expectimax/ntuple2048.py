"""Expectimax for 4x4 boards of 2048 with an n-tuple network: bit for bit the values of the generic search.

Boards are words as in games/twenty48/board.py. The last decision before the leaves, which takes nearly all the time, is
made together for all tiles that chance can place on a board: the moved boards are collected, values are remembered (at
depth 3 four of five leaves repeat a board), and the entries of new boards are fetched early, since a network's tables
do not fit into the processor's caches.
"""

from __future__ import annotations

import math

import numpy as np

from ...core.kernel import kernel, types
from ...games.abi import GAME, Floats, State
from ...games.twenty48.board import GAIN, MOVED, count_empty, legal_mask, slide, slide_gain, transpose
from ...games.twenty48.rules import BOARD
from ..abi import ACT, EVALUATOR, VALUES, VISITS, Root
from ..ntuple.board2048_kernels import find_entries_of_images, sum_entries_of_images
from ..ntuple.network_kernels import AT_END, SYMMETRIES, TUPLES, EntryTable, Header, Index
from .lowered2048 import lowered, raise_values
from .schedule2048 import depth_of
from .search import BITS, CUTOFF, DEEPER, DOWNGRADE, LIMIT, STOPPED, search_root, table_bits
from .table2048 import (
    NO_LIMIT,
    TAG,
    UNKNOWN,
    VALUE,
    Keys,
    is_fused,
    keep,
    known_ahead,
    mixed,
    new_slots,
    slot_of,
    tag_of,
)

_U = np.uint64
_U64, _F64, _I64 = types.uint64, types.float64, types.int64
_0, _31, _ROW, _CELL = (_U(n) for n in (0, 31, 0xFFFF, 15))
RIGHT = 65536  # in tables of moved rows, see games/twenty48/board.py
NO_MOVE = -math.inf

MOST_LEAVES = 128  # of a chance node: 16 cells, 2 tiles, 4 actions
GROUP = 8  # boards whose entries are fetched together
# Of `numbers`: the shares of a point (1 / max_return) and of one that is added to a leaf's value (0 if values are of
# the whole return), the number of leaves still allowed, the setting DEEPER; and for the current chance node the values
# by outcome, [32], those of boards, [MOST_LEAVES], and the worth of the points at waiting leaves, [MOST_LEAVES].
SHARE, GAIN_SHARE, LEFT, TAKES_DEEPER, BEST = 0, 1, 2, 3, 4
BOARD_VALUES = BEST + 32
GAINED = BOARD_VALUES + MOST_LEAVES
# Of `notes`: the chance node's boards without a value, their slots, 32 * board + outcome of every waiting leaf,
# [MOST_LEAVES] each, and the places of a group's entries.
SLOTS, LEAVES, PLACES = MOST_LEAVES, 2 * MOST_LEAVES, 3 * MOST_LEAVES
# Values of boards are remembered in a table as in table2048.py, `known` (`keys` is the same memory as words). A slot's
# tag is IS_KNOWN or, until it has a value, the number of the chance node's board.
MOST_KNOWN = 16  # bits of the number of slots
IS_KNOWN = -1.0
COUNTS = types.UniTuple(_I64, 3)  # of a chance node: leaves, waiting leaves, boards without a value


@kernel(COUNTS(_U64, _I64, _F64, COUNTS, Floats, Keys, Floats, Index))
def add_along_rows(b, turned, points, counts, known, keys, numbers, notes):
    """Moves a board left and right after each tile that chance can place on it; `turned`: rows are columns.

    A tile changes one row, so the other three rows are moved only once. A leaf whose value is known counts at once,
    others wait.
    """
    leaves, waiting, boards = counts
    share, gain_share = numbers[SHARE], numbers[GAIN_SHARE]
    for side in range(0, 2 * RIGHT, RIGHT):
        moved_rows, all_points = slide(b, side), points + slide_gain(b, side)
        for r in range(4):
            shift = _U(16 * r)
            row = (b >> shift) & _ROW
            others = moved_rows & ~(_ROW << shift)
            other_points = all_points - GAIN[side + np.int64(row)]
            moves = ((moved_rows ^ b) & ~(_ROW << shift)) != _0
            for c in range(4):
                bits = _U(4 * c)
                if (row >> bits) & _CELL != _0:
                    continue
                for tile in range(2):
                    placed = row | (_U(1 + tile) << bits)
                    moved = _U(MOVED[side + np.int64(placed)])
                    if not moves and moved == placed:
                        continue
                    leaves += 1
                    after = others | moved << shift
                    after = transpose(after) if turned else after
                    outcome = 2 * (4 * c + r if turned else 4 * r + c) + tile
                    gained = (other_points + GAIN[side + np.int64(placed)]) * gain_share
                    slot, number = slot_of(mixed(after), known), boards
                    if keys[slot] != after:
                        keys[slot], known[slot + TAG] = after, float(boards)
                        notes[boards], notes[SLOTS + boards] = after, _U(slot)
                        boards += 1
                    elif known[slot + TAG] == IS_KNOWN:
                        value = gained + share * known[slot + VALUE]
                        if value > numbers[BEST + outcome]:
                            numbers[BEST + outcome] = value
                        continue
                    else:
                        number = np.int64(known[slot + TAG])
                    notes[LEAVES + waiting], numbers[GAINED + waiting] = _U(32 * number + outcome), gained
                    waiting += 1
    return leaves, waiting, boards


@kernel(types.void(_I64, Header, EntryTable, Floats, Floats, Index))
def value_boards(boards, words, entries, known, numbers, notes):
    """Sums up the entries of the chance node's boards without a value, GROUP by GROUP, and remembers the values."""
    lookups = words[TUPLES] * words[SYMMETRIES]
    for first in range(0, boards, GROUP):
        last = min(first + GROUP, boards)
        for i in range(first, last):
            find_entries_of_images(words, notes[i], entries, notes, _U(PLACES + (i - first) * lookups))
        for i in range(first, last):
            value = float(sum_entries_of_images(words, entries, notes, _U(PLACES + (i - first) * lookups)))
            numbers[BOARD_VALUES + i] = value
            # The last of the boards that share a slot keeps it, and is valued last.
            slot = np.int64(notes[SLOTS + i])
            known[slot + VALUE], known[slot + TAG] = value, IS_KNOWN


@kernel(_F64(_U64, _F64, Header, EntryTable, Floats, Keys, Floats, Index))
def last_value(b, points, words, entries, known, keys, numbers, notes):
    """The value of an afterstate with one decision left; `points`: those so far."""
    for i in range(32):
        numbers[BEST + i] = NO_MOVE
    counts = add_along_rows(b, 0, points, (0, 0, 0), known, keys, numbers, notes)
    leaves, waiting, boards = add_along_rows(transpose(b), 1, points, counts, known, keys, numbers, notes)
    value_boards(boards, words, entries, known, numbers, notes)
    for i in range(waiting):
        number, outcome = np.int64(notes[LEAVES + i]) >> 5, np.int64(notes[LEAVES + i] & _31)
        value = numbers[GAINED + i] + numbers[SHARE] * numbers[BOARD_VALUES + number]
        if value > numbers[BEST + outcome]:
            numbers[BEST + outcome] = value
    empty = float(count_empty(b))
    two, four = 0.9 / empty, 0.1 / empty
    total = 0.0
    for cell in range(16):
        if (b >> _U(4 * cell)) & _CELL == _0:
            for tile in range(2):
                value = numbers[BEST + 2 * cell + tile]
                if value == NO_MOVE:  # over: worth the points, and counted as an evaluation
                    value = points * numbers[SHARE]
                    leaves += 1
                total += (four if tile == 1 else two) * value
    numbers[LEFT] -= float(leaves)
    return total


@kernel(_F64(_U64, _F64, _I64, _F64, _F64, Header, EntryTable, Floats, Keys, Floats, Keys, Floats, Index))
def afterstate_value(b, points, depth, prob, cutoff, words, entries, table, nodes, known, keys, numbers, notes):
    """The value of an afterstate: the expectation over chance's tiles and the best of `depth` decisions after each."""
    if depth == 0 or prob < cutoff:
        numbers[LEFT] -= 1.0
        find_entries_of_images(words, b, entries, notes, _U(PLACES))
        value = float(sum_entries_of_images(words, entries, notes, _U(PLACES)))
        return points * numbers[GAIN_SHARE] + numbers[SHARE] * value
    if numbers[LEFT] < 0.0:
        return 0.0  # the search has passed its limit and is discarded
    tag, slot = tag_of(depth, prob, cutoff), slot_of(mixed(b), table)
    ahead = known_ahead(b, depth, tag, numbers[TAKES_DEEPER] != 0.0, slot, table, nodes)
    if ahead != UNKNOWN:  # values of the whole return are a few points too low where the game was over
        return table[slot + VALUE] + 4.0 * float(ahead) * numbers[GAIN_SHARE]
    total = 0.0
    if depth == 1:
        total = last_value(b, points, words, entries, known, keys, numbers, notes)
    else:
        empty = float(count_empty(b))
        two, four = 0.9 / empty, 0.1 / empty
        for cell in range(16):
            if (b >> _U(4 * cell)) & _CELL != _0:
                continue
            for tile in range(2):
                share = four if tile == 1 else two
                board = b | (_U(1 + tile) << _U(4 * cell))
                best = NO_MOVE
                for action in range(4):
                    before, side = board if action < 2 else transpose(board), (action & 1) * RIGHT
                    after = slide(before, side)
                    if after == before:
                        continue
                    gained = points + slide_gain(before, side)
                    after = after if action < 2 else transpose(after)
                    value = afterstate_value(
                        after, gained, depth - 1, prob * share, cutoff,
                        words, entries, table, nodes, known, keys, numbers, notes,
                    )  # fmt: skip
                    if value > best:
                        best = value
                if best == NO_MOVE:
                    best = points * numbers[SHARE]
                    numbers[LEFT] -= 1.0
                total += share * best
    keep(b, tag, total, slot, table, nodes)
    return total


@kernel(_I64(GAME, EVALUATOR, Floats, _I64, State, Floats, Root))
def search_fused(game, evaluator, settings, depth, state, returns, root):
    """`search_root` for boards that `is_fused`."""
    board = _U(state[BOARD])
    legal = legal_mask(board)
    if legal & (legal - 1) == 0:
        for action in range(4):
            if legal >> action & 1:
                return action
    words, entries = evaluator.weights.view(np.int64), evaluator.weights.view(np.float32)
    table = new_slots(table_bits(np.int64(settings[BITS]), depth))
    known = new_slots(min(MOST_KNOWN, 4 * depth))
    nodes, keys = table.view(np.uint64), known.view(np.uint64)
    numbers = np.empty(GAINED + MOST_LEAVES)
    notes = np.empty(PLACES + GROUP * words[TUPLES] * words[SYMMETRIES], np.uint64)
    numbers[SHARE] = 1.0 / game.max_return
    numbers[GAIN_SHARE] = 0.0 if words[AT_END] != 0 else numbers[SHARE]
    numbers[TAKES_DEEPER] = settings[DEEPER]
    numbers[LEFT] = settings[LIMIT] if settings[LIMIT] > 0.0 else NO_LIMIT
    best = -1
    for action in range(4):
        if legal >> action & 1 == 0:
            continue
        left, side = numbers[LEFT], (action & 1) * RIGHT
        before = board if action < 2 else transpose(board)
        after, points = slide(before, side), returns[0] + slide_gain(before, side)
        after = after if action < 2 else transpose(after)
        value = afterstate_value(
            after, points, depth - 1, 1.0, settings[CUTOFF],
            words, entries, table, nodes, known, keys, numbers, notes,
        )  # fmt: skip
        root[VISITS, action], root[VALUES, action] = max(1.0, left - numbers[LEFT]), value
        if best < 0 or value > root[VALUES, best]:
            best = action
    return STOPPED if numbers[LEFT] < 0.0 else best


@kernel(ACT)
def act_expectimax2048_ntuple(game, evaluator, settings, state, returns, rng, root):
    """Decides with a network for packed boards, which the caller must ensure."""
    depth, leaf = depth_of(game, settings, state, returns)
    state, returns, points = lowered(state, returns, np.int64(settings[DOWNGRADE]))
    if is_fused(state, depth, leaf):
        action = search_fused(game, evaluator, settings, depth, state, returns, root)
    else:
        action = search_root(game, evaluator, settings, depth, leaf, state, returns, rng, root)
    raise_values(root, points / game.max_return)
    return action
