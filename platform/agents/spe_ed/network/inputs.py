"""What the network sees of each move of a player, compiled: nothing below 0, turned so that the player looks up.

The cells around the move's end come first: whether each is taken, and how likely others, and the player, are to enter
it. Then come the sums of the own tree by rounds, how likely others enter the move's cells, the cells that are left, and
how everybody moves.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ....core.kernel import kernel, types
from ....games.game import Game
from ....games.spe_ed.board import JUMP_EVERY, MAX_SPEED, jumps
from ..search.field import (
    CELL,
    FASTER,
    HEADING,
    MOVES,
    PACE,
    TAKEN,
    TURN,
    Bytes,
    Field,
    Ints,
    Walkers,
    fill_field,
    is_free,
    nearest,
    new_field,
    next_round,
    num_entered,
    offset_of,
    paint,
    stride_of,
    walkers_of,
)
from ..search.minimax import freedom
from ..search.tables import TABLES, Tables, fill_tables, new_tables
from ..search.territory import SPACE_ROWS, Space, own_share, reachable

WITH_TABLES = 2  # others that get tables, the nearest
OF_MOVE = 1 + 3 + MAX_SPEED + JUMP_EVERY  # risk of its cells; what is left; speed; rounds to a jump
OF_OTHERS = 2 + 4 + 4  # how many live and how near the nearest is; the direction to it; where it heads
NEAR = 5.0  # cells at which the nearest one counts half

Cells = types.Array(types.float64, 1, "C")  # [cells of the field]
Words = types.Array(types.int64, 1, "C")  # [WORDS]
Seen = types.Array(types.float32, 2, "C")  # [MOVES, inputs]
Possible = types.Array(types.boolean, 1, "C")  # [MOVES]
WINDOW, ROUNDS, FREE, FILLED, WORDS = range(5)  # FREE: cells of the board; FILLED: rounds of the tables, 0 = no tables


def num_inputs(window: int, rounds: int) -> int:
    """Returns the number of inputs for each move."""
    return 3 * window**2 + 2 * rounds + OF_MOVE + OF_OTHERS


@kernel(types.void(TABLES, types.int64, Cells))
def _own_table(t, rounds, own):
    """Fills how likely the player is to end a move in each cell, in some round."""
    own[:] = 0.0
    for node in range(t.bounds[0, 1], t.bounds[0, rounds + 1]):
        own[t.cell[0, node]] += t.share[0, node]


@kernel(types.void(types.int64, Walkers, types.int64, TABLES, Cells, Words, types.int64, Seen))
def _see_tables(stride, walkers, first_round, t, own, words, action, inputs):
    """Fills in what the tables say about a move of player 0, who has made it."""
    window, rounds = words[WINDOW], words[ROUNDS]
    reach, at = window // 2, window * window
    heading, pace = walkers[0, HEADING], walkers[0, PACE]
    ahead, side = offset_of(heading, stride), offset_of((heading + 1) & 3, stride)
    for up in range(-reach, reach + 1):
        for right in range(-reach, reach + 1):
            cell = walkers[0, CELL] + up * ahead + right * side
            inputs[action, at] = min(1.0, t.total[cell])
            inputs[action, at + window * window] = min(1.0, own[cell])
            at += 1
    at += window * window
    for depth in range(1, words[FILLED] + 1):
        mass, everything = t.mass[depth, action], 0.0
        for other in range(MOVES):
            everything += t.mass[depth, other]
        inputs[action, at + depth - 1] = min(1.0, mass)
        if everything > 0.0:
            inputs[action, at + rounds + depth - 1] = mass / everything
    jump, risk = jumps(first_round, pace), 0.0
    for back in range(pace):
        if not jump or back == 0 or back == pace - 1:
            risk += t.total[walkers[0, CELL] - back * ahead]
    inputs[action, at + 2 * rounds] = min(1.0, risk / num_entered(pace, jump))


@kernel(types.void(types.int64, Walkers, Words, types.int64, Seen))
def _see_nearest(stride, walkers, words, action, inputs):
    """Fills in where the nearest other player, number 1, is and heads, as player 0 sees it."""
    at = inputs.shape[1] - OF_OTHERS
    inputs[action, at] = (walkers.shape[0] - 1) / 5.0
    down = walkers[1, CELL] // stride - walkers[0, CELL] // stride
    right = walkers[1, CELL] % stride - walkers[0, CELL] % stride
    apart = np.sqrt(float(down * down + right * right))
    inputs[action, at + 1] = NEAR / (NEAR + apart)
    for turn in range(4):
        heading = (walkers[0, HEADING] + turn) & 3
        along = (heading - 1) * down if heading % 2 == 0 else (2 - heading) * right
        inputs[action, at + 2 + turn] = max(0, along) / max(1.0, apart)
    inputs[action, at + 6 + ((walkers[1, HEADING] - walkers[0, HEADING]) & 3)] = walkers[1, PACE] / MAX_SPEED


@kernel(types.void(Field, types.int64, Walkers, types.int64, TABLES, Cells, Words, Space, Possible, Seen))
def see_moves(field, stride, walkers, first_round, t, own, words, space, possible, inputs):
    """Fills the inputs of each move of player 0 that enters only free cells; those of the others are 0.

    Args:
        walkers: [players] all living ones, the own one first, then the nearest; changed only meanwhile, as is `field`.
        t: the tables, if `words` say that they are filled.
        own: scratch, [cells].
    """
    window, reach = words[WINDOW], words[WINDOW] // 2
    cell, heading, speed = walkers[0, CELL], walkers[0, HEADING], walkers[0, PACE]
    inputs[:] = 0.0
    if words[FILLED] > 0:
        _own_table(t, words[FILLED], own)
    for action in range(MOVES):
        pace, turned = speed + FASTER[action], (heading + TURN[action]) & 3
        jump, offset = jumps(first_round, pace), offset_of(turned, stride)
        possible[action] = is_free(field, cell, offset, pace, jump)
        if not possible[action]:
            continue
        paint(field, cell, offset, pace, jump, np.uint8(TAKEN))
        walkers[0, CELL], walkers[0, HEADING], walkers[0, PACE] = cell + pace * offset, turned, pace
        at, side = 0, offset_of((turned + 1) & 3, stride)
        for up in range(-reach, reach + 1):
            for right in range(-reach, reach + 1):
                inputs[action, at] = field[walkers[0, CELL] + up * offset + right * side] != 0
                at += 1
        if words[FILLED] > 0:
            _see_tables(stride, walkers, first_round, t, own, words, action, inputs)
        at = 3 * window * window + 2 * words[ROUNDS] + 1
        inputs[action, at] = reachable(field, stride, walkers[0]) / words[FREE]
        inputs[action, at + 1] = own_share(field, stride, walkers, 0, 0.0, 0.0, space)
        inputs[action, at + 2] = freedom(field, stride, walkers, 0, first_round + 1) / MOVES
        inputs[action, at + 2 + pace] = 1.0
        inputs[action, at + 3 + MAX_SPEED + first_round % JUMP_EVERY] = 1.0
        if walkers.shape[0] > 1:
            _see_nearest(stride, walkers, words, action, inputs)
        paint(field, cell, offset, pace, jump, np.uint8(0))
        walkers[0, CELL], walkers[0, HEADING], walkers[0, PACE] = cell, heading, speed


class Sight(NamedTuple):
    """What a player sees; the arrays are those of the next call, too."""

    possible: npt.NDArray[np.bool_]  # [MOVES] whether each move enters only free cells
    inputs: npt.NDArray[np.float32]  # [MOVES, inputs]
    tables: Tables | None


class Eyes:
    """Space for the tables and the inputs of one board."""

    def __init__(self, game: Game, window: int, rounds: int, nodes: int, start_probability: float) -> None:
        """Makes it; `nodes` of each table, 0 = no tables."""
        self.field: Bytes = new_field(game)
        self._rounds, self._nodes, self._start = rounds, nodes, start_probability
        self._tables = [new_tables(n, max(nodes, 1), self.field.size) for n in range(1, 2 + WITH_TABLES)]
        self._space = np.empty((SPACE_ROWS, self.field.size), np.int32)
        self._own = np.zeros(self.field.size)
        self._possible = np.zeros(MOVES, np.bool_)
        self._inputs = np.zeros((MOVES, num_inputs(window, rounds)), np.float32)
        self._words = np.zeros(WORDS, np.int64)
        self._words[WINDOW], self._words[ROUNDS] = window, rounds
        self._words[FREE] = int(np.prod(game.variant_words()[:2]))

    def look(self, state: Ints, seat: int) -> Sight:
        """Returns what a living seat sees."""
        fill_field(state, self.field)
        return self.see(state, seat)

    def see(self, state: Ints, seat: int) -> Sight:
        """Returns what a living seat sees, with the field already filled."""
        stride, first_round = int(stride_of(state)), next_round(state)
        others = [other for _, other in nearest(state, seat)]
        walkers = walkers_of(state, [seat, *others])
        known = min(len(others), WITH_TABLES)
        tables = self._tables[known]
        self._words[FILLED] = 0
        if self._nodes:
            habits = np.ones((1 + known, MOVES))
            asked = (first_round, self._start, habits, self._rounds, 0)
            self._words[FILLED] = fill_tables(self.field, stride, walkers[: 1 + known], *asked, tables)
        arrays = (self._own, self._words, self._space, self._possible, self._inputs)
        see_moves(self.field, stride, walkers, first_round, tables, *arrays)
        return Sight(self._possible, self._inputs, tables if self._nodes else None)
