"""What a residual network says of a state, in compiled code: it plays without jax.

A network comes as one array: a header of 64-bit words, see below, and its weights as 32-bit numbers. It sees the board
as the seat to move does. Layers are [rows, filters]: the cells, some more up to a whole number of tiles, which nothing
looks at, and a last row of zeros, which stands for all that is not on the board.
"""

from __future__ import annotations

import math

import numpy as np
from numba import types

from ...core.kernel import kernel
from ...games.abi import GAME, TERMINAL, Actions, Floats, State, States
from ...games.generic import copy_state
from ..abi import EVALUATE
from ..deep.kernels import Inputs, ManyInputs, Masks, Weights, Words, add_layer
from .tiles import LANES, NINE, TILE, add_tile

# The header; behind it, from NEAR on, [ROWS, NINE] which cells are around each, by row of a layer.
CELLS, ROWS, ACTIONS, FILTERS, BLOCKS, ORIGIN, NEAR = range(7)
PLANES = 4  # own stones, the other's, ones, and whether the second seat is to move
HEADS = LANES // 2  # planes of each head
CENTRE = NINE // 2  # which of the nine is the cell itself
_I64 = types.int64
Shares = types.Array(types.float32, 1, "C")
Tables = types.Array(types.int64, 2, "C")
Wanted = types.Array(types.float32, 2, "C")


@kernel(types.void(Words, Actions, _I64, Weights))
def fill_planes(words, cells, mover, planes):
    """Fills what the first layer sees of cells, [ROWS + 1, PLANES]."""
    for i in range(words[CELLS]):
        planes[i * PLANES] = cells[i] == 1 + mover
        planes[i * PLANES + 1] = cells[i] == 2 - mover
        planes[i * PLANES + 2] = 1
        planes[i * PLANES + 3] = mover


