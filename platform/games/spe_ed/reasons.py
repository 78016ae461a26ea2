"""Why players of spe_ed are out, in words, from the states before and after a round."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .board import (
    ACTIVE,
    COLLISION,
    DIED,
    DIRECTION,
    DX,
    DY,
    HEIGHT,
    MAX_SPEED,
    PLAYERS,
    ROUND,
    SPEED,
    WIDTH,
    X,
    Y,
    cell_at,
    jumps,
)

Ints = npt.NDArray[np.int64]


def reasons(before: Ints, after: Ints) -> dict[int, str]:
    """Returns the reasons why seats went out in the round between two states; without a valid answer a seat stays."""
    seats = range(int(before[PLAYERS]))
    return {
        seat: _reason(before, after, seat)
        for seat in seats
        if before[ACTIVE + seat] and after[DIED + seat] == after[ROUND]
    }


def painted(before: Ints, after: Ints, seat: int) -> list[tuple[int, int]]:
    """Returns the cells (x, y) that a seat entered in the round, without holes, with the first cell off the board."""
    direction, speed = int(after[DIRECTION + seat]), int(after[SPEED + seat])
    jump = bool(jumps(after[ROUND], speed))
    x, y, way = int(before[X + seat]), int(before[Y + seat]), []
    for i in range(speed):
        if (x, y) == (after[X + seat], after[Y + seat]):
            break
        x, y = x + int(DX[direction]), y + int(DY[direction])
        if not jump or i == 0 or i == speed - 1:
            way.append((x, y))
    return way


def _reason(before: Ints, after: Ints, seat: int) -> str:
    x, y, speed = (int(after[field + seat]) for field in (X, Y, SPEED))
    if speed > MAX_SPEED:
        return f"speed above {MAX_SPEED}"
    if speed < 1:
        return "speed below 1"
    if (x, y) == (before[X + seat], before[Y + seat]):
        return "no valid answer"
    if not (0 <= x < after[WIDTH] and 0 <= y < after[HEIGHT]):
        return "left the board"
    for entered in painted(before, after, seat):
        cell = entered[1] * int(after[WIDTH]) + entered[0]
        owner = int(cell_at(before, cell))
        if owner == COLLISION:
            return "ran into the place of a crash"
        if owner:
            return "ran into its own trail" if owner == 1 + seat else f"ran into the trail of {owner}"
        if cell_at(after, cell) == COLLISION:
            others = (s for s in range(int(before[PLAYERS])) if s != seat and entered in painted(before, after, s))
            return f"crashed with {' and '.join(str(1 + other) for other in others)}"
    raise AssertionError(f"seat {seat} went out for no reason")


def general(reason: str) -> str:
    """Returns a reason without the numbers of other players."""
    if reason.startswith("ran into the trail of"):
        return "ran into another trail"
    return "crashed with others" if reason.startswith("crashed with") else reason
