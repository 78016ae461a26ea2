"""Priors and a value from one evaluation of a state, by a network with a head for each."""

from __future__ import annotations

import numpy as np

from ...core.kernel import kernel, types
from ...core.rng import Rng
from ...games.abi import GAME, TERMINAL, Floats, State
from ...games.generic import copy_state
from ..abi import EVALUATOR, SCRATCH
from ..residual.kernels import say
from .ranking import RANKING, limit


@kernel(types.void(GAME, EVALUATOR, State, Floats, types.int64, types.int64, Rng, SCRATCH, RANKING, Floats))
def rank_by_heads(game, evaluator, state, returns, n, mover, rng, scratch, ranking, values):
    """Fills in the logits of the first n of `ranking.choices`, the state's values, [seats], and first values.

    An action that ends the game gets its result, every other one the value of the state itself.
    """
    logits, after, after_returns = np.empty(game.num_actions, np.float32), ranking.after, ranking.after_returns
    weights = evaluator.weights
    values[mover] = say(game, weights.view(np.int64), weights.view(np.float32), state, mover, logits)
    values[1 - mover] = -values[mover]
    limit(values)
    for i in range(n):
        action = ranking.choices[i]
        ranking.logits[i] = float(logits[action])
        ranking.values[i] = values
        copy_state(state, after)
        for seat in range(returns.size):
            after_returns[seat] = returns[seat]
        game.step(after, action, after_returns)
        ranking.over[i] = game.to_move(after) == TERMINAL
        if ranking.over[i] != 0:
            ranking.values[i] = 0.0
            evaluator.evaluate(game, weights, after, after_returns, 1, rng, ranking.values[i], scratch)
