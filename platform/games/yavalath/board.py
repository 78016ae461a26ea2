"""Yavalath boards as bits: every player's stones three times, packed along each of the three directions of lines.

A line is consecutive bits of one word, so that the window of seven cells around a stone, three to either side, takes
one shift and one mask, and a table of 128 windows tells what the stone makes. A cell's place in the words of the first
direction is its site; occupied and winning cells are sets of sites. Bits without a cell count as occupied, so that a
random word may choose any bit. Source of the rules: Weitz 2022, 2.1. Any file on Yavalath may call these kernels.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...core.kernel import kernel, types
from ..abi import State

MIN_SIZE, MAX_SIZE = 3, 8
NOTHING, THREE, FOUR = 0, 1, 2  # made by a stone

# State words: the variant, the seat to move (or TERMINAL), the number of stones, whether the seats have been swapped,
# the kind of end (0 = not yet), the best and the worst rank left, and every seat's rank doubled (0 = still in). Sets of
# sites follow, WORDS[size] words each: occupied; with three players every colour's winning cells; and every colour's
# stones along the three directions.
SIZE, PLAYERS, SWAP, PLAY_ON, MOVER, STONES, SWAPPED, END, BEST, WORST, RANK, SETS = *range(11), 13

Cell = tuple[int, int]  # axial coordinates q, r


def num_cells(size: int) -> int:
    return 3 * size * (size - 1) + 1


def coordinates(size: int) -> list[Cell]:
    """Returns (q, r) of every cell: rows of constant r from -(size - 1) up, q ascending in a row."""
    n = size - 1
    return [(q, r) for r in range(-n, n + 1) for q in range(max(-n, -n - r), min(n, n - r) + 1)]


# Lines of constant r, q and q + r; along them the other coordinate grows.
LINE_OF = (lambda q, r: (r, q), lambda q, r: (q, r), lambda q, r: (q + r, q))
# Words of a set of sites: a power of two, so that a site is a few random bits.
WORDS = np.array([0, 0, 0, 1, 1, 1, 2, 4, 4], np.int64)
SITE_BITS = np.array([0, 0, 0, 6, 6, 6, 7, 8, 8], np.uint64)


def _bits(size: int, direction: int) -> dict[Cell, int]:
    """Returns every cell's bit; each word has whole lines and leaves its lowest three bits free."""
    lines: dict[int, list[Cell]] = {}
    for cell in sorted(coordinates(size), key=lambda cell: LINE_OF[direction](*cell)):
        lines.setdefault(LINE_OF[direction](*cell)[0], []).append(cell)
    bits: dict[Cell, int] = {}
    bit = 3
    for line in lines.values():
        if bit % 64 + len(line) > 64 or bit % 64 == 0:
            bit = (bit + 63) // 64 * 64 + 3
        for cell in line:
            bits[cell] = bit
            bit += 1
    return bits


def _geometry() -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint64], npt.NDArray[np.int64]]:
    """Returns the sites of cells, the windows (word, shift, mask) by site and direction, and the sites of bits."""
    sites = np.full((MAX_SIZE + 1, 256), -1, np.int64)
    windows = np.zeros((MAX_SIZE + 1, 256, 9), np.uint64)
    site_at = np.full((MAX_SIZE + 1, 3, 256), -1, np.int64)
    for size in range(MIN_SIZE, MAX_SIZE + 1):
        places = [_bits(size, direction) for direction in range(3)]
        for index, (q, r) in enumerate(coordinates(size)):
            site = sites[size, index] = places[0][q, r]
            for direction, (dq, dr) in enumerate(((1, 0), (0, 1), (1, -1))):
                bit = places[direction][q, r]
                inside = ((q + (i - 3) * dq, r + (i - 3) * dr) in places[0] for i in range(7))
                mask = sum(1 << i for i, there in enumerate(inside) if there)
                windows[size, site, 3 * direction : 3 * direction + 3] = bit // 64, bit % 64 - 3, mask
                site_at[size, direction, bit] = site
    return sites, windows, site_at


def _window_table() -> npt.NDArray[np.int64]:
    """Returns, for each window around a new stone, what it makes and, from bit 2 on, the cells that would make FOUR."""
    table = np.zeros(128, np.int64)
    for window in range(128):
        full = window | 0b1000
        low, high = 3, 3
        while low > 0 and full >> (low - 1) & 1:
            low -= 1
        while high < 6 and full >> (high + 1) & 1:
            high += 1
        made = FOUR if high - low >= 3 else THREE if high - low == 2 else NOTHING
        for cell in range(7):
            filled = full | 1 << cell
            if not full >> cell & 1 and any(filled >> k & 0b1111 == 0b1111 and k <= cell < k + 4 for k in range(4)):
                made |= 4 << cell
        table[window] = made
    return table


SITES, WINDOWS, SITE_AT = _geometry()
MADE = _window_table()
NUM_CELLS = np.array([num_cells(size) for size in range(MAX_SIZE + 1)], np.int64)
CELLS_AT = np.full((MAX_SIZE + 1, 256), -1, np.int64)  # the cell of a site, -1 = none
for _size in range(MIN_SIZE, MAX_SIZE + 1):
    CELLS_AT[_size, SITES[_size, : num_cells(_size)]] = np.arange(num_cells(_size))

