"""Locks in the store: one driver per study, known to every machine that uses the same database."""

from __future__ import annotations

import contextlib
import functools
import os
import re
import socket
import threading
import uuid
import zlib
from pathlib import Path
from typing import Self

from sqlalchemy import delete, select, update

from ...core.errors import UserError
from ..outage import outlasting
from .database import Database, clock
from .schema import locks

STALE_SECONDS = 30.0  # a lock without a heartbeat for this long may be taken over
BEAT_SECONDS = 5.0


def this_process() -> str:
    """Returns a holder's name that tells other processes of this machine whether it has ended."""
    return f"{_machine()}:{os.getpid()}"


@functools.cache
def _machine() -> str:
    """Returns the host's name and, if the system gives them, marks of the machine's start and of the container.

    Containers and machines of the same name do not see each other's processes.
    """
    name = socket.gethostname()
    with contextlib.suppress(OSError):
        start = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii") + os.readlink("/proc/self/ns/pid")
        return f"{name}/{zlib.crc32(start.encode()):08x}"
    return name


class Held(UserError):
    """Raised if another holder has the lock."""

    def __init__(self, message: str, holder: str) -> None:
        super().__init__(message)
        self.holder = holder


class Lock:
    """A held lock; as a context manager it keeps its heartbeat alive and unlocks at the end."""

    def __init__(self, database: Database, name: str, holder: str) -> None:
        """Takes the lock; raises Held if another holder has it."""
        self.name = name
        self.holder = f"{holder} ({uuid.uuid4().hex[:8]})"  # two drivers in one process are two holders
        self.database = database
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None
        self._take()

    @outlasting
    def _take(self) -> None:
        query = select(locks.c.holder, locks.c.heartbeat).where(locks.c.name == self.name).with_for_update()
        with self.database.writing() as connection:
            now = clock(connection)
            while True:
                row = (self.name, self.holder, now)
                if self.database.insert_many(connection, locks, ("name", "holder", "heartbeat"), [row]):
                    return
                found = connection.execute(query).one_or_none()
                if found:  # nothing if another holder has unlocked in between
                    break
            other, heartbeat = found
            if other == self.holder:
                return  # taken before the connection ended
            if not is_stale(heartbeat, now) and not is_dead(other):
                raise Held(
                    f"{self.name!r} must have one driver at a time, but {other} has it (heartbeat"
                    f" {now - heartbeat:.0f} s ago); wait until it has ended, or end it.",
                    other,
                )
            connection.execute(update(locks).where(locks.c.name == self.name).values(holder=self.holder, heartbeat=now))

    @outlasting
    def heartbeat(self) -> None:
        """Notes that the holder is alive; raises UserError if another holder has taken the lock over."""
        with self.database.writing() as connection:
            mine = (locks.c.name == self.name) & (locks.c.holder == self.holder)
            if connection.execute(update(locks).where(mine).values(heartbeat=clock(connection))).rowcount == 1:
                return
            other = connection.scalar(select(locks.c.holder).where(locks.c.name == self.name)) or "nobody"
        raise UserError(
            f"{self.name!r} must stay locked by its driver, but {other} has the lock now (this process gave no"
            f" heartbeat for {STALE_SECONDS:.0f} s); stop here, the results so far are kept."
        )

    @outlasting
    def unlock(self) -> None:
        """Releases the lock; does nothing if another holder has it."""
        with self.database.writing() as connection:
            connection.execute(delete(locks).where(locks.c.name == self.name, locks.c.holder == self.holder))

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._keep_beating, name=f"lock {self.name}", daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        if self._thread is not None:
            self._thread.join()
        # A failing database must not hide the reason for the end of the block; the lock becomes stale by itself.
        with contextlib.suppress(UserError):
            self.unlock()

    def _keep_beating(self) -> None:
        while not self._ended.wait(BEAT_SECONDS):
            # The driver notices a lost lock by its own call of heartbeat, and a failed database by its next append.
            with contextlib.suppress(UserError):
                self.heartbeat()


def is_stale(heartbeat: float, now: float) -> bool:
    """Whether a heartbeat is too old; one in the future is from before the machine was restarted."""
    return not -STALE_SECONDS < now - heartbeat < STALE_SECONDS


def is_dead(holder: str) -> bool:
    """Whether the holder is a process of this machine that has ended."""
    process = re.match(r"(.+):(\d+)( \(\w+\))?$", holder)
    if process is None or process[1] != _machine() or os.name != "posix":
        return False
    try:
        os.kill(int(process[2]), 0)  # asks whether the process exists, sends nothing
    except (ProcessLookupError, OverflowError):
        return True
    except PermissionError:
        return False
    return False


def is_gone(holder: str, heartbeat: float, now: float) -> bool:
    """Whether a holder has ended, or belongs to an earlier start of this machine: a suspended one is not gone."""
    return is_dead(holder) or (is_stale(heartbeat, now) and not holder.startswith(f"{_machine()}:"))