@kernel(_I64(Words, Weights, _I64, _I64, Weights, _I64, Weights, _I64))
def convolve(words, table, at, slots, layer, inputs, sums, outputs):
    """Adds a convolution of a layer, and its bias, to the sums [ROWS, outputs]; returns where its weights end.

    Args:
        table: the weights, of this one from `at` on: [outputs / LANES, slots, inputs, LANES], then the bias.
        slots: NINE, or 1 for the cell alone.
    """
    bias = at + slots * inputs * outputs
    first = NEAR + (CENTRE if slots == 1 else 0)
    for row in range(words[ROWS]):
        for i in range(outputs):
            sums[row * outputs + i] += table[bias + i]
    for group in range(outputs // LANES):
        of_group = at + group * slots * inputs * LANES
        for row in range(0, words[ROWS], TILE):
            to = row * outputs + group * LANES
            add_tile(words, first + row * NINE, slots, layer, inputs, table, of_group, sums, to, outputs)
    return bias + outputs


@kernel(types.void(Words, Weights, _I64))
def rectify(words, layer, filters):
    for i in range(words[ROWS] * filters):
        layer[i] = max(layer[i], np.float32(0))


@kernel(_I64(GAME, Words, Weights, State, _I64, Weights))
def set_heads(game, words, table, state, mover, heads):
    """Adds to zeros, [ROWS, 2 * HEADS], the planes of both heads; returns where the weights of what follows begin."""
    filters, rows = words[FILTERS], words[ROWS]
    cells, planes = np.empty(game.max_choices, np.int64), np.zeros((rows + 1) * PLANES, np.float32)
    game.cells(state, cells)
    fill_planes(words, cells, mover, planes)
    layer, inner = np.zeros((rows + 1) * filters, np.float32), np.zeros((rows + 1) * filters, np.float32)
    at = convolve(words, table, words[ORIGIN], NINE, planes, PLANES, layer, filters)
    rectify(words, layer, filters)
    for _ in range(words[BLOCKS]):
        inner[:] = 0
        at = convolve(words, table, at, NINE, layer, filters, inner, filters)
        rectify(words, inner, filters)
        at = convolve(words, table, at, NINE, inner, filters, layer, filters)
        rectify(words, layer, filters)
    return convolve(words, table, at, 1, layer, filters, heads, LANES)


@kernel(types.void(Words, Weights, _I64, Weights))
def take_head(words, heads, number, planes):
    """Fills [cells, HEADS] with the planes of one head: 0 = the policy's, 1 = the value's."""
    for cell in range(words[CELLS]):
        for i in range(HEADS):
            planes[cell * HEADS + i] = heads[cell * LANES + number * HEADS + i]


@kernel(types.float64(Words, Weights, _I64, Weights))
def value_of(words, table, at, heads):
    """Returns what the state is worth to the mover, from -1 to 1; at: where the weights behind the heads begin."""
    planes = np.empty(words[CELLS] * HEADS, np.float32)
    hidden, value = np.empty(words[FILTERS], np.float32), np.empty(1, np.float32)
    take_head(words, heads, 1, planes)
    at += (planes.size + 1) * words[ACTIONS]
    add_layer(table, at, planes, hidden)
    add_layer(table, at + (planes.size + 1) * hidden.size, hidden, value)
    return math.tanh(float(value[0]))


@kernel(types.void(Words, Weights, _I64, Weights, Weights))
def set_logits(words, table, at, heads, logits):
    """Fills in the logits of all actions, [actions], legal or not."""
    planes = np.empty(words[CELLS] * HEADS, np.float32)
    take_head(words, heads, 0, planes)
    add_layer(table, at, planes, logits)


@kernel(types.float64(GAME, Words, Weights, State, _I64, Weights))
def say(game, words, table, state, mover, logits):
    """Returns what a state is worth to the mover and fills in the logits of all actions, [actions]."""
    heads = np.zeros(words[ROWS] * LANES, np.float32)
    at = set_heads(game, words, table, state, mover, heads)
    set_logits(words, table, at, heads, logits)
    return value_of(words, table, at, heads)


@kernel(EVALUATE)
def evaluate_residual(game, weights, state, returns, count, rng, totals, scratch):
    """The returns of a game that is over, otherwise what the network expects of it, / max_return."""
    mover, times = game.to_move(state), float(count)
    if mover == TERMINAL:
        for seat in range(totals.size):
            totals[seat] += returns[seat] * times / game.max_return
        return
    words, table = weights.view(np.int64), weights.view(np.float32)
    heads = np.zeros(words[ROWS] * LANES, np.float32)
    at = set_heads(game, words, table, state, mover, heads)
    value = times * value_of(words, table, at, heads)
    totals[mover] += value
    totals[1 - mover] -= value


@kernel(types.void(GAME, Words, Weights, States, Floats, Wanted))
def say_many(game, words, table, states, values, logits):
    """`say` of states, [n, state_words]: fills values, [n], and logits, [n, actions]."""
    state = np.empty(states.shape[1], np.int64)
    for row in range(states.shape[0]):
        copy_state(states[row], state)
        values[row] = say(game, words, table, state, game.to_move(state), logits[row])


@kernel(
    types.void(
        GAME, Words, States, Actions, Shares, Actions, Actions, Tables, Tables, ManyInputs, Inputs, Masks, Wanted
    )
)  # fmt: skip
def see_lessons(game, words, states, ends, policies, order, turns, images, turned, seen, second, legal, wanted):
    """Fills in a batch of what is to be learned of positions, turned to symmetric images.

    Args:
        states: [n, state_words]
        ends: [n + 1] where a position's share of `policies` ends, behind a 0; it has none if nothing was found.
        policies: a share for each legal action, ascending.
        order: [batch] the positions; turns: [batch] which image each is turned to.
        images: [images, cells] where each cell of a turned board comes from; turned: [images, actions] what actions
            are there.
        seen: [batch, cells] 0 = empty, 1 = own, 2 = the other's.
        second: [batch] whether the second seat is to move.
        legal: [batch, actions] 1 = legal, where a policy is to be learned; nothing otherwise.
        wanted: [batch, actions] their shares.
    """
    cells, actions = np.empty(game.max_choices, np.int64), np.empty(game.max_choices, np.int64)
    state = np.empty(states.shape[1], np.int64)
    for row in range(order.size):
        at, turn = order[row], turns[row]
        copy_state(states[at], state)
        mover = game.to_move(state)
        game.cells(state, cells)
        second[row] = mover
        for i in range(words[CELLS]):
            value = cells[images[turn, i]]
            seen[row, i] = 3 - value if mover == 1 and value > 0 else value
        legal[row], wanted[row] = 0, 0
        if ends[at + 1] > ends[at]:
            for i in range(game.legal(state, actions)):
                legal[row, turned[turn, actions[i]]] = 1
                wanted[row, turned[turn, actions[i]]] = policies[ends[at] + i]
