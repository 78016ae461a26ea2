"""Depth-limited expectimax through the game ABI, for any number of seats, with a transposition table.

Each mover maximises its own component of a vector of values; chance nodes are expectations. The search walks over a
stack of nodes, one per level, which is allocated once per decision.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ...core.kernel import kernel, types
from ...core.rng import GOLDEN, Rng, fold
from ...games.abi import CHANCE, GAME, TERMINAL, Actions, Floats, State
from ...games.generic import copy_state
from ..abi import EVALUATOR, SCRATCH, VALUES, VISITS, Root, new_scratch
from ..transposition import ABSENT, TABLE, find, new_table, slot_of

# settings
DEPTH, LEAF, SCHEDULE, DEEPEST, CUTOFF, BITS, LIMIT, DOWNGRADE, EMPTY_STEP, SHALLOWEST, DEEPER, WORST = range(12)
AFTERSTATE, STATE = 0, 1  # LEAF: the state evaluated when no decisions are left
FULL, STOPPED = -1, -2  # results of a search: its stack has too few levels; it passed its limit of leaves

_F2, _I2, _U2 = (types.Array(t, 2, "C") for t in (types.float64, types.int64, types.uint64))
_U = np.uint64
_HASHES = (GOLDEN, _U(0xC2B2AE3D27D4EB4F))
_1, _29, _32 = _U(1), _U(29), _U(32)


class ExpectimaxStack(NamedTuple):
    """The nodes from the searched one (level 0) down to the current one."""

    states: Any  # [levels, state_words]
    returns: Any  # [levels, seats] so far
    return_bits: Any  # [levels, seats] the same memory as words
    values: Any  # [levels, seats]
    choices: Any  # [levels, max_choices] actions or outcomes
    probs: Any  # [levels, max_choices]
    keys: Any  # [levels, 2] hashes of state and returns: the table's key, and a check
    depth: Any  # [levels] decisions left
    prob: Any  # [levels] probability of getting here by chance
    mover: Any  # [levels]
    count: Any  # [levels] number of choices
    done: Any  # [levels] choices searched


STACK = types.NamedTuple(
    [_I2, _F2, _U2, _F2, _I2, _F2, _U2, Actions, Floats, Actions, Actions, Actions], ExpectimaxStack
)


@kernel(STACK(GAME, State, types.int64))
def new_stack(game, state, levels):
    returns = np.empty((levels, game.num_seats))
    return ExpectimaxStack(
        np.empty((levels, state.size), np.int64),
        returns,
        returns.view(np.uint64),
        np.empty((levels, game.num_seats)),
        np.empty((levels, game.max_choices), np.int64),
        np.empty((levels, game.max_choices)),
        np.empty((levels, 2), np.uint64),
        np.empty(levels, np.int64),
        np.empty(levels),
        np.empty(levels, np.int64),
        np.empty(levels, np.int64),
        np.empty(levels, np.int64),
    )


@kernel(types.int64(types.int64, types.int64))
def table_bits(bits, depth):
    """Returns the bits of a search's table: at most `bits`, fewer for shallow searches with few nodes."""
    return min(bits, 4 * depth - 2) if depth > 2 else 0


@kernel(types.void(STACK, types.int64))
def fingerprint(stack, level):
    """Computes two hashes of the node's state and returns: the table's key, and a check that is never 0."""
    for i in range(2):
        factor = _HASHES[i]
        h = factor
        for j in range(stack.states.shape[1]):
            h = fold((h ^ _U(stack.states[level, j])) * factor, _29)
        for j in range(stack.return_bits.shape[1]):
            h = fold((h ^ stack.return_bits[level, j]) * factor, _29)
        stack.keys[level, i] = fold(h, _32)
    stack.keys[level, 1] |= _1


@kernel(types.int64(types.float64), inline=True)
def decisions_of(tag):
    """Returns the decisions left by a tag, 2 x decisions + a probability above 0."""
    return np.int64(math.ceil(0.5 * tag)) - 1


