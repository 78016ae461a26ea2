"""Functions of all games through their kernels: draw chance outcomes, play randomly to a depth or the end."""

from __future__ import annotations

from ..core.kernel import kernel, types
from ..core.rng import Rng, below, uniform
from .abi import CHANCE, GAME, TERMINAL, Actions, Floats, State


@kernel(types.int64(GAME, State, Rng, Actions, Floats), inline=True)
def draw_outcome(game, state, rng, outcomes, probs):
    """Draws a chance outcome; `outcomes` and `probs` [max_outcomes] are scratch space."""
    if game.has_sample_chance:
        return game.sample_chance(state, rng)
    n = game.chance(state, outcomes, probs)
    left = uniform(rng)
    for i in range(n - 1):
        left -= probs[i]
        if left < 0.0:
            return outcomes[i]
    return outcomes[n - 1]


@kernel(types.int64(GAME, State, types.int64, Rng, Floats, Actions, Floats))
def generic_playout(game, state, depth, rng, returns, choices, probs):
    """Plays uniformly random legal moves in place, at most `depth` plies; returns the plies, adds rewards to `returns`.

    A chance node after the last ply is still drawn, so that the state is over or has a seat to move.
    """
    plies = 0
    while True:
        mover = game.to_move(state)
        if mover == CHANCE:
            game.step(state, draw_outcome(game, state, rng, choices, probs), returns)
        elif mover == TERMINAL or plies == depth:
            return plies
        else:
            n = game.legal(state, choices)
            game.step(state, choices[below(rng, n)], returns)
            plies += 1


@kernel(types.void(State, State), inline=True)
def copy_state(source, target):
    for i in range(source.size):
        target[i] = source[i]
