"""Random playouts of 2048 side by side: a board in each lane of the processor's vector registers.

Boards are stored cell by cell, with a byte for each lane. A step tries one direction in every lane by comparing and
choosing bytes, without tables or branches, so that the compiler makes vector instructions of it. A lane draws the same
words as `playout` and plays the same moves.
"""

from __future__ import annotations

import numpy as np

from ...core.kernel import kernel, types
from ...core.rng import xoshiro
from .. import abi
from .board import ORDERS, legal_mask, occupied, place_tile, potential, random_tile
from .byte_masks import (
    count,
    differ,
    drop,
    equal,
    has,
    is_zero,
    keep,
    lowest_bit,
    one_less,
    pick,
    shift_right,
    zero_bytes,
)
from .playout import playout, safe_plies
from .rules import BOARD, HIGH, PENDING, SIZE

LANES = 32
STEPS = 2  # between two searches for lanes that are done
# Offsets of the lanes' bytes, in one array so that the compiler knows that they do not overlap: the sixteen cells of a
# board, turned so that the direction being tried is left or right; that direction and those left to try, two bits each,
# and their number, 0 = the lane is done; whether tiles have moved (a mask, 0 or 255), and if so the draw: the next
# directions, the number, from 1, of the empty cell that gets a tile, and the tile; the number of empty cells; whether
# all plies are played (a mask).
CELLS, ORDER, LEFT, MOVED, DRAWN, CHOSEN, TILE, EMPTY, ENOUGH = (LANES * i for i in (0, *range(16, 24)))
BYTES = 24 * LANES
# Offsets of the lanes' words: plies, with 4s from bit 32 on; the plies to play; the random stream.
COUNT, LIMIT, S0, S1, S2, S3, WORDS = range(0, 7 * LANES, LANES)
# Notes on a lane: its job, counted from 1, or 0; the job's remaining playouts and its `safe_plies`; the board's
# potential at the start of the playout.
JOB, TO_COME, SAFE, START, NOTES = range(0, 5 * LANES, LANES)
LANE_WORDS = NOTES + WORDS + BYTES // 8

_U, _B = np.uint64, np.uint8
_0, _1, _2, _3, _4, _8, _15, _16, _24, _32 = (_U(n) for n in (0, 1, 2, 3, 4, 8, 15, 16, 24, 32))
_LOW32, _ONES = _U(0xFFFFFFFF), _U(0x1111111111111111)
_FOUR_BELOW = _U(429496730)  # 0.1 * 2**32
# The 24 orders of directions, eight in a word.
_ORDERS0, _ORDERS1, _ORDERS2 = (
    _U(sum(int(order) << 8 * i for i, order in enumerate(ORDERS[first : first + 8]))) for first in (0, 8, 16)
)
_Bytes, _Words = (types.Array(t, 1, "C") for t in (types.uint8, types.uint64))
_U64, _U8, _Row = types.uint64, types.uint8, types.UniTuple(types.uint8, 4)


@kernel(_U64(_U64))
def draw_order(word):
    """The order of directions chosen by a random word's high half, two bits each."""
    index = ((word >> _32) * _24) >> _32
    second, third = _0 - ((index >> _3) & _1), _0 - (index >> _4)
    orders = _ORDERS0 ^ (second & (_ORDERS0 ^ _ORDERS1)) ^ (third & (_ORDERS0 ^ _ORDERS2))
    return (orders >> ((index & _U(7)) << _3)) & _U(255)


@kernel(types.UniTuple(_U8, 2)(_U8, _U8, _U8))
def swap(mask, one, other):
    return pick(mask, other, one), pick(mask, one, other)


@kernel(types.UniTuple(_Row, 4)(_U8, _Row, _Row, _Row, _Row))
def transpose_where(turned, row0, row1, row2, row3):
    (a0, a1, a2, a3), (b0, b1, b2, b3), (c0, c1, c2, c3), (d0, d1, d2, d3) = row0, row1, row2, row3
    a1, b0 = swap(turned, a1, b0)
    a2, c0 = swap(turned, a2, c0)
    a3, d0 = swap(turned, a3, d0)
    b2, c1 = swap(turned, b2, c1)
    b3, d1 = swap(turned, b3, d1)
    c3, d2 = swap(turned, c3, d2)
    return (a0, a1, a2, a3), (b0, b1, b2, b3), (c0, c1, c2, c3), (d0, d1, d2, d3)


