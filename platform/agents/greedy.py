"""The greedy agent: one ply over any evaluator."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from ..core.kernel import kernel, pointer
from ..core.parameters import parameter
from ..games.game import Game
from .abi import ACT, VALUES, VISITS, SeatKernels, new_scratch
from .agent import CompiledAgent, rollout_depth_parameter, score_method_parameter
from .evaluator import Evaluator, Score
from .expectimax.lowered2048 import cannot_downgrade, downgrade_parameter, lowered, raise_values
from .expectimax.one_ply2048 import is_packed_network, one_ply_seat
from .expectimax.one_ply_boards import act_one_ply, fits_boards

DOWNGRADE = 0  # of the settings


@kernel(ACT)
def act_greedy(game, evaluator, settings, state, returns, rng, root):
    state, returns, points = lowered(state, returns, np.int64(settings[DOWNGRADE]))
    scratch = new_scratch(game, state)
    actions = np.empty(game.max_choices, np.int64)
    after, after_returns, values = np.empty_like(state), np.empty_like(returns), np.empty_like(returns)
    mover = game.to_move(state)
    n = game.legal(state, actions)
    best = actions[0]
    for i in range(n):
        after[:] = state
        after_returns[:] = returns
        values[:] = 0.0
        game.step(after, actions[i], after_returns)
        evaluator.evaluate(game, evaluator.weights, after, after_returns, 1, rng, values, scratch)
        root[VISITS, actions[i]], root[VALUES, actions[i]] = 1.0, values[mover]
        if values[mover] > root[VALUES, best] or i == 0:
            best = actions[i]
    raise_values(root, points / game.max_return)
    return best


@dataclass(frozen=True)
class Greedy(CompiledAgent):
    """Evaluates the state right after each legal action (before chance) and plays the best; among equals, the first."""

    name: ClassVar[str] = "greedy"
    act_kernel: ClassVar[Any] = act_greedy

    evaluator: Evaluator = parameter(Score(), "evaluates the state after each action")
    rollout_depth: int = rollout_depth_parameter(20)
    score_method: int = score_method_parameter(2)
    downgrade: int = downgrade_parameter()

    def draws_numbers(self, game: Game) -> bool | None:
        return self.evaluator_draws(game)

    def settings(self) -> tuple[float, ...]:
        return (self.downgrade,)

    def cannot_play(self, game: Game) -> str | None:
        return cannot_downgrade(self.downgrade, self.evaluator, game) or super().cannot_play(game)

    def used_evaluator(self) -> tuple[Evaluator, int, int]:
        return self.evaluator, self.rollout_depth, self.score_method

    def kernels(self, game: Game) -> SeatKernels:
        """Returns the general kernel, or one with fewer lookups for n-tuple networks."""
        seat = super().kernels(game)
        if is_packed_network(self.evaluator, seat):
            return one_ply_seat(seat, forced=True, downgrade=self.downgrade)
        if self.downgrade == 0 and fits_boards(self.evaluator, seat):
            return replace(seat, act=pointer(act_one_ply, ACT))
        return seat
