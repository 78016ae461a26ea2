"""The rules of Yavalath as kernels; see yavalath.py for the rules and yavalath_board.py for the state's words."""

from __future__ import annotations

import numpy as np
from numba import types

from turnier.games import abi
from turnier.games.abi import TERMINAL, kernel
from turnier.games.rng import below, next_word, xoshiro
from turnier.games.yavalath_board import (
    BEST,
    CELLS_AT,
    END,
    FOUR,
    MADE,
    MOVER,
    NOTHING,
    NUM_CELLS,
    PLAY_ON,
    PLAYERS,
    RANK,
    SETS,
    SITES,
    SIZE,
    STONES,
    SWAP,
    SWAPPED,
    THREE,
    WINDOWS,
    WORDS,
    WORST,
    forced_word,
    makes,
    note_wins,
    occupied,
    popcount,
    random_empty,
    stones_at,
    toggle,
    words_of,
)

DRAW = 3  # how a game ends besides THREE and FOUR

_U = np.uint64
_0, _1, _3, _6, _32 = (_U(n) for n in (0, 1, 3, 6, 32))


@kernel(abi.INIT)
def init(state, rng):
    size = state[SIZE]
    state[MOVER:] = 0
    state[BEST], state[WORST] = 1, state[PLAYERS]
    for word in range(WORDS[size]):
        state[SETS + word] = -1
    for cell in range(NUM_CELLS[size]):
        site = SITES[size, cell]
        state[SETS + (site >> 6)] ^= np.int64(_1 << _U(site & 63))


@kernel(abi.TO_MOVE)
def to_move(state):
    return state[MOVER]


@kernel(types.boolean(abi.State))
def _may_swap(state):
    return state[SWAP] == 1 and state[STONES] == 1 and state[SWAPPED] == 0


@kernel(types.int64(abi.State, types.int64))
def following(state, seat):
    """The next seat that is still in the game; `seat` itself where nobody else is."""
    for _ in range(state[PLAYERS]):
        seat = seat + 1 if seat + 1 < state[PLAYERS] else 0
        if state[RANK + seat] == 0:
            break
    return seat


@kernel(abi.LEGAL)
def legal(state, out):
    size, n = state[SIZE], 0
    if state[PLAYERS] == 3:
        after = following(state, state[MOVER])
        for word in range(WORDS[size]):
            forced = forced_word(state, state[MOVER], after, word)
            bit = 64 * word
            while forced != _0:
                if forced & _1 != _0:
                    out[n] = CELLS_AT[size, bit]
                    n += 1
                forced >>= _1
                bit += 1
        if n > 0:
            return n
    for cell in range(NUM_CELLS[size]):
        if not occupied(state, SITES[size, cell]):
            out[n] = cell
            n += 1
    if _may_swap(state):
        out[n] = NUM_CELLS[size]
        n += 1
    return n


@kernel(types.void(abi.State, types.int64, types.int64, abi.Floats))
def _rank(state, seat, doubled, rewards):
    """Gives a seat its final rank, doubled, and the reward for it."""
    state[RANK + seat] = doubled
    rewards[seat] += (state[PLAYERS] + 1 - doubled) / (state[PLAYERS] - 1)


@kernel(types.void(abi.State, types.int64, abi.Floats))
def _finish(state, end, rewards):
    """Ends the game; who is still in shares the ranks left."""
    state[END], state[MOVER] = end, TERMINAL
    for seat in range(state[PLAYERS]):
        if state[RANK + seat] == 0:
            _rank(state, seat, state[BEST] + state[WORST], rewards)


@kernel(types.void(abi.State, types.int64, abi.Floats))
def _place(state, site, rewards):
    """Puts the mover's stone on an empty site."""
    seat, three_players = state[MOVER], state[PLAYERS] == 3
    colour = seat if three_players else state[STONES] & 1
    made = makes(state, colour, site)
    toggle(state, colour, site)
    state[STONES] += 1
    if made == FOUR:
        _rank(state, seat, 2 * state[BEST], rewards)
        state[BEST] += 1
    elif made == THREE:
        _rank(state, seat, 2 * state[WORST], rewards)
        state[WORST] -= 1
    elif three_players:
        note_wins(state, colour, site)
    if made != NOTHING and (state[BEST] == state[WORST] or (made == FOUR and state[PLAY_ON] == 0)):
        _finish(state, made, rewards)
    elif state[STONES] == NUM_CELLS[state[SIZE]]:
        _finish(state, DRAW, rewards)
    else:
        state[MOVER] = following(state, seat)