_U = np.uint64
_0, _1, _2, _3, _4, _56 = (_U(n) for n in (0, 1, 2, 3, 4, 56))


@kernel(types.uint64(types.uint64))
def popcount(b):
    b -= (b >> _1) & _U(0x5555555555555555)
    b = (b & _U(0x3333333333333333)) + ((b >> _2) & _U(0x3333333333333333))
    b = (b + (b >> _4)) & _U(0x0F0F0F0F0F0F0F0F)
    return (b * _U(0x0101010101010101)) >> _56


@kernel(types.int64(types.uint64))
def lowest(b):
    """The lowest bit that is set."""
    return np.int64(popcount((b & (_0 - b)) - _1))


@kernel(types.int64(State, types.int64))
def wins_at(state, colour):
    """The offset of a colour's winning cells with three players, some of which may be occupied; 0 with two players."""
    return SETS + WORDS[state[SIZE]] * (1 + colour) if state[PLAYERS] == 3 else 0


@kernel(types.int64(State, types.int64))
def stones_at(state, colour):
    """The offset of a colour's stones."""
    words = WORDS[state[SIZE]]
    return SETS + words * (4 if state[PLAYERS] == 3 else 1) + 3 * words * colour


@kernel(types.boolean(State, types.int64))
def occupied(state, site):
    return (_U(state[SETS + (site >> 6)]) >> _U(site & 63)) & _1 != _0


@kernel(types.int64(State, types.int64, types.int64, types.int64))
def window(state, stones, site, direction):
    """Bits of the seven cells around a site along a direction: stones of the set at `stones`."""
    size = state[SIZE]
    word = state[stones + direction * WORDS[size] + np.int64(WINDOWS[size, site, 3 * direction])]
    return np.int64((_U(word) >> WINDOWS[size, site, 3 * direction + 1]) & WINDOWS[size, site, 3 * direction + 2])


@kernel(types.int64(State, types.int64, types.int64))
def makes(state, colour, site):
    """What a stone of `colour` makes, or would make, on a site: FOUR in any direction comes before THREE."""
    stones = stones_at(state, colour)
    a = MADE[window(state, stones, site, 0)] & 3
    b = MADE[window(state, stones, site, 1)] & 3
    c = MADE[window(state, stones, site, 2)] & 3
    return max(a, b, c)


@kernel(types.void(State, types.int64, types.int64))
def toggle(state, colour, site):
    """Puts a stone on an empty site, or removes it again."""
    size, stones = state[SIZE], stones_at(state, colour)
    state[SETS + (site >> 6)] ^= np.int64(_1 << _U(site & 63))
    for direction in range(3):
        bit = _1 << (WINDOWS[size, site, 3 * direction + 1] + _3)
        state[stones + direction * WORDS[size] + np.int64(WINDOWS[size, site, 3 * direction])] ^= np.int64(bit)


@kernel(types.UniTuple(types.int64, 2)(State, types.int64, types.int64))
def threats(state, colour, site):
    """Empty sites where `colour` would make a four with its stone on `site`: (number, one of them or -1)."""
    stones, size = stones_at(state, colour), state[SIZE]
    count, found = 0, np.int64(-1)
    for direction in range(3):
        fours = _U(MADE[window(state, stones, site, direction)] >> 2) & WINDOWS[size, site, 3 * direction + 2]
        bit = np.int64(WINDOWS[size, site, 3 * direction]) * 64 + np.int64(WINDOWS[size, site, 3 * direction + 1])
        while fours != _0:
            other = SITE_AT[size, direction, bit + lowest(fours)]
            fours &= fours - _1
            if not occupied(state, other):
                count += 1
                found = other
    return count, found


@kernel(types.int64(State, types.int64, types.int64, types.int64, types.int64), inline=True)
def put(state, size, stones, wins, site):
    """Puts a stone of the set at `stones` on an empty site; returns NOTHING, THREE or FOUR.

    Sites where it now threatens a four are added to the set at `wins`, unless that is 0.
    """
    words, made = WORDS[size], 0
    state[SETS + (site >> 6)] ^= np.int64(_1 << _U(site & 63))
    for direction in range(3):
        shift = WINDOWS[size, site, 3 * direction + 1]
        place = stones + direction * words + np.int64(WINDOWS[size, site, 3 * direction])
        before, mask = _U(state[place]), WINDOWS[size, site, 3 * direction + 2]
        state[place] = np.int64(before | _1 << (shift + _3))
        found = MADE[np.int64((before >> shift) & mask)]
        made = max(made, found & 3)
        fours = _U(found >> 2) & mask
        if wins and fours != _0:
            bit = np.int64(WINDOWS[size, site, 3 * direction]) * 64 + np.int64(shift)
            while fours != _0:
                other = SITE_AT[size, direction, bit + lowest(fours)]
                state[wins + (other >> 6)] |= np.int64(_1 << _U(other & 63))
                fours &= fours - _1
    return made


@kernel(types.uint64(State, types.int64, types.int64, types.int64, types.int64))
def forced_word(state, words, mover, after, word):
    """One word of the sites to which the mover of three is bound: it wins there, or the seat after it would."""
    wins = SETS + words + word
    return (_U(state[wins + mover * words]) | _U(state[wins + after * words])) & ~_U(state[SETS + word])
