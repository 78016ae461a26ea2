"""The entries of a board and of the boards after it: those that an action does not change are not looked up again."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...core.atomics import prefetch
from ...core.kernel import kernel, types
from ...games.abi import GAME, Actions, Floats, State
from .intrinsics import add_four_changes
from .network_kernels import (
    BASES,
    BOUND,
    ENTRIES,
    LENGTH,
    NUM_CELLS,
    ORIGIN,
    OUTPUTS,
    PARTS,
    PHASES,
    SPOTS,
    STAGES,
    SYMMETRIES,
    TOUCHES,
    TUPLES,
    VALUES,
    WIDTH,
    EntryTable,
    Header,
    Index,
    squeezed,
    stage_of,
)

_U = np.uint64
_U64, _I64 = types.uint64, types.int64
_0, _1, _2, _3, _4 = (_U(n) for n in range(5))
_NOTHING = np.float64(0.0)
SUMMED, SWEPT = 1, 2  # knowledge of a phase


class Board(NamedTuple):
    """The board of the seat to move, and space for the boards after its actions."""

    cells: Any  # [cells] of the board
    now: Any  # [look-ups] places of its entries, for phase 0 and output 0
    sums: Any  # [phases * outputs] its value, if known
    known: Any  # [phases] whether it is: SUMMED, or SWEPT if all boards with one more stone are known too
    after_cells: Any  # [cells]
    shifted: Any  # [look-ups] places after the current action, otherwise as `now`
    changed: Any  # [look-ups] numbers of those that differ
    entries: Any  # [phases * outputs, look-ups] the entries, if the phase is SUMMED
    parts: Any  # [cells * symmetries] scratch space
    changes: Any  # [phases * outputs, cells] change of the value by a stone on a cell, if the phase is SWEPT


_I1 = types.Array(types.int64, 1, "C")
_F32S, _F64S = types.Array(types.float32, 2, "C"), types.Array(types.float64, 2, "C")
BOARD = types.NamedTuple([_I1, _I1, Floats, _I1, _I1, _I1, Index, _F32S, Floats, _F64S], Board)


@kernel(BOARD(Header))
def new_board(words):
    """Returns room for a board, to be filled by `set_board`."""
    lookups, num_cells, phases = words[SYMMETRIES] * words[TUPLES], words[NUM_CELLS], words[PHASES]
    blocks = phases * words[OUTPUTS]
    return Board(
        np.empty(num_cells, np.int64),
        np.empty(lookups, np.int64),
        np.empty(blocks),
        np.empty(phases, np.int64),
        np.empty(num_cells, np.int64),
        np.empty(lookups, np.int64),
        np.empty(lookups, np.uint64),
        np.empty((blocks, lookups), np.float32),
        np.empty(num_cells * words[SYMMETRIES]),
        np.empty((blocks, num_cells)),
    )


@kernel(types.void(Header, EntryTable, BOARD, _I64))
def sum_board(words, table, board, phase):
    """Sums up the board's values for a phase."""
    board.known[phase] = SUMMED
    for o in range(words[OUTPUTS]):
        block = phase * words[OUTPUTS] + o
        offset = block * words[ENTRIES] * words[WIDTH]
        total = _NOTHING
        now, entries = board.now, board.entries[block]
        for i in range(_U(now.size)):
            entry = table[_U(now[i] + offset)]
            entries[i] = entry
            total += entry
        board.sums[block] = total


@kernel(_I64(GAME, Header, State, _I64, _I64, BOARD))
def step_of_sweep(game, words, after, first, count, board):
    """Returns the change of a cell's value by a stone, 0 if a sweep is no use for `count` actions.

    A sweep values all stones at once, in the time of looks at a third of the cells.

    Args:
        after: the state after the first action.
    """
    num_cells = words[NUM_CELLS]
    if game.places_stones == 0 or 3 * count <= num_cells or first >= num_cells:
        return 0
    if words[STAGES] != 0:  # a stone may begin one
        return 0
    game.cells(after, board.after_cells)
    highest = words[VALUES] - 1
    return max(min(board.after_cells[first], highest) - min(board.cells[first], highest), 0)


