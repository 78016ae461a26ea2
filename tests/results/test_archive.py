"""Archived runs: the same rows after they are restored, the same results without, and nothing that is damaged."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sqlalchemy import func, select, text

from tests.results.made import DUEL, made
from turnier.arena.match import MatchSpec, Termination
from turnier.arena.play import play_matches
from turnier.core.errors import UserError
from turnier.results.archive import layout, writing
from turnier.results.archive.means import means_of
from turnier.results.archive.reading import Archive
from turnier.results.archive.restoring import as_store, remove_games, restore
from turnier.results.archive.writing import write_archive
from turnier.results.export import Source, export, export_from
from turnier.results.failures import list_failures
from turnier.results.frames import Standings, matches_frame, summary
from turnier.results.integrity.totals import Totals
from turnier.results.repair.inspection import inspect_store
from turnier.results.store.annotations import ARCHIVE, NOTE
from turnier.results.store.schema import matches, metadata, seats
from turnier.results.store.store import Store

AGENTS = ("random", "mc(iterations=3)")
SPECS = [
    MatchSpec(DUEL, agents, seed, opening=opening)
    for seed, opening in ((1, ()), (2, (4,)), (2, ()))
    for agents in (AGENTS, AGENTS[::-1])
]
RECORDS = [
    *play_matches(SPECS),
    made(3, (1.0, -1.0), AGENTS, DUEL, termination=Termination.CRASHED, error='seat 1: "no", it\ncrashed'),
    *(made(seed, (seed + 0.5,)) for seed in range(5)),
    made(9, termination=Termination.ERROR, error="void", seat_seconds=(float("nan"),)),
]


@pytest.fixture
def run(store: Store) -> Store:
    store.begin_run("other", "tournament", "o", {})
    store.begin_run("run", "tournament", "a name", {"seeds": 3})
    store.append("other", RECORDS[:2])
    for some in (RECORDS[:6], RECORDS[6:]):
        store.append("run", some)
    store.annotations.set("run", NOTE, "a note")
    return store


def content(store: Store, without: Sequence[str] = ()) -> dict[str, list[Any]]:
    """Returns all rows but those that depend on when they were written or in which parts."""
    left_out = {"match_columns", "locks", *without}
    with store.database.reading() as connection:
        tables = [table for table in metadata.sorted_tables if table.name not in left_out]
        return {table.name: sorted(map(str, connection.execute(select(table)))) for table in tables}


def written(store: Store, path: Path) -> Archive:
    return write_archive(store, store.run("run"), path / "a.parquet")


def shown(store: Store, run_id: str) -> list[pd.DataFrame]:
    """Returns what commands and pages compute of a run."""
    frame = matches_frame(store, run=run_id)
    standings = Standings.of(frame)
    return [frame, summary(frame), *standings, list_failures(store, [run_id]).table]


def same(one: list[pd.DataFrame], other: list[pd.DataFrame]) -> None:
    for mine, theirs in zip(one, other, strict=True):
        pd.testing.assert_frame_equal(mine, theirs)


def test_a_restored_run_has_the_rows_that_it_had(run: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "GROUP", 5)  # several row groups
    run.annotations.name_agent(run.annotations.agents()[0], "Monkey")
    before = content(run)
    archive = written(run, tmp_path)
    assert content(run) == before and archive.total.rows == len(RECORDS)
    remove_games(run, run.run("run"), archive)
    with run.database.reading() as connection:
        assert connection.scalar(select(func.count()).select_from(matches)) == 2  # those of the other run
        assert connection.scalar(select(func.count()).select_from(seats)) == 4
    assert inspect_store(run.url) == []
    assert restore(run, archive).id == "run"
    assert content(run, ["matches", "seats", "run_matches"]) == {
        name: rows for name, rows in before.items() if name not in ("matches", "seats", "run_matches")
    }
    with Store.open(f"sqlite:///{tmp_path}/new.db") as new:
        restore(new, archive)
        new.annotations.read_names()
        assert new.annotations.names == run.annotations.names and "Monkey" in new.annotations.names.values()
        assert new.annotations.get("run", NOTE) == "a note" and inspect_store(new.url) == []
        for store in (new, run):
            assert rows_of(store) == rows_of(run)
    assert played_rows(before) == played_rows(content(run))


def rows_of(store: Store) -> list[Any]:
    """Returns the rows of a run's games and seats in their order, without the numbers of one store."""
    columns = [column for table in (matches, seats) for column in table.columns if "number" not in column.name]
    query = select(*columns).join(seats, seats.c.match_number == matches.c.number)
    with store.database.reading() as connection:
        return sorted(map(str, connection.execute(query)))


def played_rows(rows: dict[str, list[Any]]) -> list[str]:
    return sorted(row.partition(",")[2] for row in rows["matches"])


def test_an_archive_shows_what_the_store_shows(run: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "GROUP", 5)
    before = shown(run, "run")
    (lines,) = export(run, run.run("run"), tmp_path / "a.jsonl")
    archive = written(run, tmp_path)
    with as_store(archive) as (alone, found):
        same(shown(alone, found.id), before)
    both = matches_frame(run)
    remove_games(run, run.run("run"), archive)
    same(shown(run, "run"), before)
    assert len([record for some in run.records_of_run("run") for record in some]) == len(RECORDS)
    assert sorted(matches_frame(run)["match"]) == sorted(both["match"])  # a game of both runs counts once
    for source in (Source.of_archive(archive), Source.of_store(run, run.run("run"))):
        (again,) = export_from(source, tmp_path / "b.jsonl")
        assert again.read_bytes() == lines.read_bytes()
    means, whole = means_of(archive), before[1]
    whole = whole.set_index(["game", "agent"]).loc[list(zip(means["game"], means["agent"], strict=True))]
    compared = [name for name in means if name not in ("game", "agent", "label", "games")]
    for name in compared:
        expected = whole[name]
        np.testing.assert_allclose(
            means[name], expected.to_numpy(np.float64, na_value=np.nan), rtol=1e-12, err_msg=name
        )


