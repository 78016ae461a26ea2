"""Probabilities that others enter each cell: a tree of all moves for each player, round by round.

Source: Brot 2021, 4.3. A node is a player after some rounds, with a probability. Its moves enter cells that are free
and were not entered by itself. They share it equally, or by the player's habits (6.3, a wish there), each less the mean
probability that others entered its cells in the round before; nodes with nothing left are dropped. Then it is divided
by the number of the others' nodes that enter one of these cells in the same round; the document does not say which cell
counts if these numbers differ: here it is the one with the most.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ....core.clock import TIME_OF_DAY, nanoseconds, time_is_up
from ....core.kernel import kernel, types
from ....games.spe_ed.board import jumps
from .field import CELL, FASTER, HEADING, MOVES, PACE, TURN, Field, Walkers, is_free, num_entered, offset_of

MOST_ROUNDS = 100
Habits = types.Array(types.float64, 2, "C")  # [players, MOVES]


class Tables(NamedTuple):
    """Trees and tables of some players, the own one first; the nodes of a round are adjacent."""

    cell: npt.NDArray[np.int32]  # [players, nodes]
    parent: npt.NDArray[np.int32]
    heading: npt.NDArray[np.int8]
    pace: npt.NDArray[np.int8]
    first: npt.NDArray[np.int8]  # action in the first round
    share: npt.NDArray[np.float64]  # probability
    bounds: npt.NDArray[np.int64]  # [players, MOST_ROUNDS + 2]: begin of the nodes of a round, 0 = the root's
    before: npt.NDArray[np.float64]  # [players, cells]: probability that each entered a cell in the last round
    latest: npt.NDArray[np.float64]  # likewise in this one
    visits: npt.NDArray[np.int32]  # likewise the number of its nodes that entered it
    stamps: npt.NDArray[np.int32]  # [cells]: the last node that looked at a cell of its own path
    total: npt.NDArray[np.float64]  # [cells]: of all rounds and players except the own one
    mass: npt.NDArray[np.float64]  # [MOST_ROUNDS + 1, MOVES]: the own nodes of a round, by first action


_I32, _I8, _F64 = types.int32[:, ::1], types.int8[:, ::1], types.float64[:, ::1]
TABLES = types.NamedTuple(
    [
        _I32,
        _I32,
        _I8,
        _I8,
        _I8,
        _F64,
        types.int64[:, ::1],
        _F64,
        _F64,
        _I32,
        types.int32[::1],
        types.float64[::1],
        _F64,
    ],
    Tables,
)


def new_tables(players: int, nodes: int, cells: int) -> Tables:
    """Returns space for the trees of some players, with `nodes` nodes each, on a field of `cells` cells."""
    tree, table = (players, nodes), (players, cells)
    return Tables(
        np.zeros(tree, np.int32),
        np.zeros(tree, np.int32),
        np.zeros(tree, np.int8),
        np.zeros(tree, np.int8),
        np.zeros(tree, np.int8),
        np.zeros(tree),
        np.zeros((players, MOST_ROUNDS + 2), np.int64),
        np.zeros(table),
        np.zeros(table),
        np.zeros(table, np.int32),
        np.zeros(cells, np.int32),
        np.zeros(cells),
        np.zeros((MOST_ROUNDS + 1, MOVES)),
    )


@kernel(types.boolean(types.int64, types.int64, types.boolean))
def _entered(back, pace, jump):
    """Whether a move enters the cell that lies `back` steps behind its end."""
    return not jump or back == 0 or back == pace - 1


@kernel(types.void(TABLES, types.int64, types.int64, types.int64, types.int64, types.int64, types.int32))
def _stamp_path(t, player, node, depth, first_round, stride, stamp):
    """Marks the cells of the path to a node `depth` rounds below its root."""
    for level in range(depth, 0, -1):
        pace = np.int64(t.pace[player, node])
        jump = jumps(first_round + level - 1, pace)
        offset = offset_of(np.int64(t.heading[player, node]), stride)
        for back in range(pace):
            if _entered(back, pace, jump):
                t.stamps[t.cell[player, node] - back * offset] = stamp
        node = np.int64(t.parent[player, node])


@kernel(types.float64(TABLES, types.int64, types.int64, types.int64, types.int64, types.boolean, types.int32))
def _taken_before(t, player, cell, offset, pace, jump, stamp):
    """The mean probability that others entered a move's cells in the round before; -1 if the path itself did."""
    likely = 0.0
    for k in range(1, pace + 1):
        if _entered(pace - k, pace, jump):
            entered = cell + k * offset
            if t.stamps[entered] == stamp:
                return -1.0
            for other in range(t.before.shape[0]):
                if other != player:
                    likely += t.before[other, entered]
    return likely / num_entered(pace, jump)


