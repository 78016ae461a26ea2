"""The search of GRAVE on the tree of MCTS: selection by AMAF values, playouts by the means of moves."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ...core.kernel import kernel, types
from ...core.rng import Rng, below, uniform
from ...games.abi import CHANCE, GAME, TERMINAL, Actions, Floats, State
from ...games.generic import copy_state, draw_outcome
from ..abi import EVALUATOR, SCRATCH, new_scratch
from ..evaluator import ROLLOUT_DEPTH, SCORE_METHOD
from ..final_move import EXTRA_CHUNKS, is_settled
from ..mcts import search as mcts
from ..mcts.search import EXPLORATION, FINAL, ITERATIONS, TREE_DEPTH, back_up, root_children
from ..mcts.tree import (
    ACTION,
    COUNT,
    FIRST,
    INVERSE_ROOT,
    MEAN,
    NODES,
    NONE,
    STATS,
    TREE,
    TRIED,
    WIDTH,
    enter,
    expand,
    root_log,
    take_child,
)
from .knowledge import (
    KNOWLEDGE,
    SIMULATION,
    TABLES,
    TIMES,
    TOTAL,
    give_table,
    learn_amaf,
    learn_means,
    new_simulation,
)

# The settings of MCTS, whose rules of the final move read them, and then:
AMAF, REF, BIAS, MAST, NUM_SETTINGS = (mcts.NUM_SETTINGS + i for i in range(5))


class Work(NamedTuple):
    """An iteration's space."""

    scratch: Any
    simulation: Any
    state: Any  # [state_words]
    returns: Any  # [seats]
    values: Any  # [seats]
    frozen: Any  # [4] chance
    path: Any  # [tree depth + 1] nodes
    movers: Any  # [tree depth + 1] the seat that chose each


WORK = types.NamedTuple([SCRATCH, SIMULATION, State, Floats, Floats, Rng, Actions, Actions], Work)


@kernel(types.int64(NODES, STATS, types.int64, types.float64, TABLES, types.int64, types.int64, types.float64, Rng))
def select_by_amaf(nodes, stats, node, exploration, tables, table, first_move, bias, rng):
    """Returns the child with the best (1 - beta) X + beta AMAF + K sqrt(ln(n + 1) / n_c), of equals the first one.

    beta = a / (a + n_c + bias a n_c) for a child visited n_c times, whose action a simulations of the table had, mean
    value AMAF. An untried child counts as visited once by K, and not at all by beta; those that not even the table
    knows come before all others, in random order.

    Args:
        table: the number of the table, NONE = know of tried children only.
        first_move: the mover's first move.
    """
    first, tried, width = nodes[node, FIRST], nodes[node, TRIED], nodes[node, WIDTH]
    weight = exploration * root_log(nodes[node, COUNT])
    best, best_score, unknown = first, -math.inf, 0
    for i in range(width):
        child, times, total = first + i, 0.0, 0.0
        if table != NONE:
            move = first_move + nodes[child, ACTION]
            times, total = tables[table, move, TIMES], tables[table, move, TOTAL]
        if i >= tried:
            if times == 0.0:
                unknown += 1
                continue
            score = total / times + weight
        elif times == 0.0:
            score = stats[child, MEAN] + weight * stats[child, INVERSE_ROOT]
        else:
            own = float(nodes[child, COUNT]) * (1.0 + bias * times)
            score = (own * stats[child, MEAN] + total) / (own + times) + weight * stats[child, INVERSE_ROOT]
        if score > best_score:
            best, best_score = child, score
    if unknown == 0:
        return best
    unknown = below(rng, unknown)
    for child in range(first + tried, first + width):
        if table == NONE or tables[table, first_move + nodes[child, ACTION], TIMES] == 0.0:
            if unknown == 0:
                return child
            unknown -= 1
    return best


@kernel(types.int64(Floats, types.int64, Actions, types.int64, Rng))
def best_by_means(means, first_move, choices, n, rng):
    """Returns the place of the action with the best mean among the first n, of equals a random one."""
    best, equal = means[first_move + choices[0]], 1
    for i in range(1, n):
        mean = means[first_move + choices[i]]
        if mean > best:
            best, equal = mean, 1
        elif mean == best:
            equal += 1
    left = below(rng, equal) if equal > 1 else 0
    for i in range(n):
        if means[first_move + choices[i]] == best:
            if left == 0:
                return i
            left -= 1
    return 0


