"""Random paths of one player while all others stand still, counted by length and first action.

Source: Brot 2021, 4.2. A path ends if no move is left. For the choice paths are only counted: at the end, those at
least `filter_value` times as long as the longest are selected. Some are kept for the next round.
"""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ....core.clock import time_is_up
from ....core.kernel import kernel, types
from ....core.rng import Rng, xoshiro
from ....games.abi import Floats
from ....games.spe_ed.board import JUMP_EVERY, JUMP_SPEED, MAX_SPEED
from .field import (
    CELL,
    FASTER,
    HEADING,
    MOVES,
    PACE,
    TAKEN,
    TURN,
    Field,
    Walker,
    is_free,
    num_entered,
    offset_of,
    paint,
)

MAX_PATH = 512  # rounds; longer paths count as that long
ROLLOUTS, STEPS, LONGEST, SLOT, TREE_NODES, COMPLETE, NUMBERS = range(7)
NO_ROOM = 7  # more than the free cells beside one
DONE = -1  # in the tree: impossible, or every continuation has been played
# The first possible action of a random order is a random possible action.
ORDERS = np.array(list(itertools.permutations(range(MOVES))), np.int8)
_32, _120, _LOW = np.uint64(32), np.uint64(120), np.uint64(0xFFFFFFFF)


class Paths(NamedTuple):
    """Paths as actions, `lengths` each."""

    actions: npt.NDArray[np.int8]  # [kept, MAX_PATH]
    lengths: npt.NDArray[np.int64]  # [kept], 0 = none


class Found(NamedTuple):
    """The results of rollouts."""

    counts: npt.NDArray[np.int64]  # [MAX_PATH + 1, MOVES]: paths by length and first action
    risks: npt.NDArray[np.float64]  # likewise: sums of the paths' mean probabilities of being entered by others
    kept: Paths
    numbers: npt.NDArray[np.int64]  # [NUMBERS]


_Bytes2, _Ints1, _Ints2 = types.int8[:, ::1], types.int64[::1], types.int64[:, ::1]
PATHS = types.NamedTuple([_Bytes2, _Ints1], Paths)
FOUND = types.NamedTuple([_Ints2, types.float64[:, ::1], PATHS, _Ints1], Found)
TREE = types.int32[:, ::1]  # [nodes, MOVES]: children, 0 = not yet tried, or DONE; no nodes = paths may come again


def new_paths(kept: int) -> Paths:
    return Paths(np.zeros((kept, MAX_PATH), np.int8), np.zeros(kept, np.int64))


def new_found(kept: Paths) -> Found:
    """Returns space for the rollouts of a decision; the paths kept go to `kept`, which is overwritten."""
    kept.lengths[:] = 0
    shape = MAX_PATH + 1, MOVES
    return Found(np.zeros(shape, np.int64), np.zeros(shape), kept, np.zeros(NUMBERS, np.int64))


@kernel(types.void(TREE, types.int32[::1], types.int8[::1], types.int64, _Ints1))
def _close(tree, nodes, path, length, numbers):
    """Marks a path as played, and nodes on it whose continuations have now all been played."""
    for i in range(length - 1, -1, -1):
        tree[nodes[i], path[i]] = DONE
        for action in range(MOVES):
            if tree[nodes[i], action] != DONE:
                return
    numbers[COMPLETE] = 1


@kernel(types.void(PATHS, types.int8[::1], types.int64, _Ints1))
def _keep(kept, path, length, numbers):
    """Keeps a path in place of the next one compared, if that is not longer."""
    slot = numbers[SLOT]
    numbers[SLOT] = (slot + 1) % kept.lengths.size
    if kept.lengths[slot] <= length:
        kept.lengths[slot] = length
        for i in range(length):
            kept.actions[slot, i] = path[i]


@kernel(types.int64(PATHS, types.int64, types.int64, types.int8[::1]))
def _follow(paths, slot, moves, lead):
    """Copies the first moves of a path and returns their number."""
    for i in range(moves):
        lead[i] = paths.actions[slot, i]
    return moves