def test_an_archived_run_goes_on_only_when_it_is_back(run: Store, tmp_path: Path) -> None:
    archive = written(run, tmp_path)
    remove_games(run, run.run("run"), archive)
    for again in (
        lambda: run.begin_run("run", "tournament", "a name", {"seeds": 3}),
        lambda: run.annotations.refuse_archived("run"),
    ):
        with pytest.raises(UserError, match=r"must have its games in the store to go on, .* --restore .*a\.parquet"):
            again()
    restore(run, archive)
    run.begin_run("run", "tournament", "a name", {"seeds": 3})
    assert run.match_counts() == {"other": 2, "run": len(RECORDS)}
    assert run.played([spec.id for spec in SPECS]) == {spec.id for spec in SPECS}


def test_a_kill_before_the_games_are_deleted_loses_nothing(run: Store, tmp_path: Path) -> None:
    before, archive = content(run), written(run, tmp_path)
    run.annotations.set("run", ARCHIVE, '{"path": "gone.parquet", "digest": "0", "games": 1}')
    restore(run, archive)
    assert content(run) == before


def test_games_stay_where_a_run_has_gone_on(run: Store, tmp_path: Path) -> None:
    archive = written(run, tmp_path)
    run.append("run", [made(77)])
    with pytest.raises(UserError, match=r"must still have the games that were archived, got 14 after 13; archive it"):
        remove_games(run, run.run("run"), archive)
    assert run.match_counts()["run"] == len(RECORDS) + 1 and run.annotations.get("run", ARCHIVE) == ""


def flipped(data: bytes) -> bytes:
    place = random.Random(len(data)).randrange(len(data))
    return data[:place] + bytes((data[place] ^ 4,)) + data[place + 1 :]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda data: data[:-100], "it does not end like a Parquet file"),
        (lambda data: data[:4], "it does not end like a Parquet file"),
        (lambda data: b"", "it does not end like a Parquet file"),
        (flipped, "its bytes differ from its digest|it does not end|it holds no digest"),
        (lambda data: data.replace(b"turnier.digest", b"turnier.digust"), "it holds no digest"),
        (lambda data: b"x" + data[1:], "its bytes differ from its digest"),
    ],
)
def test_a_damaged_file_is_refused(run: Store, tmp_path: Path, change: Callable[[bytes], bytes], sentence: str) -> None:
    path = written(run, tmp_path).path
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(UserError, match=f"must be a whole file that turnier runs archive wrote, got .*({sentence})"):
        Archive.open(path)


def test_another_file_is_refused(run: Store, tmp_path: Path) -> None:
    (path,) = export(run, run.run("run"), tmp_path / "games.parquet")
    with pytest.raises(UserError, match="it holds no digest"):
        Archive.open(path)
    with pytest.raises(UserError, match="must be an existing file"):
        Archive.open(tmp_path / "none.parquet")
    archive = written(run, tmp_path)
    remove_games(run, run.run("run"), archive)
    restore_from = run.annotations.get("run", ARCHIVE)
    run.annotations.set("run", ARCHIVE, restore_from.replace(archive.digest, "0" * 64))
    with pytest.raises(UserError, match="must have the digest that was stored, 000000000000, got"):
        matches_frame(run, run="run")


def test_a_game_that_was_changed_with_a_new_digest_is_refused(
    run: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table_of = layout.table_of

    def changed(schema: Any, some: Any, own: Any) -> Any:
        table = table_of(schema, some, own)
        return table.set_column(2, schema.field(2), table.column(2).take([*range(1, len(some)), 0]))

    monkeypatch.setattr(writing, "table_of", changed)
    monkeypatch.setattr(Archive, "require_sound", lambda self, on_games: None)
    archive = written(run, tmp_path)
    monkeypatch.undo()
    with Store.open(f"sqlite:///{tmp_path}/new.db") as new:
        with pytest.raises(UserError, match=r"the game .* it differs from its checksum"):
            restore(new, archive)
        assert new.runs() == []


def test_damaged_games_are_not_archived(run: Store, tmp_path: Path) -> None:
    with run.database.writing() as connection:
        connection.execute(text(f"UPDATE matches SET seed = 5 WHERE id = '{RECORDS[0].spec.id}'"))
    with pytest.raises(UserError, match=r"must hold what was stored in it, but the game .* differs from its checksum"):
        written(run, tmp_path)
    assert list(tmp_path.glob("*.parquet*")) == list(tmp_path.glob(".*part")) == []


def test_counts_do_not_count_rows_that_are_known(run: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    counted, known = Totals._counted, []

    def noted(self: Totals, connection: Any, table: Any, without: set[str]) -> dict[str, int]:
        known.append((table.name, sorted(without)))
        return counted(self, connection, table, without)

    monkeypatch.setattr(Totals, "_counted", noted)
    assert run.match_counts() == {"other": 2, "run": len(RECORDS)}
    assert known == [("run_matches", ["other", "run"])]
    with run.database.writing() as connection:
        connection.execute(text("UPDATE run_totals SET count = 3 WHERE run_id = 'run' AND name = 'run_matches'"))
    with pytest.raises(UserError, match="run has 13 of 3 rows in run_matches"):
        run.match_counts()
