"""Minimax with alpha-beta for a player and those near it, who move in turn but as if at once.

Source: Brot 2021, 4.1. The cells that the own move enters are marked with the round: an opponent who can enter one of
them in the same round takes the player out. The value of a state at the horizon is the number of moves that survive (0
to 5), that of a death in round r of d is r - d. Two options that the document suggests subtract the opponents' freedom,
0 for those out (`aggression`), and add the player's territory (`territory`).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ....core.clock import TIME_OF_DAY, time_is_up
from ....core.kernel import kernel, types
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
_ONE = np.uint64(1)
IMPOSSIBLE = -1e9  # a root move into taken cells

Numbers = types.Array(types.int64, 1, "C")
Frames = types.Array(types.int64, 2, "C")  # [frames, FRAME_WORDS]: CELL, HEADING and PACE before the move, and these
WHO, LEVEL, LAST, TRIED, FRAME_WORDS = range(PACE + 1, PACE + 6)  # LAST: an action; TRIED: number of moves
Bounds = types.Array(types.float64, 2, "C")  # [frames, BOUNDS]
BEST, ALPHA, BETA, BOUNDS = range(4)


@kernel(types.uint8(types.int64))
def _mark(level):
    """The mark of the cells that the player enters in a round of the search."""
    return np.uint8(TAKEN + level)


@kernel(types.boolean(Field, types.int64, types.int64, types.int64, types.boolean, types.uint8), inline=True)
def _can_hit(field, cell, offset, speed, jump, mark):
    """Whether a move enters only free or marked cells, at least one of them marked."""
    if speed < 1 or speed > MAX_SPEED:
        return False
    hit = False
    for k in range(1, speed + 1):
        if not jump or k == 1 or k == speed:
            value = field[np.uint64(cell + k * offset)]
            if value == mark:
                hit = True
            elif value != 0:
                return False
    return hit


@kernel(types.int64(Field, types.int64, Walkers, types.int64, types.int64), inline=True)
def freedom(field, stride, walkers, who, round_number):
    """The number of a player's moves that enter only free cells."""
    moves = 0
    for action in range(MOVES):
        pace = walkers[who, PACE] + FASTER[action]
        offset = offset_of((walkers[who, HEADING] + TURN[action]) & 3, stride)
        moves += is_free(field, walkers[who, CELL], offset, pace, jumps(round_number, pace))
    return moves


@kernel(types.float64(Field, types.int64, Walkers, types.int64, Floats, Space), inline=True)
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


@kernel(types.boolean(Field, types.int64, Walkers, types.int64, types.int64, types.uint8), inline=True)
def _can_take_out(field, stride, walkers, who, round_number, mark):
    """Whether a player can enter a marked cell."""
    for action in range(MOVES):
        pace = walkers[who, PACE] + FASTER[action]
        offset = offset_of((walkers[who, HEADING] + TURN[action]) & 3, stride)
        if _can_hit(field, walkers[who, CELL], offset, pace, jumps(round_number, pace), mark):
            return True
    return False


