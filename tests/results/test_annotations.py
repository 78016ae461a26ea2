"""Texts beside runs: they may change, and stores of the version before have none until a writer opens them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.results.made import DUEL, made
from turnier.agents.registry import make_agent
from turnier.core.errors import UserError
from turnier.results.store.annotations import NOTE, SETTINGS
from turnier.results.store.run_changes import delete_run
from turnier.results.store.store import Store


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Store]:
    with Store.open(f"sqlite:///{tmp_path}/a.db") as store:
        store.begin_run("comparison:1", "comparison", "tictactoe", {})
        yield store


def test_a_text_replaces_the_earlier_one_and_an_empty_one_removes_it(own: Store) -> None:
    own.annotations.set("comparison:1", NOTE, "first try")
    own.annotations.set("comparison:1", SETTINGS, "{}")
    own.annotations.set("comparison:1", NOTE, "it's \N{SNOWMAN}")
    assert own.annotations.of_name(NOTE) == {"comparison:1": "it's \N{SNOWMAN}"}
    own.annotations.set("comparison:1", NOTE, "")
    assert own.annotations.get("comparison:1", NOTE) == ""
    assert own.annotations.get("comparison:1", SETTINGS) == "{}"


def test_only_runs_have_annotations(own: Store) -> None:
    with pytest.raises(UserError, match="run"):
        own.annotations.set("nothing:2", NOTE, "lost")


def test_the_name_of_an_agent_goes_where_its_runs_go(store: Store) -> None:
    agents = [make_agent(text).full_text() for text in ("random", "mc(iterations=2)")]
    for run in ("tournament:1", "tournament:2"):
        store.begin_run(run, "tournament", "tictactoe", {"agents": agents[:1]})
        store.append(run, [made(seed, (1.0, -1.0), tuple(agents), DUEL) for seed in range(2)])
    assert store.annotations.agents() == sorted(agents) and store.annotations.names == {}
    assert store.annotations.name_agent(agents[0], "Monkey") == 2
    store.annotations.name_agent(agents[1], "Two")
    store.annotations.name_agent(agents[1], "Second")
    assert store.annotations.names == {agents[0]: "Monkey", agents[1]: "Second"}
    store.begin_run("tournament:3", "tournament", "tictactoe", {"agents": agents[:1]})
    assert store.annotations.of_name("name:Monkey").keys() == {"tournament:1", "tournament:2", "tournament:3"}
    for run in ("tournament:1", "tournament:2"):
        delete_run(store, store.run(run))
    with Store.open(store.url, read_only=True) as again:
        assert again.annotations.names == {agents[0]: "Monkey"}
    store.annotations.set("tournament:3", "name:Monkey", "another agent, from another store")
    store.annotations.set("tournament:3", "name:Ape", agents[0])
    store.annotations.set("tournament:3", "name:\x1b[31mred", agents[1])
    store.annotations.read_names()
    assert store.annotations.names == {agents[0]: "Ape", "another agent, from another store": "Monkey"}
