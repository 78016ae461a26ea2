"""`turnier doctor` finds what is damaged in a store; a repaired one is sound, and its runs resume to the same games."""

from __future__ import annotations

import contextlib
import json
import re
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import select, update
from typer.testing import CliRunner

from tests.faults.readings import command
from tests.faults.small_files import CERTAINTY, COMPARE, STORE, TOURNAMENT, TUNE, URL, make_files
from tests.faults.trials import flipped
from tests.postgres import postgres_server, postgres_url  # noqa: F401
from turnier.commands.app import app
from turnier.commands.machine import checks
from turnier.core.errors import UserError
from turnier.results.integrity.checksums import checksum
from turnier.results.repair.inspection import Finding, inspect_store
from turnier.results.repair.rewriting import repair
from turnier.results.store import match_blocks
from turnier.results.store.locks import this_process
from turnier.results.store.schema import run_progress
from turnier.results.store.store import Store
from turnier.search.storage.study_repair import repair_studies


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("files")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(match_blocks, "FULL", 16)  # runs as small as these have full blocks, too
        make_files(folder)
    return folder


@pytest.fixture
def path(files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A sound store in the present folder; Ray, which takes seconds, is not asked."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(checks, "check_ray", lambda address: checks.Check("ray", checks.OK, ""))
    return Path(shutil.copy(files / STORE, tmp_path / STORE))


def change(path: Path, *statements: str) -> None:
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)


def refusal() -> str:
    """Returns why a store cannot be inspected at all; empty if it can."""
    try:
        inspect_store(URL)
    except UserError as error:
        return str(error)
    return ""


def row_count(path: Path) -> int:
    with contextlib.closing(sqlite3.connect(path)) as connection:
        return int(connection.execute("SELECT count(*) FROM matches").fetchone()[0])


def played(path: Path) -> dict[str, Any]:
    """Returns what three runs have: their games without times, and which searches."""
    games = (
        "SELECT id, seat, agent, score, plies, facts FROM matches JOIN seats ON number = seats.match_number"
        " JOIN run_matches ON number = run_matches.match_number WHERE run_id LIKE '{}%' ORDER BY id, seat"
    )
    searches = "SELECT id FROM votes JOIN run_votes ON number = vote_number ORDER BY id"
    kinds = {"study": "study", "tournament": "tournament", "compare": "comparison"}
    queries = {name: games.format(kind) for name, kind in kinds.items()} | {"certainty": searches}
    with contextlib.closing(sqlite3.connect(path)) as connection:
        return {name: connection.execute(query).fetchall() for name, query in queries.items()}


def doctor(*words: str) -> tuple[int, str]:
    ended = CliRunner().invoke(app, ["doctor", "--store", URL, *words], env={"COLUMNS": "80"}, catch_exceptions=False)
    return ended.exit_code, ended.stdout


def test_sound_stores_are_sound(path: Path, tmp_path: Path) -> None:
    assert inspect_store(URL) == []
    before = path.read_bytes()
    assert doctor("--repair")[0] == 0 and path.read_bytes() == before
    assert not list(tmp_path.glob("*damaged*"))
    shown = command("show", "--json", "--store", URL)()
    repair(URL)
    assert command("show", "--json", "--store", URL)() == shown


@pytest.mark.parametrize("seed", range(6))
def test_damaged_stores_are_repaired_and_resume_to_the_same_games(path: Path, seed: int) -> None:
    sound, random = played(path), np.random.default_rng(seed)
    damaged = flipped(path.read_bytes(), int(2 ** random.uniform(0, 9)), random)
    path.write_bytes(damaged)
    if said := refusal():  # the first page has the list of tables
        assert re.search("must have a list of its tables|first page can be read", said)
        assert path.read_bytes() == damaged
        return
    found = inspect_store(URL)
    done = repair(URL, repair_studies)
    assert set(done.found) >= set(found) and done.copy.read_bytes() == damaged
    assert inspect_store(URL) == []
    for words in (TOURNAMENT, COMPARE, CERTAINTY):
        ended = CliRunner().invoke(app, [*words, "--store", URL])
        assert ended.exit_code == 0, ended.output
        assert played(path)[words[0]] == sound[words[0]]


