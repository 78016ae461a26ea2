"""Perft: the number of ways to continue a game without chance for some plies; any wrong rule changes the counts."""

from __future__ import annotations

import numpy as np

from ..core.kernel import kernel, types
from .abi import GAME, STATE_DTYPE, TERMINAL, Actions, Floats
from .game import Game, Ints
from .generic import copy_state

_TABLE = types.int64[:, ::1]


@kernel(types.void(GAME, _TABLE, _TABLE, types.int64, types.int64, Floats, Actions))
def count_leaves(game, states, choices, level, depth, rewards, counts):
    """Adds the leaves below `states[level]` to `counts`: all of them, and the ended games among them."""
    over = game.to_move(states[level]) == TERMINAL
    if over or level == depth:
        counts[0] += 1
        counts[1] += np.int64(over)
        return
    for i in range(game.legal(states[level], choices[level])):
        copy_state(states[level], states[level + 1])
        game.step(states[level + 1], choices[level, i], rewards)
        count_leaves(game, states, choices, level + 1, depth, rewards, counts)


def perft(game: Game, state: Ints, depth: int) -> tuple[int, int]:
    """Returns the leaves `depth` plies below a state, including games that end earlier, and the ended games of them."""
    states = np.zeros((depth + 1, game.state_words), STATE_DTYPE)
    states[0] = state
    choices, counts = np.zeros((depth + 1, game.max_legal), np.int64), np.zeros(2, np.int64)
    count_leaves(game.kernels, states, choices, 0, depth, np.zeros(game.num_seats), counts)
    return int(counts[0]), int(counts[1])
