"""Random playouts of two players side by side: a board in each lane of the processor's vector registers.

A step tries a site in every lane and places a stone if it is free, without branches, so that the compiler makes vector
instructions of it. A lane draws the same words as `playout` and plays the same moves. For boards whose sets of sites
are one word.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...core.kernel import kernel, types
from ...core.rng import xoshiro
from .. import abi
from .board import (
    CELLS_AT,
    FOUR,
    MAX_SIZE,
    MIN_SIZE,
    MOVER,
    NOTHING,
    NUM_CELLS,
    SETS,
    SIZE,
    STONES,
    SWAP,
    SWAPPED,
    THREE,
    WINDOWS,
    WORDS,
)
from .rules import playout

LANES = 32
TRIES = 8  # sites in a random word; a playout begins with a new one, so all lanes draw their words together
# Offsets of the lanes' words, in one array so that the compiler knows that they do not overlap: occupied sites, the
# mover's stones along the three directions, the opponent's, random bits, stones placed and to place, what the last one
# made, and the random stream.
OCCUPIED, MINE, OTHER, BITS, PLACED, LIMIT, MADE, S0, S1, S2, S3, JOB, TO_COME, LANE_WORDS = (
    LANES * i for i in (0, 1, 4, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17)
)

_U = np.uint64
_0, _1, _2, _3, _6, _7, _8, _14, _21, _27, _63 = (_U(n) for n in (0, 1, 2, 3, 6, 7, 8, 14, 21, 27, 63))
_SEVEN_BITS = _U(0x7F)
_Lanes = types.Array(types.uint64, 1, "C")
_U64 = types.uint64


def _places() -> npt.NDArray[np.uint64]:
    """Returns, for the sites of each size, a word with the masks of the three windows and the shifts of the last two.

    The window along the first direction begins three bits below the site.
    """
    places = np.zeros((MAX_SIZE + 1, 64), np.uint64)
    for size in range(MIN_SIZE, MAX_SIZE + 1):
        for site in np.flatnonzero(CELLS_AT[size] >= 0)[: NUM_CELLS[size] if WORDS[size] == 1 else 0]:
            _, _, mask0, _, shift1, mask1, _, shift2, mask2 = (int(word) for word in WINDOWS[size, site])
            places[size, site] = mask0 | mask1 << 7 | mask2 << 14 | shift1 << 21 | shift2 << 27
    return places


PLACES = _places()


@kernel(types.UniTuple(_U64, 2)(_U64, _U64, _U64))
def runs(stones, shift, mask):
    """Returns words that are not 0 if a stone in a window's middle makes three (or four), and if it makes four."""
    window = ((stones >> shift) & mask) | _8
    pairs = window & (window >> _1)
    return pairs & (window >> _2), pairs & (pairs >> _2)


@kernel(types.void(_Lanes, types.int64))
def try_sites(lanes, size):
    """Places a stone in every playing lane whose next site is free, like `playout`."""
    for i in range(LANES):
        bits, occupied, placed = lanes[BITS + i], lanes[OCCUPIED + i], lanes[PLACED + i]
        mine0, mine1, mine2 = lanes[MINE + i], lanes[MINE + LANES + i], lanes[MINE + 2 * LANES + i]
        other0, other1, other2 = lanes[OTHER + i], lanes[OTHER + LANES + i], lanes[OTHER + 2 * LANES + i]
        site = bits & _63
        place = PLACES[size, site]
        shift0, shift1, shift2 = (site - _3) & _63, (place >> _21) & _63, (place >> _27) & _63
        three0, four0 = runs(mine0, shift0, place & _SEVEN_BITS)
        three1, four1 = runs(mine1, shift1, (place >> _7) & _SEVEN_BITS)
        three2, four2 = runs(mine2, shift2, (place >> _14) & _SEVEN_BITS)
        made = _U((three0 | three1 | three2) != _0) + _U((four0 | four1 | four2) != _0)
        playing = _U(placed < lanes[LIMIT + i]) & _U(lanes[MADE + i] == _0)
        # All choices use masks: conditional expressions are miscompiled for some numbers of lanes.
        places = _0 - (playing & ~(occupied >> site))
        lanes[BITS + i] = bits >> _6
        lanes[OCCUPIED + i] = occupied | (_1 << site & places)
        lanes[PLACED + i] = placed + (_1 & places)
        lanes[MADE + i] |= made & places
        lanes[MINE + i] = mine0 ^ ((mine0 ^ other0) & places)
        lanes[MINE + LANES + i] = mine1 ^ ((mine1 ^ other1) & places)
        lanes[MINE + 2 * LANES + i] = mine2 ^ ((mine2 ^ other2) & places)
        lanes[OTHER + i] = other0 ^ ((other0 ^ (mine0 | _1 << site)) & places)
        lanes[OTHER + LANES + i] = other1 ^ ((other1 ^ (mine1 | _8 << shift1)) & places)
        lanes[OTHER + 2 * LANES + i] = other2 ^ ((other2 ^ (mine2 | _8 << shift2)) & places)