@kernel(
    types.float64(
        Field,
        types.int64,
        Walkers,
        types.int64,
        types.float64,
        types.float64,
        types.int64,
        Floats,
        Space,
        Numbers,
        TIME_OF_DAY,
        Frames,
        Bounds,
    )
)
def value_of_replies(
    field, stride, walkers, depth, alpha, beta, first_round, weights, space, numbers, clock, frames, bounds
):
    """The value for player 0, who has moved in the first of `depth` rounds, between `alpha` and `beta`.

    `frames` and `bounds` are the stack of the players who have moved: numba passes all arrays to each call of a
    recursion by value. Indices are unsigned: a negative one would count from the end, for which numba checks.
    """
    players, nodes, top = walkers.shape[0], numbers[NODES], np.uint64(0)
    who, level, value = 1, 1, 0.0
    cell, heading, speed, action, moves, best = 0, 0, 0, 0, 0, 0.0
    while True:
        # Player `who` is to move in round `level`, if that is not the end.
        if who == players:
            who, level = 0, level + 1
        mover, round_number, ended = np.uint64(who), first_round + level - 1, True
        if level > depth:
            value = _worth(field, stride, walkers, round_number, weights, space)
        elif numbers[STOPPED]:
            value = 0.0
        elif who > 0 and walkers[mover, ALIVE] != PLAYS:
            who += 1
            continue
        elif who > 0 and _can_take_out(field, stride, walkers, who, round_number, _mark(level)):
            value = float(level - depth)
        else:
            ended, top = False, top + _ONE
            cell, heading, speed = walkers[mover, CELL], walkers[mover, HEADING], walkers[mover, PACE]
            action, moves, best = -1, 0, IMPOSSIBLE if who == 0 else -IMPOSSIBLE
        while True:
            if ended:  # the last move of the player on the stack has a value
                if top == 0:
                    numbers[NODES] = nodes
                    return value
                who, level, action, moves = (
                    frames[top, WHO],
                    frames[top, LEVEL],
                    frames[top, LAST],
                    frames[top, TRIED],
                )
                cell, heading, speed = frames[top, CELL], frames[top, HEADING], frames[top, PACE]
                best, alpha, beta = bounds[top, BEST], bounds[top, ALPHA], bounds[top, BETA]
                mover, round_number = np.uint64(who), first_round + level - 1
                if action == MOVES:
                    walkers[mover, ALIVE] = PLAYS
                    top -= _ONE
                    continue
                turn = np.uint64(action)
                pace = speed + FASTER[turn]
                offset = offset_of((heading + TURN[turn]) & 3, stride)
                paint(field, cell, offset, pace, jumps(round_number, pace), np.uint8(0))
                walkers[mover, CELL], walkers[mover, HEADING], walkers[mover, PACE] = cell, heading, speed
                if who == 0:
                    best, alpha = max(best, value), max(alpha, value)
                else:
                    best, beta = min(best, value), min(beta, value)
                if alpha >= beta or numbers[STOPPED]:
                    value = best
                    top -= _ONE
                    continue
            action += 1
            ended = action == MOVES and (moves > 0 or who == 0)
            if ended:
                value = best if moves > 0 else float(level - depth)
                top -= _ONE
                continue
            if action == MOVES:  # without a move it is out, and the others go on
                walkers[mover, ALIVE] = OUT
            else:
                turn = np.uint64(action)
                pace = speed + FASTER[turn]
                jump = jumps(round_number, pace)
                turned = (heading + TURN[turn]) & 3
                offset = offset_of(turned, stride)
                if not is_free(field, cell, offset, pace, jump):
                    continue
                moves, nodes = moves + 1, nodes + 1
                if nodes & numbers[PAUSE] == 0 and time_is_up(numbers[ENDS], clock):
                    numbers[STOPPED] = 1
                if nodes >= numbers[MOST_NODES]:
                    numbers[STOPPED] = 1
                paint(field, cell, offset, pace, jump, _mark(level) if who == 0 else np.uint8(TAKEN))
                walkers[mover, CELL], walkers[mover, HEADING], walkers[mover, PACE] = cell + pace * offset, turned, pace
            frames[top, WHO], frames[top, LEVEL], frames[top, LAST], frames[top, TRIED] = (
                who,
                level,
                action,
                moves,
            )
            frames[top, CELL], frames[top, HEADING], frames[top, PACE] = cell, heading, speed
            bounds[top, BEST], bounds[top, ALPHA], bounds[top, BETA] = best, alpha, beta
            who += 1
            break


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
    most = 1 + depth * len(walkers)
    frames, bounds = np.empty((most, FRAME_WORDS), np.int64), np.empty((most, BOUNDS))
    between = (lowest, highest, first_round, weights)
    return float(value_of_replies(field, stride, walkers, depth, *between, space, numbers, clock, frames, bounds))


def new_numbers(most_nodes: int, ends: int) -> Ints:
    """Returns the numbers of a search with limits of nodes and of time in nanoseconds; 0 = none."""
    numbers = np.zeros(NUMBERS, np.int64)
    numbers[MOST_NODES], numbers[ENDS] = most_nodes or NO_LIMIT, ends
    return numbers
