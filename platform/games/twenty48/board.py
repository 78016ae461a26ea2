"""2048 boards as 64-bit words: moves by row tables, random tiles by bit tricks, both exact up to exponent 17.

A board has four bits per cell (cell = row * size + column, row 0 lowest): the tile's exponent modulo 16, 0 = empty;
`high` has bit 4 * cell set if the exponent is 16 or 17. Any file on 2048 boards may call these kernels.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...core.kernel import kernel, types


def _row_tables() -> tuple[npt.NDArray[np.uint16], npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Returns moved rows [2 * 65536] (left, then right), their reward or -1 if 32768s merge, and their potential."""
    rows = np.arange(65536, dtype=np.uint16)
    exponents = [(rows >> 4 * cell & 15).astype(np.int32) for cell in range(4)]
    line, reward, too_large = list(exponents), np.zeros(65536, np.int32), np.zeros(65536, np.bool_)
    for last in (3, 2, 1):  # gaps move to the end
        for cell in range(last):
            _close(line, cell, line[cell] == 0, last)
    for cell in range(3):
        merges = (line[cell] > 0) & (line[cell] == line[cell + 1])
        reward += np.where(merges, 2 << line[cell], 0)
        too_large |= merges & (line[cell] == 15)
        line[cell] = line[cell] + merges
        _close(line, cell + 1, merges)
    reward[too_large] = -1
    left = np.stack([(line[cell] & 15) << 4 * cell for cell in range(4)]).sum(axis=0, dtype=np.uint16)
    mirror = np.stack([(rows >> 4 * cell & 15) << 4 * (3 - cell) for cell in range(4)]).sum(axis=0, dtype=np.uint16)
    potential = np.stack([np.where(tile > 0, (tile - 1) << tile, 0) for tile in exponents]).sum(axis=0, dtype=np.int32)
    return np.append(left, mirror[left[mirror]]), np.append(reward, reward[mirror]), potential


def _close(line: list[npt.NDArray[np.int32]], cell: int, gap: npt.NDArray[np.bool_], last: int = 3) -> None:
    """Moves the tiles after a cell by one, up to the last cell, in the rows that have a gap in it."""
    for i in range(cell, last):
        line[i] = np.where(gap, line[i + 1], line[i])
    line[last] = np.where(gap, 0, line[last])


# Moved rows, their rewards, and their potential: the points for making a row's tiles from 2s. The board's potential,
# minus 4 for every 4 placed by chance, is the score, so playouts need not count rewards move by move.
MOVED, GAIN, POTENTIAL = _row_tables()
# The 24 orders of four directions, two bits each: trying directions in a random order picks a legal one uniformly.
ORDERS = np.array(
    [
        a | b << 2 | c << 4 | (6 - a - b - c) << 6
        for a in range(4)
        for b in range(4)
        for c in range(4)
        if len({a, b, c}) == 3
    ],
    np.uint64,
)

_U = np.uint64
_0, _1, _2, _3, _4 = (_U(n) for n in range(5))
_12, _15, _16, _24, _32, _48, _60 = (_U(n) for n in (12, 15, 16, 24, 32, 48, 60))
_ROW, _LOW32 = _U(0xFFFF), _U(0xFFFFFFFF)
_ONES, _EIGHTS = _U(0x1111111111111111), _U(0x8888888888888888)
_NOT_LAST_COLUMN, _NOT_LAST_ROW = _U(0x0111011101110111), _U(0x0000111111111111)
_COLUMN0, _COLUMN1 = _U(0x000F000F000F000F), _U(0x00F000F000F000F0)
_ROW1, _ROW2 = _U(0x00000000FFFF0000), _U(0x0000FFFF00000000)
_FOUR_BELOW = _U(429496730)  # 0.1 * 2**32
_U64 = types.uint64


@kernel(_U64(_U64))
def transpose(b):
    """Swaps rows and columns of a 4x4 board."""
    swap = (b ^ (b >> _12)) & _U(0x0000F0F00000F0F0)
    b ^= swap ^ (swap << _12)
    swap = (b ^ (b >> _24)) & _U(0x00000000FF00FF00)
    return b ^ swap ^ (swap << _24)


