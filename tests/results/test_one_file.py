"""A store that nobody writes to is one file; copies of a part, other files in its place and foreign code show."""

from __future__ import annotations

import gc
import shutil
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sqlalchemy import text

from tests.results.made import ids, made
from turnier.core.errors import UserError
from turnier.results.databases import logs, sqlite
from turnier.results.repair.inspection import inspect_store
from turnier.results.repair.rewriting import repair
from turnier.results.store.store import Store
from turnier.search.storage.studies import open_storage


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.db"


@pytest.fixture
def opened(path: Path) -> Iterator[Store]:
    with Store.open(f"sqlite:///{path}") as store:
        store.begin_run("run", "tournament", "t", {})
        yield store


def files(path: Path) -> list[str]:
    return sorted(each.name for each in path.parent.iterdir())


def stored(path: Path) -> int:
    with Store.open(f"sqlite:///{path}", read_only=True) as store:
        return store.match_counts().get("run", 0)


def refused(path: Path, read_only: bool) -> str:
    with pytest.raises(UserError) as caught:
        Store.open(f"sqlite:///{path}", read_only)
    return str(caught.value)


def test_a_closed_store_is_one_file(opened: Store, path: Path) -> None:
    open_storage(opened)  # Optuna's connections, too, are closed
    opened.append("run", [made(1)])
    assert "a.db-wal" in files(path)
    opened.close()
    assert files(path) == ["a.db"]
    assert stored(path) == 1
    assert files(path) == ["a.db"]  # readers leave nothing either


@pytest.mark.parametrize("as_text", [str, Path, "sqlite:///{}".format])
def test_a_store_that_nobody_has_any_more_is_closed(path: Path, as_text: Callable[[Path], str | Path]) -> None:
    """So runs leave one file although nobody closes the store that they opened by its path or URL."""
    opened = Store.open(as_text(path))
    opened.begin_run("run", "tournament", "t", {})
    assert "a.db-wal" in files(path) and repr(opened) == f"Store(sqlite:///{path})"
    del opened
    gc.collect()
    assert files(path) == ["a.db"]