@pytest.mark.parametrize(
    ("statement", "where", "wrong"),
    [
        ("UPDATE seats SET score = 0.5 WHERE match_number = 3 AND seat = 0", "game", "it differs from its checksum"),
        ("UPDATE matches SET checksum = NULL WHERE number = 3", "game", "it differs from its checksum"),
        ("DELETE FROM seats WHERE match_number = 3", "game", "seats are missing"),
        ("UPDATE matches SET seconds = 'x' WHERE number = 3", "game", "its seconds is str and not float"),
        ("UPDATE matches SET game = CAST(x'74ff' AS TEXT) WHERE number = 3", "game", "its game is no text"),
        ("DELETE FROM run_matches WHERE match_number = 3", "columns", "games, but"),
        ("UPDATE match_columns SET data = zeroblob(length(data)) WHERE level >= 0", "columns", "from its checksum"),
        ("DELETE FROM match_columns WHERE level = -2", "columns", "the tail is missing"),
        ("DELETE FROM match_columns WHERE run_id LIKE 'tournament%'", "columns", "0 games, but"),
        (
            "UPDATE runs SET definition = '{' WHERE kind = 'tournament'",
            "run tournament",
            "it differs from its checksum",
        ),
        ("UPDATE votes SET action = 77 WHERE number = 2", "search", "it differs from its checksum"),
        ("UPDATE positions SET state = '[1,2]' WHERE number = 1", "position", "it differs from its checksum"),
        ("DELETE FROM votes WHERE number = 2", "table run_votes", "links to damaged searches or runs: 1"),
        ("UPDATE turnier_version SET version = 0", "table turnier_version", "is not that of the other tables"),
        ("DROP TABLE seats", "table seats", "it is missing"),
        ("DROP TABLE run_annotations", "table run_annotations", "it is missing"),
        ("UPDATE training_points SET mean = 'x'", "table training_points", "its mean is str and not float"),
    ],
)
def test_damage_is_named_and_repaired(path: Path, statement: str, where: str, wrong: str) -> None:
    change(path, "PRAGMA foreign_keys = OFF", statement)
    found = inspect_store(URL)
    assert any(one.where.startswith(where) and wrong in one.wrong for one in found), found
    assert set(repair(URL).found) >= set(found) and inspect_store(URL) == []


def test_damage_with_checksums_is_named_and_repaired(path: Path) -> None:
    studied = played(path)["study"]
    change(
        path,
        "UPDATE runs SET definition = '{}' WHERE kind = 'comparison'",
        "UPDATE matches SET seconds = seconds + 1 WHERE number = 3",
        "UPDATE seats SET seconds = seconds + 1 WHERE match_number = 4 AND seat = 1",
        "UPDATE positions SET phase = phase + 1 WHERE number = 1",
        "UPDATE votes SET nodes = nodes + 1 WHERE position_number = 2",
        "UPDATE run_progress SET planned = planned + 1 WHERE run_id LIKE 'certainty%'",
        "UPDATE run_annotations SET text = 'not the note'",
        "UPDATE training_points SET mean = mean + 1",
        "DELETE FROM run_matches WHERE match_number = 9",
        "UPDATE match_columns SET checksum = checksum + 1 WHERE run_id LIKE 'study%'",
        "DELETE FROM run_totals WHERE run_id LIKE 'study%' AND name = 'run_matches'",
        "UPDATE trial_values SET value = value + 1 WHERE trial_id = 2",
    )
    damage: list[Finding] = []
    assert checks.check_content(URL, damage).state == checks.FAIL
    named = [f"{one.where.split()[0]}: {one.wrong}" for one in damage]
    assert named.count("game: it differs from its checksum") == 2
    for expected in (
        "run: it differs from its checksum",
        "position: it differs from its checksum",
        "search: it differs from its checksum",
        "table: it differs from its checksum",
        "run: 1 rows, but not those that were stored, in run_annotations",
        "run: 117 of 120 rows in run_matches",
        "columns: it differs from its checksum",
        "run: its number of rows in run_matches is missing",
        "study: in study small candidate 2 differs from its checksum",
    ):
        assert expected in named
    assert any(re.fullmatch("run: .* rows, but not those that were stored, in training_points", one) for one in named)
    assert set(repair(URL, repair_studies).found) >= set(damage)
    assert checks.check_content(URL, []).state == checks.OK
    with Store.open(URL) as store:
        assert sorted(row.kind for row in store.run_rows()) == ["certainty", "tournament", "training"]
    stored = row_count(path)
    ended = CliRunner().invoke(app, [*TUNE, "--store", URL])
    assert ended.exit_code == 0 and played(path)["study"] == studied and row_count(path) == stored


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE trials SET datetime_complete = '20:6-11-24 01:47:49.136335' WHERE trial_id = 2",
        "DROP TABLE study_user_attributes",
        "ALTER TABLE trial_values RENAME COLUMN trial_id TO trial_ie",
    ],
)
def test_a_study_that_optuna_could_not_read_is_removed_and_made_again(path: Path, statement: str) -> None:
    studied = played(path)["study"]
    change(path, "UPDATE trial_values SET value = value + 1 WHERE trial_id = 2", statement)
    assert [one.where for one in repair(URL, repair_studies).found] == ["study small"]
    assert inspect_store(URL) == []
    ended = CliRunner().invoke(app, [*TUNE, "--store", URL])
    assert ended.exit_code == 0 and played(path)["study"] == studied


