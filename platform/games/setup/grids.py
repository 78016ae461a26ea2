"""Symmetries and neighbours of square and rectangular boards with cells numbered row by row."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt


def square_symmetries(size: int) -> npt.NDArray[np.int64]:
    """Returns the eight symmetries of a square board with row-major cells, [8, size * size], identity first."""
    board = np.arange(size * size, dtype=np.int64).reshape(size, size)
    turned = [np.rot90(b, k) for b in (board, board.T) for k in range(4)]
    return np.stack([t.ravel() for t in turned])


def grid_neighbours(rows: int, columns: int) -> tuple[tuple[int, ...], ...]:
    """Returns the orthogonal neighbours of every cell of a row-major grid."""
    return tuple(
        tuple(
            r * columns + c
            for r, c in ((row - 1, column), (row, column - 1), (row, column + 1), (row + 1, column))
            if 0 <= r < rows and 0 <= c < columns
        )
        for row in range(rows)
        for column in range(columns)
    )
