"""Afterstate learning of 2048 on the 4x4 board: games and weights as with learn_games, ten times as fast.

Source: Szubert and Jaskowski 2014 (afterstates), Beal and Smith 1999 (temporal coherence).
"""

from __future__ import annotations

import numpy as np

from ...core.kernel import kernel, types
from ...core.rng import STREAM_STEP, below, next_word, seed_stream, uniform
from ...games.abi import Actions, Floats
from ...games.twenty48.board import GAIN, move, occupied, place_tile, random_tile, slide, transpose
from ..formations.lookup import FIVE, SIX, followed_action
from .board2048_kernels import at_most_15, find_entries_of_images, sum_entries_of_images
from .network_kernels import TUPLES, EntryTable, Header, Index, add_coherently, add_plainly, collect_error, oldest_of
from .td import COHERENT, DISCOUNT, FROM_RANDOM, HORIZON, METHOD, RESTART, TRACE

_U = np.uint64
Scores = types.Array(types.float32, 2, "C")
Past = types.Array(types.uint64, 2, "C")
_U64, _I64 = types.uint64, types.int64
_0, _1, _4, _8, _16, _32, _48 = (_U(n) for n in (0, 1, 4, 8, 16, 32, 48))
_LOW32, _ROW, _15, _ONES = _U(0xFFFFFFFF), _U(0xFFFF), _U(15), _U(0x1111111111111111)
_ZERO = np.float32(0)


@kernel(_U64(_U64, _U64, types.Array(_U64, 1, "C")))
def with_tile(board, high, rng):
    """The board after chance, if no tile of 65,536 or more can come."""
    if high == _0 and board != _0:
        empty = occupied(board) ^ _ONES
        after, _ = place_tile(board, empty, empty, next_word(rng) & _LOW32)
        return after
    outcome = random_tile(board, high, 16, next_word(rng) & _LOW32)
    return board | _U(1 + (outcome & 1)) << _U(4 * (outcome >> 1))


@kernel(_I64(_U64, _I64))
def row_gains(b, side):
    """`slide_gain` without branches: the reward, or below 0 if two 32768s merge."""
    a = np.int64(GAIN[side + np.int64(b & _ROW)])
    c = np.int64(GAIN[side + np.int64((b >> _16) & _ROW)])
    d = np.int64(GAIN[side + np.int64((b >> _32) & _ROW)])
    e = np.int64(GAIN[side + np.int64(b >> _48)])
    return a + c + d + e if (a | c | d | e) >= 0 else -1


@kernel(_I64(_U64, _U64, Index, Index, types.Array(_I64, 1, "C")))
def move_all(board, high, boards, highs, gains):
    """Fills in the board after each action, and its reward, [4]; returns a bit for every legal action."""
    legal = 0
    turned = transpose(board)
    for action in range(4):
        after, after_high, gain = _0, _0, -1
        if high == _0:
            before = board if action < 2 else turned
            side = (action & 1) << 16
            after = slide(before, side)
            if after == before:
                continue
            gain = row_gains(before, side)
            if action >= 2:
                after = transpose(after)
        if gain < 0:
            after, after_high, gain = move(board, high, 4, action)
            if after == board and after_high == high:
                continue
        boards[action], highs[action], gains[action] = after, after_high, gain
        legal |= 1 << action
    return legal


@kernel(Past(Past))
def with_more_room(past):
    """A copy of the starts of a game's decisions, [moves, 3], with twice the room."""
    larger = np.empty((2 * past.shape[0], 3), np.uint64)
    larger[: past.shape[0]] = past
    return larger


WORK = types.Tuple([Index, Index, Index, types.Array(_I64, 1, "C"), Index, EntryTable])


@kernel(types.void(EntryTable, Index, _U64, _U64, types.boolean, types.float32))
def add_change(table, index, first, count, coherent, change):
    """Adds `change` to every entry of a board."""
    if coherent:
        add_coherently(table, index, first, count, change)
    else:
        add_plainly(table, index, first, count, _0, change)


