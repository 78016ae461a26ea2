"""A run in which other code has played says so, and whether this code plays the same games."""

from __future__ import annotations

import dataclasses
import gzip
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import turnier
from tests.results.made import as_version
from turnier.arena.match import MatchRecord, MatchSpec, derive_seed
from turnier.arena.play import play_matches
from turnier.arena.workers.where import Where
from turnier.core.compilation.code_digest import EARLIER, release
from turnier.results import other_code as module
from turnier.results.other_code import OtherCode, games_by_release, other_code
from turnier.results.store.store import Store
from turnier.results.upgrade.upgrade import upgrade
from turnier.studies.campaigns.game_arrays import of_games, records_of

OLD, OLDER = "0.1.0+0123456", "0.1.0+abcdef0"
MC, PERFECT = "mc(iterations=2)", "mcts(iterations=9)"
STORE = Path(__file__).parents[1] / "data" / "stores" / "version_0_1_0.db.gz"


def full(agent: str) -> str:
    return turnier.make_agent(agent).full_text()


def games(agents: Sequence[str], count: int, first: int = 0) -> list[MatchRecord]:
    """Plays tic-tac-toe, all pairs of the agents in all seat orders."""
    texts = [full(agent) for agent in agents]
    pairs = [(one, other) for one in texts for other in texts if one != other]
    return play_matches([MatchSpec("tictactoe", pair, first + seed) for pair in pairs for seed in range(count)])


def played_by(name: str, records: Sequence[MatchRecord]) -> list[MatchRecord]:
    return [dataclasses.replace(record, release=name) for record in records]


def as_other_code_played(records: Sequence[MatchRecord], agent: str) -> list[MatchRecord]:
    """Returns the games, those of an agent with the moves of other seeds."""
    others = play_matches([dataclasses.replace(r.spec, seed=derive_seed("other", r.spec.seed)) for r in records])
    changed = [dataclasses.replace(other, spec=r.spec) for r, other in zip(records, others, strict=True)]
    return [new if agent in new.spec.agents else old for new, old in zip(changed, records, strict=True)]


@pytest.fixture
def run(store: Store) -> Store:
    store.begin_run("run", "tournament", "tictactoe", {})
    return store


def test_games_of_this_code_need_no_sentence_and_nothing_is_played(run: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "play_matches", lambda *given: pytest.fail("games were played"))
    run.append("run", games(["random", MC], 3))
    assert other_code(run, "run") is None
    assert games_by_release(run, "run").to_dict("list") == {"release": [release()], "games": [6]}


def test_games_that_this_code_plays_in_the_same_way_are_told(run: Store) -> None:
    run.append("run", played_by(OLD, games(["random", MC], 30)) + games(["random", MC], 3, first=30))
    found = other_code(run, "run")
    assert found and found.games == {OLD: 60} and len(found.again) == 4 and not found.differing
    assert str(found) == (
        f"60 of these games were played by Turnier {OLD}, whose code differs from this one ({release()}):"
        " 4 that were played again now had the same moves."
    )


def test_games_that_differ_are_warned_of_even_if_they_are_those_of_one_agent(run: Store) -> None:
    agents = ["random", PERFECT, MC, "mc(iterations=3)"]
    changed = as_other_code_played(games(agents, 5), full(MC))
    run.append("run", played_by(OLD, changed))
    found = other_code(run, "run")
    assert found and found.differing and len(found.differing) < len(found.again) <= module.AGAIN
    assert all(full(MC) in run.record(match_id).spec.agents for match_id in found.differing)
    assert f"{len(found.differing)} of {len(found.again)} that were played again now went differently" in str(found)
    assert f"(such as {found.differing[0][:12]})" in str(found) and "another store" in str(found)


@pytest.mark.parametrize("agent", ["mcts(milliseconds=1)", "majority(agent=random)"])
def test_what_seeds_and_compiled_code_do_not_decide_is_not_played_again(run: Store, agent: str) -> None:
    """Other games of the run are."""
    changed = as_other_code_played(games(["random", agent], 2), full(agent))
    run.append("run", played_by(OLD, changed))
    found = other_code(run, "run")
    assert found and not found.again and "none of them could be played again" in str(found)
    run.append("run", played_by(OLD, games(["random", MC], 2)))
    found = other_code(run, "run")
    assert found and len(found.again) == 4 and not found.differing


