"""An open SQLite file: its connections, and the check that it stays in its place."""

from __future__ import annotations

import contextlib
import os
import shlex
import sqlite3
import time
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, NullPool, QueuePool, create_engine, event

from ...core.errors import UserError
from ..integrity.damage import Damaged
from .logs import Log, is_marked, size_of_log

_OF_WRITERS = (
    "journal_mode = WAL",
    "synchronous = NORMAL",
    "foreign_keys = ON",
    "wal_autocheckpoint = 8000",  # pages; with the default of 1000 appends are half as fast
    "cache_size = -64000",  # KiB
)
_OF_READERS = ("cache_size = -8000",)  # KiB; they read large values once, for which a larger one is slower
SETTLED = 2.0  # s after a write, by which time a reader sees it
_WAITS = (0.02, 0.08, 0.4)  # s, before another look for a log
_CAUTION = ("cell_size_check = ON", "trusted_schema = OFF")  # notices damaged pages earlier, and runs no code from them


class SqliteFile:
    """The engine of a file; `log` has the newest content while the file is written to."""

    def __init__(self, path: Path, read_only: bool, patience: float) -> None:
        """Does not open the file yet. `patience`: seconds to wait for a lock. Raises UserError for a remote disk."""
        self.path, self.log = path, Log(path)
        self._read_only, self._patience = read_only, patience
        self._mode = "ro" if read_only else "rwc"
        if not read_only:
            require_own_disk(path)
        # A reader makes a new connection each time, since it may need another mode (see _connect).
        pool = NullPool if read_only else QueuePool
        self.engine: Engine = create_engine("sqlite+pysqlite://", creator=self._connect, poolclass=pool)
        if not read_only:
            self.log.follow(self.engine)

        @event.listens_for(self.engine, "begin")
        def begin(connection: Connection) -> None:
            # Python's sqlite3 would begin only before some statements, and would not take the write lock at once.
            connection.exec_driver_sql(connection.get_execution_options().get("begin", "BEGIN"))

    def require_place(self) -> None:
        """Raises UserError if the file has been moved or replaced since it was opened."""
        if self.log.is_moved():
            self.log.keep_in_moved_file()
            raise UserError(
                f"the results database {self.path} must stay in its place while a command uses it, but it was moved,"
                " deleted or replaced; what was stored is in the moved file: move it back and repeat the command."
            )

    def version(self) -> tuple[tuple[int, int, int], ...] | None:
        """Returns a value that changes with the content; None for SETTLED s after a change, and for a missing file.

        Every transaction writes to the log or, without one, to the file. Neither may be opened to see more (see logs).
        """
        found: list[os.stat_result] = []
        for path in (self.path, f"{self.path}-wal"):
            with contextlib.suppress(OSError):
                found.append(os.stat(path))
        if not found or time.time() - max(one.st_mtime for one in found) < SETTLED:
            return None
        return tuple((one.st_ino, one.st_size, one.st_mtime_ns) for one in found)

    def close(self) -> None:
        """Closes the file; the last writer leaves no log."""
        if self._read_only:
            self.engine.dispose()
            self.log.tidy()
        else:
            self.log.end()

    def _connect(self) -> sqlite3.Connection:
        self.require_place()
        deadline, mode = time.monotonic() + self._patience, self._mode
        while True:
            try:
                connection = _connected(self.path, mode, self._patience)
            except sqlite3.OperationalError as error:
                locked = "locked" in str(error)
                if locked and time.monotonic() < deadline:
                    # SQLite itself does not wait when two processes create the same file.
                    time.sleep(0.02)
                elif not locked and mode == "ro" and not self.path.with_name(f"{self.path.name}-wal").exists():
                    # Even a reader creates files next to a database with a write-ahead log; if it may not and there is
                    # no log, no other process is writing either.
                    mode = "ro&immutable=1"
                else:
                    raise
            else:
                if not self._read_only:
                    self.log.begin()
                    self._mode = "rw"  # which does not create the file again if it was moved
                return connection


def lacks_its_log(path: Path, connection: Any, had_log: bool) -> bool:
    """Whether a file is a copy of a store in use, without its log; `had_log`: whether it had one before connecting.

    Looks again before it says so: while one process merges the log another may write, and the two are seen in turn.
    """
    if had_log:
        return False
    for wait in (0.0, *_WAITS):
        time.sleep(wait)
        if not is_marked(connection) or size_of_log(path):
            return False
    return True


def _connected(path: Path, mode: str, patience: float) -> sqlite3.Connection:
    had_log = size_of_log(path) > 0
    target = f"{path.as_uri()}?mode={mode}"
    connection = sqlite3.connect(target, patience, isolation_level=None, check_same_thread=False, uri=True)
    try:
        for setting in _CAUTION:
            connection.execute(f"PRAGMA {setting}")
        if lacks_its_log(path, connection, had_log):
            raise Damaged(
                f"the results database {path} must have its log {path.name}-wal beside it, which holds its newest"
                " content, but it is missing; copy both files, or the one file once no command uses it any more, or"
                f" keep its content with `turnier doctor --store {shlex.quote(f'sqlite:///{path}')} --repair`."
            )
        for setting in _OF_WRITERS if mode in ("rwc", "rw") else _OF_READERS:
            connection.execute(f"PRAGMA {setting}")
        connection.execute("SELECT 1 FROM sqlite_master").close()
    except BaseException:
        connection.close()
        raise
    return connection


MOUNTS = Path("/proc/self/mounts")  # of Linux; elsewhere nothing is refused
_REMOTE = {"nfs", "nfs4", "cifs", "smb3", "smbfs", "ncpfs", "afs", "fuse.sshfs", "fuse.smbnetfs"}


def require_own_disk(path: Path) -> None:
    """Raises UserError if an SQLite database to be written is on another machine's disk."""
    kind, mounted = _mount_of(path)
    if kind in _REMOTE:
        raise UserError(
            f"an SQLite database must be on a disk of this machine to be written, but {path} is on a network"
            f" file system ({kind} at {mounted}); name a file on a local disk, or use PostgreSQL."
        )


def _mount_of(path: Path) -> tuple[str, str]:
    """Returns the kind of the file system that holds a file, and where it is mounted; empty if that is unknown."""
    place, found = Path(os.path.realpath(path)), ("", "")
    with contextlib.suppress(OSError):
        for line in MOUNTS.read_text(errors="replace").splitlines():
            _, mounted, kind, *_ = [*line.split(" "), "", "", ""]
            folder = mounted.replace("\\040", " ").replace("\\011", "\t").replace("\\134", "\\")
            if len(folder) >= len(found[1]) and place.is_relative_to(folder):  # the last of equal ones is on top
                found = kind, folder
    return found
