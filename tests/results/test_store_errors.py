"""Every failure of a database is reported as one sentence, without the password."""

from __future__ import annotations

import os
import re
import shutil
import socket
import sqlite3
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import text

from tests.results.made import made
from turnier.core.errors import UserError
from turnier.results.repair.inspection import inspect_store
from turnier.results.store import database, schema
from turnier.results.store.store import Store


def sentence(url: str, read_only: bool = False) -> str:
    """Returns the message of a store that cannot be opened."""
    with pytest.raises(UserError) as caught:
        Store.open(url, read_only)
    return checked(str(caught.value))


def checked(message: str) -> str:
    assert "\n" not in message
    assert message.endswith((".", "'")) or "; type: turnier upgrade --store " in message  # what to type is copied
    assert ";" in message or ": pip install" in message
    assert "secret" not in message
    return message


@pytest.mark.parametrize(
    ("url", "message"),
    [
        (
            "turnier",
            "must be a file such as turnier.db, or a URL, got 'turnier'; write turnier.db, sqlite:///turnier.db or",
        ),
        ("", "must be a file or a URL, got ''"),
        ("postgres:me@host", "must be a file or a URL, got 'postgres:me@host'"),
        ("postgresql://me:secret@host:port/name", "got 'postgresql://***@host:port/name'"),
        ("mysql://me:se@secret@host/name", "must be SQLite or PostgreSQL, got 'mysql://***@host/name'"),
        ("oracle://host/name?password=secret&x=1", "got 'oracle://host/name?password=***&x=1'"),
        ("postgresql+psycopg2://host/name", "must be SQLite or PostgreSQL, got 'postgresql+psycopg2://host/name'"),
        ("sqlite://", "must be a file with no options, got 'sqlite://'"),
        ("sqlite:///:memory:", "must be a file with no options, got 'sqlite:///:memory:'"),
        ("sqlite:///file:x.db?mode=ro&uri=true", "must be a file with no options"),
        ("sqlite://turnier.db", "must be a file with no options, got 'sqlite://turnier.db'"),
        ("sqlite:///a\0b.db", "must be a file with no options"),
    ],
)
def test_a_url_that_is_none(url: str, message: str) -> None:
    assert message in sentence(url)


def test_a_folder_that_is_missing_or_is_the_file(tmp_path: Path) -> None:
    assert f"must exist, got {tmp_path}/no/a.db; create {tmp_path}/no first" in sentence(
        f"sqlite:///{tmp_path}/no/a.db"
    )
    assert f"must be a file, got the folder {tmp_path}; name a file in it" in sentence(f"sqlite:///{tmp_path}")
    assert not (tmp_path / "no").exists()


@pytest.fixture
def foreign_folder() -> Iterator[Path]:
    """A folder in which we may not write, with a store that another user made; we are not root meanwhile."""
    folder = Path(tempfile.mkdtemp(prefix="turnier-"))  # nobody may enter root's tmp_path
    url = f"sqlite:///{folder}/a.db"
    with Store.open(url) as store:
        store.begin_run("run", "tournament", "t", {})
    folder.chmod(0o555)
    root = os.geteuid() == 0
    if root:
        os.seteuid(65534)
    yield folder
    if root:
        os.seteuid(0)
    folder.chmod(0o755)
    shutil.rmtree(folder)


def test_a_folder_of_somebody_else(foreign_folder: Path) -> None:
    with Store.open(f"sqlite:///{foreign_folder}/a.db", read_only=True) as store:
        assert [run.id for run in store.runs()] == ["run"]
    assert "must be writable, got: attempt to write a readonly" in sentence(f"sqlite:///{foreign_folder}/a.db")
    assert "must be a file in a folder that is writable" in sentence(f"sqlite:///{foreign_folder}/b.db")
    assert [path.name for path in foreign_folder.iterdir()] == ["a.db"]


@pytest.mark.parametrize("read_only", [True, False])
@pytest.mark.parametrize("content", [b"Not a database at all. " * 500, b"SQLite format 3\0" + b"\xff" * 5000])
def test_a_file_that_is_no_database(tmp_path: Path, content: bytes, read_only: bool) -> None:
    path = tmp_path / "a.db"
    path.write_bytes(content)
    message = sentence(f"sqlite:///{path}", read_only)
    assert f"the results database {path} must be an undamaged SQLite database, got: file is not a database" in message
    assert path.read_bytes() == content


