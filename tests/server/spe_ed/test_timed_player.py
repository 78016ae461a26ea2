"""Agents on a server have the time of a round, whatever their counts say."""

from __future__ import annotations

import time
from datetime import datetime

import pytest

from tests.server.spe_ed.served import eventually, rules, say, served, state
from turnier.agents.registry import make_agent
from turnier.server.spe_ed.room import seconds_for_bots
from turnier.server.spe_ed.timed_player import TimedPlayer, warm_up

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


def test_bots_have_no_more_time_than_the_clients_that_they_play() -> None:
    warm_up("rollouts")
    for _ in range(8):  # joining late on a busy machine, a client has nearly the whole time
        with served(rules(players=2, timeout=2.0), own=("rollouts",)) as server:
            while not 0.75 < time.time() % 1 < 0.85:  # clients see a deadline cut to whole seconds, here by 0.8 s
                time.sleep(0.01)
            with server.join() as client:
                seen = state(client)
                left = datetime.fromisoformat(seen["deadline"]).timestamp() - time.time()
                room = server.lobby.rooms[0]
                eventually(lambda room=room: 1 in room.thought)
                thought = room.thought[1]
                say(client)
        if 1.0 < left < 1.3:
            break
    assert 1.0 < left < 1.3 and left - 0.7 < thought < left


def test_bots_leave_a_margin_of_what_is_left() -> None:
    assert seconds_for_bots(15.0) == pytest.approx(14.7)
    assert seconds_for_bots(0.3) == pytest.approx(0.2)
    assert seconds_for_bots(-1.0) == pytest.approx(0.02)  # as clients whose deadline has passed
