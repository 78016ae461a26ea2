"""Formations of 2048: large tiles that stay in a corner, and the states of the free cells around them, numbered.

A formation fixes the cells of one corner; its value is the probability that the free tiles become a chain that merges
up to the smallest fixed one, if no fixed tile ever moves. A rank is a tile's exponent, 0 = empty. Each free cell has a
largest rank, so the states are mixed-radix numbers. They are split into the upper three rows (`high`) and the lowest
one (`low`), each ordered by the sum of its tiles, so the states of one sum (a layer) have consecutive numbers. Sums are
in units of a tile of 2.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

CELLS = 16
LEFT, RIGHT, UP, DOWN = range(4)
LOW_ROW = 3
# Of a high number's word: its sum, then its place among the high numbers of that sum.
SUM_BITS = 11
# Of a column's word, to be added up: its share of the numbers, then flags, three bits each.
LOW_SHIFT, CHANGED, FIXED_MOVES, OVER = 32, 48, 51, 54
NO_ROWS = -1  # instead of a number: a fixed tile would move, or a tile is too large

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Formation:
    """The fixed cells, the limits of the others, and the goals. A cell is row * 4 + column."""

    fixed: tuple[int, ...]
    edge: tuple[int, ...]  # the fixed cells whose smallest tile determines limits and goals
    limits_for: int  # the smallest rank of the edge to which the limits below belong
    goals_for: int  # the same for the goals; with a smaller tile on the edge, they are as many ranks lower
    falls: tuple[tuple[int, int], ...]  # pairs of fixed cells, the first with the larger tile
    largest: tuple[int, ...]  # of each cell, its largest rank; -1 = fixed
    goals: tuple[tuple[tuple[int, int], ...], ...]  # alternative goals: free cells and their ranks
    differ: tuple[tuple[int, int], ...] = ()  # pairs of separate fixed cells with different tiles
    enough: float = 1.0  # the highest probability that may be required to follow the table

    @property
    def states(self) -> int:
        return math.prod(rank + 1 for rank in self.largest if rank >= 0)

    def line(self, direction: int, line: tuple[int, ...], cells: tuple[int, ...]) -> tuple[int, ...] | None:
        """Returns a line of ranks after a move, or None if a fixed tile of it would move."""
        walls = sum(cell in self.fixed for cell in cells)  # first in every line
        free = line[walls:]
        if direction in (LEFT, UP):
            return (-1,) * walls + slid(free)
        moved = slid(free[::-1])[::-1]
        if walls and 0 in moved:
            return None
        return (-1,) * walls + moved


def slid(line: tuple[int, ...]) -> tuple[int, ...]:
    """Returns a line of ranks after a move towards its beginning."""
    tiles = [rank for rank in line if rank]
    done: list[int] = []
    while tiles:
        if len(tiles) > 1 and tiles[0] == tiles[1]:
            done.append(tiles[0] + 1)
            del tiles[:2]
        else:
            done.append(tiles.pop(0))
    return tuple(done) + (0,) * (len(line) - len(done))


class Numbering(NamedTuple):
    """The states' numbers and moves as arrays, for kernels."""

    high_words: Ints  # [high] sum and place, see SUM_BITS
    high_order: Ints  # [high] numbers by sum
    high_start: Ints  # [high sums + 1] the begin of a sum in `high_order`
    low_sums: Ints  # [low]
    low_places: Ints  # [low] place among the low numbers of its sum
    low_order: Ints  # [low]
    low_start: Ints  # [low sums + 1]
    weights: Ints  # [16] the increase of the number by a rank in a cell; 0 = fixed
    offsets: Ints  # [layers, low sums] the begin of the states of that low sum in a layer
    sizes: Ints  # [layers] states
    rows: Ints  # [4, 65536] a row's share of the numbers, and OVER
    high_moves: Ints  # [2, high] the number after a move left or right, or NO_ROWS
    low_moves: Ints  # [2, low]
    columns: Ints  # [2, 4, 65536] a column's share of the numbers after a move up or down, and flags
    high_boards: Ints  # [high] ranks, four bits a cell
    low_boards: Ints  # [low] in the bits of the lowest row
    walls: int  # fixed cells of each row, then of each column, four bits each
    goals: Ints  # [goals, 2] the bits of a board that decide, and their values in the goal
    fixed: int  # all four bits of the fixed cells


