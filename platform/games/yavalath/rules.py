"""The rules of Yavalath as kernels; see game.py for the rules and board.py for the state's words."""

from __future__ import annotations

import numpy as np

from ...core.kernel import kernel, types
from ...core.rng import Rng, below, xoshiro
from .. import abi
from ..abi import TERMINAL
from .board import (
    BEST,
    CELLS_AT,
    END,
    FOUR,
    MOVER,
    NOTHING,
    NUM_CELLS,
    PLAY_ON,
    PLAYERS,
    RANK,
    SETS,
    SITE_BITS,
    SITES,
    SIZE,
    STONES,
    SWAP,
    SWAPPED,
    THREE,
    WORDS,
    WORST,
    forced_word,
    lowest,
    occupied,
    popcount,
    put,
    stones_at,
    wins_at,
)

DRAW = 3  # the end of a game, besides THREE and FOUR

_U = np.uint64
_0, _1, _3, _32 = (_U(n) for n in (0, 1, 3, 32))


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
    """The next seat still in the game."""
    if state[PLAYERS] == 2:
        return 1 - seat
    after = seat + 1 if seat < 2 else 0
    return after if state[RANK + after] == 0 else 3 - seat - after


@kernel(abi.LEGAL)
def legal(state, out):
    size, n = state[SIZE], 0
    if state[PLAYERS] == 3:
        after = following(state, state[MOVER])
        for word in range(WORDS[size]):
            forced = forced_word(state, WORDS[size], state[MOVER], after, word)
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
    """Ends the game; the players still in share the ranks left."""
    state[END], state[MOVER] = end, TERMINAL
    for seat in range(state[PLAYERS]):
        if state[RANK + seat] == 0:
            _rank(state, seat, state[BEST] + state[WORST], rewards)


@kernel(types.void(abi.State, types.int64, types.int64, abi.Floats), inline=True)
def settle(state, seat, made, rewards):
    """Continues after a seat's stone, by what it made: ranks, the end, or the next seat to move."""
    if made == FOUR:
        _rank(state, seat, 2 * state[BEST], rewards)
        state[BEST] += 1
    elif made == THREE:
        _rank(state, seat, 2 * state[WORST], rewards)
        state[WORST] -= 1
    if made != NOTHING and (state[BEST] == state[WORST] or (made == FOUR and state[PLAY_ON] == 0)):
        _finish(state, made, rewards)
    elif state[STONES] == NUM_CELLS[state[SIZE]]:
        _finish(state, DRAW, rewards)
    else:
        state[MOVER] = following(state, seat)


@kernel(types.void(abi.State, types.int64, abi.Floats), inline=True)
def _place(state, site, rewards):
    """Puts the mover's stone on an empty site."""
    seat = state[MOVER]
    colour = seat if state[PLAYERS] == 3 else state[STONES] & 1
    made = put(state, state[SIZE], stones_at(state, colour), wins_at(state, colour), site)
    state[STONES] += 1
    settle(state, seat, made, rewards)


@kernel(abi.STEP)
def step(state, action, rewards):
    if action == NUM_CELLS[state[SIZE]]:
        state[SWAPPED], state[MOVER] = 1, 0
    else:
        _place(state, SITES[state[SIZE], action], rewards)


@kernel(types.int64(abi.State, types.int64, types.int64, types.int64, types.uint64))
def _random_forced(state, words, mover, after, random_bits):
    """A random one of the sites to which the mover of three is bound; there must be one."""
    count = _0
    for word in range(words):
        count += popcount(forced_word(state, words, mover, after, word))
    skip = ((random_bits >> _32) * count) >> _32
    site = np.int64(-1)
    for word in range(words):
        forced = forced_word(state, words, mover, after, word)
        while forced != _0 and site < 0:
            if skip == _0:
                site = 64 * word + lowest(forced)
            forced &= forced - _1
            skip -= _1
    return site


