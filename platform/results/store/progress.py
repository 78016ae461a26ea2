"""The progress of runs: their drivers report it every few seconds; `turnier runs` reads it, on any machine."""

from __future__ import annotations

import contextlib
import json
import signal
import textwrap
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, NamedTuple, Protocol, Self

from sqlalchemy import Row, insert, select, update

from ...core.errors import UserError
from ...core.number_text import signal_name
from ...core.terminal.visible import visible, without_passwords
from ..integrity.checksums import checksum, differs
from ..outage import outlasting
from . import manifest
from .annotations import ARCHIVE, NOTE, REASON
from .database import clock, now
from .locks import is_dead, is_stale, this_process
from .schema import run_progress, runs
from .store import Run, Store

_CHECKED = [column.name for column in run_progress.columns if column.name not in ("run_id", "checksum")]
BEAT_SECONDS = 2.0
RATE_SECONDS = 20.0  # period of measuring the rate
LAST_BEAT = 1.0  # s to wait at the end for a report that is being stored; without a connection it never will be
_OTHER_UNITS = ("study", "training")  # kinds of runs whose bar counts something else than they store
_WITHOUT_DRIVER = ("play",)  # kinds to which people add the games that they play
RUNNING, WAITING, FINISHED, STOPPED, UNKNOWN = "running", "waiting", "finished", "stopped", "unknown"
LIVE = RUNNING, WAITING  # a driver has the run; without a worker it waits
ARCHIVED = "archived"
KILLED = "Its process ended without a word: it was killed, or it crashed."
UNKNOWN_END = "Its process ended without a word: by a signal, such as Ctrl-C, or by a crash."  # in earlier versions
BY_SIGNAL = {  # why a process ends that a signal ends; 0: the time it was given is over
    0: "Its time was over.",
    signal.SIGINT: "Ctrl-C ended it.",
    signal.SIGTERM: "SIGTERM ended it, sent by `kill` or a scheduler.",
    getattr(signal, "SIGHUP", -1): "SIGHUP ended it: its terminal was closed.",
}
LONGEST_REASON = 500  # characters
SILENT = "Its process has been silent since: it was killed, or its machine cannot be reached."


@dataclass(frozen=True)
class RunProgress:
    """The progress of a run; the defaults are those of a run without a report of its driver."""

    run: str
    kind: str
    name: str
    began: str  # UTC, ISO 8601
    stored: int  # matches and searches in the store, or in its archive
    state: str = UNKNOWN  # running | waiting | finished | stopped | unknown | archived
    done: int | None = None
    planned: int | None = None
    unit: str = ""  # of the count
    rate: float | None = None  # per second, in the last RATE_SECONDS; only while it runs
    seconds_left: float | None = None  # at that rate
    started: str | None = None  # the latest driver: UTC, ISO 8601
    ended: str | None = None  # of a driver that ended without a word: when it was last heard of
    holder: str | None = None  # MACHINE:PROCESS of the latest driver
    note: str = ""  # a user's text about the run
    reason: str = ""  # why it stopped

    @property
    def stopped(self) -> str:
        """When and why a run stopped, and how much of it is done; empty unless it has stopped."""
        if self.state != STOPPED or self.done is None or self.planned is None:
            return ""
        when = f" {datetime.fromisoformat(self.ended):%Y-%m-%d %H:%M} UTC" if self.ended else ""
        return f"Stopped{when}: {self.done:,} of {self.planned:,} {self.unit} done. {self.reason}".rstrip()


class Countable(Protocol):
    """The counts of a progress bar."""

    total: int
    done: int
    skipped: int  # done earlier, and so irrelevant to the rate
    unit: str


class _Sample(NamedTuple):
    time: float
    done: int  # by this driver


