"""Evaluation by a random rollout: the game score after uniformly random legal moves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ...core.kernel import kernel
from ...games.abi import TERMINAL
from ...games.game import Game
from ...games.generic import generic_playout
from ..abi import EVALUATE, EVALUATE_TOGETHER
from ..evaluator import ROLLOUT_DEPTH, SCORE_METHOD, Evaluator


@kernel(EVALUATE)
def evaluate_rollout(game, weights, state, returns, count, rng, totals, scratch):
    """Method 1: return / max_return. Method 2: the same, less 1 if a one-seat game ended inside the rollout."""
    depth = np.int64(weights[ROLLOUT_DEPTH])
    penalised = weights[SCORE_METHOD] == 2.0 and game.num_seats == 1
    work, gains, choices, probs = scratch.state, scratch.returns, scratch.choices, scratch.probs
    gains[:] = 0.0
    ended = 0
    for _ in range(count):
        for i in range(work.size):
            work[i] = state[i]
        if game.has_playout:
            game.playout(work, depth, rng, gains)
        else:
            generic_playout(game, work, depth, rng, gains, choices, probs)
        if penalised and game.to_move(work) == TERMINAL:
            ended += 1
    for seat in range(totals.size):
        totals[seat] += (returns[seat] * float(count) + gains[seat]) / game.max_return - float(ended)


@kernel(EVALUATE_TOGETHER)
def evaluate_rollouts(game, weights, jobs, enough):
    """`evaluate_rollout` for games side by side."""
    penalised, seats = weights[SCORE_METHOD] == 2.0 and game.num_seats == 1, jobs.totals.shape[1]
    finished = game.playouts(
        jobs.states,
        jobs.counts,
        jobs.waiting,
        np.int64(weights[ROLLOUT_DEPTH]),
        jobs.rngs,
        jobs.gains,
        jobs.ended,
        jobs.lanes,
        enough,
        jobs.done,
    )
    for i in range(finished):
        job = jobs.done[i]
        lost = float(jobs.ended[job]) if penalised else 0.0
        for seat in range(seats):
            points = jobs.returns[job, seat] * float(jobs.counts[job]) + jobs.gains[job, seat]
            jobs.totals[job, seat] = points / game.max_return - lost
            jobs.gains[job, seat] = 0.0
        jobs.ended[job] = 0
    return finished


@dataclass(frozen=True)
class Rollout(Evaluator):
    """One random rollout, to the depth set by the agent.

    Source: Kutsch 2017, 4.1 and 9.2. Differs: with several seats method 2 equals method 1, since there the end of the
    game counts.
    """

    name: ClassVar[str] = "rollout"
    evaluate_kernel: ClassVar[Any] = evaluate_rollout
    together_kernel: ClassVar[Any] = evaluate_rollouts
    scores_ends: ClassVar[bool] = True

    def draws_numbers(self, game: Game, rollout_depth: int) -> bool:
        return rollout_depth > 0 or game.has_chance

    def evaluates_together(self, game: Game) -> bool:
        return bool(game.kernels.has_playouts)
