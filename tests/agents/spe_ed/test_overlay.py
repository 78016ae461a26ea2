"""What players of spe_ed show of their latest decision: tables where others may be, and paths that can be walked."""

from __future__ import annotations

import numpy as np
import pytest

from turnier.agents.registry import make_agent
from turnier.agents.spe_ed.combi import CombiPlayer
from turnier.agents.spe_ed.player import SpeEdPlayer
from turnier.agents.spe_ed.rollouts import RolloutPlayer
from turnier.agents.spe_ed.search.rollouts import Paths, longest_of
from turnier.games.game import Position
from turnier.games.registry import make_game
from turnier.games.spe_ed.board import ACTIVE, MOVER, X, Y

ON = 4


def asked(agent: str, rounds: int = 3, seed: int = 3) -> tuple[SpeEdPlayer, Position]:
    """Returns a player of seat 0 after some rounds against one that goes straight on, and its latest position."""
    game = make_game("spe_ed(width=14,height=11)")
    player, position = make_agent(agent).start(game, 0, seed), game.start(seed)
    assert isinstance(player, SpeEdPlayer)
    for number in range(rounds):
        last = position
        position = position.play(player.act(last).action)
        position = position.play(ON if number % 2 else 0)
        assert not position.over
    return player, last


@pytest.mark.parametrize("agent", ["rollouts(rollouts=300)", "combi(rollouts=300)", "rollouts(unique=true)"])
def test_paths_can_be_walked_alone(agent: str) -> None:
    """Each is where a player is after its action and then some others, round by round, that end nobody."""
    player, position = asked(agent)
    assert isinstance(player, RolloutPlayer)
    paths, found = player.overlay().routes, player.memory.found
    state, game = position.state, position.game
    head = int(state[Y] * 14 + state[X])
    kept = [found.actions[i, : found.lengths[i]].tolist() for i in found.lengths.nonzero()[0]]
    assert 3 < len(paths) <= 12
    for path in paths:
        assert path.cells[0] == head
        walks = [actions for actions in kept if actions[0] == path.action and len(actions) == len(path.cells) - 1]
        assert path.cells.tolist() in [walked(game.position(state), actions) for actions in walks]
    assert max(len(path.cells) for path in paths) - 1 == max(map(len, kept))


def walked(position: Position, actions: list[int]) -> list[int]:
    """Returns the cells of seat 0, which lives on by the rules while all others stand still."""
    state, cells = position.state, [int(position.state[Y] * 14 + position.state[X])]
    for action in actions:
        state[ACTIVE + 1], state[MOVER] = 0, 0
        position.game.kernels.step(state, action, position.returns)
        assert state[ACTIVE] == 1
        cells.append(int(state[Y] * 14 + state[X]))
    return cells


def test_the_longest_paths_of_every_first_action_come_in_turn() -> None:
    actions = np.zeros((7, 20), np.int8)
    actions[:, 0] = [0, 0, 0, 3, 3, 0, 1]
    actions[0, 1], actions[1, 1] = 1, 2
    kept = Paths(actions, np.array([9, 10, 10, 8, 7, 10, 3]))
    assert longest_of(kept, 0.75, 9) == [1, 3, 5, 0]  # 2 is 5 again; 4 and 6 are too short
    assert longest_of(kept, 0.75, 2) == [1, 3]
    assert longest_of(Paths(actions, np.zeros(7, np.int64)), 0.75, 9) == []


@pytest.mark.parametrize("agent", ["tables(table_rounds=2)", "combi(rollouts=30,table_rounds=2)"])
def test_tables_are_where_the_other_one_can_be(agent: str) -> None:
    player, position = asked(agent)
    shares = player.overlay().shares
    assert shares is not None
    entered = shares.reshape(11, 14)
    free = position.game.cell_values(position.state).reshape(11, 14) == 0
    y, x = np.nonzero(entered)
    away = np.abs(x - position.state[X + 1]) + np.abs(y - position.state[Y + 1])
    assert free[entered > 0].all() and len(away) > 4 and away.max() <= 2 + 3
    # In the first round the other one goes on, turns or goes faster: each way's first cells get what is left of a 1/4.
    assert entered.max() > 0.2 and 0.9 < entered[y, x][away == 1].sum() <= 2
    if isinstance(player, CombiPlayer):
        assert entered.sum() == pytest.approx(player.total.sum())


def test_nothing_is_known_before_the_first_decision_and_nothing_changes_by_asking() -> None:
    game = make_game("spe_ed(width=14,height=11)")
    one, other = (make_agent("combi(rollouts=100)").start(game, 0, 4) for _ in range(2))
    assert isinstance(one, SpeEdPlayer)
    assert one.overlay().shares is None and one.overlay().routes == ()
    position = game.start(4)
    for _ in range(3):
        chosen = one.act(position)
        one.overlay()
        same = other.act(position)
        assert chosen.action == same.action and (chosen.values == same.values).all() and chosen.nodes == same.nodes
        position = position.play(chosen.action).play(ON)