@kernel(_I64(Header, EntryTable, Floats, _U64, _I64, EntryTable, Floats, Scores, Actions, WORK))
def learn_with(words, table, settings, key, first, rates, epsilons, scores, formations, work):
    """`learn_2048` with arrays to work with: a stream, boards, high tiles and rewards by action, places, and errors."""
    probabilities, least, chances = formations.view(np.uint16), np.array([FIVE, SIX]), np.empty(8)
    rng, boards, highs, gains, index, errors = work
    count = _8 * _U(words[TUPLES])
    before = _4 * count
    coherent = settings[COHERENT] != 0.0
    discount = np.float32(settings[DISCOUNT])
    at_end = settings[METHOD] == 1.0
    restart, horizon = np.int64(settings[RESTART]), _U(settings[HORIZON])
    decay = np.float32(settings[DISCOUNT] * settings[TRACE])
    past = np.empty((1024, 3), np.uint64)  # board, high and score before each decision since the start
    moves = 0
    for game in range(scores.shape[0]):
        seed_stream(key + _U(first + game) * STREAM_STEP, rng)
        rate = rates[game] / np.float32(count)
        epsilon = epsilons[game]
        board, high = with_tile(_0, _0, rng), _0
        board = with_tile(board, high, rng)
        score, played, ended = np.int64(0), 0, False
        newest, kept = _0, _0  # of the ring of afterstates to learn
        passed = np.int64(0)  # rewards since the newest one
        while True:
            legal = move_all(board, high, boards, highs, gains)
            if formations.size > 0 and legal != 0:
                action = followed_action(formations, probabilities, least, board | high * _15, chances)
                if action >= 0:
                    moves += 1
                    score += gains[action]
                    passed += gains[action]
                    board = with_tile(boards[action], highs[action], rng)
                    high = highs[action]
                    continue
            for action in range(4):
                if legal >> action & 1:
                    packed = at_most_15(boards[action], highs[action])
                    find_entries_of_images(words, packed, table, index, _U(action) * count)
            best, n = -1, 0
            best_value = np.float32(score) if at_end else _ZERO
            for action in range(4):
                if legal >> action & 1:
                    value = discount * sum_entries_of_images(words, table, index, _U(action) * count)
                    if not at_end:
                        value += np.float32(gains[action])
                    if best < 0 or value > best_value:
                        best, best_value = action, value
                    n += 1
            learns = kept > _0
            if epsilon > 0.0 and best >= 0 and uniform(rng) < epsilon:
                k = below(rng, n)
                for action in range(4):
                    if legal >> action & 1:
                        if k == 0:
                            best = action
                        k -= 1
                learns = learns and settings[FROM_RANDOM] != 0.0
                best_value = discount * sum_entries_of_images(words, table, index, _U(best) * count)
                if not at_end:
                    best_value += np.float32(gains[best])
            if learns:
                error = best_value - sum_entries_of_images(words, table, index, before + newest * count)
                error += np.float32(passed)
                collect_error(errors, newest, kept, horizon, rate * error, decay)
            # The end, or a random move that is not learned from, cuts off the boards before.
            while kept == horizon or (kept > _0 and (best < 0 or not learns)):
                oldest = oldest_of(newest, kept, horizon)
                add_change(table, index, before + oldest * count, count, coherent, errors[oldest])
                kept -= _1
            passed = np.int64(0)
            if best < 0:
                if not ended:
                    scores[game, 0] = np.float32(score)
                    ended = True
                played //= 2
                if restart == 0 or played < restart:
                    break
                board, high, score = past[played, 0], past[played, 1], np.int64(past[played, 2])
                played = 0
                continue
            if restart > 0:
                if played == past.shape[0]:
                    past = with_more_room(past)
                past[played, 0], past[played, 1], past[played, 2] = board, high, _U(score)
                played += 1
            newest = newest + _1 if newest + _1 < horizon else _0
            kept += _1
            errors[newest] = _ZERO
            chosen, to = _U(best) * count, before + newest * count
            for i in range(count):
                index[to + i] = index[chosen + i]
            moves += 1
            score += gains[best]
            board, high = boards[best], highs[best]
            board = with_tile(board, high, rng)
    return moves


@kernel(_I64(Header, EntryTable, Floats, _U64, _I64, EntryTable, Floats, Scores, Actions))
def learn_2048(words, table, settings, key, first, rates, epsilons, scores, formations):
    """Plays and learns from game after game; see learn_games.

    Formation tables play the boards in them, which are not learned from: their rewards belong to the outcome of the
    last board before them that the network values.

    Args:
        rates: [games] learning rate of each, for the whole board.
        epsilons: [games] probability of a random move.
        scores: [games, 1] filled in.
        formations: words of the tables' file; empty = none.
    """
    rng, boards, highs = np.empty(4, np.uint64), np.empty(4, np.uint64), np.empty(4, np.uint64)
    horizon = np.int64(settings[HORIZON])
    index = np.empty((4 + horizon) * 8 * words[TUPLES], np.uint64)  # of the four afterstates, and of the last ones
    work = rng, boards, highs, np.empty(4, np.int64), index, np.empty(horizon, np.float32)
    return learn_with(words, table, settings, key, first, rates, epsilons, scores, formations, work)
