"""What users do to runs: a deletion takes what nothing else has, and leaves the rest as it was; on both databases."""

from __future__ import annotations

import pytest
from sqlalchemy import func, inspect, select, text

from tests.results.made import ids, made
from tests.results.test_repeated_searches import search_ids, specs
from turnier.arena.repeated_search import search_positions
from turnier.core.errors import UserError
from turnier.results.frames.matches import matches_frame
from turnier.results.store import schema
from turnier.results.store.annotations import NOTE
from turnier.results.store.curves import CurvePoint
from turnier.results.store.progress import ProgressReporter
from turnier.results.store.run_changes import delete_run, owned_games, owned_searches, rename_run
from turnier.results.store.store import LAST, Store


@pytest.fixture
def two(store: Store) -> Store:
    """A store with two runs that share three of their games and one of their searches."""
    for name in ("first", "second"):
        store.begin_run(f"tournament:{name}", "tournament", name, {"seed": 1})
    store.append("tournament:first", [made(seed) for seed in range(5)])
    store.append("tournament:second", [made(seed) for seed in range(2, 9)])
    found = search_positions(specs())
    store.searches.append("tournament:first", found[:4])
    store.searches.append("tournament:second", found[3:])
    store.annotations.set("tournament:first", NOTE, "to be deleted")
    store.annotations.set("tournament:second", NOTE, "to be kept")
    store.curves.replace_points("tournament:first", [CurvePoint(10, 10, 1.0, 0.5)])
    return store


def rows(store: Store) -> dict[str, int]:
    with store.database.reading() as connection:
        return {
            table.name: connection.scalar(select(func.count()).select_from(table)) or 0
            for table in schema.metadata.sorted_tables
        }


def test_what_a_run_owns_is_counted_apart_from_what_it_shares(two: Store) -> None:
    first, second = two.run("tournament:first"), two.run("tournament:second")
    assert owned_games(two, first) == (2, 3) and owned_games(two, second) == (4, 3)
    assert owned_searches(two, first) == (3, 1)


def test_a_deleted_run_leaves_nothing_but_what_others_have(two: Store) -> None:
    other = matches_frame(two, run="tournament:second")
    searches = two.searches.of_run("tournament:second")
    delete_run(two, two.run("tournament:first"))
    assert [run.id for run in two.runs()] == ["tournament:second"]
    assert two.played(ids([made(seed) for seed in range(9)])) == set(ids([made(seed) for seed in range(2, 9)]))
    assert matches_frame(two, run="tournament:second").equals(other)
    assert two.searches.of_run("tournament:second") == searches
    assert two.searches.stored(search_ids(search_positions(specs()))) == set(search_ids(searches))
    assert two.annotations.of_name(NOTE) == {"tournament:second": "to be kept"}
    left = rows(two)
    assert left["matches"] == left["seats"] == left["run_matches"] == 7
    assert left["votes"] == left["run_votes"] and left["training_points"] == 0
    delete_run(two, two.run("tournament:second"))
    empty = {name for name, count in rows(two).items() if not count}
    assert set(rows(two)) - empty == {"turnier_version", "positions"}


def test_a_deletion_adds_the_index_that_older_stores_lack(two: Store) -> None:
    def indexes() -> set[str | None]:
        with two.database.reading() as connection:
            return {index["name"] for index in inspect(connection).get_indexes("run_votes")}

    whole = indexes()
    with two.database.writing() as connection:
        connection.execute(text("DROP INDEX run_votes_by_vote"))
    assert indexes() == whole - {"run_votes_by_vote"}
    assert owned_searches(two, two.run("tournament:first")) == (3, 1) and indexes() == whole
    delete_run(two, two.run("tournament:first"))
    assert indexes() == whole


def test_deleted_games_can_be_played_again(two: Store) -> None:
    delete_run(two, two.run("tournament:first"))
    two.begin_run("tournament:first", "tournament", "first", {"seed": 2})
    assert two.append("tournament:first", [made(seed) for seed in range(5)]) == 2
    assert len(matches_frame(two, run="tournament:first")) == 5


def test_a_running_run_is_not_deleted(two: Store) -> None:
    class Bar:
        total, done, skipped, unit = 5, 1, 0, "games"

    before = rows(two)
    with ProgressReporter(two, "tournament:first", Bar()):
        with pytest.raises(UserError, match=r"must not be running to be changed, but .* drives it; end it first"):
            delete_run(two, two.run("tournament:first"))
        delete_run(two, two.run("tournament:second"))
    assert rows(two)["matches"] == 5 < before["matches"]
    delete_run(two, two.run("tournament:first"))
    assert not two.runs()


def test_a_new_name_is_shown_and_the_run_stays_the_same(two: Store) -> None:
    rename_run(two, two.run("tournament:first"), "with the \N{SNOWMAN}")
    two.begin_run("tournament:first", "tournament", "first", {"seed": 1})
    assert two.run("tournament:first").name == "with the \N{SNOWMAN}"
    assert owned_games(two, two.run("tournament:first")) == (2, 3)


def test_the_last_run_is_the_one_begun_last(two: Store) -> None:
    assert two.find_run(LAST).id == "tournament:second"
    two.begin_run("study:a", "study", "a", {})
    assert two.find_run(LAST).id == "study:a"
    delete_run(two, two.find_run(LAST))
    assert two.find_run(LAST).id == "tournament:second"
