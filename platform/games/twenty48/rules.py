"""The rules of 2048 as kernels, for boards of any size.

State words: size, board, high, pending; see board.py for `board` and `high`. `pending` counts the tiles that chance has
to place next, 0 = the player moves, -1 = over. Actions: 0 left, 1 right, 2 up, 3 down; chance outcome 2 * cell places a
2 (90 %), 2 * cell + 1 a 4 (10 %). Source: Kutsch 2017, 2.1.

With two seats (the kernels named duel_...), the second one places the tiles and loses the points that the first one
makes (a wish of 4.5). Chance only draws the two tiles of the start, in `duel_init`; `pending` is 1 while the second
seat has to place a tile; its actions are MOVES + the outcomes of chance.
"""

from __future__ import annotations

import numpy as np

from ...core.kernel import kernel
from ...core.rng import next_word
from .. import abi
from ..abi import CHANCE, TERMINAL
from .board import exponent, legal_mask_any, move, random_tile

SIZE, BOARD, HIGH, PENDING, STATE_WORDS = 0, 1, 2, 3, 4
MOVES = 4  # actions of who moves

_U = np.uint64
_0, _15, _LOW32 = _U(0), _U(15), _U(0xFFFFFFFF)


@kernel(abi.LEGAL)
def legal(state, out):
    mask = legal_mask_any(_U(state[BOARD]), _U(state[HIGH]), state[SIZE])
    n = 0
    for action in range(4):
        out[n] = action
        n += mask >> action & 1
    return n


@kernel(abi.INIT)
def init(state, rng):
    state[BOARD] = state[HIGH] = 0
    state[PENDING] = 2


@kernel(abi.TO_MOVE)
def to_move(state):
    if state[PENDING] > 0:
        return CHANCE
    return TERMINAL if state[PENDING] < 0 else 0


@kernel(abi.OUTCOMES)
def chance(state, out, probs):
    board, high = _U(state[BOARD]), _U(state[HIGH])
    n = 0
    for cell in range(state[SIZE] * state[SIZE]):
        if exponent(board, high, cell) == 0:
            out[n], out[n + 1] = 2 * cell, 2 * cell + 1
            n += 2
    for i in range(0, n, 2):
        probs[i], probs[i + 1] = 0.9 / (n // 2), 0.1 / (n // 2)
    return n


@kernel(abi.STEP)
def step(state, action, rewards):
    if state[PENDING] > 0:
        shift = _U(4 * (action >> 1))
        state[BOARD] = np.int64(_U(state[BOARD]) | _U(1 + (action & 1)) << shift)
        state[PENDING] -= 1
        if state[PENDING] == 0 and legal_mask_any(_U(state[BOARD]), _U(state[HIGH]), state[SIZE]) == 0:
            state[PENDING] = -1
        return
    board, high, reward = move(_U(state[BOARD]), _U(state[HIGH]), state[SIZE], action)
    state[BOARD], state[HIGH], state[PENDING] = np.int64(board), np.int64(high), 1
    rewards[0] += reward


@kernel(abi.SAMPLE_CHANCE)
def sample_chance(state, rng):
    return random_tile(_U(state[BOARD]), _U(state[HIGH]), state[SIZE] * state[SIZE], next_word(rng) & _LOW32)


@kernel(abi.CELLS)
def cells(state, out):
    board, high = _U(state[BOARD]), _U(state[HIGH])
    cells = state[SIZE] * state[SIZE]
    if high == _0:
        for cell in range(cells):
            out[cell] = np.int64((board >> _U(4 * cell)) & _15)
    else:
        for cell in range(cells):
            out[cell] = exponent(board, high, cell)


@kernel(abi.INIT)
def duel_init(state, rng):
    state[BOARD] = state[HIGH] = state[PENDING] = 0
    for _ in range(2):
        tile = random_tile(_U(state[BOARD]), _U(state[HIGH]), state[SIZE] * state[SIZE], next_word(rng) & _LOW32)
        state[BOARD] = np.int64(_U(state[BOARD]) | _U(1 + (tile & 1)) << _U(4 * (tile >> 1)))


@kernel(abi.TO_MOVE)
def duel_to_move(state):
    return TERMINAL if state[PENDING] < 0 else state[PENDING]


@kernel(abi.LEGAL)
def duel_legal(state, out):
    if state[PENDING] == 0:
        return legal(state, out)
    n, board, high = 0, _U(state[BOARD]), _U(state[HIGH])
    for cell in range(state[SIZE] * state[SIZE]):
        if exponent(board, high, cell) == 0:
            out[n], out[n + 1] = MOVES + 2 * cell, MOVES + 2 * cell + 1
            n += 2
    return n


@kernel(abi.STEP)
def duel_step(state, action, rewards):
    if state[PENDING] == 1:
        tile = action - MOVES
        state[BOARD] = np.int64(_U(state[BOARD]) | _U(1 + (tile & 1)) << _U(4 * (tile >> 1)))
        left = legal_mask_any(_U(state[BOARD]), _U(state[HIGH]), state[SIZE])
        state[PENDING] = -1 if left == 0 else 0
        return
    board, high, points = move(_U(state[BOARD]), _U(state[HIGH]), state[SIZE], action)
    state[BOARD], state[HIGH], state[PENDING] = np.int64(board), np.int64(high), 1
    rewards[0] += points
    rewards[1] -= points