def test_the_table_says_what_is_lost_in_80_columns(path: Path, tmp_path: Path) -> None:
    change(path, "UPDATE matches SET plies = x'000401' WHERE number < 9")
    code, shown = doctor()
    assert code == 1 and re.search(r"content: \d+ findings", shown) and "--repair" in shown, shown
    code, shown = doctor("--json")
    assert code == 1 and {check["state"] for check in json.loads(shown) if check["name"].startswith("game")} == {"fail"}
    code, shown = doctor("--repair")
    assert code == 0 and "and 5 more" in shown and "ok   content: everything is as it was stored" in shown
    copy = min(tmp_path.glob("run.db.damaged-*"))
    assert f"The damaged file is kept as {copy}" in shown
    assert all(len(line) <= 80 for line in shown.splitlines() if "kept as" not in line)


def test_what_is_not_ours_or_in_use_is_left_alone(path: Path, tmp_path: Path) -> None:
    change(tmp_path / "other.db", "CREATE TABLE notes (text)")
    for name in ("other.db", "none.db"):
        with pytest.raises(UserError, match=r"must (have Turnier's tables|exist)"):
            repair(f"sqlite:///{tmp_path / name}")
    with Store.open(URL) as store, store.database.writing(), pytest.raises(UserError, match="must not be in use"):
        repair(URL)
    with Store.open(URL) as store, store.database.writing() as connection:
        row = connection.execute(select(run_progress).where(run_progress.c.run_id.like("study%"))).one()
        values = row._asdict() | {"state": "running", "holder": this_process()}
        values["checksum"] = checksum(*list(values.values())[1:-1])
        connection.execute(update(run_progress).where(run_progress.c.run_id == row.run_id).values(values))
    before = path.read_bytes()
    with pytest.raises(UserError, match="plays into it; end it first"):
        repair(URL)
    assert path.read_bytes() == before
    assert not list(tmp_path.glob("*damaged*")) and not list(tmp_path.glob(".*repaired*"))


def test_stores_of_postgresql_are_inspected_but_not_repaired(postgres_url: str, path: Path) -> None:  # noqa: F811
    ended = CliRunner().invoke(app, [*TOURNAMENT, "--store", postgres_url], catch_exceptions=False)
    assert ended.exit_code == 0 and inspect_store(postgres_url) == []
    with Store.open(postgres_url) as store, store.database.writing() as connection:
        connection.exec_driver_sql("UPDATE seats SET score = 0.5 WHERE match_number = 3 AND seat = 0")
    assert [one.wrong for one in inspect_store(postgres_url) if one.where.startswith("game")]
    with pytest.raises(UserError, match="must be an SQLite file, got one of PostgreSQL"):
        repair(postgres_url)


@pytest.mark.parametrize("table", ["run_matches", "run_votes"])
def test_links_that_name_others_are_not_kept(path: Path, table: str) -> None:
    """A bit turns a link to one game of a run into one to a game of another run, or one search into another."""
    sound = played(path)
    words, number = {"run_matches": (COMPARE, "match_number"), "run_votes": (CERTAINTY, "vote_number")}[table]
    other = f"SELECT max({number}) FROM {table} WHERE run_id LIKE 'tournament%'"
    if table == "run_votes":
        change(path, f"UPDATE votes SET number = 999 WHERE number = (SELECT max({number}) FROM {table})")
        other = "999"
    mine = f"(SELECT min({number}) FROM {table} WHERE run_id NOT LIKE 'tournament%')"
    change(path, "PRAGMA foreign_keys = OFF", f"UPDATE {table} SET {number} = ({other}) WHERE {number} = {mine}")
    found = inspect_store(URL)
    assert any("rows" in one.wrong and one.where.startswith("run") for one in found), found
    repair(URL)
    assert inspect_store(URL) == []
    assert CliRunner().invoke(app, [*words, "--store", URL]).exit_code == 0
    assert played(path)[words[0]] == sound[words[0]]
