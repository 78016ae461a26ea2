"""The agent `perfect`: it never loses what is not lost, and chooses among the best actions alike."""

from __future__ import annotations

import importlib.util
from collections import Counter

import numpy as np
import pytest

from turnier.agents.perfect.judge import judge_of
from turnier.agents.registry import make_agent
from turnier.arena.match import MatchSpec
from turnier.arena.play import play_matches
from turnier.games.registry import make_game


@pytest.mark.parametrize("other", ["random", "mcts(iterations=30)"])
def test_it_never_loses_tictactoe_and_sometimes_wins(other: str) -> None:
    agent = make_agent(other).full_text()
    for seat in (0, 1):
        seats = ("perfect", agent) if seat == 0 else (agent, "perfect")
        records = play_matches([MatchSpec("tictactoe", seats, seed) for seed in range(30)])
        scores = [record.scores[seat] for record in records]
        assert min(scores) >= 0 and max(scores) == 1


def test_against_itself_it_always_draws_in_different_games() -> None:
    records = play_matches([MatchSpec("tictactoe", ("perfect", "perfect"), seed) for seed in range(20)])
    assert {record.scores for record in records} == {(0.0, 0.0)}
    assert len({record.plies for record in records}) > 10


def test_each_of_the_best_actions_is_as_likely() -> None:
    """After one corner only the middle holds the draw; on the empty board all nine do, within five standard errors."""
    game, agent = make_game("tictactoe"), make_agent("perfect")
    corner = game.start().play(0)
    assert {agent.start(game, 1, seed).act(corner).action for seed in range(20)} == {4}
    counts = Counter(agent.start(game, 0, seed).act(game.start()).action for seed in range(450))
    assert set(counts) == set(range(9))
    assert all(abs(count - 50) < 5 * np.sqrt(450 * (1 / 9) * (8 / 9)) for count in counts.values())


def test_a_decision_shows_the_values_of_all_actions() -> None:
    game = make_game("hex(size=3)")
    decision = make_agent("perfect").start(game, 0, 1).act(game.start())
    assert dict(enumerate(decision.values)) == judge_of(game).values(game.start())
    assert decision.visits.tolist() == [1.0] * 9 and decision.nodes == 9 and decision.values[decision.action] == 1


@pytest.mark.skipif(importlib.util.find_spec("bitbully") is None, reason="bitbully is not installed")
def test_it_wins_connect_four_as_first_player() -> None:
    seats = ("perfect", make_agent("alphabeta(depth=4)").full_text())
    records = play_matches([MatchSpec(make_game("connect_four").full_text(), seats, seed) for seed in range(3)])
    assert [record.scores for record in records] == [(1.0, -1.0)] * 3
