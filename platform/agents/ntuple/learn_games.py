"""TD learning by self-play for any game with cells, compiled once for all games.

Values are those of afterstates (states right after an action, before chance), separate for each seat to move next: of
one seat's return, of seat 0's with two seats (seat 1's is its negative), of every seat's with more. Sources: Sutton and
Barto 2018, 12.2 (TD(lambda)); Kutsch 2017, 6.1; Weitz 2022, 4.1.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...core.kernel import kernel, types
from ...core.rng import STREAM_STEP, Rng, below, seed_stream, uniform
from ...games.abi import CHANCE, GAME, TERMINAL, Actions, Floats, State
from ...games.generic import copy_state, draw_outcome
from .board_lookups import BOARD, go_to_board, new_board, set_board, step_of_sweep, value_of_action
from .network_kernels import (
    BOUND,
    ENTRIES,
    OUTPUTS,
    SYMMETRIES,
    TUPLES,
    WIDTH,
    EntryTable,
    Header,
    Index,
    add_coherently_apart,
    add_coherently_once,
    add_once,
    add_plainly,
    collect_error,
    oldest_of,
    slope_of,
    squeezed,
    stage_of,
    sum_and_fetch,
    sum_entries,
)
from .td import BETA, COHERENT, DELAYED, DISCOUNT, FROM_RANDOM, HORIZON, METHOD, ONCE, RESTART, TRACE

_U = np.uint64
_U64, _I64, _F32 = types.uint64, types.int64, types.float32
_0, _1 = _U(0), _U(1)
Scores = types.Array(types.float32, 2, "C")  # [games, seats]
States, Returns = types.Array(types.int64, 2, "C"), types.Array(types.float64, 2, "C")


class Space(NamedTuple):
    """The working memory of learning."""

    board: Any  # of the state
    index: Any  # [horizon * look-ups] the entries of the last afterstates, a ring
    errors: Any  # [outputs, horizon] their errors, if learning is delayed
    slopes: Any  # [outputs, horizon] by which their values grow with their sums; 1 if tanh does not squeeze them
    states: Any  # [2, words] the state, and the one after the current action
    returns: Any  # [3, seats] of the state, the newest afterstate, and the current one
    choices: Any  # [max_choices] actions
    probs: Any  # [max_choices] of chance
    values: Any  # [max_choices, outputs] of the actions
    rng: Any  # [4]


SPACE = types.NamedTuple([BOARD, Index, Scores, Scores, States, Returns, Actions, Floats, Scores, Rng], Space)


@kernel(_F32(Floats, types.float64, types.float64, types.boolean))
def gained(settings, before, now, over):
    """The reward between two returns; with method 1 the whole return at the end of the game."""
    if settings[METHOD] == 1.0:
        return np.float32(now if over else 0.0)
    return np.float32(now - before)


@kernel(_F32(Scores, _I64, _I64))
def value_of_seat(values, action, seat):
    """A seat's value from the outputs, [actions, outputs]; a single output is seat 0's, its negative seat 1's."""
    if values.shape[1] > 1:
        return values[action, seat]
    return values[action, 0] if seat == 0 else -values[action, 0]


@kernel(types.void(Header, EntryTable, Floats, Index, _U64, _U64, _F32))
def add_change(words, table, settings, index, first, offset, change):
    """Adds a change to the entries of a board, at the places from `index[first]` on + `offset`."""
    count, coherent = _U(words[SYMMETRIES] * words[TUPLES]), settings[COHERENT] != 0.0
    once = settings[ONCE] != 0.0
    if coherent and (once or settings[BETA] != 0.0):
        add_coherently_once(words, table, index, first, offset, change, once, settings[BETA])
    elif coherent:
        add_coherently_apart(words, table, index, first, count, offset, change)
    elif once:
        add_once(words, table, index, first, offset, change)
    else:
        add_plainly(table, index, first, count, offset, change)


@kernel(_F32(Header, _F32, Scores, _I64, _U64))
def value_and_slope(words, total, slopes, output, newest):
    """Returns the value of the newest afterstate from the sum of its entries, and notes its slope."""
    if words[BOUND] == 0:
        return total
    value = squeezed(words, total)
    slopes[output, newest] = slope_of(words, value)
    return value


@kernel(types.void(Header, EntryTable, Floats, Index, _U64, _U64, _U64, _F32, EntryTable, Scores))
def learn_from(words, table, settings, index, block, newest, kept, rate, targets, slopes):
    """Moves the newest afterstate towards the targets [outputs], and earlier ones less and less by trace and discount.

    This is TD(lambda) with accumulating traces, z = gamma lambda z + slope, over the last `kept` afterstates of the
    ring `index`, at its places + `block`.
    """
    symmetries, tuples = _U(words[SYMMETRIES]), _U(words[TUPLES])
    count, horizon = symmetries * tuples, _U(settings[HORIZON])
    decay = np.float32(settings[DISCOUNT] * settings[TRACE])
    for o in range(words[OUTPUTS]):
        offset = block + _U(o * words[ENTRIES] * words[WIDTH])
        if settings[COHERENT] != 0.0:
            value = sum_and_fetch(words, table, index, newest * count, offset)
        else:
            value = sum_entries(table, index, newest * count, tuples, symmetries, offset)
        change = rate * (targets[o] - value_and_slope(words, value, slopes, o, newest))
        at = newest
        for _ in range(kept):
            add_change(words, table, settings, index, at * count, offset, change * slopes[o, at])
            change *= decay
            at = (at if at > _0 else horizon) - _1


