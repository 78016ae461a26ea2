"""Values a 2048 board by the fall of its lines away from one corner: one table of lines, as in rows2048.py."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ...core.parameters import parameter
from ...games.game import Game
from ..abi import EvaluatorKernels
from ..evaluator import OWN, Evaluator
from .rows2048 import GRAIN, NUM_ROWS, evaluate_rows

HOPELESS, NOTHING = 0, 1  # own weights: the multiple `hopeless`, and the points of a board without features


@dataclass(frozen=True)
class Corner2048(Evaluator):
    """Features of rows and columns of 4x4 boards, read from the top left corner, where large tiles should stay.

    A tile of exponent n has n x 2**n points. Neighbours in a line both count if they fall; if they rise, their
    difference is subtracted several times. Points are divided by the highest possible score, like those of rollouts.
    Tiles above 32,768 count as 32,768.
    """

    name: ClassVar[str] = "corner2048"
    evaluate_kernel: ClassVar[Any] = evaluate_rows
    only_ranks: ClassVar[bool] = True

    lost: float = parameter(200_000.0, "points for every line, unless the board is lost", low=0, high=1e8)
    first: float = parameter(1.0, "weight of the points of a line's first tile", low=0, high=10)
    falls: float = parameter(1.5, "weight of the points of two neighbours if the first is larger", low=0, high=10)
    rises: float = parameter(12.0, "weight of the points by which the second neighbour is larger", low=0, high=100)
    equals: float = parameter(2.0, "weight of the points of two equal neighbours", low=0, high=10)
    empty: float = parameter(0.0, "points for an empty cell", low=0, high=100_000)
    hopeless: float = parameter(
        0.0,
        "expectimax: boards with fewer points than this multiple of the largest tile's are not searched further",
        low=0,
        high=10,
        search=(0, 4),
        later=True,
    )

    def draws_numbers(self, game: Game, rollout_depth: int) -> bool:
        return False

    def cannot_evaluate(self, game: Game) -> str | None:
        if game.name == "2048" and game.num_cells == 16:
            return None
        return f"corner2048 evaluates the 4x4 board of 2048 only, got {game}; use evaluator=score."

    def kernels(self, game: Game, rollout_depth: int, score_method: int) -> EvaluatorKernels:
        return self.with_weights(game, _weights(self, game.max_return))


@functools.lru_cache(maxsize=16)
def _weights(evaluator: Corner2048, max_return: float) -> npt.NDArray[np.float64]:
    """Returns the evaluator's weights: OWN of its own, then the table."""
    own = np.zeros(OWN)
    own[HOPELESS], own[NOTHING] = evaluator.hopeless / max_return, 8 * evaluator.lost / max_return
    return np.concatenate([own, np.floor(line_table(evaluator) / max_return / GRAIN) * GRAIN])


def line_table(weights: Corner2048) -> npt.NDArray[np.float64]:
    """Returns the points of every line of four exponents, [65536]; the first tile has the lowest four bits."""
    lines = np.arange(NUM_ROWS)
    tiles = [lines >> 4 * i & 15 for i in range(4)]
    points = [(tile << tile).astype(np.float64) for tile in tiles]
    table: npt.NDArray[np.float64] = weights.lost + weights.first * points[0]
    for i in range(3):
        one, two = points[i], points[i + 1]
        table += np.where(tiles[i] > tiles[i + 1], weights.falls * (one + two), 0.0)
        table += np.where(tiles[i] == tiles[i + 1], weights.equals * (one + two), 0.0)
        table -= weights.rises * np.maximum(two - one, 0.0)
    empty = np.sum([tile == 0 for tile in tiles], axis=0)
    table += weights.empty * empty
    return table
