"""The store that the pages show: opened to read, its answers kept until a run has more results. Nothing here writes."""

from __future__ import annotations

import atexit
import json
import shlex
import shutil
import tempfile
import threading
from collections.abc import Callable, Sequence
from time import monotonic
from typing import Any, NamedTuple, TypeVar, cast

import pandas as pd
from cachetools import Cache, LRUCache

from turnier.core.errors import UserError
from turnier.dashboards import sections
from turnier.dashboards.app.memory import give_back
from turnier.dashboards.sections import Head
from turnier.results.databases.urls import parse, shown
from turnier.results.failures import Failures, list_failures
from turnier.results.frames.matches import matches_frame
from turnier.results.store import default_url
from turnier.results.store.annotations import SETTINGS
from turnier.results.store.database import NoResults
from turnier.results.store.progress import LIVE, RunProgress, progress_of_runs
from turnier.results.store.store import Run, Store
from turnier.runs.results import RunResults

PATIENCE = 5  # s that a page waits for a locked database
TURN = 30  # s that a page waits until no other one keeps a core busy
WAITING = 4  # pages at most that are read alone or wait for it
BEAT = 1.5  # s until a store that changes is read again, however many pages show it
SMALL = 20_000  # matches; figures of a larger running run are renewed in steps of 5 % or more
HEADS, KEPT = 4000, 48  # of runs, and of other results, that are kept

State = tuple[int, bool, int, str]
T = TypeVar("T")
_NOTHING = object()
# The columns of `frame`, with types that take little memory: a store may have millions of games.
_SMALLER: dict[str, Any] = {
    "match": "int64", "game": "category", "agent": "category", "label": "category", "seat": "int8", "seats": "int8",
    "seed": "int64", "score": "float64", "result": "category", "decisions": "int32", "nodes": "float32",
    "seconds": "float32", "seat_seconds": "float32", "seat_cpu_seconds": "float32", "termination": "category",
    "failed": "bool",
}  # fmt: skip


class _Seen(NamedTuple):
    """What the store had at a time."""

    value: Any
    at: float  # s, monotonic
    version: object  # of the store; None if the value may change without it


