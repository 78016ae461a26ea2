"""The results store: runs, matches and repeated searches, in SQLite or PostgreSQL. It stores facts; frames compute."""

from __future__ import annotations

import difflib
import json
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from operator import itemgetter
from types import TracebackType
from typing import Any, Self

from sqlalchemy import Connection, Row, delete, func, inspect, select

from turnier.arena.match import MatchRecord, MatchSpec, Termination, unpack_plies
from turnier.core.errors import UserError
from turnier.results.outage import outlasting
from turnier.results.store import DEFAULT_URL
from turnier.results.store.annotations import Annotations
from turnier.results.store.columns import MATCH_FIELDS, MatchColumns
from turnier.results.store.curves import Curves
from turnier.results.store.database import BUSY_SECONDS, CHUNK, Database, chunks, now
from turnier.results.store.locks import Lock, this_process
from turnier.results.store.manifest import manifest
from turnier.results.store.match_blocks import MatchBlocks
from turnier.results.store.schema import matches, run_matches, run_votes, runs, seats
from turnier.results.store.searches import Searches

_MATCH_COLUMNS = (
    "id",
    "game",
    "seed",
    "max_plies",
    "opening",
    "termination",
    "seconds",
    "plies",
    "facts",
    "error",
    "created",
)
_OF_COLUMNS = [_MATCH_COLUMNS.index(name) for name in MATCH_FIELDS[1:]]
_SEAT_COLUMNS = ("match_number", "seat", "agent", "score", "decisions", "nodes", "seconds", "cpu_seconds")
LAST = "last"  # names the run that was begun last
_encode = json.JSONEncoder(default=float).encode


@dataclass(frozen=True)
class Run:
    """A tournament, study or another kind of run: its definition, and when and where it was begun."""

    id: str
    kind: str  # tournament | study | experiment | certainty | comparison | training | server
    name: str
    definition: dict[str, Any]
    created: datetime  # UTC
    environment: dict[str, Any]


