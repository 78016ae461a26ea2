"""Games of self-play in compiled code, with the search's findings in each position, from which networks learn."""

from __future__ import annotations

import math

import numpy as np

from ...core.kernel import kernel, types
from ...core.rng import Rng, below, uniform
from ...games.abi import GAME, TERMINAL, Actions, Floats, State, States
from ...games.generic import copy_state
from ..abi import EVALUATOR, VALUES, Root
from ..mcts.search import BEST, without_search
from ..mcts.tree import ACTION, COUNT, FIRST, MEAN, NONE, PROVEN, STATUS, TREE, WIDTH, clear_tree, tree_in
from .agent import enough_nodes, search_all
from .gumbel import set_improved_policy
from .search import FORCED_DEPTH, GUMBEL, ITERATIONS, NUM_SETTINGS, VALUE_SCALE, final_child

FULL_SHARE, FAST, DRAWN, OPENINGS, OPENED_SHARE, NUM_CHOICES = range(6)  # of `choices`, for the choice of moves
CONCENTRATION = 10.0  # of the Dirichlet distribution, over all actions, as AlphaZero's for games of various sizes
NO_ROOM = -1
Shares = types.Array(types.float32, 1, "C")


@kernel(types.float64(Rng))
def positive(rng):
    """Draws a float from (0, 1)."""
    return max(uniform(rng), 1e-300)


@kernel(types.float64(types.float64, Rng))
def draw_gamma(shape, rng):
    """Draws from the gamma distribution with scale 1. Source: Marsaglia and Tsang 2000; shapes below 1 by its note."""
    boost = 1.0
    if shape < 1.0:
        boost = positive(rng) ** (1.0 / shape)
        shape += 1.0
    d = shape - 1.0 / 3.0
    while True:
        normal = math.sqrt(-2.0 * math.log(positive(rng))) * math.cos(2.0 * math.pi * uniform(rng))  # Box and Muller
        v = (1.0 + normal / math.sqrt(9.0 * d)) ** 3
        if v > 0.0 and math.log(positive(rng)) < 0.5 * normal * normal + d - d * v + d * math.log(v):
            return boost * d * v


@kernel(types.void(types.int64, types.boolean, Rng, Floats))
def set_noise(count, gumbel, rng, noise):
    """Fills in the noise of a full search of `count` actions: Gumbel variables, otherwise Dirichlet shares."""
    total = 0.0
    for i in range(count):
        noise[i] = -math.log(-math.log(positive(rng))) if gumbel else draw_gamma(CONCENTRATION / float(count), rng)
        total += noise[i]
    for i in range(count if not gumbel and total > 0.0 else 0):
        noise[i] /= total


@kernel(types.boolean(TREE, Floats, types.int64, types.int64, Floats))
def set_found_policy(tree, settings, mover, best, policy):
    """Fills in the search's policy for the root's children; returns whether there is one to learn.

    If the root is proven, the children proven to be as good as the `best` share it; a loss has none.
    """
    first, width = tree.nodes[0, FIRST], tree.nodes[0, WIDTH]
    if tree.nodes[0, STATUS] == PROVEN:
        equal = 0
        for i in range(width):
            is_best = tree.nodes[first + i, STATUS] == PROVEN and tree.stats[first + i, MEAN] == tree.stats[best, MEAN]
            policy[i] = 1.0 if is_best else 0.0
            equal += is_best
        for i in range(width):
            policy[i] /= float(equal)
        return tree.stats[best, MEAN] > -BEST
    if settings[GUMBEL] > 0.0:
        set_improved_policy(tree, 0, mover, settings[VALUE_SCALE], policy)
        return True
    visits = 0.0
    for i in range(width):
        visits += float(tree.nodes[first + i, COUNT])
    for i in range(width if visits > 0.0 else 0):
        policy[i] = float(tree.nodes[first + i, COUNT]) / visits
    return visits > 0.0


@kernel(types.int64(Floats, types.int64, Rng))
def draw(policy, count, rng):
    """Draws one of the first `count` shares."""
    left = uniform(rng)
    for i in range(count):
        left -= policy[i]
        if left < 0.0:
            return i
    return count - 1


@kernel(types.int64(GAME, EVALUATOR, Floats, TREE, State, Floats, Rng, Floats, Floats, Floats, Root))
def drawn_action(game, evaluator, settings, tree, state, returns, rng, extremes, noise, policy, root):
    """Searches without noise and draws an action from the search's policy."""
    action = without_search(game, np.int64(settings[FORCED_DEPTH]), state, root)
    if action != NONE:
        return action
    clear_tree(tree)
    noise[:] = 0.0
    best = final_child(tree, search_all(game, evaluator, settings, tree, state, returns, rng, extremes, noise), root)
    if set_found_policy(tree, settings, game.to_move(state), best, policy):
        best = tree.nodes[0, FIRST] + draw(policy, tree.nodes[0, WIDTH], rng)
    return tree.nodes[best, ACTION]


