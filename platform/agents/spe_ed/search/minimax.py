"""Minimax with alpha-beta for a player and those near it, who move in turn but as if at once.

Source: Brot 2021, 4.1. The cells that the own move enters are marked with the round: an opponent who can enter one of
them in the same round takes the player out. The value of a state at the horizon is the number of moves that survive (0
to 5), that of a death in round r of d is r - d. Two options that the document suggests subtract the opponents' freedom,
0 for those out (`aggression`), and add the player's territory (`territory`).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import types

from ....core.clock import TIME_OF_DAY, time_is_up
from ....core.kernel import kernel
from ....games.abi import Floats
from ....games.spe_ed.board import MAX_SPEED, jumps
from .field import (
    ALIVE,
    CELL,
    FASTER,
    HEADING,
    MOVES,
    OUT,
    PACE,
    PLAYS,
    TAKEN,
    TURN,
    Bytes,
    Field,
    Ints,
    Walkers,
    is_free,
    offset_of,
    paint,
)
from .territory import SPACE_ROWS, Space, own_share

DEEPEST = 100  # rounds; marks have to fit into a byte
NODES, STOPPED, MOST_NODES, ENDS, PAUSE, NUMBERS = range(6)
AGGRESSION, TERRITORY, JUMP_STEPS, NEIGHBOURS, DECIDED, FREEDOM, WEIGHTS = range(7)
NO_LIMIT = 1 << 62
OFTEN, SELDOM = 15, 1023  # nodes between two looks at the clock, with territories and without
IMPOSSIBLE = -1e9  # a root move into taken cells

Numbers = types.Array(types.int64, 1, "C")


@kernel(types.uint8(types.int64))
def _mark(level):
    """The mark of the cells that the player enters in a round of the search."""
    return np.uint8(TAKEN + level)


@kernel(types.boolean(Field, types.int64, types.int64, types.int64, types.boolean, types.uint8))
def _can_hit(field, cell, offset, speed, jump, mark):
    """Whether a move enters only free or marked cells, at least one of them marked."""
    if speed < 1 or speed > MAX_SPEED:
        return False
    hit = False
    for k in range(1, speed + 1):
        if not jump or k == 1 or k == speed:
            value = field[cell + k * offset]
            if value == mark:
                hit = True
            elif value != 0:
                return False
    return hit


@kernel(types.int64(Field, types.int64, Walkers, types.int64, types.int64))
def freedom(field, stride, walkers, who, round_number):
    """The number of a player's moves that enter only free cells."""
    moves = 0
    for action in range(MOVES):
        pace = walkers[who, PACE] + FASTER[action]
        offset = offset_of((walkers[who, HEADING] + TURN[action]) & 3, stride)
        moves += is_free(field, walkers[who, CELL], offset, pace, jumps(round_number, pace))
    return moves


@kernel(types.float64(Field, types.int64, Walkers, types.int64, Floats, Space))
def _worth(field, stride, walkers, round_number, weights, space):
    """The value of a state at the horizon."""
    worth = weights[FREEDOM] * float(freedom(field, stride, walkers, 0, round_number))
    if weights[AGGRESSION] > 0.0:
        for who in range(1, walkers.shape[0]):
            if walkers[who, ALIVE] != OUT:
                others = freedom(field, stride, walkers, who, round_number)
                worth -= weights[AGGRESSION] * others / (walkers.shape[0] - 1)
    if weights[TERRITORY] > 0.0:
        share = own_share(
            field, stride, walkers, np.int64(weights[JUMP_STEPS]), weights[NEIGHBOURS], weights[DECIDED], space
        )
        worth += weights[TERRITORY] * MOVES * share
    return worth