class Store:
    """An open results store; also a context manager that closes it.

    Many processes may read and write at once. Every method raises UserError where the database fails.
    """

    def __init__(self, database: Database) -> None:
        self.database = database
        self.searches = Searches(database)
        self.curves = Curves(database)
        self.annotations = Annotations(database)
        self.blocks = MatchBlocks(database)

    @classmethod
    def open(cls, url: str = DEFAULT_URL, read_only: bool = False, patience: float = BUSY_SECONDS) -> Self:
        """Opens the store at a URL; creates it if there is none (unless `read_only`).

        Args:
            url: sqlite:///FILE or postgresql://USER:PASSWORD@HOST/NAME.
            read_only: refuse to write; a store that does not exist is then an error.
            patience: seconds to wait for a locked SQLite database.
        """
        return cls(Database(url, read_only, patience))

    @property
    def url(self) -> str:
        """The URL as SQLAlchemy and Optuna take it; it contains the password, so never print it."""
        return self.database.url

    @property
    def shown_url(self) -> str:
        """The URL without the password, to be shown."""
        return self.database.shown_url

    def close(self) -> None:
        self.database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @outlasting
    def begin_run(self, run_id: str, kind: str, name: str, definition: Mapping[str, Any]) -> None:
        """Stores a run; one that exists already stays as it is and must have the same definition."""
        row = {
            "id": run_id,
            "kind": kind,
            "name": name,
            "definition": json.dumps(definition, sort_keys=True),
            "created": now(),
            "environment": json.dumps(manifest()),
        }
        with self.database.writing() as connection:
            is_new = self.database.insert_many(connection, runs, tuple(row), [tuple(row.values())])
            self.blocks.begin(connection, run_id)
            if is_new:
                return
            stored = connection.execute(select(runs).where(runs.c.id == run_id)).one()
        if stored.kind != kind:
            raise UserError(f"run {run_id!r} must stay a {stored.kind}, got a {kind}; choose another name.")
        if stored.definition != row["definition"]:
            difference = _difference(json.loads(stored.definition), json.loads(row["definition"]))
            raise UserError(
                f"run {run_id!r} must keep its definition, got {difference}; choose another name for another {kind}."
            )

    @outlasting
    def runs(self) -> list[Run]:
        """Returns all runs, the oldest first."""
        with self.database.reading() as connection:
            rows = connection.execute(select(runs).order_by(runs.c.created, runs.c.id)).all()
        return [_run(row) for row in rows]

    @outlasting
    def run(self, run_id: str) -> Run:
        with self.database.reading() as connection:
            row = connection.execute(select(runs).where(runs.c.id == run_id)).one_or_none()
        if row is None:
            raise _unknown_run(run_id, self.runs())
        return _run(row)

    def find_run(self, text: str) -> Run:
        """Returns the only run whose id, with or without its kind, begins with the text; otherwise raises UserError.

        `last` is the run that was begun last.
        """
        query = select(runs.c.id).order_by(runs.c.created, runs.c.id)
        with self.database.reading() as connection:
            ids = list(connection.scalars(query))
        found = [i for i in ids if i == text] or [
            i for i in ids if text and (i.startswith(text) or i.partition(":")[2].startswith(text))
        ]
        if text == LAST and ids:
            found = ids[-1:]
        if len(found) > 1:
            which = ", ".join(sorted(found)[:5])
            raise UserError(f"a run must be named unambiguously, got {text!r}, which begins {which}; write more.")
        return self.run(found[0] if found else text)

    @outlasting
    def match_counts(self) -> dict[str, int]:
        """Returns the number of matches of every run that has any."""
        query = select(run_matches.c.run_id, func.count()).group_by(run_matches.c.run_id)
        with self.database.reading() as connection:
            return {run_id: count for run_id, count in connection.execute(query)}

    @outlasting
    def stored_counts(self) -> dict[str, int]:
        """Returns the number of matches and searches of every run that has any; also from a store of version 2."""
        with self.database.reading() as connection:
            searches = self.searches.counts() if inspect(connection).has_table(run_votes.name) else {}
        return dict(Counter(self.match_counts()) + Counter(searches))

    @outlasting
    def append(self, run_id: str, records: Iterable[MatchRecord]) -> int:
        """Stores matches of a run that has begun, all or none; returns the number of new ones.

        A match that is stored already (by any run) stays as it is and is linked to this run.
        """
        created = now()
        # All processes insert in the order of ids, so that two with the same matches cannot deadlock.
        batch = sorted(((record.spec.id, record) for record in records), key=itemgetter(0))
        rows = [
            (
                match_id,
                record.spec.game,
                record.spec.seed,
                record.spec.max_plies,
                len(record.spec.opening),
                record.termination.value,
                float(record.seconds),
                record.plies,
                _encode(record.facts) if record.facts else "{}",
                _storable(record.error) if record.error else "",
                created,
            )
            for match_id, record in batch
        ]
        with self.database.writing() as connection:
            new = self.database.insert_returning(connection, matches, _MATCH_COLUMNS, rows, ("id", "number"))
            numbers = dict(new)
            known = self._numbers(connection, [match_id for match_id, _ in batch if match_id not in numbers])
            match_seats = [
                (numbers[match_id], seat, *values)
                for match_id, record in batch
                if match_id in numbers
                for seat, values in enumerate(
                    zip(
                        record.spec.agents,
                        map(float, record.scores),
                        record.decisions,
                        record.nodes,
                        (None if math.isnan(seconds) else seconds for seconds in record.seat_seconds),
                        record.seat_cpu_seconds or [None] * len(record.scores),
                        strict=True,
                    )
                )
            ]
            self.database.insert_many(connection, seats, _SEAT_COLUMNS, match_seats)
            self._link(connection, run_id, known.values())
            self._attach(connection, run_id, numbers.values())
            added = [(numbers[row[0]], *(row[i] for i in _OF_COLUMNS)) for row in rows if row[0] in numbers]
            self.blocks.add(connection, run_id, MatchColumns.from_rows(sorted(added), sorted(match_seats)))
        return len(new)

    @outlasting
    def link(self, run_id: str, match_ids: Iterable[str]) -> None:
        """Attaches matches that are stored already (by any run) to a run that has begun."""
        ids = sorted(set(match_ids))
        with self.database.writing() as connection:
            numbers = self._numbers(connection, ids)
            self._link(connection, run_id, numbers.values())
            missing = len(ids) - len(numbers)
            if missing:
                raise UserError(f"matches must be stored to be linked to run {run_id!r}, but {missing} are not.")

    def _link(self, connection: Connection, run_id: str, numbers: Iterable[int]) -> None:
        """Attaches matches that were stored before to a run, in rows and in columns."""
        attached = self._attach(connection, run_id, numbers)
        self.blocks.add(connection, run_id, self.blocks.of_matches(connection, attached))

    def _attach(self, connection: Connection, run_id: str, numbers: Iterable[int]) -> list[int]:
        """Attaches matches to a run; returns the numbers of those that were not attached before."""
        rows = [(run_id, number) for number in sorted(numbers)]
        columns = ("run_id", "match_number")
        return [n for (n,) in self.database.insert_returning(connection, run_matches, columns, rows, columns[1:])]

    def _numbers(self, connection: Connection, match_ids: Iterable[str]) -> dict[str, int]:
        """Returns the numbers of the stored matches by id."""
        numbers: dict[str, int] = {}
        for ids in chunks(match_ids):
            query = select(matches.c.id, matches.c.number).where(self.database.among(matches.c.id, ids))
            numbers.update((row.id, row.number) for row in connection.execute(query))
        return numbers

    @outlasting
    def played(self, match_ids: Iterable[str]) -> set[str]:
        """Returns those of the ids whose matches are stored, by any run."""
        found: set[str] = set()
        with self.database.reading() as connection:
            for ids in chunks(match_ids):
                found.update(connection.scalars(select(matches.c.id).where(self.database.among(matches.c.id, ids))))
        return found

    @outlasting
    def discard_failures(self, match_ids: Iterable[str]) -> int:
        """Removes matches in which an agent failed, so that they are played again; returns their number."""
        failed = matches.c.termination.in_([end.value for end in Termination if not end.has_result])
        removed = 0
        with self.database.writing() as connection:
            for ids in chunks(match_ids):
                query = select(matches.c.number).where(self.database.among(matches.c.id, ids) & failed)
                numbers = list(connection.scalars(query))
                if numbers:
                    self.blocks.remove(connection, numbers)
                    connection.execute(delete(run_matches).where(run_matches.c.match_number.in_(numbers)))
                    connection.execute(delete(seats).where(seats.c.match_number.in_(numbers)))
                    connection.execute(delete(matches).where(matches.c.number.in_(numbers)))
                    removed += len(numbers)
        return removed

    @outlasting
    def records(self, match_ids: Iterable[str]) -> list[MatchRecord]:
        """Returns stored matches in the order of the ids; ids that are not stored are left out."""
        records: list[MatchRecord] = []
        with self.database.reading() as connection:
            for ids in chunks(match_ids):
                query = select(matches).where(self.database.among(matches.c.id, ids))
                rows = {row.id: row for row in connection.execute(query)}
                numbers = [row.number for row in rows.values()]
                by_match: dict[int, list[Row[Any]]] = defaultdict(list)
                match_seats = select(*map(self.database.stored, seats.columns))
                match_seats = match_seats.where(self.database.among(seats.c.match_number, numbers))
                for seat in connection.execute(match_seats.order_by(seats.c.match_number, seats.c.seat)):
                    by_match[seat.match_number].append(seat)
                records += [_record(rows[i], by_match[rows[i].number]) for i in ids if i in rows]
        return records

    def records_of_run(self, run_id: str) -> Iterator[list[MatchRecord]]:
        """Yields all matches of a run in the order in which they were stored, CHUNK at a time."""
        last = 0
        query = select(matches.c.number, matches.c.id).join(run_matches, run_matches.c.match_number == matches.c.number)
        query = query.where(run_matches.c.run_id == run_id).order_by(run_matches.c.match_number).limit(CHUNK)
        while True:
            with self.database.reading() as connection:
                some = connection.execute(query.where(run_matches.c.match_number > last)).all()
            if not some:
                return
            last = some[-1].number
            yield self.records([row.id for row in some])

    @outlasting
    def fact_names(self, run_id: str) -> list[str]:
        """Returns the names of the facts in a run's matches, for each game as in its first match."""
        first = select(func.min(matches.c.number)).join(run_matches, run_matches.c.match_number == matches.c.number)
        numbers = first.where(run_matches.c.run_id == run_id).group_by(matches.c.game)
        query = select(matches.c.facts).where(matches.c.number.in_(numbers)).order_by(matches.c.number)
        with self.database.reading() as connection:
            return list(dict.fromkeys(name for facts in connection.scalars(query) for name in json.loads(facts)))

    def record(self, match_id: str) -> MatchRecord:
        """Returns one stored match; `turnier.arena.play.replay` plays it again."""
        records = self.records([match_id])
        if not records:
            raise UserError(f"a match must be stored to be shown, but {match_id!r} is not; copy its id from a table.")
        return records[0]

    def find_record(self, text: str) -> MatchRecord:
        """Returns the only stored match whose id begins with the text; otherwise raises UserError."""
        query = select(matches.c.id).where(matches.c.id.startswith(text, autoescape=True)).limit(2)
        with self.database.reading() as connection:
            found = list(connection.scalars(query))
        if len(found) > 1:
            raise UserError(f"an id must name one match, but several begin with {text!r}; type more of it.")
        return self.record(found[0] if found else text)

    def lock(self, name: str, holder: str | None = None) -> Lock:
        """Takes the lock with that name; raises UserError that names the holder where another one has it.

        A lock is taken over if its holder gave no heartbeat for 30 s, or is an ended process of this machine. Use it as
        a context manager, which keeps the heartbeat going, and call `heartbeat` where losing the lock matters: it
        raises where another process has taken over.
        """
        return Lock(self.database, name, holder or this_process())