@kernel(abi.STEP)
def step(state, action, rewards):
    if action == NUM_CELLS[state[SIZE]]:
        state[SWAPPED], state[MOVER] = 1, 0
    else:
        _place(state, SITES[state[SIZE], action], rewards)


@kernel(types.int64(abi.State, types.int64, abi.Rng, abi.Floats))
def _playout_three(state, depth, rng, returns):
    words = words_of(state)
    plies = 0
    while plies < depth and state[MOVER] >= 0:
        after = following(state, state[MOVER])
        count = _0
        for word in range(words):
            count += popcount(forced_word(state, state[MOVER], after, word))
        if count == _0:
            site = random_empty(state, rng)
        else:
            skip = np.int64(((next_word(rng) >> _32) * count) >> _32)
            site = np.int64(0)
            for word in range(words):
                forced = forced_word(state, state[MOVER], after, word)
                site = np.int64(64 * word)
                while forced != _0 and (skip > 0 or forced & _1 == _0):
                    skip -= np.int64(forced & _1)
                    forced >>= _1
                    site += 1
                if forced != _0:
                    break
        _place(state, site, returns)
        plies += 1
    return plies


@kernel(abi.PLAYOUT)
def playout(state, depth, rng, returns):
    if state[PLAYERS] == 3:
        return _playout_three(state, depth, rng, returns)
    size, plies = state[SIZE], 0
    while state[SWAP] == 1 and state[STONES] < 2 and state[SWAPPED] == 0 and plies < depth:
        if state[STONES] == 1 and below(rng, NUM_CELLS[size]) == 0:
            step(state, NUM_CELLS[size], returns)
        else:
            _place(state, random_empty(state, rng), returns)
        plies += 1
    if state[MOVER] < 0 or plies == depth:
        return plies
    words, room, placed, swapped = WORDS[size], NUM_CELLS[size] - state[STONES], 0, state[SWAPPED]
    limit = min(depth - plies, room)
    bits = _6 + _U(words >> 1)
    mask = (_1 << bits) - _1
    mine, other = stones_at(state, state[STONES] & 1), stones_at(state, 1 - (state[STONES] & 1))
    s0, s1, s2, s3 = rng[0], rng[1], rng[2], rng[3]
    made = np.int64(NOTHING)
    random_bits, left = _0, 0
    while placed < limit and made == NOTHING:
        while True:  # a random word holds eight sites or more; taken ones are drawn again
            if left == 0:
                random_bits, s0, s1, s2, s3 = xoshiro(s0, s1, s2, s3)
                left = 8
            site = np.int64(random_bits & mask)
            random_bits >>= bits
            left -= 1
            taken = _U(state[SETS + (site >> 6)])
            bit = _1 << _U(site & 63)
            if taken & bit == _0:
                break
        state[SETS + (site >> 6)] = np.int64(taken | bit)
        for direction in range(3):
            shift = WINDOWS[size, site, 3 * direction + 1]
            place = mine + direction * words + np.int64(WINDOWS[size, site, 3 * direction])
            stones = _U(state[place])
            state[place] = np.int64(stones | _1 << (shift + _3))
            around = (stones >> shift) & WINDOWS[size, site, 3 * direction + 2]
            made = max(made, MADE[np.int64(around)] & 3)
        mine, other = other, mine
        placed += 1
    rng[0], rng[1], rng[2], rng[3] = s0, s1, s2, s3
    last = (state[STONES] + placed + 1) & 1  # the colour of the last stone
    state[STONES] += placed
    if made != NOTHING:
        winner = (last if made == FOUR else 1 - last) ^ swapped
        _rank(state, winner, 2, returns)
        _rank(state, 1 - winner, 4, returns)
        state[BEST] = 2 if made == FOUR else 1
        state[WORST] = 2 if made == FOUR else 1
        _finish(state, made, returns)
    elif placed == room:
        _finish(state, np.int64(DRAW), returns)
    else:
        state[MOVER] = 1 - last ^ swapped
    return plies + placed


@kernel(abi.CELLS)
def cells(state, out):
    """0 = empty, 1 + colour; the colour is the seat's unless the seats have been swapped."""
    size = state[SIZE]
    for cell in range(NUM_CELLS[size]):
        out[cell] = 0
        site = SITES[size, cell]
        for colour in range(state[PLAYERS]):
            if (_U(state[stones_at(state, colour) + (site >> 6)]) >> _U(site & 63)) & _1 != _0:
                out[cell] = 1 + colour