@kernel(
    types.float64(
        Field,
        types.int64,
        Walkers,
        types.int64,
        types.int64,
        types.int64,
        types.float64,
        types.float64,
        types.int64,
        Floats,
        Space,
        Numbers,
        TIME_OF_DAY,
    )
)
def state_value(field, stride, walkers, who, level, depth, alpha, beta, first_round, weights, space, numbers, clock):
    """The value for player 0 if `who` is to move in round `level` of the search, its horizon `depth` rounds deep."""
    if who == walkers.shape[0]:
        who, level = 0, level + 1
    round_number = first_round + level - 1
    if level > depth:
        return _worth(field, stride, walkers, round_number, weights, space)
    if numbers[STOPPED]:
        return 0.0
    cell, heading, speed = walkers[who, CELL], walkers[who, HEADING], walkers[who, PACE]
    own = who == 0
    if not own:
        if walkers[who, ALIVE] != PLAYS:
            return state_value(
                field, stride, walkers, who + 1, level, depth, alpha, beta, first_round, weights, space, numbers, clock
            )
        for action in range(MOVES):
            pace = speed + FASTER[action]
            offset = offset_of((heading + TURN[action]) & 3, stride)
            if _can_hit(field, cell, offset, pace, jumps(round_number, pace), _mark(level)):
                return float(level - depth)
    best, moves = IMPOSSIBLE if own else -IMPOSSIBLE, 0
    for action in range(MOVES):
        pace = speed + FASTER[action]
        jump = jumps(round_number, pace)
        turned = (heading + TURN[action]) & 3
        offset = offset_of(turned, stride)
        if not is_free(field, cell, offset, pace, jump):
            continue
        moves += 1
        numbers[NODES] += 1
        if numbers[NODES] & numbers[PAUSE] == 0 and time_is_up(numbers[ENDS], clock):
            numbers[STOPPED] = 1
        if numbers[NODES] >= numbers[MOST_NODES]:
            numbers[STOPPED] = 1
        paint(field, cell, offset, pace, jump, _mark(level) if own else np.uint8(TAKEN))
        walkers[who, CELL], walkers[who, HEADING], walkers[who, PACE] = cell + pace * offset, turned, pace
        value = state_value(
            field, stride, walkers, who + 1, level, depth, alpha, beta, first_round, weights, space, numbers, clock
        )
        walkers[who, CELL], walkers[who, HEADING], walkers[who, PACE] = cell, heading, speed
        paint(field, cell, offset, pace, jump, np.uint8(0))
        if own:
            best = max(best, value)
            alpha = max(alpha, value)
        else:
            best = min(best, value)
            beta = min(beta, value)
        if alpha >= beta or numbers[STOPPED]:
            return best
    if moves > 0:
        return best
    if own:
        return float(level - depth)
    walkers[who, ALIVE] = OUT
    value = state_value(
        field, stride, walkers, who + 1, level, depth, alpha, beta, first_round, weights, space, numbers, clock
    )
    walkers[who, ALIVE] = PLAYS
    return value


def value_of_move(
    field: Bytes,
    stride: int,
    walkers: Ints,
    action: int,
    depth: int,
    first_round: int,
    weights: npt.NDArray[np.float64],
    numbers: Ints,
) -> float:
    """Returns the value of an own move, `depth` rounds deep, by its own tree, or IMPOSSIBLE.

    It is Python because numba loads a recursive kernel from its cache only if no other kernel calls it.

    Args:
        field, walkers: are not changed: several threads may search different moves.
        first_round: the number of the round that the move is for.
        weights: [WEIGHTS] of the parts of a state's value.
        numbers: [NUMBERS]; nodes are added, and STOPPED is set if nodes or time ran out and the value is invalid.
    """
    cell, pace = int(walkers[0, CELL]), int(walkers[0, PACE] + FASTER[action])
    jump = bool(jumps(first_round, pace))
    turned = int(walkers[0, HEADING] + TURN[action]) & 3
    offset = int(offset_of(turned, stride))
    if not is_free(field, cell, offset, pace, jump):
        return IMPOSSIBLE
    field, walkers = field.copy(), walkers.copy()
    numbers[NODES] += 1
    paint(field, cell, offset, pace, jump, _mark(1))
    walkers[0, CELL], walkers[0, HEADING], walkers[0, PACE] = cell + pace * offset, turned, pace
    # All values lie between these.
    decided = weights[TERRITORY] * weights[DECIDED]
    lowest = min(float(1 - depth), -MOVES * (weights[AGGRESSION] + decided))
    highest = MOVES * (weights[FREEDOM] + weights[TERRITORY] + decided)
    numbers[PAUSE] = OFTEN if weights[TERRITORY] else SELDOM
    space = np.empty((SPACE_ROWS if weights[TERRITORY] else 0, field.size), np.int32)
    clock = np.empty(2, np.int64)
    return float(
        state_value(field, stride, walkers, 1, 1, depth, lowest, highest, first_round, weights, space, numbers, clock)
    )


def new_numbers(most_nodes: int, ends: int) -> Ints:
    """Returns the numbers of a search with limits of nodes and of time in nanoseconds; 0 = none."""
    numbers = np.zeros(NUMBERS, np.int64)
    numbers[MOST_NODES], numbers[ENDS] = most_nodes or NO_LIMIT, ends
    return numbers
