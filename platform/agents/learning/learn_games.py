"""TD learning by self-play of any game with cells, compiled once for all games.

Values are learned of afterstates (states right after an action, before chance), apart for each seat to move next: of
one seat's return, of seat 0's with two seats (seat 1's is its negative), of every seat's with more. Sources: Sutton and
Barto 2018, 12.2 (TD(lambda)); Kutsch 2017, 6.1; Weitz 2022, 4.1.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import types

from turnier.agents.learning.network_kernels import (
    ENTRIES,
    NUM_CELLS,
    OUTPUTS,
    PHASES,
    SYMMETRIES,
    TUPLES,
    VALUES,
    WIDTH,
    Index,
    Table,
    Words,
    add_coherently,
    add_plainly,
    change_of_cell,
    find_entries,
    only_change,
    shift_entries,
    sum_entries,
)
from turnier.agents.learning.settings import DISCOUNT, FROM_RANDOM, HORIZON, METHOD, TRACE
from turnier.games.abi import CHANCE, GAME, TERMINAL, Floats, State, kernel
from turnier.games.generic import copy_state, draw_outcome
from turnier.games.rng import below, seed_stream, uniform

_U = np.uint64
_U64, _I64, _F32 = types.uint64, types.int64, types.float32
_STREAM = _U(4 * 0x9E3779B97F4A7C15 % 2**64)  # as in learn2048.py
_0, _1 = _U(0), _U(1)
_ZERO, _NOTHING = np.float32(0), np.float64(0.0)
Scores = types.Array(types.float32, 2, "C")  # [games, seats]


class Board(NamedTuple):
    """The board on which a seat is to move, and space to look at the boards after its actions."""

    cells: Any  # [cells] of the board
    now: Any  # [look-ups] places of its entries, for phase 0 and output 0
    sums: Any  # [phases * outputs] its value, where known
    known: Any  # [phases] whether it is
    after_cells: Any  # [cells]
    shifted: Any  # [look-ups] places after the action that is looked at, otherwise as `now`
    changed: Any  # [look-ups] the numbers of those that differ
    entries: Any  # [phases * outputs, look-ups] the entries, where the phase is known


_I1 = types.Array(types.int64, 1, "C")
BOARD = types.NamedTuple([_I1, _I1, Floats, _I1, _I1, _I1, Index, types.Array(types.float32, 2, "C")], Board)


@kernel(types.void(GAME, Words, State, BOARD, Index))
def set_board(game, words, state, board, index):
    """Finds all entries of a state's board; `index` [look-ups] is scratch space."""
    game.cells(state, board.cells)
    find_entries(words, board.cells, 0, index, 0)
    for i in range(board.now.size):
        board.now[i] = board.shifted[i] = np.int64(index[i])
    for phase in range(board.known.size):
        board.known[phase] = 0


@kernel(types.void(Words, BOARD, _U64))
def go_to_board(words, board, n):
    """Makes the board after the action looked at, with `n` changed look-ups, the board itself."""
    for k in range(n):
        i = board.changed[k]
        board.now[i] = board.shifted[i]
    for cell in range(words[NUM_CELLS]):
        board.cells[cell] = board.after_cells[cell]
    for phase in range(board.known.size):
        board.known[phase] = 0


@kernel(types.void(Words, Table, BOARD, _I64))
def sum_board(words, table, board, phase):
    """Sums up the board's values for a phase."""
    if board.known[phase] != 0:
        return
    board.known[phase] = 1
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