@kernel(_U64(_U64))
def reverse_rows(b):
    """Mirrors a board: the columns in reverse order."""
    return ((b & _COLUMN0) << _12) | ((b & _COLUMN1) << _4) | ((b >> _4) & _COLUMN1) | ((b >> _12) & _COLUMN0)


@kernel(_U64(_U64))
def reverse_columns(b):
    """Turns a board upside down: the rows in reverse order."""
    return (b << _48) | ((b << _16) & _ROW2) | ((b >> _16) & _ROW1) | (b >> _48)


@kernel(_U64(_U64, _U64))
def turn(b, yes):
    """`transpose` if `yes` is 1, the board itself if it is 0, without a branch."""
    mask = _0 - yes
    swap = (b ^ (b >> _12)) & (mask & _U(0x0000F0F00000F0F0))
    b ^= swap ^ (swap << _12)
    swap = (b ^ (b >> _24)) & (mask & _U(0x00000000FF00FF00))
    return b ^ swap ^ (swap << _24)


@kernel(_U64(_U64))
def occupied(b):
    """Bit 4 * cell for every cell that is not empty."""
    b |= b >> _2
    b |= b >> _1
    return b & _ONES


@kernel(types.int64(_U64))
def count_empty(b):
    """The number of empty cells of a 4x4 board with a tile and without high tiles."""
    return np.int64(((occupied(b) ^ _ONES) * _ONES) >> _60)


@kernel(types.int64(_U64))
def legal_mask(b):
    """Bit `action` for every legal action of a 4x4 board without high tiles."""
    full = occupied(b)
    beside = full & ~occupied(b ^ (b >> _4)) & _NOT_LAST_COLUMN
    below = full & ~occupied(b ^ (b >> _16)) & _NOT_LAST_ROW
    left = beside | (~full & (full >> _4) & _NOT_LAST_COLUMN)
    right = beside | (full & ~(full >> _4) & _NOT_LAST_COLUMN)
    up = below | (~full & (full >> _16) & _NOT_LAST_ROW)
    down = below | (full & ~(full >> _16) & _NOT_LAST_ROW)
    return np.int64(left != _0) | np.int64(right != _0) << 1 | np.int64(up != _0) << 2 | np.int64(down != _0) << 3


@kernel(_U64(_U64, types.int64))
def slide(b, side):
    """Moves the four rows to the left (side 0) or right (side 65536)."""
    return (
        _U(MOVED[side + np.int64(b & _ROW)])
        | _U(MOVED[side + np.int64((b >> _16) & _ROW)]) << _16
        | _U(MOVED[side + np.int64((b >> _32) & _ROW)]) << _32
        | _U(MOVED[side + np.int64(b >> _48)]) << _48
    )


@kernel(types.int64(_U64, types.int64))
def slide_gain(b, side):
    """Returns the reward of `slide`, or -1 if two 32768s merge, which four bits cannot hold."""
    total = 0
    for shift in (0, 16, 32, 48):
        gain = GAIN[side + np.int64((b >> _U(shift)) & _ROW)]
        if gain < 0:
            return -1
        total += gain
    return total


@kernel(types.int64(_U64, _U64, types.int64))
def exponent(board, high, cell):
    shift = _U(4 * cell)
    return np.int64(((board >> shift) & _15) | ((high >> shift) & _1) << _4)


@kernel(types.Tuple((_U64, _U64, types.int64))(_U64, _U64, types.int64, types.int64))
def slide_any(board, high, size, action):
    """Moves a board of any size with tiles of any exponent, cell by cell: (board, high, reward)."""
    new_board, new_high, reward = _0, _0, 0
    for line in range(size):
        slot, last = 0, 0
        for step_ in range(size + 1):  # the extra step flushes the last tile of the line
            tile = 0
            if step_ < size:
                along = step_ if action & 1 == 0 else size - 1 - step_
                tile = exponent(board, high, line * size + along if action < 2 else along * size + line)
                if tile == 0:
                    continue
            placed = last
            if tile != 0 and tile == last:
                placed = tile + 1
                reward += 2 << tile
                last = 0
            else:
                last = tile
            if placed != 0:
                along = slot if action & 1 == 0 else size - 1 - slot
                shift = _U(4 * (line * size + along if action < 2 else along * size + line))
                new_board |= _U(placed & 15) << shift
                new_high |= _U(placed >> 4) << shift
                slot += 1
    return new_board, new_high, reward


