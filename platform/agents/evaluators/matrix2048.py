"""Weight matrices for 2048 boards: large tiles belong on large weights, in the best of eight symmetries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ...core.kernel import kernel, types
from ...core.parameters import parameter
from ...games.abi import TERMINAL, Actions
from ...games.game import Game
from ...games.setup.grids import square_symmetries
from ..abi import EVALUATE
from ..evaluator import OWN, Evaluator

# The four matrices by rows, left corner short `corner`.
MATRICES: dict[str, tuple[int, ...]] = {
    "snake": (15, 14, 13, 12, 8, 9, 10, 11, 7, 6, 5, 4, 0, 1, 2, 3),
    "left": (3, 2, 1, 0, 3, 2, 1, 0, 3, 2, 1, 0, 3, 2, 1, 0),
    "corner": (6, 5, 4, 1, 5, 4, 1, 0, 4, 1, 0, -1, 1, 0, -1, -2),
    "corners": (3, 1, 1, 3, 1, 0, 0, 1, 1, 0, 0, 1, 3, 1, 1, 3),
}

# Weights from OWN on: these, then each matrix's factor and number of columns, then all columns, [16, COLUMNS].
DIFFERENCE, MERGES, MANY_EMPTY, FEW_EMPTY, COLUMNS, NUM_MATRICES, FIRST_MATRIX = (OWN + i for i in range(7))


@kernel(types.int64(Actions))
def difference_sum(tiles):
    """The sum of the absolute differences of all 24 pairs of neighbours; an empty cell counts as 0."""
    total = 0
    for i in range(4):
        for j in range(3):
            total += abs(tiles[4 * i + j] - tiles[4 * i + j + 1]) + abs(tiles[4 * j + i] - tiles[4 * j + 4 + i])
    return total


@kernel(types.UniTuple(types.int64, 2)(Actions))
def merges_offered(tiles):
    """The number of merges of neighbours on the board, and the sum of their tiles; three equal ones merge once."""
    number, total = 0, 0
    for line in range(8):
        start, stride = (4 * line, 1) if line < 4 else (line - 4, 4)
        i = 0
        while i < 3:
            tile = tiles[start + i * stride]
            if tile != 0 and tile == tiles[start + (i + 1) * stride]:
                number += 1
                total += tile
                i += 1
            i += 1
    return number, total


@kernel(EVALUATE)
def evaluate_matrix(game, weights, state, returns, count, rng, totals, scratch):
    """The weighted sum of the matrices, the differences and the merges, in tile values / max_return."""
    if game.to_move(state) == TERMINAL:
        return  # otherwise searches enter lost boards that look good
    tiles, sums = scratch.choices, scratch.probs
    columns = np.int64(weights[COLUMNS])
    num_matrices = np.int64(weights[NUM_MATRICES])
    game.cells(state, tiles)
    for column in range(columns):
        sums[column] = 0.0
    row = FIRST_MATRIX + 2 * num_matrices
    empty = 0
    for cell in range(16):
        if tiles[cell] == 0:
            empty += 1
        else:
            tiles[cell] = 1 << tiles[cell]
            tile = float(tiles[cell])
            for column in range(columns):
                sums[column] += tile * weights[row + column]
        row += columns
    value = 0.0
    column = 0
    for matrix in range(num_matrices):
        best = sums[column]
        end = column + np.int64(weights[FIRST_MATRIX + 2 * matrix + 1])
        while column < end:
            best = max(best, sums[column])
            column += 1
        value += weights[FIRST_MATRIX + 2 * matrix] * best
    if weights[DIFFERENCE] != 0.0:
        value -= weights[DIFFERENCE] * float(difference_sum(tiles))
    if weights[MERGES] != 0.0:
        number, total = merges_offered(tiles)
        if float(empty) > weights[MANY_EMPTY]:
            value -= weights[MERGES] * float(number)
        elif float(empty) < weights[FEW_EMPTY]:
            value += weights[MERGES] * float(number)
        else:
            value += weights[MERGES] * float(total)
    totals[0] += value * float(count) / game.max_return


@dataclass(frozen=True)
class Matrix2048(Evaluator):
    """The sum of tile values times a weight matrix in its best symmetry, less the differences of neighbours.

    Source: Stähli and Sager 2019: `matrix=combined` is their heuristic agent; with `matrix=corner,transforms=false,
    difference=2` it is the leaf of their search. The text does not define its merge scores; as these see only the board
    after the move, they are taken to count the merges on this board: the fewest with many empty cells, the most with
    few, otherwise the highest (the sum of their tiles). A finished game is worth 0, as in their search. Differs: the
    switch depends on the evaluated board, theirs on the one before the move; the sum is divided by the highest possible
    score, like rollouts.
    """

    name: ClassVar[str] = "matrix2048"
    evaluate_kernel: ClassVar[Any] = evaluate_matrix
    only_ranks: ClassVar[bool] = True

    matrix: str = parameter("combined", "one matrix alone, or all with the merges", choices=(*MATRICES, "combined"))
    transforms: bool = parameter(
        True, "use the best of each matrix's eight symmetries, otherwise the matrix as it stands"
    )
    difference: float = parameter(
        0.01, "weight of the neighbours' absolute differences, subtracted", low=0, high=10, log=True, search=(0.001, 10)
    )
    snake: float = parameter(1.0, "combined: weight of the snake matrix", low=0, high=10, log=True, search=(0.001, 10))
    left: float = parameter(0.2, "combined: weight of the left matrix", low=0, high=10, log=True, search=(0.001, 10))
    corner: float = parameter(
        0.2, "combined: weight of the left corner matrix", low=0, high=10, log=True, search=(0.001, 10)
    )
    corners: float = parameter(
        0.1, "combined: weight of the corners matrix", low=0, high=10, log=True, search=(0.001, 10)
    )
    merges: float = parameter(
        0.2, "combined: weight of the merges that the board offers", low=0, high=10, log=True, search=(0.001, 10)
    )
    many_empty: int = parameter(9, "combined: with more empty cells than this, the fewest merges count", low=0, high=16)
    few_empty: int = parameter(6, "combined: with fewer empty cells than this, the most merges count", low=0, high=16)

    def draws_numbers(self, game: Game, rollout_depth: int) -> bool:
        return False

    def cannot_evaluate(self, game: Game) -> str | None:
        if game.name == "2048" and game.num_cells == 16:
            return None
        return f"matrix2048 evaluates the 4x4 board of 2048 only, got {game}; use evaluator=rollout."

    def columns(self, matrix: str) -> npt.NDArray[np.int64]:
        """Returns a matrix's different transforms as columns, [16, 1 to 8]."""
        weights = np.array(MATRICES[matrix])
        turned = weights[square_symmetries(4)] if self.transforms else weights[None]
        return np.unique(turned, axis=0).T

    def own_weights(self, game: Game) -> tuple[float, ...]:
        combined = self.matrix == "combined"
        factors = {name: getattr(self, name) for name in MATRICES} if combined else {self.matrix: 1.0}
        parts = [self.columns(name) for name in factors]
        columns = np.hstack(parts)
        merges = self.merges if combined else 0.0
        head = (self.difference, merges, self.many_empty, self.few_empty, columns.shape[1], len(parts))
        matrices = [(factor, part.shape[1]) for factor, part in zip(factors.values(), parts, strict=True)]
        return (*map(float, (*head, *np.ravel(matrices), *columns.ravel())),)
