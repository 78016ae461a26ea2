"""Evaluation by the length of a random rollout: survival instead of score, and a measure of actual depth."""

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
    """The number of plies of one random rollout, up to the depth set by the agent; the same for every seat.

    With it, mc's values are the actual rollout depth (Kutsch 2017, 9.3), and a one-seat game is played for survival, by
    which the thesis found mostly the same actions as by score (3.2).
    """

    name: ClassVar[str] = "rollout_length"
    evaluate_kernel: ClassVar[Any] = evaluate_rollout_length

    def draws_numbers(self, game: Game, rollout_depth: int) -> bool:
        return rollout_depth > 0 or game.has_chance

    def value_unit(self, game: Game) -> ValueUnit:
        return ValueUnit(1.0, "plies")