@kernel(types.Tuple((_Row, _U8))(_Row, _U8, _U8, _U8))
def place(row, seen, chosen, tile):
    """Puts the tile on the chosen empty cell; counts the empty cells in `seen`."""
    a, b, c, d = row
    empty = is_zero(a)
    seen = count(empty, seen)
    a = pick(keep(empty, equal(seen, chosen)), tile, a)
    empty = is_zero(b)
    seen = count(empty, seen)
    b = pick(keep(empty, equal(seen, chosen)), tile, b)
    empty = is_zero(c)
    seen = count(empty, seen)
    c = pick(keep(empty, equal(seen, chosen)), tile, c)
    empty = is_zero(d)
    seen = count(empty, seen)
    d = pick(keep(empty, equal(seen, chosen)), tile, d)
    return (a, b, c, d), seen


@kernel(_Row(_U8, _Row))
def slide_row(right, row):
    """Moves a row's tiles to the left, or to the right if the mask `right` is set, and merges equal neighbours."""
    a, b, c, d = row
    a, d = swap(right, a, d)
    b, c = swap(right, b, c)
    gap = is_zero(c)
    c, d = pick(gap, d, c), drop(gap, d)
    gap = is_zero(b)
    b, c, d = pick(gap, c, b), pick(gap, d, c), drop(gap, d)
    gap = is_zero(a)
    a, b, c, d = pick(gap, b, a), pick(gap, c, b), pick(gap, d, c), drop(gap, d)
    same = drop(is_zero(a), equal(a, b))
    a, b, c, d = count(same, a), pick(same, c, b), pick(same, d, c), drop(same, d)
    same = drop(is_zero(b), equal(b, c))
    b, c, d = count(same, b), pick(same, d, c), drop(same, d)
    same = drop(is_zero(c), equal(c, d))
    c, d = count(same, c), drop(same, d)
    a, d = swap(right, a, d)
    b, c = swap(right, b, c)
    return a, b, c, d


@kernel(_U8(_U8, _Row, _Row))
def changes(change, row, other):
    """The bits of `change` and those in which two rows differ."""
    change = differ(differ(change, row[0], other[0]), row[1], other[1])
    return differ(differ(change, row[2], other[2]), row[3], other[3])


@kernel(types.Tuple((_Row, _U8))(_U8, _Row, _Row, _U8))
def take(moved, new, old, empty):
    """The new row in lanes whose tiles have moved, otherwise the old one; counts its empty cells in `empty`."""
    a, b, c, d = new
    a, b, c, d = pick(moved, a, old[0]), pick(moved, b, old[1]), pick(moved, c, old[2]), pick(moved, d, old[3])
    empty = count(is_zero(b), count(is_zero(a), empty))
    return (a, b, c, d), count(is_zero(d), count(is_zero(c), empty))