@kernel(types.int64(GAME, Floats, types.float64, types.int64, State, Floats, Rng, Actions, types.int64, SCRATCH))
def play_by_means(game, means, share, depth, state, returns, rng, moves, length, scratch):
    """Plays at most `depth` moves in place and notes them in `moves` from `length` on; returns where they end.

    A share of the moves is by their means, the others are uniformly random; with a share of 0 the random numbers are
    those of `generic_playout`.
    """
    choices, ends = scratch.choices, length + depth
    while True:
        mover = game.to_move(state)
        if mover == CHANCE:
            game.step(state, draw_outcome(game, state, rng, choices, scratch.probs), returns)
        elif mover == TERMINAL or length == ends:
            return length
        else:
            n = game.legal(state, choices)
            first_move = mover * game.num_actions
            if share > 0.0 and uniform(rng) < share:
                place = best_by_means(means, first_move, choices, n, rng)
            else:
                place = below(rng, n)
            moves[length] = first_move + choices[place]
            game.step(state, choices[place], returns)
            length += 1


@kernel(types.void(GAME, EVALUATOR, Floats, TREE, KNOWLEDGE, State, Floats, Rng, types.int64))
def search(game, evaluator, settings, tree, knowledge, root_state, returns, rng, iterations):
    """Runs iterations on a tree, new or searched before."""
    tree_depth, moves = np.int64(settings[TREE_DEPTH]), game.num_seats * game.num_actions
    work = Work(
        new_scratch(game, root_state),
        new_simulation(tree_depth + np.int64(evaluator.weights[ROLLOUT_DEPTH]), moves),
        np.empty_like(root_state),
        np.empty_like(returns),
        np.empty_like(returns),
        np.empty(4, np.uint64),
        np.zeros(tree_depth + 1, np.int64),
        np.empty(tree_depth + 1, np.int64),
    )
    work.movers[0] = NONE
    iterate(game, evaluator, settings, tree, knowledge, root_state, returns, rng, iterations, work)


@kernel(types.void(GAME, EVALUATOR, Floats, TREE, KNOWLEDGE, State, Floats, Rng, types.int64, WORK))
def iterate(game, evaluator, settings, tree, knowledge, root_state, returns, rng, iterations, work):
    """Runs the iterations of `search` in its arrays."""
    scratch, simulation, state, gains, values = work.scratch, work.simulation, work.state, work.returns, work.values
    frozen, path, movers, moves = work.frozen, work.path, work.movers, work.simulation.moves
    nodes, stats, seeds, tables, table_of = tree.nodes, tree.stats, tree.seeds, knowledge.tables, knowledge.table_of
    tree_depth, exploration, bias = np.int64(settings[TREE_DEPTH]), settings[EXPLORATION], settings[BIAS]
    ref, share, num_actions = settings[REF], settings[MAST], game.num_actions
    depth = np.int64(evaluator.weights[ROLLOUT_DEPTH])
    penalised = evaluator.weights[SCORE_METHOD] == 2.0 and game.num_seats == 1
    first_mover = game.to_move(root_state)
    for _ in range(iterations):
        copy_state(root_state, state)
        for seat in range(gains.size):
            gains[seat] = returns[seat]
        node, length, mover, fresh, table = 0, 0, first_mover, False, table_of[0]
        # Selection and expansion, down to a node that is new or an end of the tree.
        while not fresh and length < tree_depth and mover != TERMINAL:
            if nodes[node, WIDTH] == 0 and expand(game, tree, node, state, scratch.choices) == 0:
                break
            if nodes[node, COUNT] >= ref and table_of[node] != NONE:
                table = table_of[node]
            first_move, untried = mover * num_actions, nodes[node, FIRST] + nodes[node, TRIED]
            child = select_by_amaf(nodes, stats, node, exploration, tables, table, first_move, bias, rng)
            fresh = child >= untried
            node = take_child(nodes, stats, node, child) if fresh else child
            moves[length] = first_move + nodes[node, ACTION]
            length += 1
            path[length], movers[length] = node, mover
            mover = enter(game, nodes, seeds, node, state, gains, rng, frozen, scratch.choices, scratch.probs)
        if fresh:
            give_table(knowledge, node)
        played = play_by_means(game, knowledge.means, share, depth, state, gains, rng, moves, length, scratch)
        lost = 1.0 if penalised and game.to_move(state) == TERMINAL else 0.0
        for seat in range(values.size):
            values[seat] = gains[seat] / game.max_return - lost
        if share > 0.0:
            learn_means(knowledge, simulation, played, num_actions, values)
        if tables.shape[0] > 0:
            learn_amaf(knowledge, simulation, played, num_actions, values, path, length)
        back_up(nodes, stats, path, movers, length, values, False)


@kernel(types.void(GAME, EVALUATOR, Floats, TREE, KNOWLEDGE, State, Floats, Rng))
def search_all(game, evaluator, settings, tree, knowledge, state, returns, rng):
    """Runs the iterations of one decision, and up to as many again until robust_max has a child."""
    iterations = np.int64(settings[ITERATIONS])
    search(game, evaluator, settings, tree, knowledge, state, returns, rng, iterations)
    for _ in range(EXTRA_CHUNKS):
        if is_settled(root_children(tree, settings), settings[FINAL]):
            return
        search(game, evaluator, settings, tree, knowledge, state, returns, rng, max(iterations // EXTRA_CHUNKS, 1))
