"""Inference of a residual network in compiled code: playing needs no jax.

A network is one array: a header of 64-bit words, see below, and its weights as 32-bit numbers. It sees the board from
the seat to move. Layers are [rows, filters]: the cells, unused rows up to a whole number of tiles, and a last row of
zeros for everything outside the board.
"""

from __future__ import annotations

import math

import numpy as np

from ...core.kernel import kernel, types
from ...games.abi import GAME, TERMINAL, Actions, Floats, State, States
from ...games.generic import copy_state
from ..abi import EVALUATE
from ..deep.kernels import Inputs, ManyInputs, Masks, Weights, Words, add_layer
from .tiles import LANES, NINE, TILE, add_tile

# The header; behind it, from NEAR on, [ROWS, NINE] the cells around each, by row of a layer.
CELLS, ROWS, ACTIONS, FILTERS, BLOCKS, ORIGIN, NEAR = range(7)
PLANES = 4  # own stones, the other's, ones, and whether the second seat is to move
HEADS = LANES // 2  # planes of each head
CENTRE = NINE // 2  # number of the cell itself among the nine
_I64 = types.int64
Shares = types.Array(types.float32, 1, "C")
Tables = types.Array(types.int64, 2, "C")
Wanted = types.Array(types.float32, 2, "C")


@kernel(types.void(Words, Actions, _I64, Weights))
def fill_planes(words, cells, mover, planes):
    """Fills the inputs of the first layer, [ROWS + 1, PLANES], from cells."""
    for i in range(words[CELLS]):
        planes[i * PLANES] = cells[i] == 1 + mover
        planes[i * PLANES + 1] = cells[i] == 2 - mover
        planes[i * PLANES + 2] = 1
        planes[i * PLANES + 3] = mover


@kernel(_I64(Words, Weights, _I64, _I64, Weights, _I64, Weights, _I64))
def convolve(words, table, at, slots, layer, inputs, sums, outputs):
    """Adds a convolution of a layer, and its bias, to the sums [ROWS, outputs]; returns the end of its weights.

    Args:
        table: the weights; this layer's from `at` on: [outputs / LANES, slots, inputs, LANES], then the bias.
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
    """Adds the planes of both heads to zeros, [ROWS, 2 * HEADS]; returns the end of their weights."""
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
    """Returns the state's value to the mover, from -1 to 1; at: the begin of the weights behind the heads."""
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
    """Returns a state's value to the mover and fills in the logits of all actions, [actions]."""
    heads = np.zeros(words[ROWS] * LANES, np.float32)
    at = set_heads(game, words, table, state, mover, heads)
    set_logits(words, table, at, heads, logits)
    return value_of(words, table, at, heads)


@kernel(EVALUATE)
def evaluate_residual(game, weights, state, returns, count, rng, totals, scratch):
    """The returns of a finished game, otherwise those expected by the network, / max_return."""
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
    """`say` for states, [n, state_words]: fills values, [n], and logits, [n, actions]."""
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
    """Fills in a batch of lessons from positions, turned to symmetric images.

    Args:
        states: [n, state_words]
        ends: [n + 1] the ends of the positions' shares of `policies`, after a 0; empty if nothing was found.
        policies: a share for each legal action, ascending.
        order: [batch] the positions; turns: [batch] the image to which each is turned.
        images: [images, cells] the origin of each cell of a turned board; turned: [images, actions] actions on it.
        seen: [batch, cells] 0 = empty, 1 = own, 2 = the other's.
        second: [batch] whether the second seat is to move.
        legal: [batch, actions] 1 = legal; all 0 if there is no policy to learn.
        wanted: [batch, actions] shares.
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
