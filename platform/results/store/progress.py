"""How far runs are: their drivers say it every few seconds, and `turnier status` reads it, also on another machine."""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Protocol, Self

from sqlalchemy import Row, insert, inspect, select, update

from turnier.core.errors import UserError
from turnier.results.store import manifest
from turnier.results.store.database import Database, clock, now
from turnier.results.store.locks import is_dead, is_stale, this_process
from turnier.results.store.schema import run_progress, runs
from turnier.results.store.store import Store

BEAT_SECONDS = 2.0
RATE_SECONDS = 20.0  # the rate is that of the latest so many seconds
_COUNT_OTHERWISE = ("study", "training")  # kinds of runs whose bar does not count what they store
RUNNING, FINISHED, STOPPED, UNKNOWN = "running", "finished", "stopped", "unknown"


@dataclass(frozen=True)
class RunProgress:
    """How far a run is; None where its driver has not said so (it was begun by an earlier version)."""

    run: str
    kind: str
    name: str
    state: str  # running | finished | stopped | unknown
    done: int | None
    planned: int | None
    unit: str  # what is counted
    stored: int  # matches and votes in the store
    rate: float | None  # a second, of late; only while it runs
    seconds_left: float | None  # at that rate
    began: str  # the run, UTC, ISO 8601
    started: str | None  # its latest driver
    ended: str | None
    holder: str | None  # MACHINE:PROCESS of its latest driver


class Counter(Protocol):
    """What a progress bar counts."""

    total: int
    done: int
    skipped: int  # done before, which says nothing about the rate
    unit: str


class ProgressReporter:
    """Stores every BEAT_SECONDS how far a bar is, on a thread of its own; a context manager."""

    def __init__(self, database: Database, run_id: str, bar: Counter) -> None:
        self._database, self._run_id, self._bar = database, run_id, bar
        self._row: dict[str, Any] = {
            "holder": this_process(),
            "started": now(),
            "command": json.dumps(manifest.command_line()),
        }
        self._seen: deque[tuple[float, int]] = deque()  # when, and how much this driver had done
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._beat, name=f"progress {run_id}", daemon=True)

    def __enter__(self) -> Self:
        self._tell(RUNNING)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        self._thread.join()
        self._tell(FINISHED if kind is None else STOPPED)

    def _beat(self) -> None:
        while not self._ended.wait(BEAT_SECONDS):
            self._tell(RUNNING)

    def _tell(self, state: str) -> None:
        row = self._row | {
            "planned": self._bar.total,
            "done": self._bar.done,
            "unit": self._bar.unit,
            "rate": self._rate(),
            "state": state,
            "ended": None if state == RUNNING else now(),
        }
        # A store that fails tells the driver so at its next append; this must not hide why a run ended.
        with contextlib.suppress(UserError), self._database.writing() as connection:
            row["heartbeat"] = clock(connection)
            mine = run_progress.c.run_id == self._run_id
            if connection.execute(update(run_progress).where(mine).values(row)).rowcount:
                return
            if connection.scalar(select(runs.c.id).where(runs.c.id == self._run_id)):  # the driver may yet begin it
                connection.execute(insert(run_progress).values(row | {"run_id": self._run_id}))

    def _rate(self) -> float:
        """What this driver did a second of late; what was stored before it started does not count."""
        self._seen.append((time.monotonic(), self._bar.done - self._bar.skipped))
        while len(self._seen) > 2 and self._seen[1][0] < self._seen[-1][0] - RATE_SECONDS:
            self._seen.popleft()
        (first, before), (last, done) = self._seen[0], self._seen[-1]
        return max(0.0, (done - before) / (last - first)) if last > first else 0.0


def progress_of_runs(store: Store) -> list[RunProgress]:
    """Returns how far all runs are, the oldest first."""
    stored = store.stored_counts()
    with store.database.reading() as connection:
        told: dict[str, Row[Any]] = {}
        if inspect(connection).has_table(run_progress.name):  # a store that was only read since has none
            told = {row.run_id: row for row in connection.execute(select(run_progress))}
        query = select(runs.c.id, runs.c.kind, runs.c.name, runs.c.created).order_by(runs.c.created, runs.c.id)
        begun = connection.execute(query).all()
        here = clock(connection)
    return [_progress(run, told.get(run.id), stored.get(run.id, 0), here) for run in begun]


def _progress(run: Any, row: Row[Any] | None, stored: int, here: float) -> RunProgress:
    if row is None:
        nothing = (None, None, "", stored, None, None, run.created, None, None, None)
        return RunProgress(run.id, run.kind, run.name, UNKNOWN, *nothing)
    state, done = row.state, row.done
    if state == RUNNING and (is_stale(row.heartbeat, here) or is_dead(row.holder)):
        state = STOPPED
    if state == STOPPED and run.kind not in _COUNT_OTHERWISE:
        done = max(done, min(stored, row.planned))  # a killed driver's last word is older than what it stored
    rate = row.rate if state == RUNNING and row.rate > 0 else None
    return RunProgress(
        run=run.id,
        kind=run.kind,
        name=run.name,
        state=state,
        done=done,
        planned=row.planned,
        unit=row.unit,
        stored=stored,
        rate=rate,
        seconds_left=max(0, row.planned - done) / rate if rate else None,
        began=run.created,
        started=row.started,
        ended=row.ended,
        holder=row.holder,
    )


def stored_command(store: Store, run_id: str) -> Sequence[str]:
    """Returns the words of the command line that a run was last driven with; none where that is not known."""
    query = select(run_progress.c.command).where(run_progress.c.run_id == run_id)
    with store.database.reading() as connection:
        found = connection.scalar(query) if inspect(connection).has_table(run_progress.name) else None
    return tuple(json.loads(found)) if found else ()