def test_a_database_that_was_damaged_later(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with Store.open(f"sqlite:///{path}") as store:
        store.begin_run("run", "tournament", "t", {})
        store.append("run", [made(seed) for seed in range(500)])
    data = path.read_bytes()
    path.write_bytes(data[:4096] + b"\xa5" * (len(data) - 4096))
    with pytest.raises(UserError, match="must be an undamaged SQLite database, got: database disk image is malformed"):
        Store.open(f"sqlite:///{path}").append("run", [made(seed) for seed in range(500)])


def test_a_definition_that_is_no_text(tmp_path: Path) -> None:
    """SQLite's message has the damaged bytes, also when the log that a reader left is removed."""
    path = tmp_path / "a.db"
    with Store.open(f"sqlite:///{path}"):
        pass
    data = path.read_bytes().replace(b"tableseatsseats", b"tablese\xf4tsseats")
    path.write_bytes(data.replace(b"CREATE TABLE seats (", b"CREATE TABLEXseats ("))
    Path(f"{path}-wal").touch()
    for read_only in (True, False):
        assert "it contains text that is not UTF-8" in sentence(f"sqlite:///{path}", read_only)


def test_a_column_whose_name_changed_case_is_still_read(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with Store.open(f"sqlite:///{path}") as store:
        store.begin_run("run", "tournament", "t", {})
        store.append("run", [made(seed) for seed in range(3)])
    for table in schema.metadata.sorted_tables:
        data, column = path.read_bytes(), next(iter(table.c.keys())).encode()
        place = data.index(column, data.index(f"CREATE TABLE {table.name} (".encode()) + 16 + len(table.name))
        path.write_bytes(data[:place] + data[place : place + 1].upper() + data[place + 1 :])
    assert inspect_store(f"sqlite:///{path}") == []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            "UPDATE turnier_version SET version = 12",
            "version 11, got 12; install a newer Turnier, or name another database",
        ),
        ("UPDATE turnier_version SET version = 0", "version 11, got 0; use the Turnier that made it, or name another"),
        ("UPDATE turnier_version SET version = 9", "was written by an earlier Turnier; type: turnier upgrade --store "),
        ("DELETE FROM turnier_version", "version 11, got none"),
        ("DROP TABLE turnier_version", "must hold what was stored in it, but its table 'turnier_version' is missing"),
    ],
)
@pytest.mark.parametrize("read_only", [True, False])
def test_a_database_of_another_version_or_program(url: str, change: str, message: str, read_only: bool) -> None:
    with Store.open(url) as store, store.database.writing() as connection:
        connection.execute(text(change))
    assert message in sentence(url, read_only)


def test_a_database_that_lost_a_table(url: str) -> None:
    with Store.open(url) as store:
        with store.database.writing() as connection:
            connection.execute(text("DROP TABLE locks"))
        with pytest.raises(UserError, match="must have all of Turnier's tables") as caught:
            store.lock("x")
    checked(str(caught.value))


def test_reading_what_is_not_there_says_what_to_type(tmp_path: Path, url: str) -> None:
    path = tmp_path / "none.db"
    message = sentence(f"sqlite:///{path}", read_only=True)
    assert message == (f"No store at {path} yet; `turnier tournament ...` makes one.")
    assert not path.exists()
    if url.startswith("sqlite"):
        Path(url.removeprefix("sqlite:///")).touch()
    assert "has no results yet; `turnier tournament ...` makes some." in sentence(url, True)


def test_a_store_opened_to_read_refuses_to_write_and_sees_what_is_new(url: str) -> None:
    with Store.open(url) as store, Store.open(url, read_only=True) as reader:
        store.begin_run("run", "tournament", "t", {})
        assert reader.played([made(1).spec.id]) == set()
        store.append("run", [made(1)])
        assert reader.record(made(1).spec.id) == made(1)
        with pytest.raises(UserError, match="must be opened for writing") as caught:
            reader.append("run", [made(2)])
        checked(str(caught.value))
        # The database refuses too, whatever the code does.
        insert = "INSERT INTO locks VALUES ('a', 'b', 0)"
        with pytest.raises(UserError, match=r"read-?only"), reader.database.reading() as connection:
            connection.execute(text(insert))