@kernel(types.void(_Lanes))
def draw(lanes):
    """Draws a word in every lane."""
    for i in range(LANES):
        word, s0, s1, s2, s3 = xoshiro(lanes[S0 + i], lanes[S1 + i], lanes[S2 + i], lanes[S3 + i])
        lanes[BITS + i], lanes[S0 + i], lanes[S1 + i], lanes[S2 + i], lanes[S3 + i] = word, s0, s1, s2, s3


@kernel(types.void(abi.States, types.int64, types.int64, abi.Rngs, abi.Gains, abi.Counts))
def play_alone(states, job, depth, rngs, gains, ended):
    """Plays one playout of a job by `playout`."""
    state, rng, returns = states[job].copy(), rngs[job].copy(), np.zeros(2)
    playout(state, depth, rng, returns)
    rngs[job] = rng
    gains[job] += returns
    ended[job] += state[MOVER] < 0


@kernel(abi.PLAYOUTS)
def playouts(states, counts, waiting, depth, rngs, gains, ended, lanes, enough, done):
    # Arrays are read and written here, since each array passed to another kernel is seven arguments or more.
    words, size = lanes.view(np.uint64), states[0, SIZE]
    room = NUM_CELLS[size]
    finished = next_job = 0
    while True:
        busy = 0
        for lane in range(LANES):
            job = int(words[JOB + lane]) - 1
            if job >= 0:
                made, placed = words[MADE + lane], np.int64(words[PLACED + lane])
                if made == _0 and placed < words[LIMIT + lane]:
                    busy += 1
                    continue
                last = states[job, MOVER] ^ (placed & 1 ^ 1)
                won = 1.0 if made == FOUR else -1.0 if made == THREE else 0.0
                gains[job, last] += won
                gains[job, 1 - last] -= won
                ended[job] += made != NOTHING or states[job, STONES] + placed == room
                rngs[job, 0], rngs[job, 1] = words[S0 + lane], words[S1 + lane]
                rngs[job, 2], rngs[job, 3] = words[S2 + lane], words[S3 + lane]
                words[TO_COME + lane] -= _1
                if words[TO_COME + lane] == _0:
                    done[finished] = job
                    finished += 1
                    job = -1
            while job < 0 and next_job < counts.size:
                if waiting[next_job] != 0:
                    waiting[next_job] = 0
                    opening = states[next_job, SWAP] == 1 and states[next_job, STONES] < 2
                    opening = opening and states[next_job, SWAPPED] == 0
                    if states[next_job, MOVER] >= 0 and not opening and depth > 0 and counts[next_job] > 0:
                        job = next_job
                        words[TO_COME + lane] = counts[job]
                    else:
                        for _ in range(counts[next_job]):
                            play_alone(states, next_job, depth, rngs, gains, ended)
                        done[finished] = next_job
                        finished += 1
                next_job += 1
            words[JOB + lane] = job + 1
            if job >= 0:
                busy += 1
                colour = states[job, STONES] & 1
                sets = SETS + 1
                mine, other = sets + 3 * colour, sets + 3 * (1 - colour)
                words[OCCUPIED + lane] = states[job, SETS]
                for direction in range(3):
                    words[MINE + direction * LANES + lane] = states[job, mine + direction]
                    words[OTHER + direction * LANES + lane] = states[job, other + direction]
                words[PLACED + lane], words[MADE + lane] = _0, _0
                words[LIMIT + lane] = min(depth, room - states[job, STONES])
                words[S0 + lane], words[S1 + lane] = rngs[job, 0], rngs[job, 1]
                words[S2 + lane], words[S3 + lane] = rngs[job, 2], rngs[job, 3]
        if busy == 0 or finished >= enough:
            return finished
        draw(words)
        for _ in range(TRIES):
            try_sites(words, size)