@kernel(types.void(Header, EntryTable, Floats, Index, _U64, _U64, _U64, _F32, EntryTable, Scores, Scores))
def collect_errors(words, table, settings, index, block, newest, kept, rate, targets, slopes, errors):
    """Delayed TD(lambda): adds the errors [outputs] of the newest afterstate to its own and to earlier ones'.

    Arguments are those of `learn_from`, and errors: [outputs, horizon].
    """
    symmetries, tuples = _U(words[SYMMETRIES]), _U(words[TUPLES])
    decay = np.float32(settings[DISCOUNT] * settings[TRACE])
    for o in range(words[OUTPUTS]):
        offset = block + _U(o * words[ENTRIES] * words[WIDTH])
        value = sum_entries(table, index, newest * symmetries * tuples, tuples, symmetries, offset)
        error = rate * (targets[o] - value_and_slope(words, value, slopes, o, newest))
        collect_error(errors[o], newest, kept, _U(settings[HORIZON]), error, decay)


@kernel(types.void(Header, EntryTable, Floats, Index, _U64, _U64, Scores, Scores))
def learn_collected(words, table, settings, index, block, at, slopes, errors):
    """Applies the collected errors to the afterstate at that place of the ring."""
    count = _U(words[SYMMETRIES] * words[TUPLES])
    for o in range(words[OUTPUTS]):
        offset = block + _U(o * words[ENTRIES] * words[WIDTH])
        add_change(words, table, settings, index, at * count, offset, errors[o, at] * slopes[o, at])


@kernel(States(States))
def with_more_states(past):
    """A copy of states [n, words] with room for twice as many."""
    larger = np.empty((2 * past.shape[0], past.shape[1]), np.int64)
    larger[: past.shape[0]] = past
    return larger


@kernel(Returns(Returns))
def with_more_returns(past):
    """A copy of returns [n, seats] with room for twice as many."""
    larger = np.empty((2 * past.shape[0], past.shape[1]))
    larger[: past.shape[0]] = past
    return larger


@kernel(_I64(GAME, Header, EntryTable, Floats, BOARD, States, Returns, Actions, _I64, _I64, Scores))
def best_of(game, words, table, settings, board, states, returns, choices, candidates, mover, values):
    """Finds the first choices' values to the mover; returns the number of the best, the first of equals.

    Args:
        board: that of the state, which is `states[0]`; `states[1]` is scratch space.
        returns: [3, seats] of the state, of the newest afterstate, and scratch space.
        values: [choices, outputs] filled in.
    """
    state, after = states[0], states[1]
    now, before, after_returns = returns[0], returns[1], returns[2]
    outputs, chosen, step = words[OUTPUTS], 0, 0
    for i in range(candidates):
        action = choices[i]
        copy_state(state, after)
        for seat in range(game.num_seats):
            after_returns[seat] = now[seat]
        game.step(after, action, after_returns)
        next_mover = game.to_move(after)
        if i == 0:
            step = step_of_sweep(game, words, after, action, candidates, board)
        if next_mover == TERMINAL:
            for o in range(outputs):
                values[i, o] = gained(settings, before[o], after_returns[o], True)
        else:
            value_of_action(game, words, table, board, after, action, next_mover, step, values[i])
            for o in range(outputs):
                reward = gained(settings, before[o], after_returns[o], False)
                values[i, o] = np.float32(settings[DISCOUNT]) * values[i, o] + reward
        if value_of_seat(values, i, mover) > value_of_seat(values, chosen, mover):
            chosen = i
    return chosen


@kernel(_I64(GAME, State, Header, EntryTable, Floats, _U64, _I64, EntryTable, Floats, Scores))
def learn_games(game, start, words, table, settings, key, first, rates, epsilons, scores):
    """Plays games against itself and learns from each move; returns how many actions were played.

    Game i draws from its own stream, made of `key` and `first` + i, so games can be divided among calls at will.

    Args:
        start: a state with its variant words filled in.
        words: the network's header; table: its entries, learned in place.
        rates: [games] learning rate of each, for the whole board.
        epsilons: [games] probability of a random move.
        scores: [games, seats] filled in.
    """
    space = Space(
        new_board(words),
        np.empty(np.int64(settings[HORIZON]) * words[SYMMETRIES] * words[TUPLES], np.uint64),
        np.zeros((words[OUTPUTS], np.int64(settings[HORIZON])), np.float32),
        np.ones((words[OUTPUTS], np.int64(settings[HORIZON])), np.float32),
        np.empty((2, start.size), np.int64),
        np.empty((3, game.num_seats)),
        np.empty(game.max_choices, np.int64),
        np.empty(game.max_choices),
        np.zeros((game.max_choices, words[OUTPUTS]), np.float32),
        np.empty(4, np.uint64),
    )
    return play_games(game, start, words, table, settings, key, first, rates, epsilons, scores, space)


