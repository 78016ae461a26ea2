"""Values Othello positions by five weights, which search_benchmark.md tunes; name it stones.py:Stones."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from turnier import Evaluator, Game, kernel, parameter
from turnier.agents.abi import EVALUATE
from turnier.agents.evaluator import OWN
from turnier.games.othello import STONES, _count, _moves


@kernel(EVALUATE)
def evaluate(game, weights, state, returns, count, rng, totals, scratch):
    """Adds `count` estimates of every seat's final return to `totals`."""
    if game.to_move(state) < 0:
        value = returns[0] / game.max_return
    else:
        value = 0.0
        for kind in range(4):
            low, high = weights[OWN + 5 + 2 * kind], weights[OWN + 6 + 2 * kind]
            mask = np.uint64(np.int64(low)) | (np.uint64(np.int64(high)) << np.uint64(32))
            one, other = np.uint64(state[STONES]) & mask, np.uint64(state[STONES + 1]) & mask
            value += weights[OWN + kind] * (_count(one) - _count(other))
        value += weights[OWN + 4] * (_count(_moves(state, 0)) - _count(_moves(state, 1)))
        value = 0.99 * np.tanh(value / 10)
    totals[0] += count * value
    totals[1] -= count * value


@dataclass(frozen=True)
class Stones(Evaluator):
    """Othello: weights of all stones, corners, cells beside corners, other cells of the edge, and of moves."""

    evaluate_kernel: ClassVar[Any] = evaluate

    stone: float = parameter(1.0, "a stone", low=-5.0, high=5.0)
    corner: float = parameter(1.0, "in addition, a stone in a corner", low=-5.0, high=20.0)
    beside: float = parameter(0.0, "in addition, a stone beside a corner", low=-10.0, high=5.0)
    edge: float = parameter(0.0, "in addition, another stone at an edge", low=-5.0, high=5.0)
    move: float = parameter(0.0, "a legal move", low=-5.0, high=5.0)

    def draws_numbers(self, game: Game, rollout_depth: int) -> bool:
        return False

    def own_weights(self, game: Game) -> tuple[float, ...]:
        """Returns the five weights, then the cells of each kind as bits, in two halves that a float holds exactly."""
        size = math.isqrt(game.num_cells)
        ends = (0, size - 1)
        every = [(r, c) for r in range(size) for c in range(size)]
        corners = [(r, c) for r, c in every if r in ends and c in ends]
        near = [x for x in every if x not in corners and any(max(abs(x[0] - r), abs(x[1] - c)) < 2 for r, c in corners)]
        edges = [(r, c) for r, c in every if (r in ends or c in ends) and (r, c) not in corners + near]
        halves: list[float] = []
        for cells in (every, corners, near, edges):
            bits = sum(1 << (8 * r + c) for r, c in cells)
            halves += [float(bits & 0xFFFFFFFF), float(bits >> 32)]
        return (self.stone, self.corner, self.beside, self.edge, self.move, *halves)