@kernel(types.void(Header, EntryTable, BOARD, _I64, _I64))
def sweep_board(words, table, board, phase, step):
    """Finds the board's value in a phase, and its change by a stone on any empty cell.

    One pass over all look-ups, tuple by tuple: the symmetric images of a tuple share its few entries, which separate
    looks at each stone would fetch again and again. Four images at a time, in vector instructions. Results for occupied
    cells are meaningless: testing for empty ones would take longer. Tables have room for that.

    Args:
        step: change of a cell's value by a stone, above 0.
    """
    board.known[phase] = SWEPT
    tuples, symmetries, length = _U(words[TUPLES]), _U(words[SYMMETRIES]), _2 * _U(words[LENGTH])
    now, parts, changes = board.now, board.parts, board.changes
    fours = symmetries & ~_3
    for o in range(words[OUTPUTS]):
        block = phase * words[OUTPUTS] + o
        offset = block * words[ENTRIES] * words[WIDTH]
        parts[:] = 0.0
        total = _NOTHING
        first, spots = _0, _U(words[SPOTS])
        for _ in range(tuples):
            ends = spots + length
            for g in range(_0, fours, _4):
                i = first + g
                p0, p1, p2, p3 = now[i] + offset, now[i + _1] + offset, now[i + _2] + offset, now[i + _3] + offset
                e0, e1 = np.float64(table[_U(p0)]), np.float64(table[_U(p1)])
                e2, e3 = np.float64(table[_U(p2)]), np.float64(table[_U(p3)])
                total += (e0 + e1) + (e2 + e3)
                for spot in range(spots, ends, _2):
                    to, further = _U(words[spot]) + g, step * words[spot + _1]
                    add_four_changes(table, (p0, p1, p2, p3), further, (e0, e1, e2, e3), parts, to)
            for g in range(fours, symmetries):
                place = now[first + g] + offset
                entry = np.float64(table[_U(place)])
                total += entry
                for spot in range(spots, ends, _2):
                    parts[_U(words[spot]) + g] += np.float64(table[_U(place + step * words[spot + _1])]) - entry
            spots = ends
            first += symmetries
        board.sums[block] = total
        at = _U(words[PARTS])
        for cell in range(words[NUM_CELLS]):
            change = _NOTHING
            for _ in range(symmetries):
                change += parts[_U(words[at])]
                at += _1
            changes[block, cell] = change


@kernel(_U64(Header, EntryTable, BOARD, _I64))
def shift_entries(words, table, board, offset):
    """Sets `board.shifted` to the places of the next board, and fetches their entries early; returns the changes."""
    highest, starts = words[VALUES] - 1, words[TOUCHES]
    now, shifted, changed = board.now, board.shifted, board.changed
    n = _U(0)
    for cell in range(words[NUM_CELLS]):
        step = min(board.after_cells[cell], highest) - min(board.cells[cell], highest)
        if step == 0:
            continue
        for at in range(_U(words[starts + cell]), _U(words[starts + cell + 1]), _U(2)):
            i = _U(words[at])
            place = shifted[i]
            if place == now[i]:  # no entry has two boards, so this is its first change
                changed[n] = i
                n += _U(1)
            place += step * words[at + _U(1)]
            shifted[i] = place
            prefetch(table, place + offset)
    return n


@kernel(types.void(GAME, Header, State, BOARD))
def go_to_board(game, words, state, board):
    """Replaces the board by a state's board that differs in few cells."""
    highest, starts = words[VALUES] - 1, words[TOUCHES]
    now, shifted, cells, after_cells = board.now, board.shifted, board.cells, board.after_cells
    game.cells(state, after_cells)
    for cell in range(words[NUM_CELLS]):
        step = min(after_cells[cell], highest) - min(cells[cell], highest)
        cells[cell] = after_cells[cell]
        if step == 0:
            continue
        for at in range(_U(words[starts + cell]), _U(words[starts + cell + 1]), _U(2)):
            i = _U(words[at])
            now[i] = shifted[i] = now[i] + step * words[at + _1]
    for phase in range(board.known.size):
        board.known[phase] = 0