@kernel(abi.PLAYOUT)
def playout_three(state, depth, rng, returns):
    """The playout of three players; draws sites like `_playout_two` if nothing is forced."""
    size = state[SIZE]
    words, wins, room = WORDS[size], wins_at(state, 0), NUM_CELLS[size]
    bits = SITE_BITS[size]
    mask = (_1 << bits) - _1
    s0, s1, s2, s3 = rng[0], rng[1], rng[2], rng[3]
    mover, plies = state[MOVER], 0
    after = following(state, mover)
    while plies < depth and mover >= 0:
        forced = _0
        for word in range(words):
            forced |= forced_word(state, words, mover, after, word)
        random_bits, s0, s1, s2, s3 = xoshiro(s0, s1, s2, s3)
        if forced != _0:
            site = _random_forced(state, words, mover, after, random_bits)
        else:
            left = 8
            while True:
                site = np.int64(random_bits & mask)
                if not occupied(state, site):
                    break
                random_bits >>= bits
                left -= 1
                if left == 0:
                    random_bits, s0, s1, s2, s3 = xoshiro(s0, s1, s2, s3)
                    left = 8
        made = put(state, size, stones_at(state, mover), wins + mover * words, site)
        state[STONES] += 1
        plies += 1
        if made == NOTHING and state[STONES] < room:
            third = 3 - mover - after
            mover = after
            after = third if state[RANK + third] == 0 else 3 - third - after
        else:
            settle(state, mover, made, returns)
            mover = state[MOVER]
            after = following(state, mover) if mover >= 0 else mover
    state[MOVER] = mover
    rng[0], rng[1], rng[2], rng[3] = s0, s1, s2, s3
    return plies


@kernel(types.int64(abi.State, types.int64, Rng, abi.Floats))
def _playout_two(state, depth, rng, returns):
    """The playout of two players after the opening: only stones, and no checks until one makes three or four.

    SITE_BITS random bits are a site, a word has eight; occupied ones are drawn again, so all empty cells are equally
    likely.
    """
    size, room, made, placed = state[SIZE], NUM_CELLS[state[SIZE]] - state[STONES], 0, 0
    limit = min(depth, room)
    mine, other = stones_at(state, state[STONES] & 1), stones_at(state, 1 - (state[STONES] & 1))
    bits = SITE_BITS[size]
    mask = (_1 << bits) - _1
    s0, s1, s2, s3 = rng[0], rng[1], rng[2], rng[3]
    random_bits, left = _0, 0
    while placed < limit and made == NOTHING:
        while True:
            if left == 0:
                random_bits, s0, s1, s2, s3 = xoshiro(s0, s1, s2, s3)
                left = 8
            site = np.int64(random_bits & mask)
            random_bits >>= bits
            left -= 1
            if not occupied(state, site):
                break
        made = put(state, size, mine, 0, site)
        mine, other = other, mine
        placed += 1
    rng[0], rng[1], rng[2], rng[3] = s0, s1, s2, s3
    state[STONES] += placed
    settle(state, state[MOVER] ^ (placed & 1 ^ 1), made, returns)
    return placed


@kernel(abi.PLAYOUT)
def playout(state, depth, rng, returns):
    """The playout of two players."""
    plies = 0
    while state[SWAP] == 1 and state[STONES] < 2 and state[SWAPPED] == 0 and plies < depth:
        cells = NUM_CELLS[state[SIZE]]
        cell = below(rng, cells)  # the occupied cell stands for the swap
        step(state, cells if occupied(state, SITES[state[SIZE], cell]) else cell, returns)
        plies += 1
    if state[MOVER] >= 0 and plies < depth:
        plies += _playout_two(state, depth - plies, rng, returns)
    return plies


@kernel(abi.CELLS)
def cells(state, out):
    """0 = empty, otherwise 1 + colour; a seat's colour is its number unless the seats have been swapped."""
    size, players = state[SIZE], state[PLAYERS]
    first, second, third = stones_at(state, 0), stones_at(state, 1), stones_at(state, players - 1)
    for cell in range(NUM_CELLS[size]):
        site = SITES[size, cell]
        word, bit = site >> 6, _U(site & 63)
        value = (_U(state[first + word]) >> bit) & _1
        value |= ((_U(state[second + word]) >> bit) & _1) << _1
        if players == 3:
            value += _3 * ((_U(state[third + word]) >> bit) & _1)
        out[cell] = np.int64(value)
