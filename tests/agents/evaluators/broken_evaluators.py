"""Evaluators that each break one law of the contract, and a sound one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from turnier.agents.abi import EVALUATE
from turnier.agents.evaluator import OWN, Evaluator
from turnier.core.kernel import kernel
from turnier.core.rng import uniform
from turnier.games.game import Game


@kernel(EVALUATE)
def guesses(game, weights, state, returns, count, rng, totals, scratch):
    for _ in range(count):
        for seat in range(totals.size):
            totals[seat] += uniform(rng)


@kernel(EVALUATE)
def undefined(game, weights, state, returns, count, rng, totals, scratch):
    totals[0] += np.nan


@kernel(EVALUATE)
def changes_state(game, weights, state, returns, count, rng, totals, scratch):
    state[0] ^= 1


@kernel(EVALUATE)
def changes_weights(game, weights, state, returns, count, rng, totals, scratch):
    weights[OWN] += 1.0


@kernel(EVALUATE)
def writes_outside(game, weights, state, returns, count, rng, totals, scratch):
    totals[game.num_seats] += 1.0


@kernel(EVALUATE)
def counts_once(game, weights, state, returns, count, rng, totals, scratch):
    totals[0] += 1.0


@kernel(EVALUATE)
def draws_once(game, weights, state, returns, count, rng, totals, scratch):
    uniform(rng)


@kernel(EVALUATE)
def overwrites(game, weights, state, returns, count, rng, totals, scratch):
    totals[0] = float(count)


@kernel(EVALUATE)
def global_random(game, weights, state, returns, count, rng, totals, scratch):
    totals[0] += np.random.random()


@dataclass(frozen=True)
class Sound(Evaluator):
    """Draws a number for every seat."""

    name: ClassVar[str] = "sound"
    evaluate_kernel: ClassVar[Any] = guesses

    def own_weights(self, game: Game) -> tuple[float, ...]:
        return (1.0,)


@dataclass(frozen=True)
class Undefined(Sound):
    """Estimates what is no number."""

    evaluate_kernel: ClassVar[Any] = undefined


@dataclass(frozen=True)
class ChangesState(Sound):
    """Marks the state that it looks at."""

    evaluate_kernel: ClassVar[Any] = changes_state


@dataclass(frozen=True)
class ChangesWeights(Sound):
    """Learns while it evaluates."""

    evaluate_kernel: ClassVar[Any] = changes_weights


@dataclass(frozen=True)
class WritesOutside(Sound):
    """Estimates for a seat that does not exist."""

    evaluate_kernel: ClassVar[Any] = writes_outside


@dataclass(frozen=True)
class CountsOnce(Sound):
    """Adds one estimate however many are asked for."""

    evaluate_kernel: ClassVar[Any] = counts_once


@dataclass(frozen=True)
class DrawsOnce(Sound):
    """Draws one random number however many estimates are asked for."""

    evaluate_kernel: ClassVar[Any] = draws_once


@dataclass(frozen=True)
class Overwrites(Sound):
    """Sets the totals instead of adding."""

    evaluate_kernel: ClassVar[Any] = overwrites


@dataclass(frozen=True)
class GlobalRandom(Sound):
    """Draws from numpy's generator."""

    evaluate_kernel: ClassVar[Any] = global_random


@dataclass(frozen=True)
class DeniesDrawing(Sound):
    """Declares to draw no random numbers."""

    def draws_numbers(self, game: Game, rollout_depth: int) -> bool:
        return False
