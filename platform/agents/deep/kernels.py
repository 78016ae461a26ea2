"""Encoding of states and inference by a deep network, compiled: playing needs no jax.

A network is one array: a header of 64-bit words, see below, and its weights as 32-bit numbers. It sees boards from the
seat to move (1 = its own stones, 2 = the other's), each turned to the largest of its symmetric images, so all images of
a board are the same input.
"""

from __future__ import annotations

import numpy as np

from ...core.kernel import kernel, types
from ...games.abi import GAME, TERMINAL, Actions, Gains, State, States
from ...games.generic import copy_state
from ..abi import ACT, VALUES, VISITS

# The header. SIZES is followed by the sizes of the hidden layers, [LAYERS], the origin of each cell of a turned board,
# [IMAGES, CELLS], and each action on it, [IMAGES, ACTIONS].
(
    KNOWN, ACTIONS, EACH, AHEAD, BOARDS, CELLS, HIGHEST, DUELING, LAYERS, IMAGES, SKIPPED, LOG, UNIT, ORIGIN, SIZES,
) = range(15)  # fmt: skip
NOTHING = -1  # the value of every cell of a board that no action leads to

Words = types.Array(types.int64, 1, "C")
Weights = types.Array(types.float32, 1, "C")
Inputs = types.Array(types.int8, 1, "C")
Gains1 = types.Array(types.float32, 1, "C")
ManyGains = types.Array(types.float32, 2, "C")
ManyInputs = types.Array(types.int8, 2, "C")
Masks = types.Array(types.int8, 2, "C")


@kernel(types.void(Words, Actions, types.int64))
def make_relative(words, cells, mover):
    """Shows the second of two seats its own stones as 1."""
    if mover == 1:
        for i in range(words[CELLS]):
            if cells[i] != 0:
                cells[i] = 3 - cells[i]


@kernel(types.int64(Words, Actions))
def largest_image(words, cells):
    """Returns the image whose cells come last in alphabetical order; the first of equals."""
    n, start, best = words[CELLS], SIZES + words[LAYERS], 0
    for image in range(1, words[IMAGES]):
        for i in range(n):
            one, other = cells[words[start + image * n + i]], cells[words[start + best * n + i]]
            if one != other:
                if one > other:
                    best = image
                break
    return best


@kernel(types.int64(Words, types.int64, types.int64))
def turned_action(words, image, action):
    """The action on a turned board."""
    return words[SIZES + words[LAYERS] + words[IMAGES] * words[CELLS] + image * words[ACTIONS] + action]


@kernel(types.void(Words, Actions, types.int64, types.int64, Inputs))
def show_board(words, cells, image, place, inputs):
    """Writes a turned board into the inputs, as their board number `place`."""
    n, start = words[CELLS], SIZES + words[LAYERS] + image * words[CELLS]
    for i in range(n):
        inputs[place * n + i] = min(cells[words[start + i]], words[HIGHEST])


@kernel(types.float64(Words, types.float64))
def reward_of(words, points):
    """The reward for points."""
    if words[LOG] != 0:
        points = np.log2(1.0 + points) if points > 0 else -np.log2(1.0 - points)
    return points / words.view(np.float64)[UNIT]


@kernel(types.int64(GAME, Words, State, Inputs, Gains1))
def see(game, words, state, inputs, gains):
    """Fills `inputs`, [boards * cells], from a state, and returns the image to which its board was turned.

    These are the board and, with AHEAD, the boards after each action, in the order of turned actions, and after two.
    Chance is skipped: its task, the state's word SKIPPED, is cleared. With EACH the inputs are only the boards after
    each action, each turned by itself, so actions are not turned; `gains`, [actions], get their immediate rewards.
    """
    cells = np.empty(game.max_choices, np.int64)
    mover, image, first = game.to_move(state), 0, 0
    gains[:] = 0
    if words[EACH] == 0:
        game.cells(state, cells)
        make_relative(words, cells, mover)
        image, first = largest_image(words, cells), 1
        show_board(words, cells, image, 0, inputs)
        if words[AHEAD] == 0:
            return image
    inputs[first * words[CELLS] :] = NOTHING
    actions, replies = np.empty(game.max_choices, np.int64), np.empty(game.max_choices, np.int64)
    after, later, points = np.empty_like(state), np.empty_like(state), np.empty(game.num_seats)
    for i in range(game.legal(state, actions)):
        copy_state(state, after)
        points[:] = 0.0
        game.step(after, actions[i], points)
        game.cells(after, cells)
        make_relative(words, cells, mover)
        if words[EACH] != 0:
            gains[actions[i]] = reward_of(words, points[mover])
            show_board(words, cells, largest_image(words, cells), actions[i], inputs)
            continue
        turned = turned_action(words, image, actions[i])
        show_board(words, cells, image, 1 + turned, inputs)
        if words[SKIPPED] >= 0:
            after[words[SKIPPED]] = 0
        if words[AHEAD] == 1 or game.to_move(after) == TERMINAL:
            continue
        for j in range(game.legal(after, replies)):
            copy_state(after, later)
            game.step(later, replies[j], points)
            game.cells(later, cells)
            make_relative(words, cells, mover)
            place = 1 + words[ACTIONS] * (1 + turned) + turned_action(words, image, replies[j])
            show_board(words, cells, image, place, inputs)
    return image


