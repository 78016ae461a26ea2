"""Specs as columns are those of objects: the same matches, seeds and ids, in the same order."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnier.agents.agent import Agent
from turnier.agents.registry import make_agent
from turnier.arena.match import MatchSpec
from turnier.arena.play import play_batch
from turnier.arena.played import names_of
from turnier.arena.schedules import digests
from turnier.arena.schedules.digests import by_hashlib, by_kernel, digests_of
from turnier.arena.schedules.round_robin import gauntlet, round_robin
from turnier.arena.schedules.spec_columns import SpecColumns, SpecQueue
from turnier.games.registry import GAMES


def agents_of(*texts: str) -> list[Agent]:
    return [make_agent(text) for text in texts]


@given(
    begin=st.integers(0, 200).map(lambda n: bytes(range(n % 256))),
    numbers=st.lists(st.integers(0, 18).flatmap(lambda n: st.integers(0, 10**n)), max_size=2 * digests.LANES + 3),
    end=st.binary(max_size=140),
)
def test_digests_are_those_of_hashlib(begin: bytes, numbers: list[int], end: bytes) -> None:
    known = [0, 9, 10, 2**63 - 1, *numbers]
    expected = [hashlib.sha256(begin + str(number).encode() + end).digest() for number in known]
    for found in (by_kernel(begin, np.array(known), end), by_hashlib(begin, np.array(known), end)):
        assert [bytes(row) for row in found] == expected


def test_nothing_is_compiled_for_few_digests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(digests, "by_kernel", lambda *_: "compiled")
    monkeypatch.setattr(digests, "_so_far", 0)
    assert digests_of(b"", np.arange(digests.FEW), b"").shape == (digests.FEW, 32)
    assert digests.JIT is False or digests_of(b"", np.arange(1), b"") == "compiled"


@pytest.mark.parametrize("exactly", [False, True])
@pytest.mark.parametrize("own_seeds", [False, True])
@pytest.mark.parametrize(("openings", "games"), [(0, 1), (0, 7), (0, 601), (1, 40), (2, 333)])
def test_columns_of_a_plan_are_its_matches(games: int, openings: int, own_seeds: bool, exactly: bool) -> None:
    agents = agents_of("random", "greedy", "mc(iterations=3)", "random")
    set_by = games, 7, openings, exactly, own_seeds
    for plan in (
        round_robin(GAMES.make("tictactoe"), agents, *set_by),
        gauntlet(GAMES.make("tictactoe"), agents[:3], 1, *set_by),
    ):
        expected = list(plan)
        for size in (1, 100, 5000):
            parts = list(plan.columns(size))
            found = [spec for part in parts for spec in part]
            assert found == expected and len(found) == len(plan)
            assert [bytes(one).hex() for part in parts for one in part.ids] == [spec.id for spec in expected]
    assert round_robin(GAMES.make("tictactoe"), agents[:3], *set_by).has_no_repeats
    assert round_robin(GAMES.make("tictactoe"), agents, *set_by).has_no_repeats is not exactly


def columns(count: int = 20) -> SpecColumns:
    plan = round_robin(GAMES.make("tictactoe"), agents_of("random", "greedy", "mc(iterations=2)"), count // 3, 1, 1)
    return next(iter(plan.columns(10**6)))


def test_columns_are_a_sequence_of_specs() -> None:
    specs = columns()
    objects = list(specs)
    assert [specs[i] for i in range(len(specs))] == objects and list(specs[3:9]) == objects[3:9]
    assert list(specs.take(np.array([5, 1, 1]))) == [objects[5], objects[1], objects[1]]
    assert list(SpecColumns.of(specs.game, objects)) == objects
    assert list(SpecColumns.concatenated([specs[4:], specs[:4]])) == objects[4:] + objects[:4]
    assert names_of(specs) == names_of(objects)
    assert {spec.agents for spec in specs.examples()} == {spec.agents for spec in objects}
    for places in specs.alike():
        assert len({(spec.agents, spec.opening) for spec in specs.take(places)}) == 1
    assert sorted(itertools.chain(*(places.tolist() for places in specs.alike()))) == list(range(len(specs)))


def test_a_queue_gives_specs_in_order() -> None:
    specs = columns()
    queue = SpecQueue([specs[:7]])
    queue.extend(specs[7:7])
    queue.extend(specs[7:])
    assert len(queue) == len(specs) and list(queue) == list(specs) and queue[8] == specs[8]
    taken = queue.take(9)
    assert list(taken) == list(specs[:9]) and len(queue) == len(specs) - 9
    queue.put_back(taken)
    assert list(queue.take(10**6)) == list(specs) and len(queue) == 0


@pytest.mark.parametrize("agents", [("random", "greedy"), ("random", "mc(iterations=2)")])
def test_columns_are_played_as_objects_are(agents: Sequence[str]) -> None:
    plan = round_robin(GAMES.make("tictactoe"), agents_of(*agents), 30, 3, 1)
    (specs,) = plan.columns(10**6)
    for one, other in zip(play_batch(specs), play_batch(list(specs)), strict=True):
        assert isinstance(one.spec, MatchSpec) and one.spec == other.spec
        assert (one.scores, one.plies, one.termination, one.facts) == (
            other.scores,
            other.plies,
            other.termination,
            other.facts,
        )
