"""Pages of stores that are empty, damaged, locked or old, or whose names are traps, without a browser."""

from __future__ import annotations

import html
import re
import shutil
import sqlite3
from pathlib import Path

import pytest
import streamlit as st

from tests.dashboards.drawn_pages import (
    PAGES,
    PICTURE,
    at_another_store,
    look,
    markdown,
    show_store,
    store_named,
    texts,
)
from turnier.arena.workers.local import SerialExecutor
from turnier.arena.workers.where import Where
from turnier.results.store import manifest
from turnier.results.store.store import Store
from turnier.runs.comparison import Comparison
from turnier.search.definition import StudyDefinition
from turnier.search.study_run import StudyRun


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("exists", [True, False])
def test_an_empty_or_missing_store_says_what_to_type(
    name: str, exists: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if exists:
        Store.open(f"sqlite:///{tmp_path}/empty.db").close()
    told = at_another_store(name, tmp_path / "empty.db", monkeypatch)
    assert "Type:" in told and any(word in told for word in ("turnier ", "make study", "python studies/"))
    assert f"--store sqlite:///{tmp_path}/empty.db" in told and exists == (tmp_path / "empty.db").exists()


def test_a_store_that_appears_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "No run is stored here yet" in at_another_store("runs", tmp_path / "later.db", monkeypatch)
    with Store.open(f"sqlite:///{tmp_path}/later.db") as store:
        store.begin_run("tournament:1", "tournament", "the first one", {"game": "2048"})
    st.cache_data.clear()  # which seconds do, too
    assert "the first one" in texts(look("runs"))


@pytest.mark.parametrize(
    ("name", "spoil", "sentence"),
    [
        ("runs", "damaged", "must be an undamaged SQLite database"),
        ("scores", "foreign", "must be new or Turnier's own"),
        ("studies", "newer", "install a newer Turnier"),
        ("tournament", "older", "type: turnier upgrade --store "),
    ],
)
def test_a_store_that_cannot_be_read_is_one_sentence(
    name: str, spoil: str, sentence: str, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "spoilt.db"
    if spoil == "damaged":
        path.write_bytes(b"no database" * 1000)
    elif spoil == "foreign":
        with sqlite3.connect(path) as connection:
            connection.execute("CREATE TABLE matches (title)")
    elif spoil == "newer":
        shutil.copy(url.removeprefix("sqlite:///"), path)
        with sqlite3.connect(path) as connection:
            connection.execute("UPDATE turnier_version SET version = 99")
    elif spoil == "older":
        shutil.copy(url.removeprefix("sqlite:///"), path)
        with sqlite3.connect(path) as connection:
            connection.execute("UPDATE turnier_version SET version = 9")
    told = at_another_store(name, path, monkeypatch)
    assert sentence in told and len(told.splitlines()) == 1


def test_a_locked_store_is_one_sentence(tmp_path: Path, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "locked.db"
    shutil.copy(url.removeprefix("sqlite:///"), path)
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("PRAGMA journal_mode = DELETE")
    holder.execute("BEGIN EXCLUSIVE")
    monkeypatch.setattr("turnier.dashboards.app.opened_store.PATIENCE", 0.2)
    told = at_another_store("runs", path, monkeypatch)
    assert "must not be locked" in told and len(told.splitlines()) == 1
    holder.close()


@pytest.mark.parametrize("name", ["tournament", "replay"])
def test_names_are_shown_as_they_are(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Store.open(show_store(f"sqlite:///{tmp_path}/names.db", monkeypatch)) as store:
        store_named(store)
    page = look(name)
    assert PICTURE in html.unescape(texts(page))
    assert re.findall(r"!\[|<i>|(?<!\\)\$|:material|:red\[", markdown(page)) == []


def test_an_error_is_shown_as_it_is(shown: str) -> None:
    page = look("scores", runs=PICTURE)
    assert "no run named" in texts(page) and PICTURE in texts(page) and "![" not in markdown(page)


def test_commands_name_the_store_that_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    url = f"sqlite:///{tmp_path}/own.db"
    monkeypatch.setattr(manifest, "_command", ["turnier", "compare", "random", "greedy"])
    comparison = Comparison("random", "greedy", game="tictactoe", margin=1, games=8, first_round=4)
    study = StudyDefinition(
        "one", "tictactoe", "mc(iterations=5)", ("iterations=1..9",), "random", "fixed(games=1)", ("random",)
    )
    with Store.open(url) as store:
        comparison.run(store, where=Where("threads", 1), progress=False)
        StudyRun(store, study, progress=False).run(1, SerialExecutor())
    told = {name: at_another_store(name, tmp_path / "own.db", monkeypatch) for name in ("comparison", "studies")}
    assert f"turnier compare random greedy --store {url}" in told["comparison"]
    assert f"turnier compare random greedy --store {url}" in told["studies"]
    assert "Command to resume or repeat it:" in told["comparison"]
    page = look("reports", run=comparison.run_id)
    assert f"turnier show {comparison.run_id} --html --store {url}" in texts(page)
