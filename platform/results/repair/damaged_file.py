"""A database as it is: its tables and version are not checked, and malformed parts do not end reading."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from sqlalchemy import Connection, NullPool, create_engine
from sqlalchemy.exc import DBAPIError

from ...core.errors import UserError
from ..databases.urls import sqlite_file
from ..store.database import BUSY_SECONDS, Database


@contextlib.contextmanager
def reading_unchecked(url: str) -> Iterator[Connection]:
    """A connection to a database that may be damaged; raises UserError if there is no database at all."""
    path = sqlite_file(url)
    if path is None:
        with contextlib.closing(Database(url, read_only=True)) as database, database.reading() as connection:
            yield connection
        return
    engine = create_engine("sqlite+pysqlite://", creator=lambda: _connect(path), poolclass=NullPool)
    with contextlib.ExitStack() as stack:
        try:
            connection = stack.enter_context(engine.connect())
        except DBAPIError as failure:
            raise UserError(
                f"the results database {path} must be an SQLite database whose first page can be read, got:"
                f" {failure.orig}; restore it from a copy."
            ) from None
        transaction = connection.begin()
        yield connection
        with contextlib.suppress(DBAPIError):  # in a malformed file, even the end of reading may fail
            transaction.rollback()


def _connect(path: Path) -> sqlite3.Connection:
    """Connects to read; if even that may not write next to the file, no other program does."""
    for mode in ("ro", "ro&immutable=1"):
        connection = sqlite3.connect(
            f"{path.as_uri()}?mode={mode}", BUSY_SECONDS, isolation_level=None, check_same_thread=False, uri=True
        )
        try:
            connection.execute("PRAGMA writable_schema = ON")  # finds tables even if the definition of one is damaged
            connection.execute("SELECT 1 FROM sqlite_master").close()
            connection.execute("BEGIN")
            return connection
        except sqlite3.OperationalError:
            connection.close()
            if mode != "ro":
                raise
        except BaseException:
            connection.close()
            raise
    raise AssertionError
