"""Values a 2048 board by the entries of its rows and columns in one table of weighted features."""

from __future__ import annotations

import functools
import itertools
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from ...core.kernel import kernel
from ...core.parameters import parameter, parameters_of
from ...games.abi import TERMINAL
from ...games.game import Game
from ..abi import EVALUATE, EvaluatorKernels
from ..evaluator import OWN, Evaluator

NUM_ROWS = 65_536
# Table entries are multiples of this (a millionth of a point), so their sums are exact in any order.
GRAIN = 2.0**-42


@kernel(EVALUATE)
def evaluate_rows(game, weights, state, returns, count, rng, totals, scratch):
    """Adds the table's entries of the eight lines; a board on which the game is over is worth 0."""
    if game.to_move(state) == TERMINAL:
        return
    cells = scratch.choices
    game.cells(state, cells)
    for cell in range(16):
        cells[cell] = min(cells[cell], 15)
    value = 0.0
    for i in range(4):
        row, column = 0, 0
        for j in range(4):
            row |= cells[4 * i + j] << 4 * j
            column |= cells[4 * j + i] << 4 * j
        value += weights[OWN + row] + weights[OWN + column]
    totals[0] += value * float(count)
    if game.num_seats == 2:  # the one who places the tiles
        totals[1] -= value * float(count)


@dataclass(frozen=True)
class Rows2048(Evaluator):
    """Features of rows and columns of 4x4 boards, each a line of four tiles: empty cells, merges, monotonicity, sums.

    Features are in points, divided by the highest possible score, like rollouts. Tiles above 32,768 count as 32,768.
    Source: the features and their default weights are those of R. Xiao's expectimax program
    (github.com/nneonneo/2048-ai); `corner` is ours.
    """

    name: ClassVar[str] = "rows2048"
    evaluate_kernel: ClassVar[Any] = evaluate_rows
    only_ranks: ClassVar[bool] = True

    lost: float = parameter(200_000.0, "points for every line, unless the board is lost", low=0, high=1_000_000)
    empty: float = parameter(270.0, "points for an empty cell", low=1, high=100_000, log=True)
    merges: float = parameter(
        700.0,
        "points for a tile next to an equal one, empty cells between them ignored",
        low=1,
        high=100_000,
        log=True,
        search=(10, 10_000),
    )
    monotonicity: float = parameter(
        47.0, "penalty for a line's distance from monotone", low=0.01, high=1_000, log=True, search=(1, 1_000)
    )
    monotonicity_power: float = parameter(4.0, "power to which rising or falling exponents are raised", low=0.5, high=6)
    sum: float = parameter(
        11.0, "weight of the powers of all exponents, subtracted", low=0.01, high=1_000, log=True, search=(0.1, 1_000)
    )
    sum_power: float = parameter(3.5, "power to which the summed exponents are raised", low=0.5, high=6)
    corner: float = parameter(
        0.0, "points, times its exponent, for a line's highest tile if it is at an end", low=0, high=2_000
    )

    def draws_numbers(self, game: Game, rollout_depth: int) -> bool:
        return False

    def cannot_evaluate(self, game: Game) -> str | None:
        if game.name in ("2048", "duel2048") and game.num_cells == 16:
            return None
        return f"rows2048 evaluates the 4x4 boards of 2048 and duel2048 only, got {game}; use evaluator=score."

    def kernels(self, game: Game, rollout_depth: int, score_method: int) -> EvaluatorKernels:
        values = tuple(float(getattr(self, field.name)) for field, _ in parameters_of(type(self)))
        return self.with_weights(game, _weights(values, game.max_return))


@functools.lru_cache(maxsize=16)
def _weights(values: tuple[float, ...], max_return: float) -> npt.NDArray[np.float64]:
    """Returns the evaluator's weights: OWN unused ones, then the table."""
    return np.concatenate([np.zeros(OWN), np.floor(row_table(*values) / max_return / GRAIN) * GRAIN])


def row_table(
    lost: float,
    empty: float,
    merges: float,
    monotonicity: float,
    monotonicity_power: float,
    sum_: float,
    sum_power: float,
    corner: float,
) -> npt.NDArray[np.float64]:
    """Returns the points of every line of four exponents, [65536]; the first has the lowest four bits."""
    lines = _lines()
    powers = np.arange(16.0) ** monotonicity_power
    steps = powers[None, :] - powers[:, None]
    rises, falls = (_added(np.maximum(step, 0.0).ravel(), lines.pairs) for step in (steps, -steps))
    table: npt.NDArray[np.float64] = (
        lost
        + empty * lines.empty
        + merges * lines.beside_equal
        - monotonicity * np.minimum(rises, falls)
        - sum_ * _added(np.arange(16.0) ** sum_power, lines.tiles)
        + corner * lines.highest_at_end
    )
    return table


def _added(values: npt.NDArray[np.float64], indices: list[npt.NDArray[np.int64]]) -> npt.NDArray[np.float64]:
    total = values[indices[0]]
    for index in indices[1:]:
        total += values[index]
    return total


class _Lines(NamedTuple):
    """Facts of every line that no weight changes, [65536] each: a search builds a table for every candidate."""

    tiles: list[npt.NDArray[np.int64]]  # four, exponents
    pairs: list[npt.NDArray[np.int64]]  # three: 16 * a tile's exponent + the next one's
    empty: npt.NDArray[np.float64]
    beside_equal: npt.NDArray[np.float64]
    highest_at_end: npt.NDArray[np.float64]  # the highest exponent if it is at an end, otherwise 0


@functools.cache
def _lines() -> _Lines:
    rows = np.arange(NUM_ROWS)
    line = [rows >> 4 * i & 15 for i in range(4)]
    highest = np.max(line, axis=0)
    at_end = (line[0] == highest) | (line[3] == highest)
    empty = np.sum([tile == 0 for tile in line], axis=0)
    pairs = [16 * a + b for a, b in itertools.pairwise(line)]
    return _Lines(line, pairs, *(x.astype(np.float64) for x in (empty, _beside_equal(line), highest * at_end)))


def _beside_equal(line: list[npt.NDArray[np.int64]]) -> npt.NDArray[np.int64]:
    """Returns the number of tiles of each line with an equal neighbour, ignoring empty cells between them."""
    found = [np.zeros(NUM_ROWS, np.bool_) for _ in line]
    for order in ((0, 1, 2, 3), (3, 2, 1, 0)):
        before = np.zeros(NUM_ROWS, np.int64)
        for i in order:
            found[i] |= (line[i] > 0) & (line[i] == before)
            before = np.where(line[i] > 0, line[i], before)
    total: npt.NDArray[np.int64] = np.sum(found, axis=0)
    return total
