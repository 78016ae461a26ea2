"""Random playouts of 2048 in one go, without the general interface between plies."""

from __future__ import annotations

import numpy as np

from ...core.kernel import kernel, types
from ...core.rng import Rng, next_word, xoshiro
from .. import abi
from .board import ORDERS, legal_mask, move, occupied, place_tile, potential, slide, tile_sum, turn
from .rules import BOARD, HIGH, PENDING, SIZE, sample_chance, step

_U = np.uint64
_0, _1, _2, _3, _24, _32 = (_U(n) for n in (0, 1, 2, 3, 24, 32))
_LOW32, _ONES, _FOURS = _U(0xFFFFFFFF), _U(0x1111111111111111), _U(0x4444444444444444)


@kernel(types.int64(abi.State, types.int64, Rng, abi.Floats))
def _playout_any(state, depth, rng, returns):
    """The playout cell by cell, for small boards and for tiles near 65,536."""
    plies = 0
    while True:
        if state[PENDING] > 0:
            step(state, sample_chance(state, rng), returns)
        elif state[PENDING] < 0 or plies == depth:
            return plies
        else:
            word = next_word(rng)
            order = ORDERS[np.int64(((word >> _32) * _24) >> _32)]
            board, high, reward, action = _U(state[BOARD]), _U(state[HIGH]), 0, np.int64(0)
            for _ in range(4):
                action = np.int64(order & _3)
                order >>= _2
                board, high, reward = move(_U(state[BOARD]), _U(state[HIGH]), state[SIZE], action)
                if board != _U(state[BOARD]) or high != _U(state[HIGH]):
                    break
            state[BOARD], state[HIGH], state[PENDING] = np.int64(board), np.int64(high), 1
            returns[0] += reward
            plies += 1


@kernel(types.int64(abi.State))
def safe_plies(state):
    """Returns the plies for which four bits per cell suffice; 0 unless it is a 4x4 board with a tile and no high tiles.

    Two 32768s need tiles that sum to 65,536, and a ply adds at most 4. Without a tile of 4096 or more (bits 2 and 3 of
    its exponent) the sum is at most 16 * 2048.
    """
    board = _U(state[BOARD])
    if state[SIZE] != 4 or state[HIGH] != 0 or state[PENDING] < 0 or board == _0:
        return 0
    if board & (board >> _1) & _FOURS == _0:
        return 8190
    return max(0, (65536 - tile_sum(board)) // 4 - 2)


@kernel(abi.PLAYOUT)
def playout(state, depth, rng, returns):
    while state[BOARD] == 0 and state[PENDING] > 0:  # `place_tile` needs a tile
        step(state, sample_chance(state, rng), returns)
    safe = safe_plies(state)
    if safe == 0:
        return _playout_any(state, depth, rng, returns)
    board = _U(state[BOARD])
    limit = min(depth, safe)
    start = potential(board)
    s0, s1, s2, s3 = rng[0], rng[1], rng[2], rng[3]
    fours = _0
    plies = 0
    for _ in range(state[PENDING]):
        word, s0, s1, s2, s3 = xoshiro(s0, s1, s2, s3)
        empty = occupied(board) ^ _ONES
        board, four = place_tile(board, empty, empty, word & _LOW32)
        fours += four
    # A turned board stays turned, which random play does not notice, and is turned back at the end. The next direction
    # is drawn before the tile is placed, so that the board turns while the tile's cell is being computed.
    word, s0, s1, s2, s3 = xoshiro(s0, s1, s2, s3)
    order = ORDERS[np.int64(((word >> _32) * _24) >> _32)]
    turned = (order >> _1) & _1
    board = turn(board, turned)
    over = False
    while plies < limit:
        moved = slide(board, np.int64(order & _1) << 16)
        if moved == board:
            for _ in range(3):
                across = ((order ^ (order >> _2)) >> _1) & _1
                order >>= _2
                turned ^= across
                board = turn(board, across)
                moved = slide(board, np.int64(order & _1) << 16)
                if moved != board:
                    break
            if moved == board:
                over = True
                break
        word, s0, s1, s2, s3 = xoshiro(s0, s1, s2, s3)
        order = ORDERS[np.int64(((word >> _32) * _24) >> _32)]
        across = (order >> _1) & _1
        turned ^= across
        empty = occupied(moved) ^ _ONES
        board, four = place_tile(turn(moved, across), empty, turn(empty, across), word & _LOW32)
        fours += four
        plies += 1
    rng[0], rng[1], rng[2], rng[3] = s0, s1, s2, s3
    returns[0] += potential(board) - start - 4 * np.int64(fours)
    state[BOARD] = np.int64(turn(board, turned))
    state[PENDING] = -1 if over or legal_mask(board) == 0 else 0
    if plies == safe and plies < depth and state[PENDING] == 0:
        return plies + _playout_any(state, depth - plies, rng, returns)
    return plies
