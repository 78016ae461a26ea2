"""Waiting for a database server that is away, for example while it restarts; its users continue afterwards."""

from __future__ import annotations

import functools
import os
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, ParamSpec, Protocol, TypeVar

from sqlalchemy import Engine, event
from sqlalchemy.exc import DBAPIError

from ..core.errors import UserError
from ..core.terminal.visible import say

VARIABLE = "TURNIER_DATABASE_WAIT"
WAIT_SECONDS = 120.0
RETRY_SECONDS = 0.5
TELL_SECONDS = 30.0  # between two lines on the waiting time
ATTEMPTS = 10  # of a transaction: after these, the transaction itself must be ending the server

P = ParamSpec("P")
T = TypeVar("T")


class Outage:
    """The absence of one database server: any thread may notice it, and all wait for its end."""

    def __init__(self, place: str, is_absence: Callable[[Exception], bool]) -> None:
        """`place` names the server; `is_absence` tells an absent server from one that refuses us."""
        self.patience = 0.0  # seconds; 0 = an absent server is an error at once
        self._place, self._is_absence = place, is_absence
        self._began: float | None = None
        self._told = 0.0
        self._lock = threading.Lock()

    @property
    def is_too_long(self) -> bool:
        """Whether the server has been waited for in vain."""
        return self._began is not None and time.monotonic() >= self._began + self.patience

    def wait_in(self, engine: Engine) -> None:
        """Makes new connections of an engine, also those that replace broken ones, wait for the server."""

        @event.listens_for(engine, "do_connect")
        def connect(dialect: Any, _: Any, arguments: Any, options: Any) -> Any:
            while True:
                try:
                    made = dialect.connect(*arguments, **options)
                except dialect.loaded_dbapi.OperationalError as error:
                    if not self._is_absence(error) or not self._wait():
                        raise
                else:
                    self._end()
                    return made

    def outlast(self, transact: Callable[[], T]) -> T:
        """Runs a transaction, and again if the connection ends within it: it may have been committed or not."""
        for _ in range(ATTEMPTS - 1):
            try:
                return transact()
            except Exception as error:
                if not self.patience or not _is_interruption(error):
                    raise
        return transact()

    def _wait(self) -> bool:
        """Waits a moment; returns False once the time is up."""
        with self._lock:
            now = time.monotonic()
            if self._began is None and self.patience:
                self._began = self._told = now
                _say(f"{self._place} does not answer; waiting up to {self.patience:.0f} s for it ...")
            left = 0.0 if self._began is None else self._began + self.patience - now
            if left > 0 and now - self._told >= TELL_SECONDS:
                self._told = now
                _say(f"still no answer after {self.patience - left:.0f} s; waiting {left:.0f} s more ...")
        if left > 0:
            time.sleep(min(RETRY_SECONDS, left))
        return left > 0

    def _end(self) -> None:
        with self._lock:
            if self._began is not None:
                _say(f"{self._place} answers again, after {time.monotonic() - self._began:.0f} s.")
            self._began = None


class _HasDatabase(Protocol):
    @property
    def database(self) -> Any: ...


def outlasting(function: Callable[P, T]) -> Callable[P, T]:
    """Makes a function outlast a restart of its first argument's database, even in the middle of a transaction.

    It is then called again, so it must be idempotent.
    """

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        whole: Any = [list(value) if isinstance(value, Iterator) else value for value in args]  # may be read twice
        first: _HasDatabase = whole[0]
        return first.database.outage.outlast(lambda: function(*whole, **kwargs))  # type: ignore[no-any-return]

    return call


def wait_seconds() -> float:
    """Returns the seconds to wait for a server; the environment may set them."""
    text = os.environ.get(VARIABLE, str(WAIT_SECONDS))
    try:
        seconds = float(text)
        if 0 <= seconds < 1e6:
            return seconds
    except ValueError:
        pass
    raise UserError(f"{VARIABLE} must be a number of seconds from 0 to a million, got {text!r}; change or unset it.")


def _is_interruption(error: BaseException | None) -> bool:
    """Whether an error was caused by the end of a connection."""
    while error is not None and not (isinstance(error, DBAPIError) and error.connection_invalidated):
        error = error.__cause__
    return error is not None


def _say(text: str) -> None:
    say(text[:1].upper() + text[1:], errors=True)
