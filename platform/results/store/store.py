"""The results store: runs, matches and repeated searches, in SQLite or PostgreSQL. It stores facts; frames compute."""

from __future__ import annotations

import contextlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Self

from sqlalchemy import ColumnElement, Connection, Row, select

from ...arena.match import MatchRecord
from ...arena.played import specs_of
from ...core.errors import UserError
from ..archive.reading import archive_of_run
from ..integrity.checksums import checksum, differs, mark_of
from ..integrity.match_rows import (
    MATCH_COLUMNS,
    SEAT_COLUMNS,
    DamagedMatch,
    MatchRows,
    read_matches,
    record_of,
    rows_of,
)
from ..integrity.replays import FAILURES, remove_failures
from ..integrity.totals import Totals, difference
from ..outage import outlasting
from ..run_mistakes import difference_of, unknown_run
from . import Place, url_of
from .annotations import Annotations
from .curves import Curves
from .database import BUSY_SECONDS, CHUNK, Database, chunks, now
from .locks import Lock, this_process
from .manifest import manifest
from .match_blocks import MatchBlocks
from .schema import matches, run_matches, runs, seats
from .searches import Searches

OnDamage = Callable[[DamagedMatch], object]
LAST = "last"  # the name of the run begun last


@dataclass(frozen=True)
class Run:
    """A tournament, study or another kind of run: its definition, the time of its beginning and its environment."""

    id: str
    kind: str  # tournament | study | experiment | certainty | comparison | training | server
    name: str
    definition: dict[str, Any]
    created: datetime  # UTC
    environment: dict[str, Any]


