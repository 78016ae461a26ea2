"""Forced wins of Yavalath (Weitz 2022, 3.3.2): alpha-beta and MCTS's solver prove them, all defences replayed."""

from __future__ import annotations

import pytest

from tests.games.test_yavalath_forced import WON, position_of
from turnier.agents.registry import make_agent
from turnier.core.kernel import JIT
from turnier.games.game import Position
from turnier.games.registry import make_game

pytestmark = pytest.mark.skipif(not JIT, reason="some thousand searches")

# All forcing moves at once, or some of them by the search itself.
PROVERS = (
    "alphabeta(depth=1,forced_depth=4)",
    "alphabeta(depth=2,forced_depth=3)",
    "mcts(iterations=100,solver=true,forced_depth=4)",
    "mcts(iterations=60000,solver=true,forced_depth=2,exploration=0.7)",
)
PROVEN = 1 - 1e-9  # alpha-beta takes 2**-40 off for every ply until the win


def refuted(agent: str, position: Position, attacker: int) -> list[str] | None:
    """Returns a defence by which the attacker's claimed win is lost, as names of actions, or None."""
    decision = make_agent(agent).start(position.game, attacker, seed=3).act(position)
    name = position.game.action_name(decision.action)
    only = len(position.legal_actions()) == 1
    if not only and decision.values[decision.action] < PROVEN:
        return [f"{name} is worth only {decision.values[decision.action]}"]
    after = position.play(decision.action)
    if after.over:
        return None if after.returns[attacker] == 1.0 else [f"{name} ends the game without a win"]
    for reply in after.legal_actions():
        answered = after.play(reply)
        if answered.over:
            line = None if answered.returns[attacker] == 1.0 else ["which ends the game"]
        else:
            line = refuted(agent, answered, attacker)
        if line is not None:
            return [name, after.game.action_name(reply), *line]
    return None


@pytest.mark.parametrize("agent", PROVERS)
@pytest.mark.parametrize("shape", WON)
def test_an_open_triangle_is_a_proven_win(shape: str, agent: str) -> None:
    position = position_of(5, WON[shape])
    assert refuted(agent, position, position.to_move) is None


@pytest.mark.parametrize("agent", PROVERS)
def test_the_empty_board_is_no_proven_win(agent: str) -> None:
    """The checker can fail. (A pair would not do: MCTS finds a quiet move there after which every defence loses.)"""
    position = make_game("yavalath").start()
    assert "worth only" in str(refuted(agent, position, position.to_move))
