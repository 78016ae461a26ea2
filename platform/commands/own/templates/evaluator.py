"""Template: the returns so far, and a bonus for every choice of the seat to move."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from turnier import Evaluator, Game, kernel, parameter
from turnier.agents.abi import EVALUATE
from turnier.agents.evaluator import OWN


@kernel(EVALUATE)
def evaluate(game, weights, state, returns, count, rng, totals, scratch):
    """Adds `count` estimates of every seat's final return to `totals`."""
    for seat in range(totals.size):
        totals[seat] += float(count) * returns[seat] / game.max_return
    mover = game.to_move(state)
    if mover >= 0:
        totals[mover] += float(count) * weights[OWN] * game.legal(state, scratch.choices)


@dataclass(frozen=True)
class Template(Evaluator):
    """The returns so far, and a bonus for every choice of the seat to move."""

    evaluate_kernel: ClassVar[Any] = evaluate

    choice: float = parameter(0.01, "value of a choice", low=-1.0, high=1.0)

    def own_weights(self, game: Game) -> tuple[float, ...]:
        return (self.choice,)
