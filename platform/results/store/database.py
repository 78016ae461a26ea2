"""The database behind a URL: checked, opened, and with every failure reported as one sentence."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import re
import time
import weakref
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar

from sqlalchemy import (
    ARRAY,
    URL,
    Column,
    ColumnElement,
    Connection,
    Engine,
    cast,
    create_engine,
    func,
    literal_column,
    select,
)
from sqlalchemy.exc import DBAPIError, MultipleResultsFound, NoResultFound
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from ...core.errors import UserError, require_extra
from ..databases import urls
from ..databases.sqlite import SqliteFile
from ..inserts import Inserting, let_copy
from ..integrity.damage import REPAIR, Damaged, damaged, decoding
from ..outage import Outage, wait_seconds
from . import schema

K = TypeVar("K")

CHUNK = 5000  # keys in one query
BUSY_SECONDS = 30  # how long SQLite waits for another writer
CONNECT_SECONDS = 10  # how long PostgreSQL may take to answer
_AGAIN = "repeat the command to resume"
SMALL = 1 << 25  # bytes of an SQLite file up to which opening checks all of it: 0.1 s
# Libpq's: a server whose machine or network is gone counts as silent after half a minute instead of hours.
_KEEPALIVE = {"keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 4, "tcp_user_timeout": 30_000}

# The first pattern found in the driver's message gives what must hold and what to do.
_CAUSES = (
    ("not a database|encrypted", "must be an undamaged SQLite database", "move it away or name another"),
    ("malformed", "must be an undamaged SQLite database", REPAIR),
    ("no such (table|column)", "must have all of Turnier's tables", REPAIR),
    (
        "database is locked",
        "must not be locked for more than {patience:g} s",
        f"end the program that does and {_AGAIN}",
    ),
    ("is full|no space left", "must be on a disk with room left", f"make room and {_AGAIN}"),
    ("read-?only", "must be writable", "fix its permissions or name another"),
    ("unable to open", "must be a file in a folder that is writable", "fix the permissions or name another"),
    ("disk i/o", "must be on a disk that works", f"see the system's log, then {_AGAIN}"),
    ("foreign key", "must hold a match and a run before they are linked", "begin the run or append the match first"),
    ("too large|out of range", "must hold integers of at most 63 bits", "choose a smaller seed"),
    ("permission denied|no schema", "must allow this user to create and use tables", "grant it or name another user"),
    ("password|authentication|pg_hba|role .* not exist", "must accept the user and the password", "fix the URL"),
    ("database .* does not exist", "must exist", "create it with createdb"),
    ("relation .* not exist|column .* not exist", "must have all of Turnier's tables", "name another database"),
    ("too many (connections|clients)", "must have a connection left", f"end other programs and {_AGAIN}"),
    ("", "must be running and reachable{waited}", f"start it or fix the URL, then {_AGAIN}"),  # anything else
)
_ELSE_OF_SQLITE = ("", "must be an undamaged SQLite database", REPAIR)


class NoResults(UserError):
    """Raised if a database to read results from does not exist or has none yet."""

    def __init__(self, message: str, shown_url: str) -> None:
        super().__init__(message)
        self.shown_url = shown_url  # without its password


class Database(Inserting):
    """An open database. `shown_url` and `place` name it in messages, without its password; `url` has the password."""

    def __init__(self, url: str, read_only: bool = False, patience: float = BUSY_SECONDS) -> None:
        parsed = urls.parse(url)
        self._patience = patience  # seconds to wait for a lock of SQLite
        self.read_only = read_only
        self.is_sqlite = urls.is_sqlite(parsed)
        self._secrets = [s for s in (parsed.password, *(parsed.query.get(key) for key in urls.SECRETS)) if s]
        self._file: SqliteFile | None = None
        if self.is_sqlite:
            self.path = path = urls.path_of(parsed)
            parsed = parsed.set(database=str(path))
            self.shown_url = urls.shown(parsed)
            if read_only and not os.path.exists(path):
                raise NoResults(f"No store at {path} yet; `turnier tournament ...` makes one.", self.shown_url)
            self.place = f"the results database {path}"
            self._file = SqliteFile(path, read_only, patience)
            self._engine = self._file.engine
            self.outage = Outage(self.place, lambda _: False)
        else:
            self.shown_url = urls.shown(parsed)
            self.place = f"the results database {self.shown_url}"
            self._engine = _postgresql_engine(parsed, read_only)
            self.outage = Outage(self.place, self._is_absence)
            self.outage.wait_in(self._engine)
        self.url = parsed.render_as_string(hide_password=False)
        # SQLite's writers queue at the beginning; a reader sees one state of the database in all of its queries.
        self._writer = self._engine.execution_options(begin="BEGIN IMMEDIATE")
        self._reader = self._engine
        if not self.is_sqlite:
            self._reader = self._engine.execution_options(isolation_level="REPEATABLE READ")
        weakref.finalize(self, self._file.close if self._file else self._engine.dispose)  # at exit, at the latest
        try:
            self._prepare()
        except BaseException:
            self.close()
            raise
        if not read_only and not self.is_sqlite:  # the URL is now known to be right
            self.outage.patience = wait_seconds()

    def _prepare(self) -> None:
        if self.is_sqlite and self.size() <= SMALL and (wrong := self.structure()):
            raise self.damaged(f"SQLite finds: {wrong[0]}")
        with self.reading() as connection:
            schema.refuse_code(connection, self.place, self.shown_url)
            is_new = schema.is_new(connection, self.place, self.shown_url)
        if is_new and self.read_only:
            raise NoResults(f"{self.place} has no results yet; `turnier tournament ...` makes some.", self.shown_url)
        if is_new:
            with self.writing() as connection:
                schema.make(connection, self.place, self.shown_url)

    def close(self) -> None:
        """Closes it; everything written to SQLite is then in one file, unless other processes write."""
        if self._file:
            self._file.close()
        else:
            self._engine.dispose()

    def is_at(self, url: str) -> bool:
        """Whether this is the database of a URL."""
        named = urls.parse(url)
        if urls.is_sqlite(named):
            named = named.set(database=str(urls.path_of(named)))
        return named.render_as_string(hide_password=False) == self.url

    def also_written_by(self, engine: Engine) -> None:
        """Makes `close` also close an engine of others that writes to the same database."""
        if self._file:
            self._file.log.follow(engine)

    def size(self) -> int:
        """Returns the bytes of an SQLite file, without its log; 0 if there is none."""
        return self.path.stat().st_size if self.path.exists() else 0

    def version(self) -> object:
        """Returns a value that changes with the content, asked without a query; None if it is unknown."""
        return self._file.version() if self._file else None

    def structure(self) -> list[str]:
        """Returns the findings of SQLite's own check of tables, indexes and pages; none for PostgreSQL."""
        if not self.is_sqlite:
            return []
        with self.reading() as connection:
            found = connection.exec_driver_sql("PRAGMA integrity_check(1)").scalars()
            lines = [line for text in found if text != "ok" for line in str(text).splitlines()]
        return [" ".join(line.split()) for line in lines if not line.startswith("***")]

    @contextlib.contextmanager
    def reading(self) -> Iterator[Connection]:
        """A connection with one consistent view of the database."""
        with self._sentences(), self._reader.begin() as connection:
            yield connection

    @contextlib.contextmanager
    def writing(self) -> Iterator[Connection]:
        """A connection with one transaction, committed at the end and undone if anything is raised."""
        if self.read_only:
            raise UserError(f"{self.place} must be opened for writing, but it was opened to read; open it again.")
        with self._sentences():
            if self._file:
                self._file.require_place()
                self._file.log.mark()
            with self._writer.begin() as connection:
                if self._file:
                    self._file.log.take_mark_back(connection.connection.driver_connection)
                yield connection

    def among(self, column: Column[Any], ids: Sequence[str] | Sequence[int]) -> ColumnElement[bool]:
        """Returns the condition that a column is one of many values, passed as one parameter."""
        if self.is_sqlite:
            return column.in_(select(literal_column("value")).select_from(func.json_each(json.dumps(ids))))
        return column == func.any(cast(list(ids), ARRAY(column.type)))

    @contextlib.contextmanager
    def _sentences(self) -> Iterator[None]:
        """Turns errors of the database into a UserError of one sentence."""
        try:
            yield
        except (NoResultFound, MultipleResultsFound) as error:
            raise self.damaged("a row that it must have once is missing or repeated") from error
        except UnicodeDecodeError as error:  # Python's sqlite3 fails on its own error message
            raise self.damaged("it contains text that is not UTF-8") from error
        except (DBAPIError, PoolTimeoutError, OverflowError) as error:
            cause = self._cause(error)
            _, must, cure = self._row(cause)
            kind = Damaged if cure is REPAIR else UserError
            waited = f" again within {self.outage.patience:.0f} s" if self.outage.is_too_long else ""
            must, cure = must.format(patience=self._patience, waited=waited), cure.format(url=self.shown_url)
            raise kind(f"{self.place} {must}, got: {cause[:300].rstrip('.')}; {cure}.") from error

    def damaged(self, what: str) -> Damaged:
        """Returns the error for damaged data; `what` names the data and the damage."""
        return damaged(self.place, self.shown_url, what)

    def decoding(self, what: str) -> contextlib.AbstractContextManager[None]:
        """Raises Damaged if stored data cannot be decoded."""
        return decoding(self.place, self.shown_url, what)

    def _cause(self, error: Exception) -> str:
        """Returns the driver's message in one line and without secrets."""
        cause = " ".join(str(getattr(error, "orig", None) or error).partition("\nLINE ")[0].split())
        for secret in self._secrets:
            cause = cause.replace(str(secret), "***")
        return cause

    def _is_absence(self, error: Exception) -> bool:
        """Whether a connection failed because no server is there, rather than by refusal."""
        return self._row(self._cause(error)) is _CAUSES[-1]

    def _row(self, cause: str) -> tuple[str, str, str]:
        """Returns the row of _CAUSES for a driver's message."""
        causes = (*_CAUSES[:-1], _ELSE_OF_SQLITE) if self.is_sqlite else _CAUSES
        return next(row for row in causes if re.search(row[0], cause, re.IGNORECASE))


def chunks(keys: Iterable[K]) -> Iterator[list[K]]:
    """Yields keys in portions that fit one query."""
    rest = iter(keys)
    while chunk := list(itertools.islice(rest, CHUNK)):
        yield chunk


def clock(connection: Connection) -> float:
    """Returns seconds on a clock shared by all users of the database and never adjusted.

    For PostgreSQL this is the server's clock; for SQLite, whose users are on one machine, the time since it started:
    setting the wall clock must not make a driver look dead.
    """
    if connection.dialect.name == "postgresql":
        return float(connection.scalar(select(func.extract("epoch", func.clock_timestamp()))) or 0)
    return time.monotonic()


def now() -> str:
    """Returns the present time as stored: UTC, ISO 8601."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


def _postgresql_engine(url: URL, read_only: bool) -> Engine:
    usual = {"connect_timeout": CONNECT_SECONDS, **_KEEPALIVE}
    options = {name: value for name, value in usual.items() if name not in url.query}
    require_extra("a store in PostgreSQL", "postgres", "psycopg")
    engine = create_engine(url, connect_args=options, pool_pre_ping=True)
    let_copy(engine)
    return engine.execution_options(postgresql_readonly=True) if read_only else engine
