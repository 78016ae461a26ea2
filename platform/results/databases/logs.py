"""The write-ahead log of an SQLite store: it is merged at the end, and a copy that lacks it is noticed.

While a store is written to, its newest games are in a file next to it, FILE-wal. From time to time the main file gets a
mark, which the next transaction removes in the log. Merging the log, even by SQLite itself after a kill, thus removes
the mark, and a marked file without a log is an incomplete copy. The mark is `user_version`, equal to `schema_version`.
Copies that SQLite itself makes (`.backup`, `VACUUM INTO`) are complete and have no mark. The main file must not be
opened in any other way while it is in use: closing it would end SQLite's locks.
"""

from __future__ import annotations

import contextlib
import gc
import math
import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, event

_MARKS = "SELECT user_version, schema_version FROM pragma_user_version, pragma_schema_version"
MARK_SECONDS = 5.0  # between two marks: SQLite merges the log now and then, which removes the mark
MERGE_SECONDS = 1.0  # to wait for other writers; the last one merges the rest
_FAILED = (sqlite3.Error, UnicodeDecodeError)  # of a damaged file; sqlite3 cannot decode some messages of its own


def size_of_log(path: Path) -> int:
    """Returns the bytes of the log of an SQLite file; 0 if there is none."""
    try:
        return os.stat(f"{path}-wal").st_size
    except OSError:
        return 0


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def is_marked(connection: Any) -> bool:
    """Whether the mark says that the newest content is in the log; takes an sqlite3 connection or a cursor."""
    mark, schema = connection.execute(_MARKS).fetchone()
    return bool(mark) and bool(mark == schema)


class Log:
    """The log of a file that this process writes to, with all of its connections."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._users: dict[Any, int | None] = {}  # sqlite3 connection -> its present thread
        self._engines: list[Engine] = []
        self._marked_at = -math.inf  # by time.monotonic
        self._identity: tuple[int, int] | None = None  # of the file, once it is open
        self._ending: int | None = None  # the thread that ends the process

    def begin(self) -> None:
        """Notes the identity of the open file."""
        self._identity = self._identity or _identity(self.path)

    def is_moved(self) -> bool:
        """Whether the open file's name now belongs to another file, or to none."""
        return self._identity is not None and _identity(self.path) != self._identity

    def follow(self, engine: Engine) -> None:
        """Notes the connections of an engine that writes to the file, to close them at the end."""
        users = self._users
        self._engines.append(engine)
        _OPEN.add(self)

        @event.listens_for(engine, "checkout")
        def checkout(connection: Any, *_: Any) -> None:
            users[connection] = threading.get_ident()
            if self._ending not in (None, threading.get_ident()):
                threading.Event().wait()  # until the process ends: nothing new is begun

        @event.listens_for(engine, "checkin")
        def checkin(connection: Any, *_: Any) -> None:
            if connection in users:
                users[connection] = None

        @event.listens_for(engine, "close")
        def close(connection: Any, *_: Any) -> None:
            users.pop(connection, None)

    def mark(self) -> None:
        """Marks the main file, before a transaction that writes; at most every MARK_SECONDS."""
        now = time.monotonic()
        if now - self._marked_at < MARK_SECONDS:
            return
        with contextlib.closing(self._engines[0].raw_connection()) as connection, contextlib.suppress(*_FAILED):
            cursor = connection.cursor()
            schema = cursor.execute("PRAGMA schema_version").fetchone()[0]
            cursor.execute(f"PRAGMA user_version = {int(schema)}")
            cursor.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
            self._marked_at = now if schema else self._marked_at  # without tables there is no mark

    def take_mark_back(self, connection: Any) -> None:
        """Removes the mark in the log, in the transaction that writes."""
        if connection.execute("PRAGMA user_version").fetchone()[0]:
            connection.execute("PRAGMA user_version = 0")

    def end(self) -> None:
        """Closes all connections of this process, and merges the log into the file unless others still write."""
        _OPEN.discard(self)
        with self._merging():
            for engine in self._engines:
                engine.dispose()

    def end_at_once(self) -> None:
        """Does the same just before the process ends, at any moment: this thread's uncommitted work is undone.

        Other threads keep the connections that they have, but get no more.
        """
        self._ending = threading.get_ident()
        with self._merging():
            for connection in self._idle():
                _give_up(connection)

    def tidy(self) -> None:
        """Removes an empty log left by readers, which may not remove it."""
        with contextlib.suppress(*_FAILED, OSError):
            if os.stat(f"{self.path}-wal").st_size == 0:
                self._connected(0).close()

    def keep_in_moved_file(self) -> None:
        """Merges the log into a file that was moved away from it."""
        with contextlib.suppress(*_FAILED):
            for connection in self._idle()[:1]:
                _merge(connection)

    def _idle(self) -> list[Any]:
        """Returns the connections that no other thread uses."""
        return [one for one, thread in list(self._users.items()) if thread in (None, threading.get_ident())]

    def _connected(self, patience: float) -> sqlite3.Connection:
        connection = sqlite3.connect(f"{self.path.as_uri()}?mode=rw", patience, isolation_level=None, uri=True)
        connection.execute("SELECT 1 FROM sqlite_master").close()
        return connection

    @contextlib.contextmanager
    def _merging(self) -> Iterator[None]:
        """Merges the log after the block, over a connection made before it: the last connection removes the log."""
        last = None
        with contextlib.suppress(*_FAILED, OSError):
            if size_of_log(self.path) and not self.is_moved():
                last = self._connected(MERGE_SECONDS)
        yield
        if last is not None:
            with contextlib.closing(last), contextlib.suppress(*_FAILED):  # others write: they merge it
                _merge(last)


def end_all_at_once() -> None:
    """Merges the logs of all files that this process writes to, because it ends now."""
    for log in list(_OPEN):
        log.end_at_once()


def _give_up(connection: Any) -> None:
    """Undoes a connection's uncommitted work, and closes it and its cursors, which would keep it open."""
    cursors = [each for each in gc.get_referrers(connection) if isinstance(each, sqlite3.Cursor)]
    for end in (connection.rollback, *(cursor.close for cursor in cursors), connection.close):
        with contextlib.suppress(*_FAILED):
            end()


def _merge(connection: Any) -> None:
    while True:
        if is_marked(connection):
            connection.execute("PRAGMA user_version = 0")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if not is_marked(connection):  # as another process may have done in between
            return


_OPEN: set[Log] = set()
