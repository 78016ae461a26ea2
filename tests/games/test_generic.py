"""What every game gets: drawing outcomes from probabilities, playouts to a depth, and small helpers of kernels."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from tests.contract.guess_game import Guess
from turnier.contract.games.random_games import UNLIMITED, playout_results, scratch, start_state
from turnier.core.rng import stream
from turnier.games.generic import copy_state, draw_outcome, generic_playout
from turnier.games.registry import make_game


@pytest.mark.parametrize("own", [True, False])
def test_outcomes_are_drawn_by_their_probabilities(own: bool) -> None:
    """With the game's `sample_chance` and, where it has none, from what `chance` lists."""
    game = Guess()
    kernels = replace(game.kernels, has_sample_chance=int(own))
    state, rng = game.start().play(0, draw_chance=False).play(0, draw_chance=False).state, stream(1)
    drawn = [int(draw_outcome(kernels, state, rng, *scratch(game))) for _ in range(2_000)]
    assert stats.chisquare(np.bincount(drawn, minlength=3), np.array([0.5, 0.3, 0.2]) * 2_000).pvalue > 1e-6


def test_random_play_of_tictactoe_has_the_exact_results() -> None:
    """Random legal play: the first seat wins 737/1260 of the games, the second 121/420, the rest are draws."""
    results = playout_results(make_game("tictactoe"), make_game("tictactoe").start().state, UNLIMITED, False)
    wins = [(results[:, 0] == value).mean() for value in (1, -1, 0)]
    exact = np.array([737 / 1260, 121 / 420, 8 / 63])
    assert (np.abs(wins - exact) < 5 * np.sqrt(exact * (1 - exact) / len(results))).all()


def test_a_generic_playout_continues_where_the_last_one_stopped() -> None:
    game = make_game("2048(size=3)")
    ends = []
    for depths in ((6,), (2, 1, 3)):
        rng, returns = stream(2), np.zeros(1)
        state = start_state(game, rng)
        plies = [generic_playout(game.kernels, state, depth, rng, returns, *scratch(game)) for depth in depths]
        assert tuple(plies) == depths
        ends.append((state.tolist(), returns.tolist(), rng.tolist()))
    assert ends[0] == ends[1]


def test_copy_state_copies_every_word() -> None:
    source, target = np.arange(1, 1281), np.zeros(1280, np.int64)
    copy_state(source, target)
    assert np.array_equal(source, target)