def test_games_of_a_clock_do_not_hide_those_that_seeds_decide(run: Store) -> None:
    """The first and the last game of each agent in each seat are against the one that a clock stops."""
    clock = "mcts(milliseconds=1)"
    for count, first in ((1, 0), (1, 1)):
        run.append("run", played_by(OLD, games([clock, "random"], count, first) + games([clock, MC], count, first)))
        run.append("run", played_by(OLD, games(["random", MC], 1, first) if not first else []))
    found = other_code(run, "run")
    assert found and found.games == {OLD: 10} and len(found.again) == 2 and not found.differing


def test_long_games_are_not_played_again(run: Store) -> None:
    records = played_by(OLD, games(["random", MC], 2))
    run.append("run", [dataclasses.replace(record, seconds=1.0) for record in records])
    found = other_code(run, "run")
    assert found and found.games == {OLD: 4} and not found.again


def test_an_agent_that_this_code_does_not_know_is_not_played_again(run: Store) -> None:
    gone = [
        dataclasses.replace(record, spec=MatchSpec("tictactoe", ("gone(depth=1)", "random"), record.spec.seed))
        for record in games(["random", MC], 1)
    ]
    run.append("run", played_by(OLD, gone))
    found = other_code(run, "run")
    assert found and not found.again


def test_several_codes_are_named_with_their_games(run: Store) -> None:
    records = games(["random", MC], 5)
    run.append("run", played_by(OLD, records[:3]) + played_by(OLDER, records[3:]))
    assert list(games_by_release(run, "run")["release"]) == [OLDER, OLD]
    assert f"10 of these games were played by Turnier {OLDER} (7), {OLD} (3), whose" in str(other_code(run, "run"))
    assert str(OtherCode({OLD: 1})).startswith("1 of these games was played by")


def test_a_store_without_releases_says_so(store: Store, url: str) -> None:
    store.begin_run("run", "tournament", "tictactoe", {})
    store.append("run", games(["random", MC], 1))
    as_version(store, 7)
    upgrade(url)
    with Store.open(url, read_only=True) as old:
        assert games_by_release(old, "run").to_dict("list") == {"release": [EARLIER], "games": [2]}
        found = other_code(old, "run")
    assert found and found.games == {EARLIER: 2} and "Turnier of an earlier version" in str(found)


def test_only_runs_with_games_from_before_are_looked_at(store: Store, url: str) -> None:
    store.begin_run("run", "tournament", "tictactoe", {})
    store.append("run", games(["random", MC], 1))
    assert store.with_older_games == set()
    with Store.open(url) as again:
        again.begin_run("new", "tournament", "tictactoe", {})
        assert again.with_older_games == set()
        again.link("new", [])
        again.link("new", [record.spec.id for record in games(["random", MC], 1)])
        assert again.with_older_games == {"new"}
        again.begin_run("run", "tournament", "tictactoe", {})
        assert again.with_older_games == {"new", "run"}


def test_results_have_the_releases_and_a_run_has_its_own(store: Store) -> None:
    planned = turnier.Tournament("tictactoe", ["random", MC], games=4)
    results = planned.run(store, where=Where("serial"), progress=False)
    assert results.releases().to_dict("list") == {"release": [release()], "games": [4]}
    assert results.other_code() is None
    assert store.run(results.id).environment["turnier"] == release()


def test_games_of_the_first_release_are_still_the_same(tmp_path: Path) -> None:
    """The store was filled by version 0.1.0, before matches had the digest of the code."""
    file = tmp_path / "old.db"
    file.write_bytes(gzip.decompress(STORE.read_bytes()))
    upgrade(f"sqlite:///{file}")
    with Store.open(f"sqlite:///{file}") as store:
        found = {run.id: other_code(store, run.id) for run in store.runs() if run.kind == "tournament"}
    assert found
    for each in found.values():
        assert each and release() not in each.games and each.again and not each.differing


def test_imported_games_without_a_release_are_not_taken_for_games_of_this_code(run: Store) -> None:
    records = games(["random", MC], 1)
    arrays = of_games(played_by("", records[:1]) + played_by(OLD, records[1:])) | {"stored": np.ones(2, bool)}
    run.append("run", [record for record in records_of(arrays, [record.spec for record in records]) if record])
    assert sorted(games_by_release(run, "run")["release"]) == sorted([EARLIER, OLD])