@kernel(types.float64(STACK, types.int64, types.float64), inline=True)
def tag_of(stack, level, cutoff):
    """Returns the extent of a node's search: its depth and, with a cut-off, its probability."""
    return 2.0 * float(stack.depth[level]) + (stack.prob[level] if cutoff > 0.0 else 1.0)


@kernel(types.boolean(types.float64, types.float64, types.int64, types.boolean), inline=True)
def is_enough(found, tag, depth, deeper):
    """Whether a node's value by a search of extent `found` will do for one of extent `tag`.

    It must have been as deep, or deeper if allowed, and from at least the same probability, so that no more was cut
    off.
    """
    if not deeper:
        return tag <= found <= 2.0 * float(depth) + 1.0
    found_depth = decisions_of(found)
    return found_depth >= depth and found - 2.0 * float(found_depth) >= tag - 2.0 * float(depth)


@kernel(types.boolean(STACK, TABLE, types.int64, types.float64, types.boolean))
def look_up(stack, table, level, cutoff, deeper):
    """Fills in the node's value if the table has it, and returns whether it has; an entry's last value is its tag."""
    if table.keys.size == 1:
        return False
    fingerprint(stack, level)
    slot, seats = find(table.keys, table.facts, stack.keys[level, 0]), stack.values.shape[1]
    if slot == ABSENT or table.facts[slot] != np.int64(stack.keys[level, 1]):
        return False
    known = is_enough(table.values[slot, seats], tag_of(stack, level, cutoff), stack.depth[level], deeper)
    if known:
        for seat in range(seats):
            stack.values[level, seat] = table.values[slot, seat]
    return known


@kernel(types.void(STACK, TABLE, types.int64, types.float64))
def keep(stack, table, level, cutoff):
    """Puts a searched node into its slot, replacing another."""
    if table.keys.size == 1:
        return
    slot, seats = slot_of(table.keys, stack.keys[level, 0]), stack.values.shape[1]
    table.keys[slot], table.facts[slot] = stack.keys[level, 0], np.int64(stack.keys[level, 1])
    for seat in range(seats):
        table.values[slot, seat] = stack.values[level, seat]
    table.values[slot, seats] = tag_of(stack, level, cutoff)


@kernel(types.boolean(types.int64, STACK, types.int64, types.int64, types.float64), inline=True)
def is_leaf(mover, stack, level, leaf, cutoff):
    """Whether the node is a leaf: the game is over, or there is no more to search and its kind is evaluated."""
    if mover == TERMINAL:
        return True
    if mover == CHANCE and leaf == STATE:
        return False
    cut = (mover == CHANCE or leaf == STATE) and stack.prob[level] < cutoff
    return cut or stack.depth[level] == 0


@kernel(types.void(GAME, STACK, types.int64), inline=True)
def descend(game, stack, level):
    """Puts the node's next child on the stack."""
    choice = stack.done[level]
    is_chance = stack.mover[level] == CHANCE
    copy_state(stack.states[level], stack.states[level + 1])
    copy_state(stack.returns[level], stack.returns[level + 1])
    game.step(stack.states[level + 1], stack.choices[level, choice], stack.returns[level + 1])
    stack.depth[level + 1] = stack.depth[level] - (0 if is_chance else 1)
    stack.prob[level + 1] = stack.prob[level] * (stack.probs[level, choice] if is_chance else 1.0)


@kernel(types.void(STACK, types.int64, types.boolean), inline=True)
def back_up(stack, level, worst):
    """Backs up the value of the searched child: by its probability, or if it is the mover's best.

    With `worst`, in games of one seat, it is kept if it is the worst outcome of chance.
    """
    choice, mover = stack.done[level], stack.mover[level]
    if mover == CHANCE and worst:
        better = choice == 0 or stack.values[level + 1, 0] < stack.values[level, 0]
    else:
        better = mover != CHANCE and (choice == 0 or stack.values[level + 1, mover] > stack.values[level, mover])
    for seat in range(stack.values.shape[1]):
        if mover == CHANCE and not worst:
            stack.values[level, seat] += stack.probs[level, choice] * stack.values[level + 1, seat]
        elif better:
            stack.values[level, seat] = stack.values[level + 1, seat]
    stack.done[level] += 1