@kernel(types.int64(Field, types.int64, types.int64))
def room_beside(field, cell, stride):
    """The number of free cells beside one; none counts most, since paths end there."""
    free = 0
    for heading in range(4):
        free += field[cell + offset_of(heading, stride)] == 0
    return free if free > 0 else NO_ROOM


@kernel(
    types.void(
        Field,
        types.int64,
        Walker,
        types.int64,
        PATHS,
        Floats,
        TREE,
        types.float64,
        types.float64,
        types.float64,
        Rng,
        types.int64,
        types.int64,
        FOUND,
    )
)
def run_rollouts(
    field, stride, walker, first_round, guides, table, tree, filter_value, vary, hug, rng, most, ends, found
):
    """Adds at most `most` rollouts to `found`, until the time `ends` (in nanoseconds, 0 = never).

    Args:
        field: is unchanged afterwards.
        first_round: the number of the round of the first move.
        guides: paths to follow first, one per rollout, as far as possible; from there on at random.
        table: [cells of the field] probabilities that a cell is entered by others, or empty.
        tree: for no path to come twice; its first node must be empty.
        filter_value: paths of at least this length, relative to the longest yet, are kept.
        vary: share of the rollouts that follow a path kept in this decision, the longer one of two, up to a random
            move; needs room for kept paths.
        hug: share of the moves that are the slowest and, among those, have the least room beside their end, which fills
            a room. The others are random possible moves.
    """
    s0, s1, s2, s3 = rng[0], rng[1], rng[2], rng[3]
    trail, path = np.empty(MAX_PATH * MAX_SPEED, np.int32), np.empty(MAX_PATH, np.int8)
    nodes, clock = np.empty(MAX_PATH, np.int32), np.empty(2, np.int64)
    lead = np.empty(MAX_PATH, np.int8)
    numbers, kept = found.numbers, found.kept
    if tree.shape[0] > 0 and numbers[TREE_NODES] == 0:
        numbers[TREE_NODES] = 1
        tree[0] = 0
    for rollout in range(most):
        if rollout & 63 == 63 and time_is_up(ends, clock):
            break
        cell, heading, speed = walker[CELL], walker[HEADING], walker[PACE]
        phase = first_round % JUMP_EVERY
        follow = np.int64(0)  # moves of `lead` to try first
        if rollout < guides.lengths.size:
            follow = _follow(guides, rollout, guides.lengths[rollout], lead)
        elif vary > 0.0:
            word, s0, s1, s2, s3 = xoshiro(s0, s1, s2, s3)
            if np.float64(word >> _32) < vary * 4294967296.0:
                slot = np.int64(((word & _LOW) * np.uint64(kept.lengths.size)) >> _32)
                word, s0, s1, s2, s3 = xoshiro(s0, s1, s2, s3)
                other = np.int64(((word & _LOW) * np.uint64(kept.lengths.size)) >> _32)
                slot = other if kept.lengths[other] > kept.lengths[slot] else slot
                follow = _follow(kept, slot, np.int64(((word >> _32) * np.uint64(kept.lengths[slot])) >> _32), lead)
        node, in_tree = np.int64(0), tree.shape[0] > 0
        length, painted, risk, fresh = 0, 0, 0.0, True
        while length < MAX_PATH:
            word, s0, s1, s2, s3 = xoshiro(s0, s1, s2, s3)
            order = np.int64(((word >> _32) * _120) >> _32)
            chosen = np.int64(-1)
            hugging, least = np.float64(word & _LOW) < hug * 4294967296.0, np.int64(1 << 30)
            for i in range(-1 if length < follow else 0, MOVES):
                action = np.int64(lead[length] if i < 0 else ORDERS[order, i])
                if not in_tree or tree[node, action] != DONE:
                    pace = speed + FASTER[action]
                    jump = phase == 0 and pace >= JUMP_SPEED
                    offset = offset_of((heading + TURN[action]) & 3, stride)
                    if is_free(field, cell, offset, pace, jump):
                        if not hugging or i < 0:
                            chosen = action
                            break
                        wide = room_beside(field, cell + pace * offset, stride) + (NO_ROOM + 1) * pace
                        if wide < least:
                            least, chosen = wide, action
                    elif in_tree:
                        tree[node, action] = DONE
                if i < 0:
                    follow = np.int64(0)  # from here on at random
            if chosen < 0:
                break
            pace = speed + FASTER[chosen]
            jump = phase == 0 and pace >= JUMP_SPEED
            offset = offset_of((heading + TURN[chosen]) & 3, stride)
            paint(field, cell, offset, pace, jump, TAKEN)
            danger = 0.0
            for k in range(1, pace + 1):
                if not jump or k == 1 or k == pace:
                    trail[painted] = cell + k * offset
                    painted += 1
                    if table.size > 0:
                        danger += table[cell + k * offset]
            risk += danger / num_entered(pace, jump)
            if in_tree:
                child = tree[node, chosen]
                fresh = child == 0
                if fresh and numbers[TREE_NODES] < tree.shape[0]:
                    child = np.int32(numbers[TREE_NODES])
                    numbers[TREE_NODES] += 1
                    tree[child] = 0
                    tree[node, chosen] = child
                nodes[length] = node
                in_tree = child > 0
                node = np.int64(child)
            path[length] = chosen
            length += 1
            cell += pace * offset
            heading, speed = (heading + TURN[chosen]) & 3, pace
            phase = phase + 1 if phase < JUMP_EVERY - 1 else 0
        for k in range(painted):
            field[trail[k]] = 0
        if length == 0:
            numbers[COMPLETE] = numbers[ROLLOUTS] > 0
            break
        if in_tree:
            _close(tree, nodes, path, length, numbers)
            if not fresh:
                continue  # not an end, but a place from which everything has been played
        first = path[0]
        found.counts[length, first] += 1
        found.risks[length, first] += risk / length
        numbers[ROLLOUTS] += 1
        numbers[STEPS] += length
        numbers[LONGEST] = max(numbers[LONGEST], length)
        if kept.lengths.size > 0 and length >= filter_value * numbers[LONGEST]:
            _keep(kept, path, length, numbers)
        if numbers[COMPLETE]:
            break
    rng[0], rng[1], rng[2], rng[3] = s0, s1, s2, s3


