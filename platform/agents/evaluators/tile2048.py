"""Evaluation by won and lost rollouts of 2048: whether they reach a tile, whatever the score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ...core.kernel import kernel
from ...core.parameters import parameter
from ...games.abi import TERMINAL
from ...games.game import Game
from ...games.generic import copy_state
from ..abi import EVALUATE
from ..evaluator import OWN, ROLLOUT_DEPTH, Evaluator, ValueUnit


@kernel(EVALUATE)
def evaluate_tile(game, weights, state, returns, count, rng, totals, scratch):
    """1 for each rollout that reaches the tile, -1 for each that ends without it, 0 for those cut short."""
    depth = np.int64(weights[ROLLOUT_DEPTH])
    for _ in range(count):
        copy_state(state, scratch.state)
        game.playout(scratch.state, depth, rng, scratch.returns)
        game.cells(scratch.state, scratch.choices)
        highest = 0
        for cell in range(np.int64(weights[OWN + 1])):
            highest = max(highest, scratch.choices[cell])
        if highest >= weights[OWN]:
            totals[0] += 1.0
        elif game.to_move(scratch.state) == TERMINAL:
            totals[0] -= 1.0


@dataclass(frozen=True)
class Tile2048(Evaluator):
    """A rollout is won (1) if it reaches a tile, lost (-1) if it ends without it, and drawn (0) if it is cut short.

    The *traditional* value, which the thesis leaves for the score without a test. Source: Kutsch 2017, 9.2.
    """

    name: ClassVar[str] = "tile2048"
    evaluate_kernel: ClassVar[Any] = evaluate_tile

    tile: int = parameter(2048, "the tile that wins, a power of two", low=4, high=131_072, log=True)

    def check(self) -> None:
        if self.tile & (self.tile - 1):
            raise ValueError(f"tile must be a power of two, got {self.tile}; take a tile of the game, such as 2048.")

    def draws_numbers(self, game: Game, rollout_depth: int) -> bool:
        return True

    def cannot_evaluate(self, game: Game) -> str | None:
        if game.name == "2048":
            return None
        return f"tile2048 evaluates 2048 only, got {game}; use evaluator=rollout."

    def value_unit(self, game: Game) -> ValueUnit:
        return ValueUnit(1.0, "-1 is lost, 1 is won")

    def own_weights(self, game: Game) -> tuple[float, ...]:
        return (self.tile.bit_length() - 1, game.num_cells)
