"""Going through a match again: the positions are those that were played, and agents say again what they said."""

from __future__ import annotations

import pytest

from tests.playing import played
from turnier.arena.analysis.reanalysis import Reanalysis
from turnier.arena.play import replay

SEARCHES = ("mcts(iterations=30)", "mctse(iterations=30)", "mc(iterations=5)")


def reanalysis(game: str, *agents: str, opening: tuple[int, ...] = ()) -> Reanalysis:
    return Reanalysis(played(game, *agents, seed=11, opening=opening))


@pytest.mark.parametrize(
    ("game", "agents"),
    [
        ("2048(size=2)", ("mctse(iterations=20)",)),
        ("2048(size=3)", ("random",)),
        ("tictactoe", SEARCHES[:2]),
        ("yavalath(size=3,players=3)", SEARCHES),
        ("othello(size=4)", ("greedy", "majority(agent=mc(iterations=5),members=3)")),
    ],
)
def test_agents_asked_again_decide_as_they_did(game: str, agents: tuple[str, ...]) -> None:
    replayed = reanalysis(game, *agents)
    decided = [number for number, moment in enumerate(replayed.moments) if moment.seat >= 0]
    assert len(decided) == sum(replayed.record.decisions)
    for number in (decided[-1], *decided[:3]):  # jumping to the end first asks for all before
        thought = replayed.think(number)
        assert thought.from_start and thought.decision.action == replayed.moments[number].action
    assert replayed.moments[-1].seat == -1
    last = replay(replayed.record.spec, replayed.record.plies)
    assert replayed.moments[-1].position.state.tolist() == last.state.tolist()
    assert tuple(last.returns) == replayed.record.scores


def test_agents_of_spe_ed_show_what_they_knew() -> None:
    """Asked from the start it is the same whatever was looked at first, others have nothing, and so has Basic."""
    agents = ("combi(rollouts=60,nodes=100,table_nodes=500)", "rollouts(rollouts=60)", "basic")
    replayed = reanalysis("spe_ed(width=12,height=10,players=3)", *agents)
    known = [replayed.think(number).overlay for number in range(6)]
    again = Reanalysis(replayed.record).think(3).overlay
    combi, rollouts, basic = known[3:]
    assert combi is not None and combi.shares is not None and again is not None and again.shares is not None
    assert (combi.shares == again.shares).all() and combi.shares.any() and combi.shares.shape == (120,)
    assert [(p.action, p.cells.tolist()) for p in combi.routes] == [(p.action, p.cells.tolist()) for p in again.routes]
    assert rollouts is not None and rollouts.shares is None and rollouts.routes
    assert basic is not None and basic.shares is None and not basic.routes
    assert reanalysis("tictactoe", *SEARCHES[:2]).think(0).overlay is None


def test_the_latest_ply_is_what_changed() -> None:
    replayed = reanalysis("tictactoe", "random", "random")
    for before, after in zip(replayed.moments, replayed.moments[1:], strict=False):
        assert after.changed == (before.action,)
    tiles = reanalysis("2048(size=2)", "random").moments
    assert tiles[0].changed and all(len(moment.changed) == 1 for moment in tiles[1:])  # the new tile


def test_moves_of_an_opening_were_nobodys() -> None:
    replayed = reanalysis("tictactoe", *SEARCHES[:2], opening=(4, 0))
    assert [moment.opening for moment in replayed.moments[:4]] == [True, True, False, False]
    assert replayed.think(2).decision.action == replayed.moments[2].action


def test_without_patience_only_this_move_is_asked() -> None:
    replayed = reanalysis("tictactoe", *SEARCHES[:2])
    thought = replayed.think(2, patience=0)
    assert not thought.from_start and thought.decision.visits.sum() > 0
    assert replayed.think(2, patience=60).from_start


def test_a_position_is_searched_again_with_other_seeds() -> None:
    replayed = reanalysis("tictactoe", *SEARCHES[:2])
    searches = replayed.search_again(1, 6)
    assert len({search.spec.seed for search in searches}) == 6
    assert {search.spec.agent for search in searches} == {replayed.record.spec.agents[1]}
    assert all(search.action in replayed.moments[1].position.legal_actions() for search in searches)