class ProgressReporter:
    """Stores the progress of a bar every BEAT_SECONDS, on its own thread; a context manager.

    Args:
        store: has the run.
        run_id: the run with this progress.
        bar: counts it.
        waits: whether there is no worker yet.
    """

    def __init__(self, store: Store, run_id: str, bar: Countable, waits: Callable[[], bool] = lambda: False) -> None:
        self.database, self._annotations = store.database, store.annotations
        self._run_id, self._bar, self._waits = run_id, bar, waits
        self._row: dict[str, Any] = {
            "holder": this_process(),
            "started": now(),
            "command": json.dumps(manifest.command_line()),
        }
        self._samples: deque[_Sample] = deque()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._report_until_end, name=f"progress {run_id}", daemon=True)

    def __enter__(self) -> Self:
        self._report_now()
        self._say(KILLED)  # what holds unless another reason follows
        self._thread.start()
        _REPORTING.add(self)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        _REPORTING.discard(self)
        self._ended.set()
        self._thread.join()
        self._end(FINISHED if kind is None else STOPPED, _reason(error))

    def end_at_once(self) -> None:
        """Stores that the run stops here, and why; at any moment, over a connection of its own."""
        self._ended.set()
        with Store.open(self.database.url) as store:
            self.database, self._annotations = store.database, store.annotations
            self._thread.join(LAST_BEAT)
            self._end(STOPPED, _ending)

    def _end(self, state: str, reason: str) -> None:
        self._report(state)
        self._say(reason)

    def _say(self, reason: str) -> None:
        with contextlib.suppress(UserError):
            self._keep(reason)

    def _keep(self, reason: str) -> None:
        """Stores why the run stopped, in place of an earlier reason."""
        if reason != self._annotations.get(self._run_id, REASON) and self._begun():
            self._annotations.set(self._run_id, REASON, reason)

    def _begun(self) -> bool:
        with self.database.reading() as connection:
            return connection.scalar(select(runs.c.id).where(runs.c.id == self._run_id)) is not None

    def _report_until_end(self) -> None:
        while not self._ended.wait(BEAT_SECONDS):
            self._report_now()

    def _report_now(self) -> None:
        self._report(WAITING if self._waits() else RUNNING)

    def _report(self, state: str) -> None:
        # The driver notices a failing store at its next append; a failure here must not hide the reason for a run's
        # end.
        with contextlib.suppress(UserError):
            self._store(state)

    @outlasting
    def _store(self, state: str) -> None:
        row = self._row | {
            "planned": int(self._bar.total),
            "done": int(self._bar.done),
            "unit": self._bar.unit,
            "rate": self._rate(),
            "state": state,
            "ended": None if state in LIVE else now(),
        }
        with self.database.writing() as connection:
            row["heartbeat"] = clock(connection)
            row["checksum"] = checksum(*(row[name] for name in _CHECKED))
            mine = run_progress.c.run_id == self._run_id
            if connection.execute(update(run_progress).where(mine).values(row)).rowcount:
                return
            if connection.scalar(select(runs.c.id).where(runs.c.id == self._run_id)):  # it may not have begun yet
                connection.execute(insert(run_progress).values(row | {"run_id": self._run_id}))

    def _rate(self) -> float:
        """Returns the recent rate of this driver, per second; earlier games do not count."""
        self._samples.append(_Sample(time.monotonic(), self._bar.done - self._bar.skipped))
        while len(self._samples) > 2 and self._samples[1].time < self._samples[-1].time - RATE_SECONDS:
            self._samples.popleft()
        first, last = self._samples[0], self._samples[-1]
        return max(0.0, (last.done - first.done) / (last.time - first.time)) if last.time > first.time else 0.0


_REPORTING: set[ProgressReporter] = set()  # those of the runs that this process drives
_ending = ""  # why this process ends


def end_by_signal(number: int) -> None:
    """Notes which signal ends this process, the reason for which its runs stop; 0: the time it was given is over."""
    global _ending
    _ending = BY_SIGNAL.get(number, f"{signal_name(number)} ended it.")


def end_all_at_once() -> None:
    """Stores for all runs of this process that they stop here: it ends now, at whatever it is."""
    for reporter in list(_REPORTING):
        with contextlib.suppress(UserError):
            reporter.end_at_once()


