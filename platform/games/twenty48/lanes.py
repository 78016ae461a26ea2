"""Random playouts of 2048 side by side: sixteen boards in the lanes of the processor's vector registers.

A step tries one direction in every lane, by arithmetic on nibbles instead of tables and without branches, so that the
compiler turns it into vector instructions. A lane draws the same words as `playout` and plays the same moves.
"""

from __future__ import annotations

import numpy as np
from numba import types

from turnier.core.kernel import kernel
from turnier.core.rng import xoshiro
from turnier.games import abi
from turnier.games.twenty48.board import (
    ORDERS,
    legal_mask,
    occupied,
    place_tile,
    potential,
    random_tile,
    turn,
)
from turnier.games.twenty48.playout import playout, safe_plies
from turnier.games.twenty48.rules import BOARD, HIGH, PENDING, SIZE

LANES = 16  # 8 are not vectorised, 32 are no faster
STEPS = 4  # after so many it is looked for lanes that are done
# Where the lanes' words begin, in one array, so that the compiler knows that they do not overlap: a board, turned so
# that the next direction is left or right; the directions left to try, two bits each below a 1, so that 0 or 1 says
# that the lane is done; plies, and 4s from bit 32 on; the plies to play; the random stream.
BOARDS, ORDER, COUNT, LIMIT, S0, S1, S2, S3, WORDS = range(0, 9 * LANES, LANES)
# What is noted of a lane: its job, or NONE; the job's playouts that are left and its `safe_plies`; the potential of the
# board that the playout began with.
JOB, LEFT, SAFE, START, NOTES = range(0, 5 * LANES, LANES)
NONE = -1

_U = np.uint64
_0, _1, _2, _3, _4, _12, _24, _32, _60 = (_U(n) for n in (0, 1, 2, 3, 4, 12, 24, 32, 60))
_LOW32, _ONES, _EIGHTS = _U(0xFFFFFFFF), _U(0x1111111111111111), _U(0x8888888888888888)
_FOUR_BELOW, _FOUR = _U(429496730), _U(1 << 32)  # 0.1 * 2**32; one 4 in `COUNT`
_ENDED = _U(0x100)  # the 1 above four directions
# The 24 orders of directions, eight in a word.
_ORDERS0, _ORDERS1, _ORDERS2 = (
    _U(sum(int(order) << 8 * i for i, order in enumerate(ORDERS[first : first + 8]))) for first in (0, 8, 16)
)
_Lanes, _Notes = types.Array(types.uint64, 1, "C"), types.Array(types.int64, 1, "C")
_U64 = types.uint64


@kernel(_U64(_U64, _U64))
def mirror(b, mask):
    """Turns every row round where `mask` is all ones; where it is 0 the board stays."""
    swap = (b ^ (b >> _12)) & (mask & _U(0x000F000F000F000F))
    b ^= swap ^ (swap << _12)
    swap = (b ^ (b >> _4)) & (mask & _U(0x00F000F000F000F0))
    return b ^ swap ^ (swap << _4)


@kernel(_U64(_U64, _U64, _U64))
def close_gap(b, cell, column):
    """Moves the tiles above an empty cell of a row down by one. `column` has ones in that cell of every row."""
    shift = _4 * cell
    after = _U(0x0001000100010001) << (shift + _4)
    # Adding 15 to a cell carries a one into the next unless the cell is empty.
    empty = (((b & column) + column) & after) ^ after
    mask = (empty << (_12 - shift)) - empty  # the cells above, of rows where it is empty
    tiles = b & mask
    return (b ^ tiles) | (tiles >> _4)


