"""Evaluation by a random rollout: the game score that uniformly random legal moves reach."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from turnier.agents.abi import EVALUATE
from turnier.agents.evaluator import ROLLOUT_DEPTH, SCORE_METHOD, Evaluator
from turnier.core.kernel import kernel
from turnier.games.abi import TERMINAL
from turnier.games.generic import generic_playout


@kernel(EVALUATE)
def evaluate_rollout(game, weights, state, returns, count, rng, totals, scratch):
    """Method 1: return / max_return. Method 2: the same, less 1 where a one-seat game ended inside the rollout."""
    depth = np.int64(weights[ROLLOUT_DEPTH])
    penalised = weights[SCORE_METHOD] == 2.0 and game.num_seats == 1
    # Taken out of the tuple once: taking an array out counts a reference, which costs as much as a ply.
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


@dataclass(frozen=True)
class Rollout(Evaluator):
    """One random rollout, as deep as the agent that uses it says.

    Source: Kutsch 2017, 4.1 and 9.2. Differs: with several seats method 2 equals method 1, since there the end of the
    game is what counts.
    """

    name: ClassVar[str] = "rollout"
    evaluate_kernel: ClassVar[Any] = evaluate_rollout