def progress_of_runs(store: Store) -> list[RunProgress]:
    """Returns the progress of all runs, the oldest first."""
    stored, reports = store.stored_counts(), reported(store)
    with store.database.reading() as connection:
        time_now = clock(connection)
    notes, reasons = store.annotations.of_name(NOTE), store.annotations.of_name(REASON)
    found = [_progress(run, reports.get(run.id), stored.get(run.id, 0), time_now) for run in store.runs()]
    archives = store.annotations.of_name(ARCHIVE)
    for place, run in enumerate(found):
        if run.run in archives:
            found[place] = replace(run, state=ARCHIVED, stored=json.loads(archives[run.run])["games"])
    return [
        replace(run, note=notes.get(run.run, ""), reason=_reason_of(run, reasons.get(run.run, ""))) for run in found
    ]


def _reason_of(run: RunProgress, said: str) -> str:
    """Returns why a run stopped, as its driver said last; a silent driver's last words may be of another time."""
    if run.state != STOPPED or (run.reason and said != KILLED) or run.reason == SILENT:
        return run.reason
    return said


def _progress(run: Run, row: Row[Any] | None, stored: int, time_now: float) -> RunProgress:
    began = run.created.isoformat(timespec="microseconds")
    if row is None and run.kind in _WITHOUT_DRIVER:
        return RunProgress(
            run.id, run.kind, run.name, began, stored, FINISHED, done=stored, planned=stored, unit="games"
        )
    if row is None:
        return RunProgress(run.id, run.kind, run.name, began=began, stored=stored)
    state, done, ended, reason = row.state, row.done, row.ended, ""
    if state in LIVE and ((dead := is_dead(row.holder)) or is_stale(row.heartbeat, time_now)):
        state, reason = STOPPED, UNKNOWN_END if dead else SILENT
        if row.heartbeat <= time_now:  # the clock of a machine begins again when it starts
            last = round(time.time() + row.heartbeat - time_now)
            ended = datetime.fromtimestamp(last, UTC).isoformat(timespec="microseconds")
    if state == STOPPED and run.kind not in _OTHER_UNITS:
        done = max(done, min(stored, row.planned))  # a killed driver's last report is older than its last match
    rate = row.rate if state == RUNNING and row.rate > 0 else None
    return RunProgress(
        run=run.id,
        kind=run.kind,
        name=run.name,
        began=began,
        stored=stored,
        state=state,
        done=done,
        planned=row.planned,
        unit=row.unit,
        rate=rate,
        seconds_left=max(0, row.planned - done) / rate if rate else None,
        started=row.started,
        ended=ended,
        reason=reason,
        holder=row.holder,
    )


def _reason(error: BaseException | None) -> str:
    """Returns why a driver ended; empty if it had nothing more to do."""
    if error is None:
        return ""
    if isinstance(error, KeyboardInterrupt | GeneratorExit):
        return _ending or "Interrupted."
    said = str(error) if isinstance(error, UserError) else f"{type(error).__name__}: {error}"
    return visible(textwrap.shorten(without_passwords(said), LONGEST_REASON, placeholder=" ..."))


def stored_command(store: Store, run_id: str) -> Sequence[str]:
    """Returns the words of the command line that last drove a run; empty if unknown."""
    row = reported(store).get(run_id)
    if row is None:
        return ()
    with store.database.decoding(f"the command of {run_id}"):
        return tuple(json.loads(row.command))


def checked_values(row: Row[Any]) -> list[Any]:
    """Returns the values covered by the checksum of a report."""
    return [row._mapping[name] for name in _CHECKED]


def reported(store: Store) -> dict[str, Row[Any]]:
    """Returns the latest reports of drivers; raises Damaged if one is not as it was stored."""
    with store.database.reading() as connection:
        rows = connection.execute(select(run_progress)).all()
    for row in rows:
        if differs(row, *checked_values(row)):
            raise store.database.damaged(f"the progress of {row.run_id} differs from its checksum")
    return {row.run_id: row for row in rows}