@kernel(_U64(_U64))
def slide_left(b):
    """Moves the four rows to their lowest cells, equal neighbours merged, without tables."""
    b = close_gap(b, _2, _U(0x0F000F000F000F00))
    b = close_gap(b, _1, _U(0x00F000F000F000F0))
    b = close_gap(b, _0, _U(0x000F000F000F000F))
    other = b ^ (b >> _4)
    other |= other >> _2
    other |= other >> _1
    full = b | (b >> _2)
    full |= full >> _1
    same = full & ~other & _U(0x0111011101110111)
    first = same & _U(0x0001000100010001)
    second = same & ~(first << _4) & _U(0x0010001000100010)
    merged = first | second | (same & ~(second << _4) & _U(0x0100010001000100))
    gone = merged << _4
    b = (b & ~((gone << _4) - gone)) + merged
    b = close_gap(b, _2, _U(0x0F000F000F000F00))
    return close_gap(b, _1, _U(0x00F000F000F000F0))


@kernel(_U64(_U64))
def draw_order(word):
    """The order of directions that a random word's high half chooses, below a 1."""
    index = ((word >> _32) * _24) >> _32
    second, third = _0 - ((index >> _3) & _1), _0 - (index >> _4)
    orders = _ORDERS0 ^ (second & (_ORDERS0 ^ _ORDERS1)) ^ (third & (_ORDERS0 ^ _ORDERS2))
    return ((orders >> ((index & _U(7)) << _3)) & _U(255)) | _ENDED


@kernel(types.void(_Lanes))
def advance(lanes):
    """Tries a direction in every lane that is not done; where tiles move, chance places one. As `playout` does it."""
    for i in range(LANES):
        board, order, count = lanes[BOARDS + i], lanes[ORDER + i], lanes[COUNT + i]
        s0, s1, s2, s3 = lanes[S0 + i], lanes[S1 + i], lanes[S2 + i], lanes[S3 + i]
        right = _0 - (order & _1)
        change = mirror(slide_left(mirror(board, right)), right) ^ board
        moves = _0 - (_U(change != _0) & _U(order > _1))
        # All choices are made by masks: a conditional expression is compiled wrongly for some numbers of lanes.
        word, t0, t1, t2, t3 = xoshiro(s0, s1, s2, s3)
        lanes[S0 + i] = s0 ^ ((s0 ^ t0) & moves)
        lanes[S1 + i] = s1 ^ ((s1 ^ t1) & moves)
        lanes[S2 + i] = s2 ^ ((s2 ^ t2) & moves)
        lanes[S3 + i] = s3 ^ ((s3 ^ t3) & moves)
        tried, drawn = order >> _2, draw_order(word)
        board = turn(board ^ (change & moves), (((order ^ tried) ^ ((order ^ tried ^ drawn) & moves)) >> _1) & _1)
        before = (occupied(board) ^ _ONES) * _ONES  # in nibble i: the number of empty cells up to i, at most 15
        scaled = (word & _LOW32) * (before >> _60)
        miss = before ^ (((scaled >> _32) + _1) * _ONES)
        hit = (miss - _ONES) & (~miss & _EIGHTS)
        four = _U((scaled & _LOW32) < _FOUR_BELOW)
        lanes[BOARDS + i] = board | ((hit & (_0 - hit)) >> (_3 - four) & moves)
        count += (_1 | four << _32) & moves
        lanes[COUNT + i] = count
        going = _0 - _U((count & _LOW32) < lanes[LIMIT + i])
        lanes[ORDER + i] = (tried ^ ((tried ^ drawn) & moves)) & going


@kernel(types.void(abi.States, types.int64, types.int64, abi.Rngs, abi.Gains, abi.Counts))
def play_alone(states, job, depth, rngs, gains, ended):
    """Plays one playout of a job by `playout`."""
    state, rng, returns = states[job].copy(), rngs[job].copy(), np.zeros(1)
    playout(state, depth, rng, returns)
    rngs[job] = rng
    gains[job, 0] += returns[0]
    ended[job] += state[PENDING] < 0


@kernel(types.int64(abi.States, types.int64))
def safe_in_lanes(states, job):
    """`safe_plies` of a job's state, or of what becomes of an empty board."""
    if states[job, SIZE] == 4 and states[job, BOARD] == 0 and states[job, HIGH] == 0 and states[job, PENDING] > 0:
        return 8190
    return safe_plies(states[job])