def surviving(found: Found, filter_value: float) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """Returns the numbers and sums of risks, [MOVES] each, of the paths that are long enough, by first action."""
    least = int(np.ceil(filter_value * found.numbers[LONGEST]))
    return found.counts[least:].sum(axis=0), found.risks[least:].sum(axis=0)


def longest_of(kept: Paths, filter_value: float, most: int) -> list[int]:
    """Returns the slots of different paths that are long enough, the longest first, but first actions in turn."""
    least = max(1.0, filter_value * int(kept.lengths.max(initial=0)))
    different = {kept.actions[i, : kept.lengths[i]].tobytes(): int(i) for i in np.flatnonzero(kept.lengths >= least)}
    slots = sorted(different.values(), key=lambda slot: -int(kept.lengths[slot]))
    seen = [0] * MOVES
    turns = []
    for slot in slots:
        first = int(kept.actions[slot, 0])
        turns.append(seen[first])
        seen[first] += 1
    return [slot for _, slot in sorted(zip(turns, slots, strict=True), key=lambda pair: pair[0])][:most]


def following(kept: Paths, played: int, room: Paths) -> Paths:
    """Returns the kept paths that begin with the action played, without it, in `room`, the longest first."""
    chosen = np.flatnonzero((kept.lengths > 1) & (kept.actions[:, 0] == played))
    chosen = chosen[np.argsort(-kept.lengths[chosen], kind="stable")]
    room.actions[: len(chosen), :-1] = kept.actions[chosen, 1:]
    room.lengths[: len(chosen)] = kept.lengths[chosen] - 1
    return Paths(room.actions[: len(chosen)], room.lengths[: len(chosen)])
