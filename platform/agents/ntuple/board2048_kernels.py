"""Entries of n-tuple networks for packed 4x4 boards of 2048: one instruction per tuple, not a loop over cells.

Their order is that of `find_entries`, so values and learned weights are equal, bit for bit; their places are those of a
table in quarters, see layout.py. Needs 16 cell values, tuples with ascending cells, and all eight symmetries.
"""

from __future__ import annotations

import numpy as np

from ...core.atomics import prefetch
from ...core.kernel import kernel, types
from ...games.twenty48.board import reverse_columns, reverse_rows, transpose
from .intrinsics import gather_bits
from .network_kernels import BASES, ENTRIES, ORIGIN, STAGE, STAGES, TUPLES, WIDTH, EntryTable, Header, Index

_U = np.uint64
_U64 = types.uint64
_0, _1, _2, _3, _4, _5, _6, _7, _8 = (_U(n) for n in range(9))
_15, _16, _32 = (_U(n) for n in (15, 16, 32))
_LOW_BITS, _HIGH_BITS = _U(0x3333333333333333), _U(0xCCCCCCCCCCCCCCCC)
_NOTHING = np.float64(0.0)


@kernel(_U64(_U64))
def quartered(b):
    """A board's low two bits of all cells, then the high two."""
    return gather_bits(b, _LOW_BITS) | gather_bits(b, _HIGH_BITS) << _32


@kernel(types.void(_U64, Index))
def symmetric_images(b, images):
    """Writes the eight images of a board into `images`, [8], in the order of games/game.py square_symmetries."""
    turned = transpose(b)
    mirrored, turned_mirrored = reverse_rows(b), reverse_rows(turned)
    images[_0], images[_1] = b, reverse_columns(turned)
    images[_2], images[_3] = reverse_columns(mirrored), turned_mirrored
    images[_4], images[_5] = turned, reverse_columns(b)
    images[_6], images[_7] = reverse_columns(turned_mirrored), mirrored


@kernel(_U64(Header, _U64), inline=True)
def first_place(words, board):
    """Returns the first place of the entries of a board's stage, see `stage_of`."""
    place = _U(words[ORIGIN])
    if words[STAGES] > 0:
        highest = _0
        for cell in range(_16):
            highest = max(highest, board >> (_4 * cell) & _15)
        for i in range(words[STAGES]):
            if np.int64(highest) >= words[words[STAGE] + i]:
                place += _U(words[ENTRIES] * words[WIDTH])
    return place


@kernel(_U64(_U64, _U64))
def at_most_15(board, high):
    """The board with exponents 16 and 17 as 15."""
    return board | high * _15


@kernel(types.float32(Header, _U64, EntryTable, Index))
def packed_value(words, board, table, images):
    """The network's value of a packed board, summed up as by `sum_entries`."""
    tuples, width, origin = _U(words[TUPLES]), _U(words[WIDTH]), first_place(words, board)
    symmetric_images(board, images)
    total = _NOTHING
    for image in range(_8):
        b = quartered(images[image])
        part = _NOTHING
        for t in range(_U(BASES), _U(BASES) + tuples):
            part += table[origin + (_U(words[t]) + gather_bits(b, _U(words[t + tuples]))) * width]
        total += part
    return np.float32(total)


@kernel(types.void(Header, _U64, EntryTable, Index, _U64), inline=True)
def find_entries_of_images(words, board, table, index, first):
    """`find_entries` for a board with four bits a cell, in the order [tuples, 8]; the entries are fetched early.

    All images are in registers. Values lie 1 or 4 places apart, see layout.py.
    """
    tuples, origin, shift = _U(words[TUPLES]), first_place(words, board), _U(words[WIDTH]) >> _1
    turned = transpose(board)
    mirrored, turned_mirrored = reverse_rows(board), reverse_rows(turned)
    b0, b1 = quartered(board), quartered(reverse_columns(turned))
    b2, b3 = quartered(reverse_columns(mirrored)), quartered(turned_mirrored)
    b4, b5 = quartered(turned), quartered(reverse_columns(board))
    b6, b7 = quartered(reverse_columns(turned_mirrored)), quartered(mirrored)
    at = first
    for t in range(_U(BASES), _U(BASES) + tuples):
        base, mask = origin + (_U(words[t]) << shift), _U(words[t + tuples])
        p0, p1 = base + (gather_bits(b0, mask) << shift), base + (gather_bits(b1, mask) << shift)
        p2, p3 = base + (gather_bits(b2, mask) << shift), base + (gather_bits(b3, mask) << shift)
        p4, p5 = base + (gather_bits(b4, mask) << shift), base + (gather_bits(b5, mask) << shift)
        p6, p7 = base + (gather_bits(b6, mask) << shift), base + (gather_bits(b7, mask) << shift)
        index[at], index[at + _1], index[at + _2], index[at + _3] = p0, p1, p2, p3
        index[at + _4], index[at + _5], index[at + _6], index[at + _7] = p4, p5, p6, p7
        prefetch(table, np.int64(p0))
        prefetch(table, np.int64(p1))
        prefetch(table, np.int64(p2))
        prefetch(table, np.int64(p3))
        prefetch(table, np.int64(p4))
        prefetch(table, np.int64(p5))
        prefetch(table, np.int64(p6))
        prefetch(table, np.int64(p7))
        at += _8


@kernel(types.float32(Header, EntryTable, Index, _U64), inline=True)
def sum_entries_of_images(words, table, index, first):
    """The network's value, summed up as by `packed_value`, from places of `find_entries_of_images`."""
    p0 = p1 = p2 = p3 = p4 = p5 = p6 = p7 = _NOTHING
    at = first
    for _ in range(words[TUPLES]):
        p0 += table[index[at]]
        p1 += table[index[at + _1]]
        p2 += table[index[at + _2]]
        p3 += table[index[at + _3]]
        p4 += table[index[at + _4]]
        p5 += table[index[at + _5]]
        p6 += table[index[at + _6]]
        p7 += table[index[at + _7]]
        at += _8
    return np.float32(p0 + p1 + p2 + p3 + p4 + p5 + p6 + p7)
