"""Where agents differ in their own games: real decisions of theirs, the costliest ones found, always the same ones."""

from __future__ import annotations

import pytest

from tests.playing import played
from turnier.agents.registry import make_agent
from turnier.arena.analysis.differences import AGAIN, SHOWN, STRONGER, WEAKER, Found, find_differences
from turnier.arena.match import MatchRecord, unpack_plies
from turnier.core.errors import UserError

GAME, STRONG, WEAK = "tictactoe", "mcts(iterations=300)", "random"


@pytest.fixture(scope="module")
def records() -> list[MatchRecord]:
    seats = [(STRONG, WEAK), (WEAK, STRONG)] * 6
    return [played(GAME, *agents, seed=seed) for seed, agents in enumerate(seats)]


def found(records: list[MatchRecord], first: str = STRONG, second: str = WEAK, most: int = 100) -> Found:
    return find_differences(records, (make_agent(first).full_text(), make_agent(second).full_text()), most, 600)


def test_moves_of_the_weaker_agent_are_found_that_the_stronger_one_values_less(records: list[MatchRecord]) -> None:
    seen = found(records)
    assert len(seen.costly) == len(seen.different) == SHOWN and seen.judge == STRONGER
    assert seen.differing <= seen.looked
    for one in seen.costly:
        assert one.place.mover == WEAKER and one.place.record.spec.agents[one.place.position.to_move] == "random"
        assert one.gap(STRONGER) > 0.2  # type: ignore[operator]
    for one in seen.costly + seen.different:
        assert (
            unpack_plies(one.place.record.plies)[one.place.number] == one.choices[one.place.mover] == one.place.played
        )
        assert one.choices[0] != one.choices[1] and [view.searches for view in one.views] == [AGAIN, AGAIN]
        assert one.value(WEAKER, one.place.played) is None  # random values nothing
    games = [one.place.record.spec.id for one in seen.costly]
    assert len(set(games)) == len(games)
    boards = [one.place.seen.id for one in seen.costly + seen.different]
    assert len(set(boards)) == len(boards)


def test_the_same_games_give_the_same_positions(records: list[MatchRecord]) -> None:
    first, again = ([one.place.seen.id for one in seen.costly] for seen in (found(records), found(records)))
    assert first == again


def test_no_more_positions_are_looked_at_than_asked_for(records: list[MatchRecord]) -> None:
    assert found(records, most=7).looked == 7
    agents = make_agent(STRONG).full_text(), make_agent(WEAK).full_text()
    assert find_differences(records, agents, 100, seconds=-1.0).looked == 1


def test_agents_without_values_are_compared_by_their_choices() -> None:
    many = "majority(agent=random,members=3)"
    seen = found([played(GAME, many, WEAK, seed=seed) for seed in range(4)], many)
    valued = [one.value(agent, action) for one in seen.different for agent in (0, 1) for action in one.choices]
    assert seen.different and seen.judge is None and not seen.costly and set(valued) <= {None, 0.0}


def test_the_weaker_one_judges_if_the_stronger_one_values_nothing(records: list[MatchRecord]) -> None:
    seen = found(records, WEAK, STRONG)
    assert seen.judge == WEAKER and len(seen.different) == SHOWN
    assert all(one.gap(WEAKER) < 0 for one in seen.costly)  # type: ignore[operator]


def test_people_are_not_asked(records: list[MatchRecord]) -> None:
    with pytest.raises(UserError, match="a person plays at a board"):
        found(records, STRONG, "human")
