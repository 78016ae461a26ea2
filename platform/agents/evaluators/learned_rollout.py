"""Evaluation by a rollout whose moves a learned network prefers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ...core.errors import UserError
from ...core.kernel import kernel, types
from ...core.parameters import parameter
from ...core.rng import Rng, below, uniform
from ...games.abi import CHANCE, TERMINAL
from ...games.game import Game
from ...games.generic import copy_state, draw_outcome
from ..abi import EVALUATE, EvaluatorKernels
from ..evaluator import ROLLOUT_DEPTH, SCORE_METHOD, Evaluator
from ..ntuple.board_lookups import go_to_board, new_board, set_board
from ..ntuple.evaluator import NTuple
from ..ntuple.learn_games import Scores, best_of, value_of_seat
from ..ntuple.network_kernels import AT_END, OUTPUTS
from ..ntuple.td import DISCOUNT, METHOD, NUM_SETTINGS
from .rollout import Rollout

RANDOMNESS = -1  # of the weights, behind those of the network


@kernel(types.int64(Scores, types.int64, types.int64, types.int64, Rng))
def any_of_equals(values, n, chosen, mover, rng):
    """Returns a random one of the first n actions whose values equal that of the chosen one."""
    best, equal = value_of_seat(values, chosen, mover), 0
    for i in range(n):
        if value_of_seat(values, i, mover) == best:
            equal += 1
    left = below(rng, equal) if equal > 1 else 0
    for i in range(n):
        if value_of_seat(values, i, mover) == best:
            if left == 0:
                return i
            left -= 1
    return chosen


@kernel(EVALUATE)
def evaluate_learned_rollout(game, weights, state, returns, count, rng, totals, scratch):
    """`evaluate_rollout` with moves to the best afterstate, but for a share of random ones."""
    words, table, choices = weights.view(np.int64), weights.view(np.float32), scratch.choices
    depth, randomness = np.int64(weights[ROLLOUT_DEPTH]), weights[weights.size + RANDOMNESS]
    penalised = weights[SCORE_METHOD] == 2.0 and game.num_seats == 1
    board, settings = new_board(words), np.zeros(NUM_SETTINGS)
    settings[DISCOUNT], settings[METHOD] = 1.0, 1.0 if words[AT_END] != 0 else 2.0
    states, gains = np.empty((2, state.size), np.int64), np.zeros((3, totals.size))
    values = np.zeros((game.max_choices, words[OUTPUTS]), np.float32)
    now, so_far = states[0], gains[0]
    for _ in range(count):
        copy_state(state, now)
        for seat in range(totals.size):
            so_far[seat] = returns[seat]
        set_board(game, words, now, board)
        plies, mover = 0, game.to_move(now)
        while mover != TERMINAL and (mover == CHANCE or plies < depth):
            if mover == CHANCE:
                game.step(now, draw_outcome(game, now, rng, choices, scratch.probs), so_far)
            else:
                n = game.legal(now, choices)
                if n == 1:
                    place = 0
                elif randomness > 0.0 and uniform(rng) < randomness:
                    place = below(rng, n)
                else:
                    go_to_board(game, words, now, board)
                    place = best_of(game, words, table, settings, board, states, gains, choices, n, mover, values)
                    place = any_of_equals(values, n, place, mover, rng)
                game.step(now, choices[place], so_far)
                plies += 1
            mover = game.to_move(now)
        lost = 1.0 if penalised and mover == TERMINAL else 0.0
        for seat in range(totals.size):
            totals[seat] += so_far[seat] / game.max_return - lost


@dataclass(frozen=True)
class LearnedRollout(Rollout):
    """One rollout by a learned policy, to the depth set by the agent: a move leads to the best afterstate by an n-tuple
    network, or is random.

    Source: Weitz 2022, 5.1, names a playout policy of learned features, as programs of Go have it (Silver et al. 2016,
    fast rollouts). Differs: the policy is that of a network of values, as `turnier train` writes it.
    """

    name: ClassVar[str] = "learned_rollout"
    evaluate_kernel: ClassVar[Any] = evaluate_learned_rollout

    network: Evaluator = parameter(NTuple(), "n-tuple network of values")
    randomness: float = parameter(0.2, "share of random moves", low=0, high=1, search=(0, 1))

    def check(self) -> None:
        if not isinstance(self.network, NTuple):
            raise UserError(
                f"learned_rollout needs an n-tuple network, got {self.network}; write network=ntuple(file=...)."
            )

    def cannot_evaluate(self, game: Game) -> str | None:
        return self.network.cannot_evaluate(game)

    def kernels(self, game: Game, rollout_depth: int, score_method: int) -> EvaluatorKernels:
        assert isinstance(self.network, NTuple)
        weights = np.append(self.network.weights(game, in_quarters=False), self.randomness)
        weights[[ROLLOUT_DEPTH, SCORE_METHOD]] = rollout_depth, score_method
        return self.with_weights(game, weights)
