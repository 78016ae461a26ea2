"""Repairs an SQLite store: sound rows are written into a new file, which replaces the damaged one."""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from sqlalchemy import Connection, NullPool, Table, create_engine, inspect, select, text
from sqlalchemy.exc import SQLAlchemyError

from ...core.errors import UserError
from ..databases.urls import sqlite_file
from ..store.database import clock
from ..store.locks import is_gone
from ..store.schema import metadata, runs
from ..store.store import Store
from .damaged_file import reading_unchecked
from .inspection import Finding, Inspection, OnGames, Rows, missing_log, require_present
from .lenient_reader import UNREADABLE

BUSY_SECONDS = 2.0  # to wait for a writer
_BESIDE = ("-wal", "-shm")  # suffixes of SQLite's files next to a database
Finish = Callable[[Store], list[Finding]]
_OURS = {table.name for table in metadata.sorted_tables}


class Repaired(NamedTuple):
    """The findings of a repair, and the new place of the damaged file."""

    found: list[Finding]
    copy: Path


def repair(url: str, finish: Finish = lambda store: [], on_games: OnGames = lambda done, total: None) -> Repaired:
    """Repairs a store after making a copy of it; if that fails, everything stays as it is.

    Args:
        url: of an SQLite file.
        finish: repairs the tables of others in the store, and returns its findings.
        on_games: called with the numbers of inspected games and of all.
    """
    path = sqlite_file(url)
    if path is None:
        raise UserError(
            "a store to repair must be an SQLite file, got one of PostgreSQL, which guards its own files; restore it"
            " from a backup."
        )
    if not path.exists():
        raise UserError(f"a store to repair must exist, but there is no {path}; name another with --store.")
    require_present(url)
    copy, new = _free_name(path), path.with_name(f".{path.name}.repaired")
    _remove(new)
    unlogged = missing_log(url)
    try:
        with _alone(path):
            for end in ("", *_BESIDE):
                if (source := Path(f"{path}{end}")).exists():
                    shutil.copy2(source, f"{copy}{end}")
            found = unlogged + _rewrite(copy, new, finish, on_games)
            for end in _BESIDE:
                if not Path(f"{path}{end}").exists():
                    Path(f"{copy}{end}").unlink(missing_ok=True)  # made by reading it
            _settle(new)
            shutil.copymode(path, new)
            os.replace(new, path)
            for end in _BESIDE:
                Path(f"{path}{end}").unlink(missing_ok=True)
    except BaseException as failure:
        _remove(new)
        _remove(copy)
        if isinstance(failure, OSError):
            raise UserError(
                f"a repair must have room for a copy and a new file, got {failure}; make room in {path.parent}."
            ) from None
        raise
    return Repaired(found, copy)


def _rewrite(damaged: Path, new: Path, finish: Finish, on_games: OnGames) -> list[Finding]:
    """Writes the sound rows into a new file and makes its indexes and columns from them."""
    with Store.open(f"sqlite:///{new}"):
        pass  # it has our tables now
    with reading_unchecked(f"sqlite:///{damaged}") as source, _writing(new) as target:
        others = _statements_of_others(source)
        _make(target, [statement for kind, statement in others if kind == "table"])
        made = set(inspect(target).get_table_names())
        lost: set[str] = set()

        def keep(table: Table, rows: Rows) -> None:
            if table.name in made:
                _write(target, table, rows)
            else:
                lost.add(table.name)

        inspection = Inspection(source, keep, on_games)
        found = inspection.run()
        beats = inspection.running.items()
        if driver := next((holder for holder, beat in beats if not is_gone(holder, beat, clock(source))), None):
            raise UserError(f"a store to repair must not be in use, but {driver} plays into it; end it first.")
        lost |= _remove_orphans(target, made - _OURS)
        _make(target, [statement for kind, statement in others if kind != "table"])
    with Store.open(f"sqlite:///{new}") as store:
        with store.database.writing() as connection:
            for run in connection.scalars(select(runs.c.id)).all():
                store.blocks.begin(connection, run)
                store.totals.adopt(connection, run)
        found += finish(store)
    return found + [Finding(f"table {name}", "its definition cannot be read", "lost") for name in sorted(lost)]


