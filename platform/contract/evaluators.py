"""The laws that every evaluator keeps, listed in EVALUATOR_LAWS: each takes an evaluator and a game that fits it."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import numpy.typing as npt

from ..agents.abi import EvaluatorKernels, new_scratch
from ..agents.evaluator import Evaluator
from ..core.rng import stream
from ..games.abi import STATE_DTYPE
from ..games.game import Game, Position
from . import agents
from .games.random_games import FENCE, ROOM, fenced, words
from .law import Law, LawBroken

DEPTH = 4  # of rollouts
METHODS = (1, 2)  # of counting a finished rollout of a one-seat game
MANY = 7  # estimates of one call
SEED = 3


@functools.cache
def places(game: Game) -> tuple[Position, ...]:
    """Returns the states that searches evaluate: positions, afterstates and ends of games."""
    found: list[Position] = []
    for position in agents.positions(game):
        found += [position, position.play(position.legal_actions()[-1], draw_chance=False)]
    for seed in range(3):
        draws, position = np.random.default_rng(seed), game.start(seed)
        for _ in range(agents.LONGEST):
            if position.over:
                break
            position = position.play(int(draws.choice(position.legal_actions())))
        found.append(position)
    return tuple(found)


def estimate(
    game: Game, evaluator: EvaluatorKernels, state: Any, returns: Any, rng: Any, count: int = 1
) -> npt.NDArray[np.float64]:
    """Returns the sum of `count` estimates of each seat's final return, [seats]; `rng` advances."""
    totals = np.zeros(game.num_seats)
    scratch = new_scratch(game.kernels, state)
    evaluator.evaluate(game.kernels, evaluator.weights, state, returns, count, rng, totals, scratch)
    return totals


def where(position: Position, method: int) -> str:
    mover = "over" if position.over else f"with {position.to_move} to move"
    return f"in the state {words(position.state)} of {position.game}, {mover}, score method {method}"


def law_estimates_are_numbers(evaluator: Evaluator, game: Game) -> None:
    """An estimate is a finite number for every seat, in positions, afterstates and ends of games."""
    for method in METHODS:
        kernels = evaluator.kernels(game, DEPTH, method)
        for position in places(game):
            got = estimate(game, kernels, position.state.copy(), position.returns.copy(), stream(SEED))
            if not np.isfinite(got).all():
                raise LawBroken(f"estimates of {evaluator} must be finite numbers, got {got} {where(position, method)}")


def law_changes_nothing(evaluator: Evaluator, game: Game) -> None:
    """State, returns and weights stay as they are, and nothing is written outside the arrays."""
    for method in METHODS:
        kernels = evaluator.kernels(game, DEPTH, method)
        weights = kernels.weights.copy()
        for position in places(game):
            state, whole_state = fenced(game.state_words, STATE_DTYPE)
            returns, whole_returns = fenced(game.num_seats, np.float64)
            totals, whole_totals = fenced(game.num_seats, np.float64)
            state[:], returns[:] = position.state, position.returns
            scratch = new_scratch(game.kernels, position.state)
            kernels.evaluate(game.kernels, kernels.weights, state, returns, 2, stream(SEED), totals, scratch)
            for what, before, after in (
                ("state", position.state, state),
                ("returns", position.returns, returns),
                ("weights", weights, kernels.weights),
            ):
                if not np.array_equal(before, after):
                    got = f"got {words(before)} changed to {words(after)}"
                    raise LawBroken(f"{evaluator} must not change the {what}, {got} {where(position, method)}")
            for what, whole in (("state", whole_state), ("returns", whole_returns), ("totals", whole_totals)):
                if not ((whole[:ROOM] == FENCE).all() and (whole[-ROOM:] == FENCE).all()):
                    raise LawBroken(f"{evaluator} must not write outside the array {what} {where(position, method)}")


def law_counts(evaluator: Evaluator, game: Game) -> None:
    """`count` estimates equal `count` calls for one, on the same stream of random numbers; no estimates add 0."""
    for method in METHODS:
        kernels = evaluator.kernels(game, DEPTH, method)
        for position in places(game):
            state, returns = position.state.copy(), position.returns.copy()
            one_by_one, at_once = stream(SEED), stream(SEED)
            singles = sum(estimate(game, kernels, state, returns, one_by_one) for _ in range(MANY))
            together = estimate(game, kernels, state, returns, at_once, MANY)
            if not np.allclose(singles, together, rtol=1e-12, atol=1e-12):
                got = f"got {together} and not {singles}"
                must = f"add the same with count = {MANY} as in {MANY} calls with count = 1"
                raise LawBroken(f"{evaluator} must {must}, {got} {where(position, method)}")
            if not np.array_equal(one_by_one, at_once):
                must = f"draw as many random numbers with count = {MANY} as in {MANY} calls with count = 1"
                raise LawBroken(f"{evaluator} must {must}, but it did not {where(position, method)}")
            nothing = estimate(game, kernels, state, returns, at_once, 0)
            if nothing.any():
                raise LawBroken(f"{evaluator} must add 0 with count = 0, got {nothing} {where(position, method)}")


def law_adds(evaluator: Evaluator, game: Game) -> None:
    """Estimates are added to the existing totals."""
    for method in METHODS:
        kernels = evaluator.kernels(game, DEPTH, method)
        for position in places(game):
            single = estimate(game, kernels, position.state.copy(), position.returns.copy(), stream(SEED))
            totals = np.full(game.num_seats, 0.25)
            arrays = (position.state.copy(), position.returns.copy(), 1, stream(SEED), totals)
            kernels.evaluate(game.kernels, kernels.weights, *arrays, new_scratch(game.kernels, position.state))
            if not np.allclose(totals, single + 0.25, rtol=1e-12, atol=1e-12):
                got = f"got totals of {totals} from totals of 0.25"
                raise LawBroken(
                    f"{evaluator} must add its estimate {single} to the totals, {got} {where(position, method)}"
                )


def law_repeats(evaluator: Evaluator, game: Game) -> None:
    """The same stream of random numbers gives the same estimate, bit for bit, regardless of earlier evaluations."""
    for method in METHODS:
        kernels = evaluator.kernels(game, DEPTH, method)
        first, again = (
            [estimate(game, kernels, each.state.copy(), each.returns.copy(), stream(SEED)) for each in order]
            for order in (places(game), places(game)[::-1])
        )
        for position, one, other in zip(places(game), first, reversed(again), strict=True):
            if not np.array_equal(one, other, equal_nan=True):
                got = f"got {one} and then {other} {where(position, method)}"
                raise LawBroken(f"{evaluator} must always estimate the same from the same random numbers, {got}")


def law_draws(evaluator: Evaluator, game: Game) -> None:
    """An evaluator that declares that it draws no random numbers leaves their stream as it is."""
    if evaluator.draws_numbers(game, DEPTH) is not False:
        return
    for method in METHODS:
        kernels = evaluator.kernels(game, DEPTH, method)
        for position in places(game):
            rng = stream(SEED)
            estimate(game, kernels, position.state.copy(), position.returns.copy(), rng)
            if not np.array_equal(rng, stream(SEED)):
                raise LawBroken(
                    f"{evaluator} must draw no random numbers, since its draws_numbers returns False, but it did"
                    f" {where(position, method)}; return True"
                )


EVALUATOR_LAWS: tuple[Law, ...] = (
    law_estimates_are_numbers,
    law_changes_nothing,
    law_counts,
    law_adds,
    law_repeats,
    law_draws,
)
