"""What simulations tell of moves wherever they are played: AMAF statistics of nodes, and means over all simulations.

A move is seat * actions + action. A node's AMAF table says of every move of every seat how it went when it was played
at the node or anywhere below, in the tree or in a playout: a descendant may ask it, whichever seat moves there.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...core.kernel import kernel, types
from ...games.abi import Actions, Floats
from ..mcts.tree import NONE

MOST_WORDS = 1 << 25  # of all AMAF tables: 256 MB; nodes that find no room leave their moves to ancestors
TIMES, TOTAL = 0, 1  # of a move in a table: simulations that had it, and the sum of their values for its seat
UNKNOWN = 1.0  # the best value: a playout tries each move before it prefers any


class Knowledge(NamedTuple):
    """Belongs to a tree; tables not yet given to a node are arbitrary."""

    tables: Any  # [tables, moves, 2] AMAF
    table_of: Any  # [nodes] a node's table, or NONE
    given: Any  # [1] tables that nodes have
    means: Any  # [moves] mean value of a move to its seat, over all simulations of the search
    counts: Any  # [moves] how often it was played


TABLES = types.Array(types.float64, 3, "C")
KNOWLEDGE = types.NamedTuple([TABLES, Actions, Actions, Floats, Floats], Knowledge)


class Simulation(NamedTuple):
    """The moves of a simulation, and space to learn from them."""

    moves: Any  # [longest simulation] in the order of play
    last: Any  # [moves] the last simulation that had a move, by number
    number: Any  # [1] of this simulation
    different: Any  # [moves] the different moves of this simulation's end
    gains: Any  # [moves] their values


SIMULATION = types.NamedTuple([Actions, Actions, Actions, Actions, Floats], Simulation)


@kernel(SIMULATION(types.int64, types.int64))
def new_simulation(longest, moves):
    return Simulation(
        np.empty(longest, np.int64),
        np.zeros(moves, np.int64),
        np.zeros(1, np.int64),
        np.empty(moves, np.int64),
        np.empty(moves),
    )


@kernel(types.int64(types.int64, types.int64))
def enough_tables(iterations, moves):
    """An iteration makes at most one node; robust_max may double the iterations."""
    return min(1 + 2 * iterations, max(MOST_WORDS // (2 * moves), 1))


@kernel(types.int64(types.int64, types.int64, types.int64))
def knowledge_words(nodes, tables, moves):
    """Returns the words of memory for `knowledge_in`."""
    return 2 * (tables + 1) * moves + nodes + 1


@kernel(types.void(KNOWLEDGE, types.int64))
def give_table(knowledge, node):
    """Gives a node an empty table, if there is one left."""
    given = knowledge.given[0]
    if given == knowledge.tables.shape[0]:
        knowledge.table_of[node] = NONE
        return
    knowledge.tables[given] = 0.0
    knowledge.table_of[node] = given
    knowledge.given[0] = given + 1


@kernel(types.void(KNOWLEDGE))
def forget(knowledge):
    """Leaves an empty table for the root, if there are any, and no means."""
    knowledge.means[:] = UNKNOWN
    knowledge.counts[:] = 0.0
    knowledge.given[0] = 0
    give_table(knowledge, 0)


@kernel(KNOWLEDGE(types.int64, types.int64, types.int64, Floats))
def knowledge_in(nodes, tables, moves, memory):
    """Returns empty knowledge in the given memory, see `knowledge_words`."""
    of_node, means, of_moves = 1 + nodes, 1 + nodes + moves, 1 + nodes + 2 * moves
    knowledge = Knowledge(
        memory[of_moves : of_moves + 2 * tables * moves].reshape(tables, moves, 2),
        memory[1:of_node].view(np.int64),
        memory[:1].view(np.int64),
        memory[of_node:means],
        memory[means:of_moves],
    )
    forget(knowledge)
    return knowledge


@kernel(types.void(KNOWLEDGE, SIMULATION, types.int64, types.int64, Floats))
def learn_means(knowledge, simulation, length, num_actions, values):
    """Adds a simulation's values to the means of all of its moves (MAST)."""
    means, counts = knowledge.means, knowledge.counts
    for i in range(length):
        move = simulation.moves[i]
        counts[move] += 1.0
        means[move] += (values[move // num_actions] - means[move]) / counts[move]


@kernel(types.void(KNOWLEDGE, SIMULATION, types.int64, types.int64, Floats, Actions, types.int64))
def learn_amaf(knowledge, simulation, length, num_actions, values, path, depth):
    """Adds a simulation's values to the tables of the nodes path[0], ..., path[depth].

    To path[i] count the moves from the i-th on, its own choice included, each once however often it was played.
    """
    moves, last, different, gains = simulation.moves, simulation.last, simulation.different, simulation.gains
    tables, found, at = knowledge.tables, 0, length - 1
    simulation.number[0] += 1
    number = simulation.number[0]
    for i in range(depth, -1, -1):
        while at >= i:
            move = moves[at]
            if last[move] != number:
                last[move], different[found], gains[found] = number, move, values[move // num_actions]
                found += 1
            at -= 1
        table = knowledge.table_of[path[i]]
        if table != NONE:
            for k in range(found):
                tables[table, different[k], TIMES] += 1.0
                tables[table, different[k], TOTAL] += gains[k]
