"""What an evaluator is: declared parameters, and a kernel that estimates every seat's final return."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from ..core.kernel import kernel, late_pointer, make_now, pointer
from ..core.parameters import Declared
from ..games.game import Game
from .abi import EVALUATE, EVALUATE_TOGETHER, EvaluatorKernels, absent_evaluate_together

# The first weights of every evaluator: the depth of its rollouts, and the game-score method, 1 or 2 (Kutsch 2017, 9.2).
ROLLOUT_DEPTH, SCORE_METHOD, OWN = 0, 1, 2


ONLY_RANKS = "numbers that only rank moves"  # the text of values that are no results


class ValueUnit(NamedTuple):
    """The unit of values for people."""

    scale: float  # the factor of values
    text: str  # the unit, such as "points"


def results_in(game: Game) -> str:
    """Returns the results of a game in words."""
    return "-1 is lost, 1 is won" if game.max_return == 1 else "points"


@dataclass(frozen=True)
class Evaluator(Declared):
    """Base of all evaluators; the agent that uses one sets the depth and scoring of rollouts."""

    kind: ClassVar[str] = "evaluator"
    evaluate_kernel: ClassVar[Any]
    together_kernel: ClassVar[Any] = absent_evaluate_together
    only_ranks: ClassVar[bool] = False  # whether it is a heuristic, whose values are no results
    scores_ends: ClassVar[bool] = False  # whether score_method=2 counts max_return less for rollouts that end the game

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "evaluate_kernel" in vars(cls) and "together_kernel" not in vars(cls):
            cls.together_kernel = absent_evaluate_together  # the inherited one belongs to another kernel

    def draws_numbers(self, game: Game, rollout_depth: int) -> bool | None:
        """Returns whether its values depend on random numbers, with rollouts of that depth; None: unknown."""
        return None

    def cannot_evaluate(self, game: Game) -> str | None:
        """Returns why this evaluator does not fit the game, as a sentence, or None."""
        return None

    def cannot_prove(self, game: Game) -> str | None:
        """Returns why a solver cannot tell wins by its values, the best of which must be 1, as a sentence, or None."""
        unit = self.value_unit(game)
        if unit.scale == game.max_return:
            return None
        return (
            f"solver=true needs values whose best is 1, got evaluator={self} for {game}, whose values are"
            f" {unit.text}; use evaluator=rollout, or leave the solver out."
        )

    def value_unit(self, game: Game) -> ValueUnit:
        """Returns the unit in which people read its values: results of the game / max_return, unless overridden."""
        return ValueUnit(game.max_return, ONLY_RANKS if self.only_ranks else results_in(game))

    def own_weights(self, game: Game) -> tuple[float, ...]:
        """Returns the evaluate kernel's weights from OWN on."""
        return ()

    def kernels(self, game: Game, rollout_depth: int, score_method: int) -> EvaluatorKernels:
        if rollout_depth:
            make_now(game.kernels.playout)
        return self.with_weights(game, np.array((rollout_depth, score_method, *self.own_weights(game)), np.float64))

    def with_weights(self, game: Game, weights: npt.NDArray[np.float64]) -> EvaluatorKernels:
        """Returns the evaluator's kernels with these weights."""
        together = type(self).together_kernel
        has_together = together is not absent_evaluate_together and self.evaluates_together(game)
        return EvaluatorKernels(
            pointer(type(self).evaluate_kernel, EVALUATE),
            weights,
            late_pointer(together, EVALUATE_TOGETHER) if has_together else absent_evaluate_together,
            int(has_together),
        )

    def evaluates_together(self, game: Game) -> bool:
        """Returns whether `together_kernel`, if there is one, fits the game."""
        return True


@kernel(EVALUATE)
def evaluate_score(game, weights, state, returns, count, rng, totals, scratch):
    for seat in range(totals.size):
        totals[seat] += returns[seat] * float(count)


@dataclass(frozen=True)
class Score(Evaluator):
    """The returns so far."""

    name: ClassVar[str] = "score"
    evaluate_kernel: ClassVar[Any] = evaluate_score

    def draws_numbers(self, game: Game, rollout_depth: int) -> bool:
        return False

    def value_unit(self, game: Game) -> ValueUnit:
        return ValueUnit(1.0, results_in(game))