@kernel(_I64(GAME, Words, Table, Floats, State, Floats, Floats, _I64, State, Floats, BOARD, Table, types.boolean))
def look_at(game, words, table, settings, state, returns, before, action, after, after_returns, board, values, goes):
    """Steps to the state after an action, finds its entries and what it is worth.

    Fills in `after`, `after_returns`, `board.shifted`, and `values` [outputs]: what is gained since the returns
    `before` plus the value of the afterstate. Returns how many look-ups change, or -1 where the game is over.
    """
    copy_state(state, after)
    for seat in range(returns.size):
        after_returns[seat] = returns[seat]
    game.step(after, action, after_returns)
    next_mover = game.to_move(after)
    outputs = words[OUTPUTS]
    if next_mover == TERMINAL:
        for o in range(outputs):
            values[o] = gained(settings, before[o], after_returns[o], True)
        return -1
    game.cells(after, board.after_cells)
    phase = max(next_mover, 0)
    sum_board(words, table, board, phase)
    now, shifted, changed = board.now, board.shifted, board.changed
    cell = -2 if goes else only_change(words, board.cells, board.after_cells)
    n, step = _0, 0
    if cell == -2:
        first = phase * outputs * words[ENTRIES] * words[WIDTH]
        n = shift_entries(words, table, board.cells, board.after_cells, now, shifted, changed, first)
    elif cell >= 0:
        highest = words[VALUES] - 1
        step = min(board.after_cells[cell], highest) - min(board.cells[cell], highest)
    for o in range(outputs):
        block = phase * outputs + o
        offset = block * words[ENTRIES] * words[WIDTH]
        total, entries = board.sums[block], board.entries[block]
        if cell >= 0:
            total += change_of_cell(words, table, cell, step, now, entries, offset)
        for k in range(n):
            i = changed[k]
            total += np.float64(table[_U(shifted[i] + offset)]) - np.float64(entries[i])
        value = np.float32(settings[DISCOUNT]) * np.float32(total)
        values[o] = value + gained(settings, before[o], after_returns[o], False)
    return np.int64(n)


@kernel(types.void(BOARD, _U64))
def look_away(board, n):
    """Takes back what `look_at` shifted."""
    now, shifted, changed = board.now, board.shifted, board.changed
    for k in range(n):
        i = changed[k]
        shifted[i] = now[i]


@kernel(_F32(Floats, types.float64, types.float64, types.boolean))
def gained(settings, before, now, over):
    """The reward between two returns; with method 1 nothing until the game is over, then all of it."""
    if settings[METHOD] == 1.0:
        return np.float32(now if over else 0.0)
    return np.float32(now - before)


@kernel(_F32(Table, _I64))
def value_of_seat(values, seat):
    """What the outputs say of a seat; one output is of seat 0, and seat 1's is its negative."""
    if values.size > 1:
        return values[seat]
    return values[0] if seat == 0 else -values[0]


@kernel(types.void(Words, Table, Floats, Index, _U64, _U64, _F32, Table))
def learn_from(words, table, settings, index, newest, kept, rate, targets):
    """Moves the newest afterstate towards the targets [outputs], and those before by trace and discount less and less.

    That is TD(lambda) with accumulating traces, z = gamma lambda z + 1, over the last `kept` afterstates of the ring.
    """
    symmetries, tuples = _U(words[SYMMETRIES]), _U(words[TUPLES])
    count, horizon = symmetries * tuples, _U(settings[HORIZON])
    decay = np.float32(settings[DISCOUNT] * settings[TRACE])
    for o in range(words[OUTPUTS]):
        offset = _U(o * words[ENTRIES] * words[WIDTH])
        error = targets[o] - sum_entries(table, index, newest * count, symmetries, tuples, offset)
        change = rate * error
        at = newest
        for _ in range(kept):
            if words[WIDTH] > 1:
                add_coherently(table, index, at * count, count, offset, change)
            else:
                add_plainly(table, index, at * count, count, offset, change)
            change *= decay
            at = (at if at > _0 else horizon) - _1


