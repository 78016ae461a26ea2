"""Exported runs: whole tables, and lines that come back as the records they were."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from tests.results.made import DUEL, GAME, made
from turnier.arena.match import MatchRecord, MatchSpec, Termination
from turnier.arena.match_json import disagreement, from_json, to_json, verify_exported
from turnier.arena.play import play_matches
from turnier.core.errors import UserError
from turnier.games.registry import make_game
from turnier.results import export as exporting
from turnier.results.export import export
from turnier.results.integrity import checked_rows
from turnier.results.integrity import records as storing
from turnier.results.store.store import Store
from turnier.server.finished_game import find_game

SPECS = [MatchSpec(GAME, ("random",), seed) for seed in range(5)]
SPECS += [MatchSpec(make_game(DUEL).full_text(), ("random", "mc(iterations=3)"), seed, opening=(4,)) for seed in (1, 2)]


@pytest.fixture
def run(store: Store, monkeypatch: pytest.MonkeyPatch) -> Store:
    monkeypatch.setattr(storing, "CHUNK", 2)  # several reads
    monkeypatch.setattr(checked_rows, "CHUNK", 2)
    store.begin_run("run", "tournament", "t", {})
    store.begin_run("other", "tournament", "o", {})
    store.append("other", [made(99)])
    store.append("run", [*play_matches(SPECS), made(7, termination=Termination.ERROR, error='a "quoted", line\nbreak')])
    return store


def test_lines_come_back_as_the_records_they_were(run: Store, tmp_path: Path) -> None:
    stored = [record for some in run.records_of_run("run") for record in some]
    assert len(stored) == 8 and {record.spec for record in stored} >= set(SPECS)
    (path,) = export(run, run.run("run"), tmp_path / "a.jsonl")
    lines = [from_json(exporting.json.loads(line)) for line in path.read_text().splitlines()]
    assert lines == stored
    assert [record.seat_cpu_seconds for record in lines] == [record.seat_cpu_seconds for record in stored]
    assert [disagreement(record) for record in lines if record.spec in SPECS] == [None] * 7
    untimed = made(1, seat_seconds=(math.nan,))
    assert repr(from_json(to_json(untimed))) == repr(untimed)


def test_what_was_changed_is_found(run: Store, tmp_path: Path) -> None:
    played = run.record(SPECS[0].id)
    changed: dict[str, MatchRecord] = {
        "the scores must be": replace(played, scores=(1.0,)),
        "the facts must be": replace(played, facts={"max_tile": 4096}),
        "an action of 2048 must be legal": replace(played, plies=b"\0\xff"),
    }
    for sentence, record in changed.items():
        assert sentence in (disagreement(record) or "")
    path = tmp_path / "a.jsonl"
    path.write_text('{"spec": 1}\n')
    with pytest.raises(UserError, match=r"every line must be an exported match, got .*a.jsonl:1: TypeError"):
        verify_exported(make_game("2048"), path)
    export(run, run.run("run"), path)
    assert "the game must be tictactoe" in (verify_exported(make_game("tictactoe"), path)[1] or "")


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_tables_have_a_row_per_seat_and_a_column_per_fact(run: Store, tmp_path: Path, suffix: str) -> None:
    (path,) = export(run, run.run("run"), tmp_path / f"a{suffix}")
    table = pd.read_csv(path) if suffix == ".csv" else pd.read_parquet(path)
    assert list(table.columns) == [*exporting.COLUMNS, "max_tile"]
    assert len(table) == 5 + 2 * 2 + 1
    for spec in SPECS:
        record, rows = run.record(spec.id), table[table["match"] == spec.id]
        assert rows["score"].tolist() == list(record.scores) and rows["agent"].tolist() == list(spec.agents)
        assert rows["seat_seconds"].tolist() == list(record.seat_seconds)
        assert set(rows["max_tile"].dropna()) == set(record.facts.values())
    assert 'a "quoted", line\nbreak' in table["error"].tolist()
    assert [file.name for file in tmp_path.iterdir() if file.suffix != ".db" and "db-" not in file.name] == [path.name]


@pytest.mark.parametrize(
    ("out", "sentence"),
    [
        ("a.xlsx", r"must be a folder or end in .csv, .parquet, .jsonl, .pgn, .sgf, got .*a.xlsx"),
        ("no/a.csv", "create .*no first"),
    ],
)
def test_an_export_that_cannot_be_written_says_so(run: Store, tmp_path: Path, out: str, sentence: str) -> None:
    with pytest.raises(UserError, match=sentence):
        export(run, run.run("run"), tmp_path / out)


def test_an_export_that_fails_leaves_no_file(run: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "out"
    folder.mkdir()

    def full(*rows: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(exporting, "seat_rows", full)
    with pytest.raises(UserError, match=r"must be written to a folder with room, got .*No space left"):
        export(run, run.run("run"), folder / "a.csv")
    assert list(folder.iterdir()) == []


def test_a_line_is_counted_from_undamaged_lines(run: Store, tmp_path: Path) -> None:
    """A flipped bit can make or remove a line's end: the games behind it would get other numbers."""
    (path,) = export(run, run.run("run"), tmp_path / "a.jsonl")
    lines = path.read_bytes().splitlines()
    assert find_game(f"{path}:3", "").record == from_json(exporting.json.loads(lines[2]))
    path.write_bytes(lines[0] + b"\x1a" + b"\n".join(lines[1:]))
    with pytest.raises(UserError, match="a line must hold an undamaged exported or recorded game"):
        find_game(f"{path}:3", "")