def test_a_locked_database(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with Store.open(f"sqlite:///{path}", patience=0.5) as store:
        store.begin_run("run", "tournament", "t", {})
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(
            UserError, match=r"must not be locked for more than 0.5 s, got: database is locked"
        ) as caught:
            store.append("run", [made(1)])
        checked(str(caught.value))
        other.close()
        assert store.append("run", [made(1)]) == 1


def test_a_new_file_that_is_locked_for_a_moment_is_waited_for(tmp_path: Path) -> None:
    """SQLite itself would give up at once while another process makes the same file."""
    other = sqlite3.connect(tmp_path / "a.db", isolation_level=None, check_same_thread=False)
    other.execute("CREATE TABLE studies (study_id)")
    other.execute("BEGIN IMMEDIATE")
    release = threading.Timer(0.2, other.close)
    release.start()
    with Store.open(f"sqlite:///{tmp_path}/a.db") as store:
        assert release.finished.is_set()
        assert store.runs() == []
    release.join()


def test_a_full_disk_stores_nothing_of_the_batch(tmp_path: Path) -> None:
    with Store.open(f"sqlite:///{tmp_path}/a.db") as store:
        store.begin_run("run", "tournament", "t", {})
        store.append("run", [made(1)])
        with store.database.writing() as connection:  # the pool gives the same connection again
            pages = connection.scalar(text("PRAGMA page_count"))
            connection.execute(text(f"PRAGMA max_page_count = {pages + 3}"))
        records = [made(seed) for seed in range(1000)]
        with pytest.raises(
            UserError, match=r"must be on a disk with room left, got: database or disk is full"
        ) as caught:
            store.append("run", records)
        checked(str(caught.value))
        assert store.match_counts() == {"run": 1}
        with store.database.writing() as connection:
            connection.execute(text("PRAGMA max_page_count = 100000"))
        assert store.append("run", records) == 999


def test_a_server_that_is_not_there() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    for scheme in ("postgresql", "postgres", "postgresql+psycopg"):
        message = sentence(f"{scheme}://me:secret@127.0.0.1:{port}/name?sslpassword=secret")
        shown = f"the results database postgresql://me:***@127.0.0.1:{port}/name?sslpassword=***"
        assert f"{shown} must be running and reachable, got: connection" in message
        assert "refused" in message


def test_a_server_that_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "CONNECT_SECONDS", 2)  # libpq's smallest
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        assert "must be running and reachable" in sentence(
            f"postgresql://me:secret@127.0.0.1:{silent.getsockname()[1]}/x"
        )


def test_a_server_that_refuses(postgres_url: str) -> None:
    wrong = re.sub(r":\w+@", ":secret@", postgres_url)
    assert "must accept the user and the password, got: " in sentence(wrong)
    assert "must exist, got: " in sentence(postgres_url + "no")
    assert "create it with createdb" in sentence(postgres_url + "no")


def test_a_password_that_the_server_repeats(postgres_url: str) -> None:
    password = postgres_url.split(":")[2].split("@")[0]
    with (
        Store.open(postgres_url) as store,
        pytest.raises(UserError, match=r'invalid input syntax for type integer: "\*\*\*"') as caught,
        store.database.reading() as connection,
    ):
        connection.execute(text(f"SELECT CAST('{password}' AS integer)"))
    assert password not in str(caught.value)


@pytest.mark.parametrize(
    ("grant", "cause"),
    [
        ("GRANT USAGE ON SCHEMA public TO guest", "permission denied for table turnier_version"),
        ("", "no schema has been selected to create in"),
    ],
)
def test_a_user_who_may_not_use_the_tables(postgres_url: str, grant: str, cause: str) -> None:
    with Store.open(postgres_url) as store:
        with store.database.writing() as connection:
            connection.execute(text(f"CREATE ROLE guest LOGIN PASSWORD 'secret'; {grant}"))
        try:
            message = sentence(re.sub(r"//.*@", "//guest:secret@", postgres_url))
            assert (
                f"must allow this user to create and use tables, got: {cause}; grant it or name another user" in message
            )
        finally:
            with store.database.writing() as connection:
                connection.execute(text("DROP OWNED BY guest; DROP ROLE guest"))


def test_a_missing_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "psycopg", None)
    assert "a store in PostgreSQL needs psycopg: pip install" in sentence("postgresql://me:secret@host/name")


def test_relative_files_and_odd_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with Store.open("sqlite:///50% sure #1 ü.db") as store:
        (tmp_path / "elsewhere").mkdir()
        monkeypatch.chdir(tmp_path / "elsewhere")
        store.database.close()  # the next connection is new
        store.begin_run("run", "tournament", "t", {})
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["50% sure #1 ü.db"]
