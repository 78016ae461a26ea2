"""Boards of spe_ed for tests of searches."""

from __future__ import annotations

import numpy as np

from turnier.agents.spe_ed.search.field import fill_field, new_field
from turnier.games.game import Game, Ints
from turnier.games.registry import make_game
from turnier.games.spe_ed.board import ROUND, SPEED, put_cell


def scattered(width: int, height: int, players: int, seed: int, taken: float) -> tuple[Game, Ints]:
    """Returns a board with walls at random, players with random speeds, and a round near a jump."""
    game = make_game(f"spe_ed(width={width},height={height},players={players})")
    state, draws = game.start(seed).state.copy(), np.random.default_rng(seed)
    for cell in np.flatnonzero(game.cell_values(state) == 0):
        if draws.random() < taken:
            put_cell(state, int(cell), 7)
    state[ROUND] = draws.integers(0, 12)
    for seat in range(players):
        state[SPEED + seat] = draws.integers(1, 5)
    return game, state


def field_of(game: Game, state: Ints) -> np.ndarray[tuple[int], np.dtype[np.uint8]]:
    field = new_field(game)
    fill_field(state, field)
    return field
