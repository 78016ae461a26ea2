"""PettingZoo's own tests on every game, and what its agents are told."""

from __future__ import annotations

import numpy as np
import pytest
from pettingzoo.test import api_test, seed_test

from tests.environments.games import ALL_GAMES
from turnier.core.errors import UserError
from turnier.environments import SeatsEnvironment, env
from turnier.games.game import Game

CYCLES = 6


@pytest.mark.filterwarnings("ignore:Observation")  # PettingZoo expects masks beside observations of its own games only
@pytest.mark.parametrize("game", ALL_GAMES, ids=str)
def test_pettingzoo_finds_nothing_wrong(game: Game) -> None:
    api_test(env(game), num_cycles=CYCLES)
    seed_test(lambda: env(game), num_cycles=CYCLES)


@pytest.mark.parametrize("text", ["yavalath(size=3,players=3)", "spe_ed(width=5,height=5,players=4)", "2048(size=2)"])
def test_a_whole_game(text: str) -> None:
    """Who acts sees its legal actions, the others none; all terminate at the end, with the final returns."""
    seats = env(text)
    seats.reset(seed=2)
    sums = dict.fromkeys(seats.possible_agents, 0.0)
    random = np.random.default_rng(1)
    for agent in seats.agent_iter():
        observation, reward, terminated, _, _ = seats.last()
        sums[agent] += reward
        position, action = seats.unwrapped.position, None
        assert terminated == position.over
        if not terminated:
            legal = np.flatnonzero(observation["action_mask"])
            assert legal.tolist() == position.legal_actions() and agent == f"seat_{position.to_move}"
            others = [other for other in seats.agents if other != agent]
            assert not any(seats.observe(other)["action_mask"].any() for other in others)
            action = int(random.choice(legal))
        seats.step(action)
    assert seats.agents == [] and list(sums.values()) == position.returns.tolist()


def test_who_plays_an_illegal_action_has_lost() -> None:
    seats = env("tictactoe")
    seats.reset(seed=1)
    for action in (4, 4):
        seats.step(action)
    assert all(seats.terminations.values()) and seats.rewards == {"seat_0": 0.0, "seat_1": -1.0}
    bare = SeatsEnvironment("tictactoe", render_mode="ansi")
    bare.reset()
    bare.step(4)
    assert bare.render() == bare.game.draw(bare.position.state)
    with pytest.raises(UserError, match="an action of tictactoe must be legal, got 4"):
        bare.step(4)
