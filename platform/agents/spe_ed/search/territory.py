"""Owners of cells: floods from the players, by steps to the side, over walls by jumps."""

from __future__ import annotations

import numpy as np

from ....core.kernel import kernel, types
from .field import ALIVE, CELL, OUT, TAKEN, Field, Walker, Walkers, offset_of

MARK, QUEUE, LANDING, LANDING_MARK, COUNTS, NEIGHBOURS, SPACE_ROWS = range(7)
Space = types.Array(types.int32, 2, "C")  # [SPACE_ROWS, cells of the field], scratch of floods
# A mark that is not negative is eight times the steps to a cell plus its owner: nobody if players get there at the same
# time.
_FREE, _TAKEN = -1, -2
_NOBODY = 7
THICKEST = 2  # cells of walls that can be jumped over, at speeds 3 and 4
CLEAR = 20.0  # factor of a difference relative to the sum: a tenth more than the other gives 1


@kernel(types.int64(Field, types.int64, Walker))
def reachable(field, stride, walker):
    """The number of free cells connected by sides with a player's place."""
    seen, queue = field.copy(), np.empty(field.size, np.int32)
    queue[0], filled = walker[CELL], 1
    cells = 0
    while cells < filled:
        cell = np.int64(queue[cells])
        cells += 1
        for heading in range(4):
            beside = cell + offset_of(heading, stride)
            if seen[beside] == 0:
                seen[beside] = TAKEN
                queue[filled] = beside
                filled += 1
    return filled - 1


@kernel(types.int64(Field, types.int64, types.int64))
def landing_of(field, cell, offset):
    """The end of a jump that enters `cell` first and flies over the wall behind it; `cell` itself if there is none."""
    if field[cell + offset] != 0:
        for thick in range(1, THICKEST + 1):
            if field[cell + (thick + 1) * offset] == 0:
                return cell + (thick + 1) * offset
    return cell


@kernel(types.boolean(Field, types.int64, Walkers, types.int64, Space))
def flood(field, stride, walkers, jump_steps, space):
    """Counts the cells that each player reaches first, by steps to the side, and whether player 0 meets any other.

    Own places count. Speeds are ignored.

    Args:
        jump_steps: steps after which others land behind a wall of at most THICKEST cells, including the wait for the
            round of jumps; 0 = walls are closed. Player 0 never jumps: counting on jumps leads into traps.
        space: its rows COUNTS and NEIGHBOURS get, by player, the cells and the free places beside them.
    """
    for place in range(field.size):
        space[MARK, place] = _FREE if field[place] == 0 else _TAKEN
    for who in range(_NOBODY + 1):
        space[COUNTS, who], space[NEIGHBOURS, who] = 0, 0
    filled = 0
    for who in range(walkers.shape[0]):
        if walkers[who, ALIVE] != OUT:
            start = walkers[who, CELL]
            space[MARK, start] = who
            space[QUEUE, filled] = start
            filled += 1
    done, meets = 0, False
    landed, landings = 0, 0  # jumps that have landed, and all begun
    while done < filled or landed < landings:
        steps = space[MARK, space[QUEUE, done]] >> 3 if done < filled else space[LANDING_MARK, landed] >> 3
        # A jump that lands after as many steps as the current cells continues with them.
        while landed < landings and space[LANDING_MARK, landed] >> 3 <= steps:
            cell, mark = space[LANDING, landed], space[LANDING_MARK, landed]
            landed += 1
            known = space[MARK, cell]
            if known == _FREE:
                space[MARK, cell] = mark
                space[QUEUE, filled] = cell
                filled += 1
            elif known >> 3 == mark >> 3 and known != mark:
                space[MARK, cell] = mark | _NOBODY
        nearest = 8 * (steps + 1)  # one step further, no marks are smaller
        while done < filled and space[MARK, space[QUEUE, done]] < nearest:
            cell = np.int64(space[QUEUE, done])
            done += 1
            whose = space[MARK, cell] & 7
            space[COUNTS, whose] += 1
            for heading in range(4):
                offset = offset_of(heading, stride)
                beside = cell + offset
                known = space[MARK, beside]
                space[NEIGHBOURS, whose] += known != _TAKEN
                if known == _FREE:
                    space[MARK, beside] = nearest + whose
                    space[QUEUE, filled] = beside
                    filled += 1
                elif known >= nearest:
                    if known != nearest + whose:
                        meets = meets or whose == 0 or known & 7 == 0
                        space[MARK, beside] = nearest + _NOBODY
                elif known >= 0:
                    other = known & 7
                    meets = meets or (other != whose and (whose == 0 or other == 0))
                elif jump_steps > 0 and whose > 0 and known == _TAKEN and landings < space.shape[1]:
                    end = landing_of(field, cell, offset)
                    if end != cell and space[MARK, end] == _FREE:
                        space[LANDING, landings] = end
                        space[LANDING_MARK, landings] = 8 * (steps + jump_steps) + whose
                        landings += 1
    return meets


@kernel(types.float64(Field, types.int64, Walkers, types.int64, types.float64, types.float64, Space))
def own_share(field, stride, walkers, jump_steps, neighbours, decided, space):
    """The share of the reachable cells that player 0 reaches first, 0 to 1, and the bonus for being shut off.

    The document suggests this for play that shuts others in (Brot 2021, 7.4): a move that cuts others off from cells
    gains them.

    Args:
        jump_steps: as in `flood`.
        neighbours: weight of each free place beside a cell, in addition to the cell: narrow ways fill badly.
        decided: added if player 0 meets no other player: all of it with a tenth more than the largest of them, its
            negative with a tenth less, in between in proportion.
    """
    meets = flood(field, stride, walkers, jump_steps, space)
    own = space[COUNTS, 0] + neighbours * space[NEIGHBOURS, 0]
    others, most = 0.0, 0.0
    for who in range(1, walkers.shape[0]):
        worth = space[COUNTS, who] + neighbours * space[NEIGHBOURS, who]
        others += worth
        most = max(most, worth)
    share = own / (own + others)
    if decided > 0.0 and not meets and most > 0.0:
        share += decided * min(1.0, max(-1.0, CLEAR * (own - most) / (own + most)))
    return share


@kernel(types.boolean(Field, types.int64, Walkers, types.boolean, Space))
def is_apart(field, stride, walkers, jump, space):
    """Whether no other player can reach the free cells around player 0, by steps and, if `jump`, over thin walls."""
    for place in range(field.size):
        space[MARK, place] = _FREE if field[place] == 0 else _TAKEN
    space[QUEUE, 0] = walkers[0, CELL]
    done, filled = 0, 1
    while done < filled:
        cell = np.int64(space[QUEUE, done])
        done += 1
        for heading in range(4):
            beside = cell + offset_of(heading, stride)
            if space[MARK, beside] == _FREE:
                space[MARK, beside] = 0
                space[QUEUE, filled] = beside
                filled += 1
    done, filled = 0, 0
    for who in range(1, walkers.shape[0]):
        if walkers[who, ALIVE] != OUT:
            space[QUEUE, filled] = walkers[who, CELL]
            filled += 1
    while done < filled:
        cell = np.int64(space[QUEUE, done])
        done += 1
        for heading in range(4):
            offset = offset_of(heading, stride)
            entered = cell + offset
            for _ in range(2):
                if space[MARK, entered] == 0:
                    return False
                if space[MARK, entered] == _FREE:
                    space[MARK, entered] = 1
                    space[QUEUE, filled] = entered
                    filled += 1
                if not jump:
                    break
                entered = landing_of(field, cell, offset)
    return True