class Store:
    """An open results store; also a context manager that closes it.

    Many processes may read and write at once. Every method raises UserError if the database fails.
    """

    def __init__(self, database: Database) -> None:
        self.database = database
        self.totals = Totals(database)
        self.blocks = MatchBlocks(database, self.totals)
        self.searches = Searches(database, self.totals)
        self.curves = Curves(database, self.totals, self.blocks)
        self.annotations = Annotations(database, self.totals)
        self.with_older_games: set[str] = set()  # runs that may have games from before the store was opened

    @classmethod
    def open(cls, place: Place = None, read_only: bool = False, patience: float = BUSY_SECONDS) -> Self:
        """Opens a store, which closes at the latest when it is no longer referenced; creates a missing one unless
        `read_only`.

        Args:
            place: such as turnier.db, sqlite:///FILE or postgresql://USER:PASSWORD@HOST/NAME.
            read_only: refuse to write; a missing store is then an error.
            patience: seconds to wait for a locked SQLite database.
        """
        store = cls(Database(url_of(place), read_only, patience))
        with contextlib.suppress(UserError):  # of damage, which other readers report
            store.annotations.read_names()
        return store

    @property
    def url(self) -> str:
        """The URL for SQLAlchemy and Optuna; it contains the password, so never print it."""
        return self.database.url

    @property
    def shown_url(self) -> str:
        """The URL without the password, for display."""
        return self.database.shown_url

    def close(self) -> None:
        self.annotations.forget_names()
        self.database.close()

    def __repr__(self) -> str:
        return f"Store({self.shown_url})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @outlasting
    def begin_run(
        self, run_id: str, kind: str, name: str, definition: Mapping[str, Any], created: str | None = None
    ) -> None:
        """Stores a run; an existing one stays unchanged and must have the same definition.

        An imported run has been `created` elsewhere: UTC, ISO 8601.
        """
        row: dict[str, Any] = {
            "id": run_id,
            "kind": kind,
            "name": name,
            "definition": json.dumps(definition, sort_keys=True),
            "created": created or now(),
            "environment": json.dumps(manifest()),
        }
        row["checksum"] = checksum(*row.values())
        with self.database.writing() as connection:
            is_new = self.database.insert_many(connection, runs, tuple(row), [tuple(row.values())])
            if is_new:
                self.totals.begin(connection, run_id, {})
                self.blocks.begin(connection, run_id)
            else:
                self.with_older_games.add(run_id)
            query = select(runs).where(runs.c.id == run_id)
            # Processes that begin the same run wait for each other.
            stored = self._checked(connection.execute(query.with_for_update(key_share=True)).one())
        self.annotations.refuse_archived(run_id)
        if stored.kind != kind:
            raise UserError(f"run {run_id!r} must stay a {stored.kind}, got a {kind}; choose another name.")
        if stored.definition != row["definition"]:
            with self.database.decoding(f"the definition of {run_id}"):
                difference = difference_of(json.loads(stored.definition), json.loads(row["definition"]))
            raise UserError(
                f"run {run_id!r} must keep its definition, got {difference}; choose another name for another {kind}."
            )
        self.annotations.keep_code(run_id, [row["definition"]])
        self.annotations.keep_names(run_id, row["definition"])

    @outlasting
    def runs(self) -> list[Run]:
        """Returns all runs, the oldest first."""
        with self.database.reading() as connection:
            rows = self._run_rows(connection)
            lost = self.totals.of_runs(connection, run_matches).keys() - {row.id for row in rows}
        if lost:
            raise self.database.damaged(f"the run {min(lost)} is missing")
        return [self.run_of(row) for row in rows]

    @outlasting
    def run(self, run_id: str) -> Run:
        with self.database.reading() as connection:
            row = next(iter(self._run_rows(connection, runs.c.id == run_id)), None)
        if row is None:
            known = self.runs()
            if run_id in {run.id for run in known}:
                raise self.database.damaged(f"the index of runs lacks {run_id}")
            raise unknown_run(run_id, {each.id: each.name for each in known})
        return self.run_of(row)

    def run_rows(self) -> Sequence[Row[Any]]:
        """Returns the rows of all runs, unchecked, the oldest first."""
        with self.database.reading() as connection:
            return self._run_rows(connection)

    def run_of(self, row: Row[Any]) -> Run:
        """Returns the run of a row; raises Damaged if it is not as it was stored."""
        with self.database.decoding(f"the run {row.id}"):
            definition, environment = json.loads(self._checked(row).definition), json.loads(row.environment)
            return Run(row.id, row.kind, row.name, definition, datetime.fromisoformat(row.created), environment)

    def _run_rows(self, connection: Connection, *chosen: ColumnElement[bool]) -> Sequence[Row[Any]]:
        query = select(runs).where(*chosen)
        return connection.execute(query.order_by(runs.c.created, runs.c.id)).all()

    def _checked(self, row: Row[Any]) -> Row[Any]:
        """Returns the row of a run; raises Damaged if it differs from its checksum."""
        if differs(row, *row[:-1]):
            raise self.database.damaged(f"the run {row.id} differs from its checksum")
        return row

    def find_run(self, text: str) -> Run:
        """Returns the only run with that name, or with that prefix of its id, with or without the kind; or raises
        UserError.

        `last` is the run begun last.
        """
        query = select(runs.c.id, runs.c.name).order_by(runs.c.created, runs.c.id)
        with self.database.reading() as connection:
            names = dict(connection.execute(query).all())
        ids = list(names)
        found = [i for i in ids if i == text] or [
            i for i in ids if text and text in (names[i], i[: len(text)], i.partition(":")[2][: len(text)])
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
        return self.totals.counts(run_matches, self.blocks.counts())

    @outlasting
    def stored_counts(self) -> dict[str, int]:
        """Returns the number of matches and searches of every run that has any."""
        return dict(Counter(self.match_counts()) + Counter(self.searches.counts()))

    @outlasting
    def append(self, run_id: str, records: Sequence[MatchRecord]) -> int:
        """Stores matches of a run that has begun, all or none; returns the number of new ones.

        A match that is already stored (by any run) is linked to this run; a void one is replaced.
        """
        created = now()
        self.annotations.keep_code(
            run_id, {name for names in {spec.names for spec in specs_of(records)} for name in names}
        )
        # All processes insert in the order of ids, so that two with the same matches cannot deadlock.
        return self.append_rows(run_id, rows_of(records, created)) if records else 0

    def append_rows(self, run_id: str, batch: MatchRows) -> int:
        """Stores matches, each once, as `append` does."""
        rows = list(zip(*batch.matches, strict=True))
        with self.database.writing() as connection:
            numbers = self.database.insert_numbered(connection, matches, MATCH_COLUMNS, rows)
            stored = {row[0]: row for row in rows if row[0] not in numbers}
            replaced, had = remove_failures(self.blocks, connection, run_id, stored)
            again = [stored[match_id] for match_id in replaced]
            numbers |= self.database.insert_numbered(connection, matches, MATCH_COLUMNS, again) if again else {}
            known = self._numbers(connection, [match_id for match_id in stored if match_id not in numbers])
            self.database.insert_new(connection, seats, SEAT_COLUMNS, batch.seat_rows(numbers))

            # The totals' row before the blocks' rows, as everywhere, so two processes on one run cannot deadlock.
            attached = {run_id: self._attach(connection, run_id, known, numbers)}
            for other in had.keys() - {run_id}:
                attached[other] = self._attach(connection, other, {i: numbers[i] for i in had[other]})
            self.blocks.add(connection, run_id, sorted(numbers.values()), lambda: batch.columns(numbers))
            for each, some in attached.items():
                self.blocks.add(connection, each, some)
        return len(numbers)

    @outlasting
    def link(self, run_id: str, match_ids: Iterable[str]) -> None:
        """Attaches matches that are already stored (by any run) to a run that has begun."""
        ids = sorted(set(match_ids))
        self.with_older_games.update([run_id] if ids else [])
        with self.database.writing() as connection:
            numbers = self._numbers(connection, ids)
            attached = self._attach(connection, run_id, numbers)
            self.blocks.add(connection, run_id, attached)
            missing = len(ids) - len(numbers)
            if missing:
                raise UserError(f"matches must be stored to be linked to run {run_id!r}, but {missing} are not.")

    def _attach(
        self, connection: Connection, run_id: str, known: Mapping[str, int], new: Mapping[str, int] | None = None
    ) -> list[int]:
        """Attaches matches (id -> number) to a run; returns the numbers of `known` that were not attached before.

        Args:
            connection, run_id: of the transaction, and the run.
            known: matches that may be attached already.
            new: matches stored by this transaction.
        """
        columns, added = ("run_id", "match_number"), new or {}
        self.database.insert_new(connection, run_matches, columns, [(run_id, n) for n in sorted(added.values())])
        ids = {number: match_id for match_id, number in known.items()}
        rows = [(run_id, number) for number in sorted(ids)]
        before = [n for (n,) in self.database.insert_returning(connection, run_matches, columns, rows, columns[1:])]
        self.totals.add(connection, run_id, run_matches, map(mark_of, (*added, *(ids[number] for number in before))))
        return before

    def _numbers(self, connection: Connection, match_ids: Iterable[str]) -> dict[str, int]:
        """Returns the numbers of the stored matches by id."""
        numbers: dict[str, int] = {}
        for ids in chunks(match_ids):
            query = select(matches.c.id, matches.c.number).where(self.database.among(matches.c.id, ids))
            numbers.update(map(tuple, connection.execute(query)))
        return numbers

    @outlasting
    def played(self, match_ids: Iterable[str]) -> set[str]:
        """Returns the ids of stored matches, by any run, unless they are void."""
        found: set[str] = set()
        query = select(matches.c.id).where(matches.c.termination.not_in(FAILURES))
        with self.database.reading() as connection:
            for ids in chunks(match_ids):
                found.update(connection.scalars(query.where(self.database.among(matches.c.id, ids))))
        return found

    @outlasting
    def adopt(self, run_id: str, match_ids: Sequence[str]) -> set[str]:
        """Attaches those of at most CHUNK matches that `played` returns to a run; returns them."""
        own, c = (run_matches.c.match_number == matches.c.number) & (run_matches.c.run_id == run_id), matches.c
        query = select(c.id, run_matches.c.run_id).outerjoin(run_matches, own)
        with self.database.reading() as connection:
            chosen = self.database.among(c.id, match_ids) & c.termination.not_in(FAILURES)
            found = connection.execute(query.where(chosen)).all()
        self.link(run_id, [one.id for one in found if one.run_id is None])
        return {one.id for one in found}

    @outlasting
    def records(self, match_ids: Iterable[str]) -> list[MatchRecord]:
        """Returns stored matches in the order of the ids; unknown ids are left out."""
        return [self._whole(found) for found in self.records_or_damage(match_ids)]

    def records_or_damage(self, match_ids: Iterable[str]) -> list[MatchRecord | DamagedMatch]:
        """Returns stored matches as `records` does, and a DamagedMatch for each damaged one."""
        records: list[MatchRecord | DamagedMatch] = []
        with self.database.reading() as connection:
            for ids in chunks(match_ids):
                chosen = self.database.among(matches.c.id, ids)
                found = {one.row.id: one for one in read_matches(self.database, connection, chosen)}
                records += [record_of(found[match_id]) for match_id in ids if match_id in found]
        return records

    def _whole(self, found: MatchRecord | DamagedMatch) -> MatchRecord:
        if isinstance(found, DamagedMatch):
            raise self.database.damaged(str(found))
        return found

    def records_of_run(self, run_id: str, damage: OnDamage | None = None) -> Iterator[list[MatchRecord]]:
        """Yields all matches of a run in the order in which they were stored, CHUNK at a time.

        Args:
            run_id: the run.
            damage: called for damaged or missing matches, which are left out, instead of raising Damaged.
        """
        with self.database.reading() as connection:
            archive = archive_of_run(self.database, connection, run_id)
            known, found = self.totals.of_run(connection, run_id, run_matches)
        if archive is not None:
            yield from archive.records()
            return
        if known != found:
            lost = DamagedMatch(0, "", f"{run_id} has {difference(known, found)} in {run_matches.name}")
            (damage or self._whole)(lost)
        yield from self._records_of_run(run_id, damage or self._whole)

    def _records_of_run(self, run_id: str, damage: OnDamage) -> Iterator[list[MatchRecord]]:
        last, c = 0, run_matches.c
        query = select(c.match_number).where(c.run_id == run_id).order_by(c.match_number).limit(CHUNK)
        while True:
            with self.database.reading() as connection:
                numbers = list(connection.scalars(query.where(c.match_number > last)))
                chosen = self.database.among(matches.c.number, numbers)
                found = {one.row.number: record_of(one) for one in read_matches(self.database, connection, chosen)}
            if not numbers:
                return
            last, records = numbers[-1], []
            for number in numbers:
                one = found.get(number, DamagedMatch(number, "", "its row is missing"))
                if isinstance(one, MatchRecord):
                    records.append(one)
                else:
                    damage(one)
            yield records

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
        """Takes the lock with that name; raises Held, which names the holder, if another one has it.

        A lock is taken over if its holder gave no heartbeat for 30 s, or is an ended process of this machine. Use it as
        a context manager, which keeps the heartbeat going, and call `heartbeat` where losing the lock matters: it
        raises if another process has taken over.
        """
        return Lock(self.database, name, holder or this_process())