@kernel(_I64(GAME, State, Words, Table, Floats, _U64, _I64, Table, Floats, Scores))
def learn_games(game, start, words, table, settings, key, first, rates, epsilons, scores):
    """Plays games against itself and learns from each move; returns how many actions were played.

    Game i draws from its own stream, made of `key` and `first` + i, so that games can be split over calls at will.

    Args:
        start: a state with its variant words filled in.
        words: the network's header; table: its entries, learned in place.
        rates: [games] learning rate of each, for the whole board.
        epsilons: [games] probability of a random move.
        scores: [games, seats] filled in.
    """
    rng = np.empty(4, np.uint64)
    state, after = np.empty_like(start), np.empty_like(start)
    seats, outputs = game.num_seats, words[OUTPUTS]
    returns, after_returns, before = np.empty(seats), np.empty(seats), np.empty(seats)
    choices, probs = np.empty(game.max_choices, np.int64), np.empty(game.max_choices)
    count, horizon = _U(words[SYMMETRIES] * words[TUPLES]), _U(settings[HORIZON])
    lookups, num_cells, phases = words[SYMMETRIES] * words[TUPLES], words[NUM_CELLS], words[PHASES]
    board = Board(
        np.empty(num_cells, np.int64),
        np.empty(lookups, np.int64),
        np.empty(phases * outputs),
        np.empty(phases, np.int64),
        np.empty(num_cells, np.int64),
        np.empty(lookups, np.int64),
        np.empty(lookups, np.uint64),
        np.empty((phases * outputs, lookups), np.float32),
    )
    index = np.empty(np.int64(horizon * count), np.uint64)  # the entries of the last afterstates, a ring
    values = np.zeros(outputs, np.float32)
    moves = 0
    for number in range(scores.shape[0]):
        seed_stream(key + _U(first + number) * _STREAM, rng)
        rate = rates[number] / np.float32(count)
        copy_state(start, state)
        game.init(state, rng)
        set_board(game, words, state, board, index)
        returns[:] = 0.0
        before[:] = 0.0  # the returns at the newest afterstate
        newest, kept = _0, _0
        while True:
            mover = game.to_move(state)
            if mover == CHANCE:
                game.step(state, draw_outcome(game, state, rng, choices, probs), returns)
                game.cells(state, board.after_cells)
                n_changed = shift_entries(
                    words, table, board.cells, board.after_cells, board.now, board.shifted, board.changed, 0
                )
                go_to_board(words, board, n_changed)
                continue
            if mover == TERMINAL:
                if kept > _0:
                    for o in range(outputs):
                        values[o] = gained(settings, before[o], returns[o], True)
                    learn_from(words, table, settings, index, newest, kept, rate, values)
                break
            n = game.legal(state, choices)
            best, best_value = choices[0], _ZERO
            for i in range(n):
                changes = look_at(
                    game, words, table, settings, state, returns, before, choices[i],
                    after, after_returns, board, values, False
                )  # fmt: skip
                if changes > 0:
                    look_away(board, _U(changes))
                value = value_of_seat(values, mover)
                if i == 0 or value > best_value:
                    best, best_value = choices[i], value
            learns = kept > _0
            if epsilons[number] > 0.0 and uniform(rng) < epsilons[number]:
                best = choices[below(rng, n)]
                learns = learns and settings[FROM_RANDOM] != 0.0
                if not learns:
                    kept = _0  # what follows a random move says nothing about the states before it
            changes = look_at(
                game, words, table, settings, state, returns, before, best, after, after_returns, board, values, True
            )
            if learns:
                learn_from(words, table, settings, index, newest, kept, rate, values)
            copy_state(after, state)
            for seat in range(seats):
                returns[seat] = before[seat] = after_returns[seat]
            moves += 1
            if changes >= 0:
                go_to_board(words, board, _U(changes))
                newest = newest + _1 if newest + _1 < horizon else _0
                offset = max(game.to_move(state), 0) * outputs * words[ENTRIES] * words[WIDTH]
                for i in range(lookups):
                    index[newest * count + _U(i)] = _U(board.now[i] + offset)
                kept = min(kept + _1, horizon)
            else:
                kept = _0
        for seat in range(seats):
            scores[number, seat] = np.float32(returns[seat])
    return moves