def lines_up_to(largest: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Returns every line whose ranks exceed these limits by at most 1 (-1: fixed, of rank 0)."""
    return [tuple(line) for line in np.ndindex(*(rank + 2 if rank >= 0 else 1 for rank in largest))]


@functools.lru_cache(maxsize=8)
def numbering(formation: Formation) -> Numbering:
    """Computes the arrays for kernels; takes some seconds for large formations."""
    largest, fixed = formation.largest, formation.fixed
    weights = np.zeros(CELLS, np.int64)
    sizes = [1, 1]
    for cell in range(CELLS):
        part = cell // 4 == LOW_ROW
        if cell not in fixed:
            weights[cell] = sizes[part]
            sizes[part] *= largest[cell] + 1
    high_ranks, low_ranks = (
        _ranks(sizes[part], weights, largest, [c for c in range(CELLS) if (c // 4 == LOW_ROW) == part])
        for part in (False, True)
    )
    high = _by_sum(_sums(high_ranks))
    low = _by_sum(_sums(low_ranks))
    high_counts, low_counts = np.diff(high.start), np.diff(low.start)
    layers = len(high_counts) + len(low_counts) - 1
    offsets = np.zeros((layers, len(low_counts) + 1), np.int64)
    for total in range(layers):
        sums = total - np.arange(len(low_counts))
        inside = (sums >= 0) & (sums < len(high_counts))
        counts = np.where(inside, high_counts[np.clip(sums, 0, len(high_counts) - 1)], 0) * low_counts
        offsets[total, 1:] = np.cumsum(counts)
    rows, columns = _row_words(formation, weights), _column_words(formation, weights)
    return Numbering(
        high.sums | high.places << SUM_BITS,
        high.order,
        high.start,
        low.sums,
        low.places,
        low.order,
        low.start,
        weights,
        np.ascontiguousarray(offsets[:, :-1]),
        offsets[:, -1].copy(),
        rows,
        np.stack([_rows_moved(formation, high_ranks, weights, range(3), d) for d in (LEFT, RIGHT)]),
        np.stack([_rows_moved(formation, low_ranks, weights, (LOW_ROW,), d) for d in (LEFT, RIGHT)]),
        columns,
        _boards(high_ranks),
        _boards(low_ranks),
        sum(1 << 4 * (cell // 4) for cell in fixed) + sum(1 << 4 * (4 + cell % 4) for cell in fixed),
        _goal_words(formation),
        sum(15 << 4 * cell for cell in fixed),
    )


def _ranks(size: int, weights: Ints, largest: tuple[int, ...], cells: list[int]) -> dict[int, npt.NDArray[np.uint8]]:
    """Returns the rank in each cell for every number; 0 if it is fixed."""
    numbers = np.arange(size)
    return {
        cell: (numbers // weights[cell] % (largest[cell] + 1) if weights[cell] else 0 * numbers).astype(np.uint8)
        for cell in cells
    }


def _sums(ranks: dict[int, npt.NDArray[np.uint8]]) -> Ints:
    total: Ints = np.sum([np.where(rank > 0, 1 << rank.astype(np.int64) >> 1, 0) for rank in ranks.values()], axis=0)
    return total


def _boards(ranks: dict[int, npt.NDArray[np.uint8]]) -> Ints:
    boards = np.zeros(len(next(iter(ranks.values()))), np.uint64)
    for cell, rank in ranks.items():
        boards |= rank.astype(np.uint64) << np.uint64(4 * cell)
    return boards.view(np.int64)


class _BySum(NamedTuple):
    sums: Ints
    places: Ints
    order: Ints
    start: Ints


def _by_sum(sums: Ints) -> _BySum:
    order = np.argsort(sums, kind="stable")
    start = np.concatenate([[0], np.cumsum(np.bincount(sums))])
    places = np.empty_like(order)
    places[order] = np.arange(len(sums)) - start[sums[order]]
    return _BySum(sums, places, order, start)


def _goal_words(formation: Formation) -> Ints:
    words = [
        (sum(15 << 4 * cell for cell, _ in goal), sum(rank << 4 * cell for cell, rank in goal))
        for goal in formation.goals
    ]
    return np.array(words, np.uint64).view(np.int64)


def _row_words(formation: Formation, weights: Ints) -> Ints:
    words = np.full((4, 65536), 1 << OVER, np.int64)
    for row in range(4):
        cells = tuple(range(4 * row, 4 * row + 4))
        for line in lines_up_to(tuple(formation.largest[cell] for cell in cells)):
            words[row, _packed(line)] = _word(formation, weights, cells, line)
    return words


def _word(formation: Formation, weights: Ints, cells: tuple[int, ...], line: tuple[int, ...]) -> int:
    """Returns a line's share of the numbers, with OVER if a tile is too large."""
    word = 0
    for cell, rank in zip(cells, line, strict=True):
        if cell not in formation.fixed:
            if rank > formation.largest[cell]:
                return 1 << OVER
            word += int(weights[cell]) * rank << (LOW_SHIFT if cell // 4 == LOW_ROW else 0)
    return word


def _column_words(formation: Formation, weights: Ints) -> Ints:
    """Indexed by the ranks from the top; the lowest row has the lowest bits."""
    words = np.full((2, 4, 65536), 1 << OVER, np.int64)
    for column in range(4):
        cells = tuple(range(column, CELLS, 4))
        largest = tuple(formation.largest[cell] for cell in cells)
        for line in np.ndindex(*(rank + 1 if rank >= 0 else 1 for rank in largest)):
            at = line[0] << 12 | line[1] << 8 | line[2] << 4 | line[3]
            for side, direction in enumerate((UP, DOWN)):
                moved = formation.line(direction, line, cells)
                if moved is None:
                    words[side, column, at] = 1 << FIXED_MOVES
                    continue
                after = tuple(max(rank, 0) for rank in moved)
                words[side, column, at] = _word(formation, weights, cells, after) + (int(after != line) << CHANGED)
    return words


def _packed(line: tuple[int, ...]) -> int:
    return sum(rank << 4 * i for i, rank in enumerate(line))


def _rows_moved(
    formation: Formation,
    ranks: dict[int, npt.NDArray[np.uint8]],
    weights: Ints,
    rows: tuple[int, ...] | range,
    side: int,
) -> Ints:
    """Returns the number of the rows after a move left or right for every number, or NO_ROWS."""
    total = np.zeros(len(next(iter(ranks.values()))), np.int64)
    never = np.zeros(len(total), np.bool_)
    for row in rows:
        cells = tuple(range(4 * row, 4 * row + 4))
        table = np.full(65536, 1 << FIXED_MOVES, np.int64)
        for line in np.ndindex(*(max(formation.largest[cell], 0) + 1 for cell in cells)):
            moved = formation.line(side, line, cells)
            if moved is not None:
                table[_packed(line)] = _word(formation, weights, cells, tuple(max(rank, 0) for rank in moved))
        words = table[sum(ranks[cell].astype(np.int64) << 4 * i for i, cell in enumerate(cells))]
        total += words & (1 << CHANGED) - 1
        never |= words >> CHANGED > 0
    total = total >> LOW_SHIFT if LOW_ROW in rows else total
    total[never] = NO_ROWS
    return total