def _unknown_run(text: str, known: Sequence[Run]) -> UserError:
    """Returns the error for a run that does not exist, with the nearest that do."""
    if not known:
        return UserError(f"There is no run named {text!r}, since none is stored; `turnier tournament ...` makes one.")
    named = {run.id: f"{run.id} ({run.name})" for run in known}
    close = difflib.get_close_matches(text, named, n=3, cutoff=0.3) or [known[-1].id]
    return UserError(
        f"There is no run named {text!r}; the nearest are {', '.join(named[run] for run in close)}; `turnier status`"
        " lists all."
    )


def _storable(text: str) -> str:
    """Returns the text without what databases refuse: NUL (PostgreSQL) and halves of surrogate pairs."""
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}").encode("utf-8", "replace").decode()


def _difference(old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    """Names the first part of a definition that changed."""
    key = next(key for key in sorted({*old, *new}) if old.get(key) != new.get(key) or (key in old) != (key in new))
    shown = ["nothing" if key not in part else json.dumps(part[key])[:200] for part in (new, old)]
    return f"{key} = {shown[0]} where {shown[1]} is stored"


def _run(row: Row[Any]) -> Run:
    definition, environment = json.loads(row.definition), json.loads(row.environment)
    return Run(row.id, row.kind, row.name, definition, datetime.fromisoformat(row.created), environment)


def _record(match: Row[Any], match_seats: list[Row[Any]]) -> MatchRecord:
    opening = tuple(unpack_plies(match.plies)[: match.opening].tolist()) if match.opening else ()
    return MatchRecord(
        MatchSpec(match.game, tuple(seat.agent for seat in match_seats), match.seed, match.max_plies, opening),
        Termination(match.termination),
        tuple(seat.score for seat in match_seats),
        tuple(seat.decisions for seat in match_seats),
        tuple(seat.nodes for seat in match_seats),
        tuple(math.nan if seat.seconds is None else seat.seconds for seat in match_seats),
        match.seconds,
        match.plies,
        json.loads(match.facts),
        match.error,
        tuple(seat.cpu_seconds for seat in match_seats if seat.cpu_seconds is not None),  # of all seats or of none
    )