@contextlib.contextmanager
def _writing(new: Path) -> Iterator[Connection]:
    """A transaction in which rows may precede those that they refer to."""
    engine = create_engine("sqlite+pysqlite://", creator=lambda: sqlite3.connect(new), poolclass=NullPool)
    with engine.begin() as connection:
        yield connection


def _statements_of_others(source: Connection) -> list[tuple[str, str]]:
    """Returns the readable definitions of the tables and indexes of others, that is, of Optuna."""
    made: dict[str, tuple[str, str]] = {}
    for direction in ("ASC", "DESC"):  # up to the damage, from either end
        query = (
            "SELECT type, name, tbl_name, sql FROM sqlite_master WHERE sql IS NOT NULL AND type IN ('table', 'index')"
            f" ORDER BY rowid {direction}"
        )
        with contextlib.suppress(*UNREADABLE):
            for kind, name, table, sql in source.execute(text(query)):
                if table not in _OURS and not str(table).startswith("sqlite_"):
                    made[str(name)] = str(kind), str(sql)
    return list(made.values())


def _make(target: Connection, statements: list[str]) -> None:
    """Makes tables or indexes of others; Optuna makes those with damaged statements again."""
    for statement in statements:
        with contextlib.suppress(SQLAlchemyError), target.begin_nested():
            target.exec_driver_sql(statement)


def _write(target: Connection, table: Table, rows: Rows) -> None:
    names = [column.name for column in table.columns]
    values = ", ".join(f":{name}" for name in names)
    quoted = ", ".join(f'"{name}"' for name in names)
    if rows:
        statement = text(f'INSERT OR IGNORE INTO "{table.name}" ({quoted}) VALUES ({values})')
        target.execute(statement, [dict(row._mapping) for row in rows])


def _remove_orphans(target: Connection, others: set[str]) -> set[str]:
    """Removes rows of others that refer to lost rows, and tables that refer to lost tables; returns the latter's names.

    Tables that refer to missing columns are removed, too: one of the two definitions is damaged.
    """
    lost: set[str] = {name for name in others if _is_mismatched(target, name)}
    for name in lost:
        target.exec_driver_sql(f'DROP TABLE "{name}"')
    while dropped := {name for name in others - lost if _parents(target, name) - (others - lost)}:
        for name in dropped:
            target.exec_driver_sql(f'DROP TABLE "{name}"')
        lost |= dropped
    while orphans := target.execute(text("PRAGMA foreign_key_check")).all():
        for table, row, *_ in orphans:
            target.execute(text(f'DELETE FROM "{table}" WHERE rowid = :row'), {"row": row})
    return lost


def _is_mismatched(target: Connection, table: str) -> bool:
    """Whether SQLite does not know the rows that a table refers to."""
    try:
        target.exec_driver_sql(f'PRAGMA foreign_key_check("{table}")').all()
    except SQLAlchemyError as failure:
        return "mismatch" in str(failure)
    return False


def _parents(target: Connection, table: str) -> set[str]:
    """Returns the tables that a table refers to."""
    return {row[2] for row in target.exec_driver_sql(f'PRAGMA foreign_key_list("{table}")')}


@contextlib.contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Keeps others from writing; raises UserError if another program writes. A damaged file may not be lockable."""
    with contextlib.closing(sqlite3.connect(path, BUSY_SECONDS, isolation_level=None)) as connection:
        try:
            connection.execute("BEGIN EXCLUSIVE")
        except sqlite3.DatabaseError as failure:
            if "locked" in str(failure):
                raise UserError(f"a store to repair must not be in use, but {path} is; end its other users.") from None
        yield


def _settle(new: Path) -> None:
    """Puts everything into the one file that is renamed, and on the disk."""
    with contextlib.closing(sqlite3.connect(new, BUSY_SECONDS, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
    with new.open("rb") as file:
        os.fsync(file.fileno())


def _free_name(path: Path) -> Path:
    """Returns an unused name for a copy."""
    stem = path.with_name(f"{path.name}.damaged-{datetime.now(UTC):%Y%m%d-%H%M%S}")
    return next(name for n in range(1000) if not (name := Path(f"{stem}{f'-{n}' if n else ''}")).exists())


def _remove(path: Path) -> None:
    for end in ("", *_BESIDE):
        Path(f"{path}{end}").unlink(missing_ok=True)
