"""What `inspect` finds in stores that were damaged in one place each."""

from __future__ import annotations

import pytest
from sqlalchemy import text

from tests.results.made import DUEL, begun_by_an_earlier_version, ids, made
from turnier.results.integrity.inspection import Finding, Kind, inspect
from turnier.results.store.store import Store

SPOIL = "UPDATE match_columns SET matches = 3 WHERE run_id = 'one' AND matches > 0"


@pytest.fixture
def filled(store: Store) -> Store:
    """A store with two runs that share a game."""
    for run in ("one", "two"):
        store.begin_run(run, "tournament", run, {"name": run})
    store.append("one", [made(seed, (1.0, -1.0), ("random", "greedy"), DUEL) for seed in range(20)])
    store.append("two", [made(seed) for seed in range(5)])
    store.link("two", ids([made(0, (1.0, -1.0), ("random", "greedy"), DUEL)]))
    store.annotations.set("one", "note", "kept")
    return store


def damage(store: Store, statement: str) -> list[Finding]:
    with store.database.writing() as connection:
        connection.execute(text(statement))
    return [finding for finding in inspect(store) if finding.is_damage]


def test_nothing_is_wrong_with_an_undamaged_store(filled: Store) -> None:
    assert list(inspect(filled)) == []


def test_what_earlier_versions_stored_is_unchecked_and_no_damage(filled: Store) -> None:
    begun_by_an_earlier_version(filled)
    found = list(inspect(filled))
    assert [(one.kind, one.table, one.run) for one in found] == [
        (Kind.UNCHECKED, "runs", "one"),
        (Kind.UNCHECKED, "runs", "two"),
        (Kind.UNCHECKED, "matches", ""),
    ]
    assert "25 games were stored by an earlier version" in found[-1].lost and not any(one.is_damage for one in found)


@pytest.mark.parametrize(
    ("statement", "kind", "table", "run"),
    [
        ("UPDATE runs SET definition = '{}' WHERE id = 'one'", Kind.ROW, "runs", "one"),
        ("UPDATE matches SET seconds = 9 WHERE number = 1", Kind.ROW, "matches", "one"),
        ("UPDATE seats SET score = 9 WHERE match_number = 1 AND seat = 1", Kind.ROW, "matches", "one"),
        ("DELETE FROM run_matches WHERE run_id = 'one' AND match_number = 2", Kind.MISSING, "run_matches", "one"),
        ("UPDATE run_annotations SET text = 'lost'", Kind.MISSING, "run_annotations", "one"),
        (SPOIL, Kind.COLUMNS, "match_columns", "one"),
        ("DELETE FROM match_columns WHERE run_id = 'two'", Kind.COLUMNS, "match_columns", "two"),
        ("DELETE FROM run_totals WHERE run_id = 'one'", Kind.MISSING, "run_totals", "one"),
    ],
)
def test_one_damage_is_found_where_it_is(filled: Store, statement: str, kind: Kind, table: str, run: str) -> None:
    found = damage(filled, statement)
    assert [one.run for one in found if (one.kind, one.table) == (kind, table)] == [run]
    assert {one.run for one in found} <= {run, ""}


def test_a_damaged_game_is_named_in_all_its_runs(filled: Store) -> None:
    shared = made(0, (1.0, -1.0), ("random", "greedy"), DUEL).spec.id
    found = damage(filled, f"UPDATE matches SET game = 'nim' WHERE id = '{shared}'")
    assert [(one.run, one.game) for one in found if one.kind is Kind.ROW] == [("one", shared), ("two", shared)]


def test_columns_are_made_anew_from_whole_rows_only(filled: Store) -> None:
    (found,) = damage(filled, SPOIL)
    assert found.kind is Kind.COLUMNS and found.repairable
    with filled.database.writing() as connection:
        filled.blocks.rebuild(connection, "one")
    assert list(inspect(filled)) == []
    damage(filled, SPOIL)
    assert not any(one.repairable for one in damage(filled, "UPDATE seats SET score = 9 WHERE match_number = 1"))
