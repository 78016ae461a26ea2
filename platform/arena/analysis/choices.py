"""The number of legal actions in the positions of played matches: the branching factor of a game as it is played."""

from __future__ import annotations

import math

import numpy as np

from ...core.kernel import kernel, types
from ...games.abi import GAME, Actions, Floats, State
from ...games.registry import game_of
from ..match import MatchRecord, moves_kept, unpack_plies
from ..table import first_position


@kernel(types.UniTuple(types.int64, 2)(GAME, State, Actions, types.int64, Floats, Actions))
def count_choices(game, state, plies, opening, returns, choices):
    """Replays a match in place; returns the legal actions of all its decisions after an opening, and their number."""
    total, decisions = 0, 0
    for i in range(plies.size):
        if i >= opening and game.to_move(state) >= 0:
            total += game.legal(state, choices)
            decisions += 1
        game.step(state, plies[i], returns)
    return total, decisions


def mean_choices(record: MatchRecord) -> float:
    """Returns the mean number of legal actions where a seat decided; NaN if none did or the moves were not kept."""
    if not moves_kept(record.plies):
        return math.nan
    game = game_of(record.spec.game)
    state, returns = first_position(game, record.spec.seed).state, np.zeros(game.num_seats)
    choices = np.zeros(game.max_legal, np.int64)
    plies, opening = unpack_plies(record.plies), len(record.spec.opening)
    total, decisions = count_choices(game.kernels, state, plies, opening, returns, choices)
    game.raise_failure()
    return total / decisions if decisions else math.nan