@kernel(types.void(GAME, EVALUATOR, Floats, types.int64, TREE, State, Floats, Rng, Floats, Floats, Floats, Root))
def play_opening(game, evaluator, settings, most, tree, state, returns, rng, extremes, noise, policy, root):
    """Plays 0 to `most` plies, fewer if the next one would end the game.

    All are random in half of the games, and only the last in the others: positions far from good play, and close to it.
    Openings of four times the length are half as likely, because there are so many more of them.
    """
    plies, wild = np.int64(float(most + 1) * uniform(rng) ** 2), uniform(rng) < 0.5
    legal = np.empty(game.max_choices, np.int64)
    for i in range(plies):
        action = legal[below(rng, game.legal(state, legal))]
        if not wild and i + 1 < plies:
            action = drawn_action(game, evaluator, settings, tree, state, returns, rng, extremes, noise, policy, root)
        after, paid = state.copy(), returns.copy()
        game.step(after, action, paid)
        if game.to_move(after) == TERMINAL:
            return
        copy_state(after, state)
        returns[:] = paid


@kernel(
    types.int64(
        GAME, EVALUATOR, Floats, Floats, State, Rng, States, Floats, Actions, Shares, Floats
    )
)  # fmt: skip
def play_by_search(game, evaluator, settings, choices, state, rng, states, values, ends, policies, returns):
    """Plays a game in place; returns its moves after the opening, NO_ROOM if the arrays are too short.

    A share of the moves is searched fully, with noise; the others with few iterations and without.

    Args:
        settings: of `puct`, with memory for its tree.
        choices: [NUM_CHOICES]
        states: [room, words] filled in: the positions of the moves.
        values: [room] filled in: the search's value for the mover, NaN without a search.
        ends: [room] filled in: the end of a move's share of `policies`.
        policies: filled in for fully searched moves: a share for each legal action, ascending.
        returns: [seats] zeros, filled in.
    """
    tree = tree_in(
        enough_nodes(np.int64(settings[ITERATIONS]), game.max_choices), returns.size, settings[NUM_SETTINGS:]
    )
    fast = settings[:NUM_SETTINGS].copy()
    fast[ITERATIONS] = choices[FAST]
    noise, policy, extremes = np.empty(game.max_choices), np.empty(game.max_choices), np.empty(2)
    root, legal = np.zeros((2, game.num_actions)), np.empty(game.max_choices, np.int64)
    game.init(state, rng)
    if choices[OPENINGS] > 0.0 and uniform(rng) < choices[OPENED_SHARE]:
        most = np.int64(choices[OPENINGS])
        play_opening(game, evaluator, fast, most, tree, state, returns, rng, extremes, noise, policy, root)
    moves, written = 0, 0
    while True:
        mover = game.to_move(state)
        if mover == TERMINAL:
            return moves
        if moves == states.shape[0] or written + game.max_choices > policies.size:
            return NO_ROOM
        copy_state(state, states[moves])
        is_full = uniform(rng) < choices[FULL_SHARE]
        action = without_search(game, np.int64(settings[FORCED_DEPTH]), state, root)
        if action != NONE:
            n = game.legal(state, legal)
            values[moves] = math.nan if n == 1 else root[VALUES, action]
            for i in range(n if n > 1 and is_full else 0):
                policies[written] = np.float32(legal[i] == action)
                written += 1
        else:
            clear_tree(tree)
            noise[:] = 0.0
            if is_full:
                set_noise(game.legal(state, legal), settings[GUMBEL] > 0.0, rng, noise)
            own = settings if is_full else fast
            favourite = search_all(game, evaluator, own, tree, state, returns, rng, extremes, noise)
            best = final_child(tree, favourite, root)
            n, values[moves] = tree.nodes[0, WIDTH], tree.stats[best, MEAN]
            learns = set_found_policy(tree, settings, mover, best, policy)
            for i in range(n if learns and is_full else 0):
                policies[written] = np.float32(policy[i])
                written += 1
            if learns and moves < choices[DRAWN]:
                best = tree.nodes[0, FIRST] + draw(policy, n, rng)
            action = tree.nodes[best, ACTION]
        ends[moves] = written
        game.step(state, action, returns)
        moves += 1