@kernel(types.int64(_U64, _U64, types.int64))
def legal_mask_any(board, high, size):
    """`legal_mask` of a board of any size with tiles of any exponent."""
    if size == 4 and high == _0:
        return legal_mask(board)
    mask = np.int64(0)
    for action in range(4):
        new_board, new_high, _ = slide_any(board, high, size, action)
        mask |= np.int64(new_board != board or new_high != high) << action
    return mask


@kernel(types.Tuple((_U64, _U64, types.int64))(_U64, _U64, types.int64, types.int64))
def move(board, high, size, action):
    """The board after an action, before chance: (board, high, reward)."""
    if size == 4 and high == _0:
        side, across = (action & 1) << 16, _U(action >> 1)
        rows = turn(board, across)
        reward = slide_gain(rows, side)
        if reward >= 0:
            return turn(slide(rows, side), across), _0, reward
    return slide_any(board, high, size, action)


@kernel(types.int64(_U64, _U64, types.int64, _U64))
def random_tile(board, high, cells, word):
    """The chance outcome of 32 random bits: they choose the empty cell, and their remaining fraction the tile.

    The board must have an empty cell; it is found without loops, as in `place_tile`.
    """
    empty = ~(occupied(board) | high) & (_ONES >> _U(64 - 4 * cells))
    if empty == _ONES:  # sixteen do not fit four bits
        scaled = word * _16
        return 2 * np.int64(scaled >> _32) + np.int64((scaled & _LOW32) < _FOUR_BELOW)
    scaled = word * ((empty * _ONES) >> _60)
    miss = (empty * _ONES) ^ (((scaled >> _32) + _1) * _ONES)
    hit = (miss - _ONES) & (~miss & _EIGHTS)
    below = (((hit & (_0 - hit)) >> _3) - _1) & _ONES  # a bit for each cell before the chosen one
    return 2 * np.int64((below * _ONES) >> _60) + np.int64((scaled & _LOW32) < _FOUR_BELOW)


@kernel(types.Tuple((_U64, _U64))(_U64, _U64, _U64, _U64))
def place_tile(b, empty, empty_here, word):
    """`random_tile` without loops for a 4x4 board with a tile and an empty cell: (board, 1 if the tile is a 4).

    The empty cells are counted in `empty` and found in `empty_here`, which has them in the orientation of `b`: with two
    words the board may be turned during the counting.
    """
    scaled = word * ((empty * _ONES) >> _60)
    before = empty_here * _ONES  # in nibble i: the number of empty cells up to i, at most 15
    wanted = (scaled >> _32) + _1
    miss = before ^ (wanted * _ONES)  # nibble 0 where the count is the wanted one; the lowest such cell is empty
    hit = (miss - _ONES) & (~miss & _EIGHTS)
    four = _U((scaled & _LOW32) < _FOUR_BELOW)
    return b | (hit & (_0 - hit)) >> (_3 - four), four


@kernel(types.int64(_U64))
def potential(b):
    return (
        np.int64(POTENTIAL[np.int64(b & _ROW)])
        + np.int64(POTENTIAL[np.int64((b >> _16) & _ROW)])
        + np.int64(POTENTIAL[np.int64((b >> _32) & _ROW)])
        + np.int64(POTENTIAL[np.int64(b >> _48)])
    )


@kernel(types.int64(_U64))
def tile_sum(b):
    total = 0
    for cell in range(16):
        total += int((_1 << ((b >> _U(4 * cell)) & _15)) & ~_1)
    return total