@kernel(
    types.int64(
        GAME,
        EVALUATOR,
        STACK,
        TABLE,
        types.int64,
        types.float64,
        types.boolean,
        types.boolean,
        types.int64,
        Rng,
        SCRATCH,
    )
)
def search(game, evaluator, stack, table, leaf, cutoff, deeper, worst, limit, rng, scratch):
    """Searches the node at level 0, whose state, returns, depth and prob are set, and leaves its value there.

    Returns the number of evaluations, or FULL or STOPPED.
    """
    level, leaves = 0, 0
    while True:
        state = stack.states[level]
        mover = game.to_move(state)
        for seat in range(stack.values.shape[1]):
            stack.values[level, seat] = 0.0
        if is_leaf(mover, stack, level, leaf, cutoff):
            if leaves == limit:
                return STOPPED
            evaluator.evaluate(
                game, evaluator.weights, state, stack.returns[level], 1, rng, stack.values[level], scratch
            )
            leaves += 1
        elif not look_up(stack, table, level, cutoff, deeper):
            stack.mover[level], stack.done[level] = mover, 0
            if mover == CHANCE:
                stack.count[level] = game.chance(state, stack.choices[level], stack.probs[level])
            else:
                stack.count[level] = game.legal(state, stack.choices[level])
            if level + 1 == stack.depth.size:
                return FULL
            descend(game, stack, level)
            level += 1
            continue
        # The node's value is known now, and possibly those of nodes above it.
        while level > 0:
            level -= 1
            back_up(stack, level, worst)
            if stack.done[level] < stack.count[level]:
                descend(game, stack, level)
                level += 1
                break
            keep(stack, table, level, cutoff)
        if level == 0:
            return leaves


@kernel(types.int64(GAME, EVALUATOR, Floats, types.int64, types.int64, State, Floats, Rng, Root))
def search_root(game, evaluator, settings, depth, leaf, state, returns, rng, root):
    """Searches every action to `depth` decisions, the action included; returns the first of the best, or STOPPED.

    `root` gets the number of evaluations (1 if the table had all values) and the values for the mover.
    """
    actions = np.empty(game.max_choices, np.int64)
    n = game.legal(state, actions)
    if n == 1:
        return actions[0]
    mover = game.to_move(state)
    levels = 4 * depth + 4
    stack, scratch = new_stack(game, state, levels), new_scratch(game, state)
    table = new_table(table_bits(np.int64(settings[BITS]), depth), returns.size + 1)
    left = np.int64(settings[LIMIT])
    if left == 0:
        left = np.int64(1 << 62)
    best, i, deeper, worst = actions[0], 0, settings[DEEPER] != 0.0, settings[WORST] != 0.0
    while i < n:
        copy_state(state, stack.states[0])
        copy_state(returns, stack.returns[0])
        game.step(stack.states[0], actions[i], stack.returns[0])
        stack.depth[0], stack.prob[0] = depth - 1, 1.0
        leaves = search(game, evaluator, stack, table, leaf, settings[CUTOFF], deeper, worst, left, rng, scratch)
        if leaves == FULL:  # many successive outcomes without a decision
            levels *= 2
            stack = new_stack(game, state, levels)
            continue
        if leaves == STOPPED:
            return STOPPED
        left -= leaves
        root[VISITS, actions[i]], root[VALUES, actions[i]] = max(1.0, float(leaves)), stack.values[0, mover]
        if stack.values[0, mover] > root[VALUES, best]:
            best = actions[i]
        i += 1
    return best
