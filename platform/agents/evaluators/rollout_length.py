"""Evaluation by how long a random rollout lasts: survival in place of score, and a measure of actual depth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ...core.kernel import kernel
from ...games.game import Game
from ...games.generic import copy_state, generic_playout
from ..abi import EVALUATE
from ..evaluator import ROLLOUT_DEPTH, Evaluator, ValueUnit


@kernel(EVALUATE)
def evaluate_rollout_length(game, weights, state, returns, count, rng, totals, scratch):
    depth = np.int64(weights[ROLLOUT_DEPTH])
    plies = 0
    for _ in range(count):
        copy_state(state, scratch.state)
        if game.has_playout:
            plies += game.playout(scratch.state, depth, rng, scratch.returns)
        else:
            plies += generic_playout(game, scratch.state, depth, rng, scratch.returns, scratch.choices, scratch.probs)
    for seat in range(totals.size):
        totals[seat] += float(plies)


@dataclass(frozen=True)
class RolloutLength(Evaluator):
    """The number of plies that one random rollout lasts, up to the depth its agent allows; the same for every seat.

    With it, mc's values are the rollout depth actually used (Kutsch 2017, 9.3), and a one-seat game is played for
    survival, which the thesis found to choose mostly the same actions as the score (3.2).
    """

    name: ClassVar[str] = "rollout_length"
    evaluate_kernel: ClassVar[Any] = evaluate_rollout_length

    def draws_numbers(self, game: Game, rollout_depth: int) -> bool:
        return rollout_depth > 0 or game.has_chance

    def value_unit(self, game: Game) -> ValueUnit:
        return ValueUnit(1.0, "plies")