class ShownStore:
    """A store as pages see it; it may not exist yet, and is then empty until it does.

    All methods may be called from any thread. Those that read raise UserError if the store cannot be read.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        self._opening = threading.Lock()
        self._opened: Store | None = None
        self._empty: Store | None = None
        self._seen: Cache[Any, Any] = LRUCache(HEADS)
        self._heads: Cache[Any, Any] = LRUCache(HEADS)
        self._results: Cache[Any, Any] = LRUCache(KEPT)
        self._locks: dict[int, threading.Lock] = {id(kept): threading.Lock() for kept in self._caches}
        self._reading: dict[Any, threading.Lock] = {}
        self._alone, self._queue = threading.Lock(), threading.BoundedSemaphore(WAITING)

    @property
    def _caches(self) -> tuple[Cache[Any, Any], ...]:
        return self._seen, self._heads, self._results

    @property
    def store(self) -> Store:
        """The store, opened read-only."""
        with self._opening:
            if self._opened is None:
                try:
                    self._opened = Store.open(self.url, read_only=True, patience=PATIENCE)
                except NoResults:
                    return self._nothing()
            return self._opened

    def _nothing(self) -> Store:
        """Returns an empty store in place of one that does not exist yet."""
        if self._empty is None:
            folder = tempfile.mkdtemp(prefix="turnier-empty-")
            atexit.register(shutil.rmtree, folder, ignore_errors=True)
            self._empty = Store.open(f"sqlite:///{folder}/empty.db")
        return self._empty

    @property
    def option(self) -> str:
        """The option with which commands use this store; nothing for the default store."""
        return "" if self.url == default_url() else f" --store {shlex.quote(shown(parse(self.url)))}"

    def _kept(
        self, cache: Cache[Any, Any], key: Any, read: Callable[[], T], holds: Callable[[T], bool] = lambda _: True
    ) -> T:
        """Returns what is kept under a key if it holds, or reads it once, however many ask for it meanwhile."""
        lock = self._locks[id(cache)]
        with lock:
            if (found := cache.get(key, _NOTHING)) is not _NOTHING and holds(cast(T, found)):
                return cast(T, found)
            reading = self._reading.setdefault((id(cache), key), threading.Lock())
        with reading:
            with lock:
                if (found := cache.get(key, _NOTHING)) is not _NOTHING and holds(cast(T, found)):
                    return cast(T, found)
            try:
                read_now = read()
                with lock:
                    cache[key] = read_now
            finally:
                with lock:
                    self._reading.pop((id(cache), key), None)
                if cache is not self._seen:
                    give_back()
            return read_now

    def _now(self, key: Any, read: Callable[[], T], lasts: Callable[[T], bool] = lambda _: True) -> T:
        """Returns what the store has; read again BEAT later if the store has changed, or if the value does not last."""

        def look() -> _Seen:
            version = self._version()
            value = read()
            return _Seen(value, monotonic(), version if lasts(value) else None)

        def holds(seen: _Seen) -> bool:
            return monotonic() - seen.at < BEAT or (seen.version is not None and seen.version == self._version())

        return cast(T, self._kept(self._seen, key, look, holds).value)

    def _version(self) -> object:
        return self.store.database.version() if self._opened else None

    def progress(self) -> dict[str, RunProgress]:
        """Returns the progress of all runs by id, the oldest first; it is at most a few seconds old."""
        return self._now("progress", lambda: {one.run: one for one in progress_of_runs(self.store)}, _is_still)

    def runs(self) -> dict[str, Run]:
        """Returns all runs by id, the oldest first."""
        return self._now("runs", self._read_runs)

    def _read_runs(self) -> dict[str, Run]:
        self.store.annotations.read_names()
        return {run.id: run for run in self.store.runs()}

    def matches(self) -> dict[str, int]:
        """Returns the number of matches of every run that has some."""
        return self._now("matches", lambda: self.store.match_counts())

    def searched(self) -> set[str]:
        """Returns the runs that have searched positions."""
        return self._now("searched", lambda: set(self.store.searches.counts()))

    def run(self, text: str) -> Run:
        """Returns a run by its id, the beginning of its id, or its name; raises UserError if there is none."""
        return self.runs().get(text) or self.store.find_run(text)

    def is_live(self, run: Run) -> bool:
        """Returns whether a driver has the run."""
        known = self.progress().get(run.id)
        return known is not None and known.state in LIVE

    def state_of(self, run: Run) -> State:
        """Returns a value that changes when a run's pages do: number of results, whether it is running, its settings.

        While a large run is playing, numbers are rounded down, so that not every batch makes pages read it again.
        """
        known = self.progress().get(run.id)
        stored, running, done = (known.stored, known.state in LIVE, known.done or 0) if known else (0, False, 0)
        if running and stored > SMALL:
            step = 10 ** (len(str(stored)) - 2) * 5
            stored, done = stored // step * step, done // step * step
        return stored, running, done, self._now((run.id, known), lambda: self._marks(run))

    def _marks(self, run: Run) -> str:
        kind, settings = sections.kind_of(run.kind), self.store.annotations.get(run.id, SETTINGS)
        mark = kind.mark(RunResults(self.store, run.id)) if hasattr(kind, "mark") else ""
        names = json.dumps(self.store.annotations.names) if self.store.annotations.names else ""
        return settings + mark + names

    def read(self, run: Run, reader: Callable[[RunResults], T]) -> T:
        """Returns what a function reads of a run; it is called only after changes. Do not modify its results."""
        return self._kept(self._results, self._key(run, reader), lambda: reader(RunResults.find(self.store, run.id)))

    def _key(self, run: Run, reader: Callable[[RunResults], Any]) -> Any:
        return run.id, self.state_of(run), f"{reader.__module__}.{reader.__qualname__}"

    def read_all(self, runs: Sequence[Run], name: str, read: Callable[[], T]) -> T:
        """Returns what is read of several runs together, under a name of its own; read again only after changes."""
        return self._kept(self._results, (name, *((run.id, self.state_of(run)) for run in runs)), read)

    def read_alone(self, runs: Sequence[Run], name: str, read: Callable[[], T]) -> T:
        """As `read_all`, for what keeps a core busy for seconds: one after the other.

        Raises UserError if others are being read for too long.
        """
        key = (name, *((run.id, self.state_of(run)) for run in runs))
        with self._locks[id(self._results)]:
            if key in self._results:
                return cast(T, self._results[key])
        busy = "Positions are still being searched for other pages; reload this one in a minute."
        if not self._queue.acquire(blocking=False):  # each of those that wait has a thread of the server
            raise UserError(busy)
        try:
            if not self._alone.acquire(timeout=TURN):
                raise UserError(busy)
            try:
                return self._kept(self._results, key, read)  # which another page may have read meanwhile
            finally:
                self._alone.release()
        finally:
            self._queue.release()

    def frame(self, run: Run) -> pd.DataFrame:
        """Returns the `matches_frame` of a run without ids, with the columns that lists of games and costs need."""
        return self.read(run, _frame_of)

    def failures(self, run: Run) -> Failures:
        """Returns the failures in a run's games."""
        return self.read(run, _failures_of)

    def head(self, run: Run) -> tuple[Head, str]:
        """Returns a run in a sentence, and its failures; of a running one, renewed when its second digit changes."""
        stored, running, done, settings = self.state_of(run)
        if running:
            step = 10 ** max(0, len(str(stored)) - 2)
            stored, done = stored // step * step, done // step * step
        return self._kept(self._heads, (run.id, stored, running, done, settings), lambda: self._head(run))

    def _head(self, run: Run) -> tuple[Head, str]:
        try:
            results, kind = RunResults.find(self.store, run.id), sections.kind_of(run.kind)
            with self._locks[id(self._results)]:
                data = self._results.get(self._key(run, kind.read)) if hasattr(kind, "head_of") else None
            head = kind.head(results) if data is None else kind.head_of(results, data)
            return head, _failures_of(results).text
        except UserError as error:  # such as one that this version does not know: the others are shown
            return Head(str(error)), ""


def _is_still(progress: dict[str, RunProgress]) -> bool:
    """Whether no driver has a run: whether a driver is still alive also depends on the time."""
    return all(run.state not in LIVE for run in progress.values())


def _frame_of(results: RunResults) -> pd.DataFrame:
    frame = matches_frame(results.store, run=results.id, ids=False)[list(_SMALLER)].astype(_SMALLER)
    shorter = frame["score"].astype("float32")
    return frame.assign(score=shorter) if shorter.astype("float64").equals(frame["score"]) else frame


def _failures_of(results: RunResults) -> Failures:
    return list_failures(results.store, [results.id])