@kernel(
    types.boolean(Field, types.int64, TABLES, types.int64, types.int64, types.int64, Habits, types.int64, TIME_OF_DAY)
)
def _grow(field, stride, t, player, depth, first_round, habits, ends, clock):
    """Makes the nodes `depth` rounds below a root; returns False if room or time runs out."""
    begin, end = t.bounds[player, depth - 1], t.bounds[player, depth]
    made, room = end, t.cell.shape[1] - MOVES
    taken = np.empty(MOVES)
    for node in range(begin, end):
        if made > room or (node & 63 == 63 and time_is_up(ends, clock)):
            return False
        stamp = np.int32(node + 1 + player * t.cell.shape[1])
        _stamp_path(t, player, node, depth - 1, first_round, stride, stamp)
        cell, heading = np.int64(t.cell[player, node]), np.int64(t.heading[player, node])
        likely = 0.0
        for action in range(MOVES):
            pace = np.int64(t.pace[player, node]) + FASTER[action]
            jump = jumps(first_round + depth - 1, pace)
            offset = offset_of((heading + TURN[action]) & 3, stride)
            taken[action] = -1.0
            if is_free(field, cell, offset, pace, jump):
                taken[action] = _taken_before(t, player, cell, offset, pace, jump, stamp)
                likely += habits[player, action] if taken[action] >= 0.0 else 0.0
        for action in range(MOVES):
            if taken[action] < 0.0:
                continue
            share = t.share[player, node] * habits[player, action] / likely - taken[action]
            if share > 0.0:
                turned = (heading + TURN[action]) & 3
                pace = np.int64(t.pace[player, node]) + FASTER[action]
                t.cell[player, made] = cell + pace * offset_of(turned, stride)
                t.parent[player, made] = node
                t.heading[player, made], t.pace[player, made] = turned, pace
                t.first[player, made] = action if depth == 1 else t.first[player, node]
                t.share[player, made] = share
                made += 1
    t.bounds[player, depth + 1] = made
    return True


@kernel(types.void(TABLES, types.int64, types.int64, types.int64, types.int64, types.int32))
def _count_visits(t, player, depth, first_round, stride, sign):
    """Adds the cells entered by the nodes of a round to the visits, or subtracts them again."""
    for node in range(t.bounds[player, depth], t.bounds[player, depth + 1]):
        pace = np.int64(t.pace[player, node])
        jump = jumps(first_round + depth - 1, pace)
        offset = offset_of(np.int64(t.heading[player, node]), stride)
        for back in range(pace):
            if _entered(back, pace, jump):
                t.visits[player, t.cell[player, node] - back * offset] += sign


@kernel(types.void(TABLES, types.int64, types.int64, types.int64, types.int64))
def _settle(t, player, depth, first_round, stride):
    """Divides the nodes of a round by others' visits, and enters them into the tables."""
    for node in range(t.bounds[player, depth], t.bounds[player, depth + 1]):
        pace = np.int64(t.pace[player, node])
        jump = jumps(first_round + depth - 1, pace)
        offset = offset_of(np.int64(t.heading[player, node]), stride)
        most = 1
        for back in range(pace):
            if _entered(back, pace, jump):
                entered, visits = t.cell[player, node] - back * offset, 0
                for other in range(t.visits.shape[0]):
                    if other != player:
                        visits += t.visits[other, entered]
                most = max(most, visits)
        t.share[player, node] /= most
        for back in range(pace):
            if _entered(back, pace, jump):
                entered = t.cell[player, node] - back * offset
                t.latest[player, entered] += t.share[player, node]
                if player > 0:
                    t.total[entered] += t.share[player, node]
        if player == 0:
            t.mass[depth, t.first[player, node]] += t.share[player, node]


@kernel(types.int64(Field, types.int64, Walkers, types.int64, types.float64, Habits, types.int64, types.int64, TABLES))
def fill_tables(field, stride, walkers, first_round, start_probability, habits, most_rounds, ends, t):
    """Fills the tables for as many whole rounds as time and room allow, at most `most_rounds`; returns their number.

    Args:
        walkers: [players], the own one first.
        start_probability: of the own root; the others' is 1. A larger one makes the others give way.
        habits: [players, MOVES] relative probabilities of the moves, above 0; equal ones if nothing is known.
        ends: the time in nanoseconds until which rounds may begin and end, 0 = any.
    """
    clock = np.empty(2, np.int64)
    players = walkers.shape[0]
    t.before[:] = 0.0
    t.total[:] = 0.0
    t.mass[:] = 0.0
    t.stamps[:] = 0
    for player in range(players):
        t.cell[player, 0], t.heading[player, 0] = walkers[player, CELL], walkers[player, HEADING]
        t.pace[player, 0] = walkers[player, PACE]
        t.share[player, 0] = start_probability if player == 0 else 1.0
        t.bounds[player, 0], t.bounds[player, 1] = 0, 1
    for depth in range(1, most_rounds + 1):
        grown, began = 0, nanoseconds(clock)
        for player in range(players):
            if not _grow(field, stride, t, player, depth, first_round, habits, ends, clock):
                return depth - 1
            grown += t.bounds[player, depth + 1] - t.bounds[player, depth]
        # The rest takes at most twice as long as growing.
        if grown == 0 or (ends > 0 and 3 * nanoseconds(clock) - 2 * began > ends):
            return depth - 1
        for player in range(players):
            _count_visits(t, player, depth, first_round, stride, np.int32(1))
        t.latest[:] = 0.0
        for player in range(players):
            _settle(t, player, depth, first_round, stride)
        for player in range(players):
            _count_visits(t, player, depth, first_round, stride, np.int32(-1))
        t.before[:] = t.latest
    return most_rounds