@kernel(types.void(_Lanes, _Notes, types.int64, abi.States, types.int64, abi.Rngs), inline=True)
def begin_playout(lanes, notes, lane, states, depth, rngs):
    """Sets a lane up as `playout` begins."""
    job = notes[JOB + lane]
    board, fours = _U(states[job, BOARD]), _0
    s0, s1, s2, s3 = rngs[job, 0], rngs[job, 1], rngs[job, 2], rngs[job, 3]
    pending = states[job, PENDING]
    if board == _0:
        word, s0, s1, s2, s3 = xoshiro(s0, s1, s2, s3)
        outcome = random_tile(board, _0, 16, word & _LOW32)
        board = _U(1 + (outcome & 1)) << _U(4 * (outcome >> 1))
        notes[START + lane] = potential(board)
        pending -= 1
    for _ in range(pending):
        word, s0, s1, s2, s3 = xoshiro(s0, s1, s2, s3)
        empty = occupied(board) ^ _ONES
        board, four = place_tile(board, empty, empty, word & _LOW32)
        fours += four
    word, s0, s1, s2, s3 = xoshiro(s0, s1, s2, s3)
    order = draw_order(word)
    lanes[BOARDS + lane], lanes[ORDER + lane] = turn(board, (order >> _1) & _1), order
    lanes[COUNT + lane] = fours << _32
    lanes[S0 + lane], lanes[S1 + lane], lanes[S2 + lane], lanes[S3 + lane] = s0, s1, s2, s3


@kernel(types.void(_Lanes, _Notes, types.int64, abi.States, types.int64, abi.Rngs, abi.Gains, abi.Counts), inline=True)
def end_playout(lanes, notes, lane, states, depth, rngs, gains, ended):
    """Adds up what a lane's playout gave."""
    job, count = notes[JOB + lane], lanes[COUNT + lane]
    board, plies = lanes[BOARDS + lane], np.int64(count & _LOW32)
    over = legal_mask(board) == 0
    if plies == notes[SAFE + lane] and plies < depth and not over:  # it may need more than four bits: once again
        play_alone(states, job, depth, rngs, gains, ended)
    else:
        gains[job, 0] += potential(board) - notes[START + lane] - 4 * np.int64(count >> _32)
        ended[job] += over
        for word in range(4):
            rngs[job, word] = lanes[S0 + word * LANES + lane]


@kernel(abi.PLAYOUTS)
def playouts(states, counts, depth, rngs, gains, ended):
    lanes, notes = np.zeros(WORDS, np.uint64), np.zeros(NOTES, np.int64)
    notes[JOB : JOB + LANES] = NONE
    next_job = 0
    while True:
        busy = 0
        for lane in range(LANES):
            if lanes[ORDER + lane] <= _1:
                if notes[JOB + lane] != NONE:
                    end_playout(lanes, notes, lane, states, depth, rngs, gains, ended)
                    notes[LEFT + lane] -= 1
                if notes[LEFT + lane] == 0:
                    notes[JOB + lane] = NONE
                while notes[JOB + lane] == NONE and next_job < counts.size:
                    safe = safe_in_lanes(states, next_job)
                    if safe > 0 and depth > 0 and counts[next_job] > 0:
                        notes[JOB + lane], notes[LEFT + lane], notes[SAFE + lane] = next_job, counts[next_job], safe
                        notes[START + lane] = potential(_U(states[next_job, BOARD]))
                        lanes[LIMIT + lane] = _U(min(depth, safe))
                    else:
                        for _ in range(counts[next_job]):
                            play_alone(states, next_job, depth, rngs, gains, ended)
                    next_job += 1
                if notes[JOB + lane] != NONE:
                    begin_playout(lanes, notes, lane, states, depth, rngs)
            busy += notes[JOB + lane] != NONE
        if busy == 0:
            return
        for _ in range(STEPS):
            advance(lanes)