@kernel(types.void(GAME, Header, State, BOARD))
def set_board(game, words, state, board):
    """Replaces the board by any state's board: all cells 0, then as in `go_to_board`."""
    i = _0
    for t in range(words[TUPLES]):
        place = words[ORIGIN] + words[BASES + t] * words[WIDTH]
        for _ in range(words[SYMMETRIES]):
            board.now[i] = board.shifted[i] = place
            i += _1
    board.cells[:] = 0
    go_to_board(game, words, state, board)


@kernel(_I64(Header, Actions, Actions))
def only_change(words, before, after):
    """Returns the cell in which two boards differ for the network, -1 if none does, -2 if several do."""
    highest, found = words[VALUES] - 1, -1
    for cell in range(words[NUM_CELLS]):
        if before[cell] != after[cell] and min(before[cell], highest) != min(after[cell], highest):
            if found >= 0:
                return -2
            found = cell
    return found


@kernel(types.float64(Header, EntryTable, BOARD, _I64, _I64, _I64))
def change_of_cell(words, table, board, block, cell, step):
    """Returns the change of the board's value if one cell's value rises by `step`."""
    total = _NOTHING
    starts, offset = words[TOUCHES], block * words[ENTRIES] * words[WIDTH]
    now, entries = board.now, board.entries[block]
    for at in range(_U(words[starts + cell]), _U(words[starts + cell + 1]), _U(2)):
        i = _U(words[at])
        total += np.float64(table[_U(now[i] + step * words[at + _U(1)] + offset)]) - np.float64(entries[i])
    return total


@kernel(types.void(Header, EntryTable, BOARD, _I64, EntryTable))
def value_of_after(words, table, board, phase, values):
    """Finds the value of the board `board.after_cells` in a phase; values: [outputs] filled in."""
    if board.known[phase] != SUMMED:
        sum_board(words, table, board, phase)
    outputs, cell = words[OUTPUTS], only_change(words, board.cells, board.after_cells)
    if cell != -2:
        highest = words[VALUES] - 1
        step = min(board.after_cells[cell], highest) - min(board.cells[cell], highest) if cell >= 0 else 0
        for o in range(outputs):
            block = phase * outputs + o
            change = change_of_cell(words, table, board, block, cell, step) if cell >= 0 else _NOTHING
            values[o] = np.float32(board.sums[block] + change)
        return
    size = words[ENTRIES] * words[WIDTH]
    now, shifted, changed = board.now, board.shifted, board.changed
    n = shift_entries(words, table, board, phase * outputs * size)
    for o in range(outputs):
        block = phase * outputs + o
        total, entries = board.sums[block], board.entries[block]
        for k in range(n):
            i = changed[k]
            total += np.float64(table[_U(shifted[i] + block * size)]) - np.float64(entries[i])
        values[o] = np.float32(total)
    for k in range(n):
        i = changed[k]
        shifted[i] = now[i]


@kernel(types.void(GAME, Header, EntryTable, BOARD, State, _I64, _I64, _I64, EntryTable), inline=True)
def value_of_action(game, words, table, board, after, action, next_mover, step, values):
    """Finds the value of `after`, the state after an action; values: [outputs] filled in.

    Args:
        step: as returned by `step_of_sweep`.
    """
    outputs, phase = words[OUTPUTS], max(next_mover, 0)
    if step > 0 and action < words[NUM_CELLS]:
        if board.known[phase] != SWEPT:
            sweep_board(words, table, board, phase, step)
        for o in range(outputs):
            block = phase * outputs + o
            values[o] = np.float32(board.sums[block] + board.changes[block, action])
    else:
        game.cells(after, board.after_cells)
        phase += stage_of(words, board.after_cells) * game.num_seats
        value_of_after(words, table, board, phase, values)
    if words[BOUND] != 0:
        for o in range(outputs):
            values[o] = squeezed(words, values[o])
