"""Agents on a server have the time of a round, whatever their counts say."""

from __future__ import annotations

import time

import pytest

from turnier.agents.registry import make_agent
from turnier.server.spe_ed.timed_player import TimedPlayer

ROUND = 50_000_000  # nanoseconds


@pytest.mark.parametrize(
    ("agent", "most"),
    [
        ("mcts(iterations=10000000,evaluator=survivors)", 9_999_999),  # far more than a round's time
        ("mcts(iterations=1,evaluator=survivors)", 9_999_999),  # more than its count
        ("rollouts(rollouts=1000000000)", 999_999_999),
        ("greedy", 5),  # knows no time
    ],
)
def test_decisions_end_with_the_round(agent: str, most: int) -> None:
    player = TimedPlayer(make_agent(agent), 20, 20, 2, 0, 1)
    state = player.game.start(1).state
    player.decide(state, time.monotonic_ns() + ROUND)  # compiles
    decision = player.decide(state, time.monotonic_ns() + ROUND)
    assert decision.action < 5
    assert 1 < decision.nodes <= most
