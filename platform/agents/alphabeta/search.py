"""Alpha-beta as a loop over an explicit stack that outlives a call: a search can pause and resume.

Source: Knuth and Moore 1975; Breuker 1998 (table); Akl and Newborn 1977 (killers); Schaeffer 1989 (history).
Differs: values are seat 0's, so seats need not alternate; a value is half the difference between the seats.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ...core.kernel import kernel, types
from ...core.rng import Rng
from ...games.abi import GAME, NO_WIN, Floats, State
from ..abi import EVALUATOR, SCRATCH, VALUES, VISITS, Root, new_scratch
from ..transposition import ABSENT, TABLE, Words, find, hash_words, slot_of

DEPTH, MAX_NODES, TABLE_BITS, ORDERING, FORCED_DEPTH, IN_POINTS = range(6)  # settings
# Values are multiples of PLY, so every sum is exact. Each ply reduces a value's size by PLY: of equal wins the sooner
# is better, of equal losses the later. Only ends of the game exceed PROVEN, and no state before an end exceeds MOST.
PLY, PROVEN = 2.0**-40, 1.0 - 2.0**-20
MOST = 1.0 - PLY
COUNT, NEXT, MOVER, BEST_ACTION, WAS_UNRESOLVED, KILLER, OLD_KILLER = range(7)  # of a level, in `levels`
ALPHA, BETA, FROM, TO, BEST = range(5)  # of a level, in `bounds`: the window now and at first, the best value
LEVEL, ITERATION, NODES, UNRESOLVED, OPEN, CHOSEN = range(6)  # of the search, in `counts`
EXACT, LOWER, UPPER = 0, 1, 2  # kinds of stored values
# Bits of an entry's facts, from the lowest: 1 in use, 2 bound, 1 resolved, 8 remaining depth, the action.
BOUND_SHIFT, RESOLVED_SHIFT, DEPTH_SHIFT, ACTION_SHIFT = 1, 3, 4, 12
TABLE_FIRST, KILLER_FIRST, OLD_KILLER_FIRST = 1 << 60, 1 << 59, 1 << 58
UNLIMITED = 1 << 62


class AlphaBetaStack(NamedTuple):
    """Level 0 is the root; a level holds a node whose actions are being tried."""

    states: Any  # [depth, state_words]
    level_returns: Any  # [depth, 2] returns so far
    actions: Any  # [depth, max_choices] legal actions, tried ones first
    scores: Any  # [depth, max_choices] larger ones are tried sooner
    levels: Any  # [depth, 7]
    bounds: Any  # [depth, 5]
    keys: Any  # [depth]
    history: Any  # [2, num_actions] cut-offs by an action of a seat, weighted by depth
    found: Any  # [2, num_actions] root visits and values of this iteration
    counts: Any  # [6]
    state: Any  # [state_words] the current node
    returns: Any  # [2]
    totals: Any  # [2] the evaluator's
    scratch: Any


_I1, _I2 = types.Array(types.int64, 1, "C"), types.Array(types.int64, 2, "C")
_F2 = types.Array(types.float64, 2, "C")
STACK = types.NamedTuple(
    [_I2, _F2, _I2, _I2, _I2, _F2, Words, _I2, _F2, _I1, State, Floats, Floats, SCRATCH], AlphaBetaStack
)


@kernel(STACK(GAME, State, types.int64))
def new_stack(game, state, depth):
    levels = np.zeros((depth, 7), np.int64)
    levels[:, KILLER] = levels[:, OLD_KILLER] = -1
    counts = np.zeros(6, np.int64)
    counts[CHOSEN] = -1
    return AlphaBetaStack(
        np.empty((depth, state.size), np.int64),
        np.empty((depth, 2)),
        np.empty((depth, game.max_choices), np.int64),
        np.empty((depth, game.max_choices), np.int64),
        levels,
        np.empty((depth, 5)),
        np.empty(depth, np.uint64),
        np.zeros((2, game.num_actions), np.int64),
        np.zeros((2, game.num_actions)),
        counts,
        np.empty_like(state),
        np.empty(2),
        np.empty(2),
        new_scratch(game, state),
    )


@kernel(types.float64(types.float64))
def later(value):
    """Returns a value as seen a ply earlier."""
    if value > 0.0:
        return value - PLY
    return value + PLY if value < 0.0 else value


@kernel(types.float64(types.float64))
def wider_below(alpha):
    """Returns the largest value that is at most alpha a ply earlier."""
    return alpha + PLY if alpha >= 0.0 else alpha - PLY


@kernel(types.float64(types.float64))
def wider_above(beta):
    """Returns the smallest value that is at least beta a ply earlier."""
    return beta + PLY if beta > 0.0 else beta - PLY


@kernel(types.float64(types.float64, types.float64))
def quantised(value, largest):
    """Returns a value within -largest .. largest as a multiple of PLY."""
    return math.floor(min(max(value, -largest), largest) / PLY + 0.5) * PLY


@kernel(types.float64(types.int64))
def forced_value(forced_depth):
    """Returns the value for the mover of a win by at most that many forcing moves; the true win may be sooner."""
    return 1.0 - PLY * float(2 * forced_depth - 1)


@kernel(
    types.void(STACK, types.int64, types.int64, types.int64, types.int64, types.boolean, types.float64, types.float64)
)
def open_level(stack, level, mover, n, first, ordering, alpha, beta):
    """Starts a level with the node in `stack.state`, whose n legal actions are in the scratch space."""
    choices, levels, bounds, actions, scores = (
        stack.scratch.choices, stack.levels, stack.bounds, stack.actions, stack.scores,
    )  # fmt: skip
    for i in range(stack.state.size):
        stack.states[level, i] = stack.state[i]
    stack.level_returns[level, 0], stack.level_returns[level, 1] = stack.returns[0], stack.returns[1]
    levels[level, COUNT], levels[level, NEXT], levels[level, MOVER] = n, 0, mover
    levels[level, WAS_UNRESOLVED], levels[level, BEST_ACTION] = stack.counts[UNRESOLVED], choices[0]
    bounds[level, ALPHA] = bounds[level, FROM] = alpha
    bounds[level, BETA] = bounds[level, TO] = beta
    bounds[level, BEST] = -math.inf if mover == 0 else math.inf
    for i in range(n):
        action, score = choices[i], 0
        if ordering:
            if action == first:
                score = TABLE_FIRST
            elif action == levels[level, KILLER]:
                score = KILLER_FIRST
            elif action == levels[level, OLD_KILLER]:
                score = OLD_KILLER_FIRST
            else:
                score = stack.history[mover, action]
        actions[level, i], scores[level, i] = action, score


@kernel(types.int64(_I2, _I2, _I2, types.int64))
def pick(levels, actions, scores, level):
    """Returns the next untried action and marks it as tried."""
    start = levels[level, NEXT]
    best = start
    for i in range(start + 1, levels[level, COUNT]):
        if scores[level, i] > scores[level, best]:
            best = i
    action = actions[level, best]
    actions[level, best], scores[level, best] = actions[level, start], scores[level, start]
    actions[level, start] = action
    levels[level, NEXT] = start + 1
    return action


@kernel(types.void(_I2, _I2, types.int64, types.int64))
def reward_cutoff(levels, history, level, remaining):
    """Records the cut-off by a level's best action, as a killer and in the seat's history."""
    action = levels[level, BEST_ACTION]
    history[levels[level, MOVER], action] += remaining * remaining
    if levels[level, KILLER] != action:
        levels[level, OLD_KILLER] = levels[level, KILLER]
        levels[level, KILLER] = action


@kernel(types.boolean(types.int64, types.float64, types.int64, types.float64, types.float64))
def is_usable(facts, value, remaining, alpha, beta):
    """Whether an entry answers a window. Another depth must be shallower, and not have met the horizon.

    So values equal those of a search without a table.
    """
    depth = (facts >> DEPTH_SHIFT) & 255
    if depth != remaining and not ((facts >> RESOLVED_SHIFT) & 1 and depth < remaining):
        return False
    bound = (facts >> BOUND_SHIFT) & 3
    return bound == EXACT or (bound == LOWER and value >= beta) or (bound == UPPER and value <= alpha)


@kernel(types.boolean(GAME, EVALUATOR, Floats, STACK, TABLE, Rng, types.int64))
def go_on(game, evaluator, settings, stack, table, rng, limit):
    """Continues an iteration until it is finished (True) or `limit` nodes are searched in all (False).

    Values are seat 0's: seat 0 maximises, seat 1 minimises. Between calls the stack has the whole search.
    """
    state, returns, totals, counts, scratch = stack.state, stack.returns, stack.totals, stack.counts, stack.scratch
    state_bits, return_bits = state.view(np.uint64), returns.view(np.uint64)
    states, level_returns, actions, scores = stack.states, stack.level_returns, stack.actions, stack.scores
    levels, bounds, keys, found = stack.levels, stack.bounds, stack.keys, stack.found
    history, choices = stack.history, scratch.choices
    table_keys, table_facts, table_values = table
    hashing, ordering = table_keys.size > 1, settings[ORDERING] > 0.0
    forced_depth = np.int64(settings[FORCED_DEPTH]) if game.has_forced_win else 0
    scale = 1.0 / game.max_return
    horizon_scale = scale if settings[IN_POINTS] > 0.0 else 1.0
    depth, level = counts[ITERATION], counts[LEVEL]
    while True:
        if levels[level, NEXT] == levels[level, COUNT] or bounds[level, ALPHA] >= bounds[level, BETA]:
            value = bounds[level, BEST]
            if ordering and bounds[level, ALPHA] >= bounds[level, BETA]:
                reward_cutoff(levels, history, level, depth - level)
            if hashing:
                bound = EXACT
                if value <= bounds[level, FROM]:
                    bound = UPPER
                elif value >= bounds[level, TO]:
                    bound = LOWER
                resolved = np.int64(counts[UNRESOLVED] == levels[level, WAS_UNRESOLVED])
                slot = slot_of(table_keys, keys[level])
                table_keys[slot], table_values[slot, 0] = keys[level], value
                table_facts[slot] = (
                    1
                    | bound << BOUND_SHIFT
                    | resolved << RESOLVED_SHIFT
                    | (depth - level) << DEPTH_SHIFT
                    | levels[level, BEST_ACTION] << ACTION_SHIFT
                )
            if level == 0:
                return True
            level -= 1
        elif counts[NODES] >= limit:
            counts[LEVEL] = level
            return False
        else:
            for i in range(state.size):
                state[i] = states[level, i]
            returns[0], returns[1] = level_returns[level, 0], level_returns[level, 1]
            game.step(state, pick(levels, actions, scores, level), returns)
            counts[NODES] += 1
            mover = game.to_move(state)
            alpha, beta = wider_below(bounds[level, ALPHA]), wider_above(bounds[level, BETA])
            value, opening = 0.0, False
            if mover < 0:
                value = quantised((returns[0] - returns[1]) * 0.5 * scale, 1.0)
            elif level + 1 == depth:
                counts[UNRESOLVED] += 1
                if forced_depth > 0 and game.forced_win(state, forced_depth) != NO_WIN:
                    value = forced_value(forced_depth) * (1.0 if mover == 0 else -1.0)
                else:
                    totals[0] = totals[1] = 0.0
                    evaluator.evaluate(game, evaluator.weights, state, returns, 1, rng, totals, scratch)
                    value = quantised((totals[0] - totals[1]) * 0.5 * horizon_scale, PROVEN)
            elif alpha >= MOST:
                value = MOST  # a sooner win is known
            elif beta <= -MOST:
                value = -MOST
            else:
                table_action = -1
                opening = True
                if hashing:
                    keys[level + 1] = hash_words(state_bits, return_bits)
                    slot = find(table_keys, table_facts, keys[level + 1])
                    if slot != ABSENT:
                        facts = table_facts[slot]
                        if is_usable(facts, table_values[slot, 0], depth - level - 1, alpha, beta):
                            value, opening = table_values[slot, 0], False
                            counts[UNRESOLVED] += 1 - ((facts >> RESOLVED_SHIFT) & 1)
                        elif ordering:
                            table_action = facts >> ACTION_SHIFT
                if opening:
                    level += 1
                    n = game.legal(state, choices)
                    open_level(stack, level, mover, n, table_action, ordering, alpha, beta)
                    continue
        # The value of the level's last action is known.
        value = later(value)
        last = levels[level, NEXT] - 1
        if levels[level, MOVER] == 0:
            better = value > bounds[level, BEST]
            if better:
                bounds[level, BEST] = value
                bounds[level, ALPHA] = max(bounds[level, ALPHA], value)
        else:
            better = value < bounds[level, BEST]
            if better:
                bounds[level, BEST] = value
                bounds[level, BETA] = min(bounds[level, BETA], value)
        if better:
            levels[level, BEST_ACTION] = actions[level, last]
            if level == 0:
                found[VISITS, actions[0, last]] = 1.0
                found[VALUES, actions[0, last]] = value if levels[0, MOVER] == 0 else -value


@kernel(types.boolean(GAME, EVALUATOR, Floats, STACK, TABLE, State, Floats, Rng, types.int64, Root))
def deepen(game, evaluator, settings, stack, table, root_state, root_returns, rng, limit, root):
    """Runs or resumes iterations until `limit` nodes are searched in all; returns whether the search is done.

    `root` has the last complete iteration's values of the chosen action and of those that were best before it; the
    others were only shown to be no better. All remaining nodes count as visits of the chosen action.
    """
    counts, scratch, found = stack.counts, stack.scratch, stack.found
    mover = game.to_move(root_state)
    depth = np.int64(settings[DEPTH])
    while True:
        if counts[OPEN] == 0:
            counts[ITERATION] += 1
            counts[LEVEL], counts[UNRESOLVED], counts[OPEN] = 0, 0, 1
            found[:] = 0.0
            for i in range(root_state.size):
                stack.state[i] = root_state[i]
            stack.returns[0], stack.returns[1] = root_returns[0], root_returns[1]
            stack.keys[0] = hash_words(stack.state.view(np.uint64), stack.returns.view(np.uint64))
            first = counts[CHOSEN] if settings[ORDERING] > 0.0 else -1
            n = game.legal(root_state, scratch.choices)
            open_level(stack, 0, mover, n, first, settings[ORDERING] > 0.0, -math.inf, math.inf)
        # The first iteration is one ply deep and always finished: there must be an answer.
        if not go_on(game, evaluator, settings, stack, table, rng, UNLIMITED if counts[ITERATION] == 1 else limit):
            return False
        counts[OPEN] = 0
        counts[CHOSEN] = stack.levels[0, BEST_ACTION]
        root[:] = found
        value = abs(stack.bounds[0, BEST])
        if counts[ITERATION] == depth or counts[UNRESOLVED] == 0 or value > PROVEN:
            return True


@kernel(types.int64(STACK, Root))
def choose(stack, root):
    """Returns the last complete iteration's action, whose visits are all nodes not counted for another."""
    action = stack.counts[CHOSEN]
    others = 0.0
    for i in range(root.shape[1]):
        others += root[VISITS, i]
    root[VISITS, action] += float(stack.counts[NODES]) - others
    return action