def test_without_a_place_the_store_is_the_one_of_commands(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TURNIER_STORE", str(path))
    with Store.open() as store:
        assert store.url == f"sqlite:///{path}"
    with pytest.raises(UserError, match="named by a file or a URL, got 3"):
        Store.open(3)  # type: ignore[arg-type]


def log_of(store: Store) -> logs.Log:
    assert store.database._file is not None
    return store.database._file.log


def test_the_end_of_the_process_leaves_one_file_and_no_part_of_a_transaction(
    opened: Store, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logs, "_OPEN", {log_of(opened)})  # the process of other tests goes on
    opened.append("run", [made(1)])

    def begin_to_delete() -> None:
        with opened.database.writing() as connection:
            connection.execute(text("DELETE FROM run_matches"))
            reading = connection.connection.cursor()
            reading.execute("SELECT name FROM sqlite_master")  # there are more rows
            logs.end_all_at_once()  # as a signal has it, at any moment

    with pytest.raises(UserError):
        begin_to_delete()
    assert files(path) == ["a.db"]
    assert stored(path) == 1


def test_the_end_closes_no_connection_that_another_thread_uses(tmp_path: Path) -> None:
    """Python's sqlite3 fails, or even crashes, if a connection is closed while it is used; the other thread waits."""
    failures: list[BaseException] = []

    def read(store: Store) -> None:
        try:
            while True:
                store.match_counts()
                time.sleep(0.001)
        except BaseException as error:
            failures.append(error)

    for number in range(20):
        store = Store.open(tmp_path / f"{number}.db")
        reader = threading.Thread(target=read, args=[store], daemon=True)
        reader.start()
        reader.join(0.01 + number / 1000)
        log_of(store).end_at_once()
        reader.join(0.05)
        assert reader.is_alive() and not failures


def test_after_a_kill_anybody_may_merge_the_log(opened: Store, path: Path) -> None:
    for number in (1, 2):
        opened.append("run", [made(number)])
    killed = path.with_name("killed.db")
    for end in ("", "-wal"):
        shutil.copy(f"{path}{end}", f"{killed}{end}")
    connection = sqlite3.connect(killed)  # as another program, or SQLite as a reader of ours ends
    connection.execute("SELECT count(*) FROM matches").fetchone()
    connection.close()
    assert not Path(f"{killed}-wal").exists() and stored(killed) == 2


def test_who_ends_last_merges_the_log(opened: Store, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logs, "MARK_SECONDS", 0.0)
    with Store.open(f"sqlite:///{path}") as other:
        other.append("run", [made(1)])
    assert shutil.copy(path, copy := path.with_name("whole.db"))
    assert stored(copy) == 1  # merged though the other one goes on
    opened.append("run", [made(2)])
    shutil.copy(path, part := path.with_name("part.db"))
    assert "must have its log part.db-wal beside it" in refused(part, read_only=True)
    opened.close()
    assert not path.with_name("a.db-wal").exists()
    assert stored(path) == 2


def test_no_log_is_missed_while_others_merge_it(path: Path) -> None:
    def write(number: int) -> None:  # the log is begun, marked and merged, beside others
        with Store.open(f"sqlite:///{path}") as mine:
            mine.append("run", [made(number)])

    with Store.open(f"sqlite:///{path}") as store, ThreadPoolExecutor(4) as drivers:
        store.begin_run("run", "tournament", "t", {})
        list(drivers.map(write, range(300)))
    assert stored(path) == 300


@pytest.mark.parametrize("read_only", [True, False])
def test_a_copy_without_its_log_is_noticed_and_can_be_kept(opened: Store, path: Path, read_only: bool) -> None:
    opened.append("run", [made(1)])
    shutil.copy(path, part := path.with_name("part.db"))
    message = refused(part, read_only)
    assert "but it is missing; copy both files" in message and "or keep its content with `turnier doctor" in message
    assert [found.where for found in inspect_store(f"sqlite:///{part}")] == ["file part.db-wal"]
    repair(f"sqlite:///{part}")
    assert stored(part) == 0


def test_whole_copies_of_a_store_in_use_can_be_read(opened: Store, path: Path) -> None:
    opened.append("run", [made(1)])
    both, backup, vacuumed = (path.with_name(f"{name}.db") for name in ("both", "backup", "vacuumed"))
    shutil.copy(path, both)
    shutil.copy(f"{path}-wal", f"{both}-wal")
    source, target = sqlite3.connect(path), sqlite3.connect(backup)
    source.backup(target)
    source.execute(f"VACUUM INTO '{vacuumed}'")
    source.close()
    target.close()
    assert [stored(copy) for copy in (both, backup, vacuumed)] == [1, 1, 1]


@pytest.mark.parametrize("replaced", [True, False])
def test_a_store_that_is_moved_meanwhile_is_not_made_again(opened: Store, path: Path, replaced: bool) -> None:
    opened.append("run", [made(1)])
    moved = path.rename(path.with_name("moved.db"))
    if replaced:
        path.write_bytes(b"")
    with pytest.raises(UserError, match=r"must stay in its place .* is in the moved file: move it back"):
        opened.append("run", [made(2)])
    opened.close()
    assert path.exists() == replaced
    assert stored(moved) == 1
    moved.replace(path)
    with Store.open(f"sqlite:///{path}") as again:
        again.append("run", [made(2)])
        assert again.played(ids([made(1), made(2)])) == set(ids([made(1), made(2)]))


@pytest.mark.parametrize("kind", ["nfs4", "cifs", "fuse.sshfs"])
def test_a_disk_of_another_machine_is_only_read(path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = path.parent / "a share"
    folder.mkdir()
    Store.open(f"sqlite:///{folder}/a.db").close()
    (mounts := path.parent / "mounts").write_text(
        f"/dev/vda / ext4 rw 0 0\nhost:/a {str(folder).replace(' ', chr(92) + '040')} {kind} rw 0 0\n"
    )
    monkeypatch.setattr(sqlite, "MOUNTS", mounts)
    assert f"is on a network file system ({kind} at {folder})" in refused(folder / "a.db", read_only=False)
    Store.open(f"sqlite:///{folder}/a.db", read_only=True).close()
    Store.open(f"sqlite:///{path}").close()


CODE = {
    "trigger": "CREATE TRIGGER bad AFTER INSERT ON matches BEGIN DELETE FROM seats; END",
    "view": "CREATE VIEW bad AS SELECT * FROM matches",
}


@pytest.mark.parametrize("kind", CODE)
def test_code_of_others_in_a_file_is_refused_and_can_be_left_out(opened: Store, path: Path, kind: str) -> None:
    opened.append("run", [made(1)])
    opened.close()
    with sqlite3.connect(path) as connection:
        connection.execute(CODE[kind])
    connection.close()
    before = path.read_bytes()
    for read_only in (True, False):
        assert f"must hold nothing but tables and indexes, but it has the {kind} 'bad'" in refused(path, read_only)
    assert path.read_bytes() == before
    assert [found.where for found in repair(f"sqlite:///{path}").found] == [f"{kind} bad"]
    assert stored(path) == 1


def test_code_on_tables_in_postgresql_is_refused_but_not_views_beside_them(postgres_url: str) -> None:
    with Store.open(postgres_url) as store, store.database.writing() as connection:
        connection.execute(text("CREATE VIEW own AS SELECT * FROM matches"))
    with Store.open(postgres_url) as store, store.database.writing() as connection:
        connection.execute(text("CREATE RULE bad AS ON INSERT TO matches DO ALSO DELETE FROM seats"))
    with pytest.raises(UserError, match="it has the rule 'bad'"):
        Store.open(postgres_url)