@kernel(types.void(Weights, types.int64, Weights, Weights))
def add_layer(weights, at, before, layer):
    """Fills a layer from the rectified previous one: weights, [before, layer], then a bias."""
    size = layer.size
    layer[:] = weights[at + before.size * size : at + before.size * size + size]
    for i in range(before.size):
        if before[i] > 0:
            row, value = weights[at + i * size : at + (i + 1) * size], before[i]
            for j in range(size):
                layer[j] += value * row[j]


@kernel(types.void(Words, Weights, Inputs, Weights))
def say_outputs(words, weights, inputs, outputs):
    """Fills `outputs` from the inputs."""
    size, kinds = words[SIZES], words[HIGHEST] + 1
    at = inputs.size * kinds * size
    layer = np.empty(size, np.float32)
    layer[:] = weights[at : at + size]
    for i in range(inputs.size):
        if inputs[i] >= 0:
            first = (i * kinds + inputs[i]) * size
            row = weights[first : first + size]
            for j in range(size):
                layer[j] += row[j]
    at += size
    for number in range(1, words[LAYERS]):
        following = np.empty(words[SIZES + number], np.float32)
        add_layer(weights, at, layer, following)
        at += (layer.size + 1) * following.size
        layer = following
    if words[DUELING] == 0:
        add_layer(weights, at, layer, outputs)
        return
    half, worth = layer.size // 2, np.empty(1, np.float32)
    add_layer(weights, at, layer[:half], worth)
    add_layer(weights, at + half + 1, layer[half:], outputs)
    shift = worth[0] - outputs.sum() / np.float32(outputs.size)
    for action in range(outputs.size):
        outputs[action] += shift


@kernel(types.void(Words, Weights, Inputs, Gains1, Weights))
def say_values(words, weights, inputs, gains, values):
    """Fills `values`, [actions], with the network's values of turned actions, if these appear legal in the inputs."""
    if words[EACH] == 0:
        say_outputs(words, weights, inputs, values)
        return
    n = words[CELLS]
    for action in range(words[ACTIONS]):
        if inputs[action * n] != NOTHING:
            say_outputs(words, weights, inputs[action * n : (action + 1) * n], values[action : action + 1])
            values[action] += gains[action]


@kernel(types.float32[::1](Words))
def weights_behind(words):
    return words.view(np.float32)[words[ORIGIN] :]


@kernel(ACT)
def act_dqn(game, evaluator, settings, state, returns, rng, root):
    words = settings.view(np.int64)
    actions = np.empty(game.max_choices, np.int64)
    n = game.legal(state, actions)
    best = actions[0]
    if words[KNOWN] == 0:
        return best
    inputs, values = np.empty(words[BOARDS] * words[CELLS], np.int8), np.empty(words[ACTIONS], np.float32)
    gains = np.empty(words[ACTIONS], np.float32)
    image = see(game, words, state, inputs, gains)
    say_values(words, weights_behind(words), inputs, gains, values)
    for i in range(n):
        value = values[turned_action(words, image, actions[i])]
        root[VISITS, actions[i]], root[VALUES, actions[i]] = 1.0, value
        if value > root[VALUES, best] or i == 0:
            best = actions[i]
    return best


@kernel(types.void(GAME, Words, States, ManyInputs, ManyGains, Masks, Actions))
def see_many(game, words, states, inputs, gains, masks, images):
    """`see` for states, [n, state_words]; also fills masks, [n, actions], of legal turned actions."""
    actions, state = np.empty(game.max_choices, np.int64), np.empty(states.shape[1], np.int64)
    for row in range(states.shape[0]):
        copy_state(states[row], state)
        image = images[row] = see(game, words, state, inputs[row], gains[row])
        masks[row] = 0
        for i in range(game.legal(state, actions)):
            masks[row, turned_action(words, image, actions[i])] = 1


@kernel(types.void(GAME, Words, Weights, States, Gains))
def value_many(game, words, weights, states, values):
    """Fills `values`, [n, actions], with the values of the actions of states; minus infinity where one is not legal."""
    actions, state = np.empty(game.max_choices, np.int64), np.empty(states.shape[1], np.int64)
    inputs, said = np.empty(words[BOARDS] * words[CELLS], np.int8), np.empty(words[ACTIONS], np.float32)
    gains = np.empty(words[ACTIONS], np.float32)
    for row in range(states.shape[0]):
        copy_state(states[row], state)
        image = see(game, words, state, inputs, gains)
        say_values(words, weights, inputs, gains, said)
        values[row] = -np.inf
        for i in range(game.legal(state, actions)):
            values[row, actions[i]] = said[turned_action(words, image, actions[i])]