@kernel(_I64(GAME, State, Header, EntryTable, Floats, _U64, _I64, EntryTable, Floats, Scores, SPACE))
def play_games(game, start, words, table, settings, key, first, rates, epsilons, scores, space):
    """`learn_games` in its space."""
    board, index, choices, values, rng = space.board, space.index, space.choices, space.values, space.rng
    errors, slopes, delayed = space.errors, space.slopes, settings[DELAYED] != 0.0
    state, returns, before, now = space.states[0], space.returns[0], space.returns[1], board.now.view(np.uint64)
    seats, outputs, lookups = game.num_seats, words[OUTPUTS], _U(words[SYMMETRIES] * words[TUPLES])
    horizon, restart = _U(settings[HORIZON]), np.int64(settings[RESTART])
    # The starts of the game's decisions so far.
    past, past_returns = np.empty((256, start.size), np.int64), np.empty((256, seats))
    moves = 0
    for number in range(scores.shape[0]):
        seed_stream(key + _U(first + number) * STREAM_STEP, rng)
        rate = rates[number] / np.float32(lookups)
        copy_state(start, state)
        game.init(state, rng)
        set_board(game, words, state, board)
        returns[:] = 0.0
        before[:] = 0.0
        newest, kept, played, ended = _0, _0, 0, False
        places, block = index, _0
        while True:
            mover = game.to_move(state)
            if mover == CHANCE:
                game.step(state, draw_outcome(game, state, rng, choices, space.probs), returns)
                go_to_board(game, words, state, board)
                continue
            if mover == TERMINAL:
                if kept > _0:
                    for o in range(outputs):
                        values[0, o] = gained(settings, before[o], returns[o], True)
                    if delayed:
                        collect_errors(words, table, settings, index, _0, newest, kept, rate, values[0], slopes, errors)
                    else:
                        learn_from(words, table, settings, places, block, newest, kept, rate, values[0], slopes)
                while delayed and kept > _0:
                    learn_collected(words, table, settings, index, _0, oldest_of(newest, kept, horizon), slopes, errors)
                    kept -= _1
                if not ended:
                    for seat in range(seats):
                        scores[number, seat] = np.float32(returns[seat])
                    ended = True
                played //= 2
                if restart == 0 or played < restart:
                    break
                copy_state(past[played], state)
                returns[:] = past_returns[played]
                before[:] = past_returns[played]
                set_board(game, words, state, board)
                newest, kept, played = _0, _0, 0
                continue
            if restart > 0:
                if played == past.shape[0]:
                    past, past_returns = with_more_states(past), with_more_returns(past_returns)
                copy_state(state, past[played])
                past_returns[played] = returns
                played += 1
            n = game.legal(state, choices)
            learns = kept > _0
            chosen, candidates = 0, n
            if epsilons[number] > 0.0 and uniform(rng) < epsilons[number]:
                choices[0], candidates = choices[below(rng, n)], 1
                learns = learns and settings[FROM_RANDOM] != 0.0
                while delayed and not learns and kept > _0:
                    learn_collected(words, table, settings, index, _0, oldest_of(newest, kept, horizon), slopes, errors)
                    kept -= _1
                if not learns:
                    kept = _0  # a random move cuts off the states before it
            if candidates > 1 or learns:
                chosen = best_of(
                    game, words, table, settings, board, space.states, space.returns, choices, candidates, mover, values
                )
            if learns and delayed:
                collect_errors(words, table, settings, index, _0, newest, kept, rate, values[chosen], slopes, errors)
                if kept == horizon:
                    learn_collected(words, table, settings, index, _0, oldest_of(newest, kept, horizon), slopes, errors)
                    kept -= _1
            elif learns:
                learn_from(words, table, settings, places, block, newest, kept, rate, values[chosen], slopes)
            game.step(state, choices[chosen], returns)
            for seat in range(seats):
                before[seat] = returns[seat]
            moves += 1
            next_mover = game.to_move(state)
            if next_mover != TERMINAL:
                go_to_board(game, words, state, board)
                newest = newest + _1 if newest + _1 < horizon else _0
                phase = stage_of(words, board.cells) * seats + max(next_mover, 0)
                places, block = now, _U(phase * outputs * words[ENTRIES] * words[WIDTH])
                if next_mover == CHANCE or horizon > _1:  # the board changes before it learns
                    for i in range(lookups):
                        index[newest * lookups + i] = now[i] + block
                    for o in range(outputs):
                        errors[o, newest] = np.float32(0)
                    places, block = index, _0
                kept = min(kept + _1, horizon)
            else:
                while delayed and kept > _0:
                    learn_collected(words, table, settings, index, _0, oldest_of(newest, kept, horizon), slopes, errors)
                    kept -= _1
                kept = _0
    return moves