@kernel(types.void(_Bytes))
def move_tiles(lanes):
    """Places the drawn tiles, turns every board for the direction to try next, and moves its tiles that way."""
    for i in range(LANES):
        moved, drawn, tried = lanes[MOVED + i], lanes[DRAWN + i], lanes[ORDER + i]
        order = pick(moved, drawn, shift_right(tried, _B(2)))
        left = drop(lanes[ENOUGH + i], pick(moved, _B(4), one_less(lanes[LEFT + i])))
        turned = has(pick(moved, drawn, differ(_B(0), tried, order)), _B(2))
        right, chosen, tile = has(order, _B(1)), lanes[CHOSEN + i], keep(moved, lanes[TILE + i])
        lanes[ORDER + i], lanes[LEFT + i] = order, left
        row0 = (lanes[0 * LANES + i], lanes[1 * LANES + i], lanes[2 * LANES + i], lanes[3 * LANES + i])
        row1 = (lanes[4 * LANES + i], lanes[5 * LANES + i], lanes[6 * LANES + i], lanes[7 * LANES + i])
        row2 = (lanes[8 * LANES + i], lanes[9 * LANES + i], lanes[10 * LANES + i], lanes[11 * LANES + i])
        row3 = (lanes[12 * LANES + i], lanes[13 * LANES + i], lanes[14 * LANES + i], lanes[15 * LANES + i])
        row0, row1, row2, row3 = transpose_where(turned, row0, row1, row2, row3)
        row0, seen = place(row0, _B(0), chosen, tile)
        row1, seen = place(row1, seen, chosen, tile)
        row2, seen = place(row2, seen, chosen, tile)
        row3, seen = place(row3, seen, chosen, tile)
        new0, new1, new2, new3 = (
            slide_row(right, row0),
            slide_row(right, row1),
            slide_row(right, row2),
            slide_row(right, row3),
        )
        change = changes(changes(changes(changes(_B(0), new0, row0), new1, row1), new2, row2), new3, row3)
        moved = drop(is_zero(left), drop(is_zero(change), _B(255)))
        row0, empty = take(moved, new0, row0, _B(0))
        row1, empty = take(moved, new1, row1, empty)
        row2, empty = take(moved, new2, row2, empty)
        row3, empty = take(moved, new3, row3, empty)
        lanes[MOVED + i], lanes[EMPTY + i] = moved, empty
        lanes[0 * LANES + i], lanes[1 * LANES + i], lanes[2 * LANES + i], lanes[3 * LANES + i] = row0
        lanes[4 * LANES + i], lanes[5 * LANES + i], lanes[6 * LANES + i], lanes[7 * LANES + i] = row1
        lanes[8 * LANES + i], lanes[9 * LANES + i], lanes[10 * LANES + i], lanes[11 * LANES + i] = row2
        lanes[12 * LANES + i], lanes[13 * LANES + i], lanes[14 * LANES + i], lanes[15 * LANES + i] = row3


@kernel(types.void(_Words, _Bytes))
def draw(words, lanes):
    """Draws a tile and an order of directions in lanes whose tiles have moved."""
    for i in range(LANES):
        moved = _U(np.int64(np.int8(lanes[MOVED + i])))
        s0, s1, s2, s3 = words[S0 + i], words[S1 + i], words[S2 + i], words[S3 + i]
        word, t0, t1, t2, t3 = xoshiro(s0, s1, s2, s3)
        words[S0 + i] = s0 ^ ((s0 ^ t0) & moved)
        words[S1 + i] = s1 ^ ((s1 ^ t1) & moved)
        words[S2 + i] = s2 ^ ((s2 ^ t2) & moved)
        words[S3 + i] = s3 ^ ((s3 ^ t3) & moved)
        scaled = (word & _LOW32) * _U(lanes[EMPTY + i])
        four = _U((scaled & _LOW32) < _FOUR_BELOW)
        played = words[COUNT + i] + ((_1 | four << _32) & moved)
        words[COUNT + i] = played
        lanes[ENOUGH + i] = _B(_0 - _U((played & _LOW32) >= words[LIMIT + i]))
        lanes[DRAWN + i] = _B(draw_order(word))
        lanes[CHOSEN + i] = _B((scaled >> _32) + _1)
        lanes[TILE + i] = _B(_1 + four)


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
    """`safe_plies` of a job's state, after the first tiles if the board is empty."""
    if states[job, SIZE] == 4 and states[job, BOARD] == 0 and states[job, HIGH] == 0 and states[job, PENDING] > 0:
        return 8190
    return safe_plies(states[job])


@kernel(types.Tuple((_U64,) * 8)(_U64, types.int64, _U64, _U64, _U64, _U64))
def begin_playout(board, pending, s0, s1, s2, s3):
    """Begins like `playout`: (board, first order, 4s, board from which the potential counts, stream)."""
    fours = _0
    if board == _0:
        word, s0, s1, s2, s3 = xoshiro(s0, s1, s2, s3)
        outcome = random_tile(board, _0, 16, word & _LOW32)
        board = _U(1 + (outcome & 1)) << _U(4 * (outcome >> 1))
        pending -= 1
    start = board
    for _ in range(pending):
        word, s0, s1, s2, s3 = xoshiro(s0, s1, s2, s3)
        empty = occupied(board) ^ _ONES
        board, four = place_tile(board, empty, empty, word & _LOW32)
        fours += four
    word, s0, s1, s2, s3 = xoshiro(s0, s1, s2, s3)
    return board, draw_order(word), fours, start, s0, s1, s2, s3


