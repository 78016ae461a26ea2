"""Flat Monte Carlo: the mean of many evaluations after each legal action."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from turnier.agents.abi import ACT, VALUES, VISITS, new_scratch
from turnier.agents.agent import CompiledPlayer, Decision, SearchAgent
from turnier.agents.evaluators.evaluator import Evaluator
from turnier.agents.evaluators.rollout import Rollout
from turnier.games.abi import kernel
from turnier.games.game import Position
from turnier.games.generic import copy_state
from turnier.games.parameters import parameter

ITERATIONS = 0


@kernel(ACT)
def act_mc(game, evaluator, settings, state, returns, rng, root):
    """Adds to the visits and means that `root` holds already, so that it can be called again for more iterations."""
    actions = np.empty(game.max_choices, np.int64)
    n = game.legal(state, actions)
    if n == 1:
        return actions[0]
    scratch = new_scratch(game, state)
    after, after_returns, totals = np.empty_like(state), np.empty_like(returns), np.empty_like(returns)
    mover = game.to_move(state)
    iterations = np.int64(settings[ITERATIONS])
    best = actions[0]
    for i in range(n):
        action = actions[i]
        copy_state(state, after)
        after_returns[:] = returns
        totals[:] = 0.0
        game.step(after, action, after_returns)
        evaluator.evaluate(game, evaluator.weights, after, after_returns, iterations, rng, totals, scratch)
        total = totals[mover]
        visits = root[VISITS, action]
        root[VALUES, action] = (root[VALUES, action] * visits + total) / (visits + iterations)
        root[VISITS, action] = visits + iterations
        if root[VALUES, action] > root[VALUES, best]:
            best = action
    return best


class TimedMcPlayer(CompiledPlayer):
    """Runs chunks of iterations until the milliseconds are over."""

    def act(self, position: Position) -> Decision:
        began = time.perf_counter()
        assert isinstance(self.agent, Mc)
        end = began + self.agent.milliseconds / 1000
        root = np.zeros((2, self.game.num_actions))
        settings = self.kernels.settings.copy()
        settings[ITERATIONS] = 1
        while True:
            chunk_began = time.perf_counter()
            action = self.kernels.act(
                self.game.kernels,
                self.kernels.evaluator,
                settings,
                position.view(position.to_move),
                position.returns,
                self.rng,
                root,
            )
            now = time.perf_counter()
            if now >= end or not root[VISITS].any():
                break
            # Chunks grow to a tenth of the budget, and never past its end.
            per_iteration = (now - chunk_began) / settings[ITERATIONS]
            settings[ITERATIONS] = max(1, int(min(self.agent.milliseconds / 10_000, end - now) / per_iteration))
        return Decision(int(action), root[VISITS], root[VALUES], int(root[VISITS].sum()), now - began)


@dataclass(frozen=True)
class Mc(SearchAgent):
    """Plays the action whose random rollouts have the best mean. Source: Kutsch 2017, 3."""

    name: ClassVar[str] = "mc"
    timed_player: ClassVar[type[CompiledPlayer]] = TimedMcPlayer
    act_kernel: ClassVar[Any] = act_mc

    iterations: int = parameter(1000, "rollouts per legal action", low=1, high=100_000_000, log=True)
    rollout_depth: int = parameter(20, "most plies of a rollout", low=0, high=1_000_000)
    score_method: int = parameter(
        2, "value of a rollout in which a one-seat game ended: 1 its score, 2 its score - 1", low=1, high=2
    )
    evaluator: Evaluator = parameter(Rollout(), "what is averaged")
    milliseconds: int = parameter(0, "time per move in place of iterations, 0 = none", low=0, high=3_600_000)

    def settings(self) -> tuple[float, ...]:
        return (float(self.iterations),)