@kernel(abi.PLAYOUTS)
def playouts(states, counts, waiting, depth, rngs, gains, ended, lanes, enough, done):
    # Arrays are read and written here, since each array passed to another kernel is seven arguments or more.
    notes, words = lanes[:NOTES], lanes[NOTES : NOTES + WORDS].view(np.uint64)
    cells = lanes[NOTES + WORDS :].view(np.uint8)
    tries = cells[LEFT : LEFT + LANES].view(np.uint64)
    finished = next_job = busy = 0
    for lane in range(LANES):
        busy += notes[JOB + lane] != 0
    while True:
        # Bits of the lanes that are done: testing each byte would mispredict a branch or two per playout.
        idle = zero_bytes(tries[0]) | zero_bytes(tries[1]) << _8
        idle |= (zero_bytes(tries[2]) | zero_bytes(tries[3]) << _8) << _16
        while idle != _0:
            lane = lowest_bit(idle)
            idle &= idle - _1
            job = notes[JOB + lane] - 1
            if job >= 0:
                busy -= 1
                plies, empty = np.int64(words[COUNT + lane] & _LOW32), cells[EMPTY + lane]
                over = empty == 0
                if over and cells[ENOUGH + lane] != 0:
                    board = _0
                    for cell in range(16):
                        board |= _U(cells[CELLS + cell * LANES + lane]) << _U(4 * cell)
                    over = legal_mask(board) == 0
                if plies == notes[SAFE + lane] and plies < depth and not over:
                    play_alone(states, job, depth, rngs, gains, ended)  # it may need more than four bits per cell
                else:
                    points = np.int64(empty) - notes[START + lane] - 4 * np.int64(words[COUNT + lane] >> _32)
                    for cell in range(16):  # `potential` of the board, minus 1 for each empty cell
                        exponent = np.int64(cells[CELLS + cell * LANES + lane])
                        points += (exponent - 1) << exponent
                    gains[job, 0] += points
                    ended[job] += over
                    rngs[job, 0], rngs[job, 1] = words[S0 + lane], words[S1 + lane]
                    rngs[job, 2], rngs[job, 3] = words[S2 + lane], words[S3 + lane]
                notes[TO_COME + lane] -= 1
                if notes[TO_COME + lane] == 0:
                    done[finished] = job
                    finished += 1
                    job = -1
            while job < 0 and next_job < counts.size:
                if waiting[next_job] != 0:
                    waiting[next_job] = 0
                    safe = safe_in_lanes(states, next_job)
                    if safe > 0 and depth > 0 and counts[next_job] > 0:
                        job = next_job
                        notes[TO_COME + lane], notes[SAFE + lane] = counts[job], safe
                        notes[START + lane] = potential(_U(states[job, BOARD]))
                        words[LIMIT + lane] = _U(min(depth, safe))
                    else:
                        for _ in range(counts[next_job]):
                            play_alone(states, next_job, depth, rngs, gains, ended)
                        done[finished] = next_job
                        finished += 1
                next_job += 1
            notes[JOB + lane] = job + 1
            if job >= 0:
                busy += 1
                board, order, fours, start, s0, s1, s2, s3 = begin_playout(
                    _U(states[job, BOARD]), states[job, PENDING], rngs[job, 0], rngs[job, 1], rngs[job, 2], rngs[job, 3]
                )
                for cell in range(16):
                    cells[CELLS + cell * LANES + lane] = (board >> _U(4 * cell)) & _15
                cells[MOVED + lane], cells[DRAWN + lane], cells[LEFT + lane] = 255, order, 4
                cells[TILE + lane], cells[ENOUGH + lane] = 0, 0
                words[COUNT + lane] = fours << _32
                if states[job, BOARD] == 0:
                    notes[START + lane] = potential(start)
                words[S0 + lane], words[S1 + lane], words[S2 + lane], words[S3 + lane] = s0, s1, s2, s3
        if busy == 0 or finished >= enough:
            return finished
        for _ in range(STEPS):
            move_tiles(cells)
            draw(words, cells)
