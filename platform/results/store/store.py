"""The results store: runs, matches and repeated searches, in SQLite or PostgreSQL. It stores facts; frames compute."""

from __future__ import annotations

import contextlib
import json
import time
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Self

from sqlalchemy import ColumnElement, Connection, Row, select

from ...arena.match import MatchRecord
from ...arena.played import names_of, specs_of
from ...core.errors import UserError
from ..integrity.checksums import checksum, differs, mark_of
from ..integrity.match_rows import MATCH_COLUMNS, SEAT_COLUMNS, MatchRows, rows_of
from ..integrity.records import Records
from ..integrity.replays import FAILURES, remove_failures
from ..integrity.totals import Totals
from ..outage import outlasting
from ..packed.table import PackedTable
from ..run_mistakes import difference_of, unknown_run
from . import Place, url_of
from .annotations import Annotations
from .curves import Curves
from .database import BUSY_SECONDS, Database, chunks, now
from .locks import Held, Lock, this_process
from .manifest import manifest
from .match_blocks import MatchBlocks
from .schema import matches, run_matches, runs, seats
from .searches import Searches

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


class Store(Records):
    """An open results store; also a context manager that closes it.

    Many processes may read and write at once. Every method raises UserError if the database fails.
    """

    def __init__(self, database: Database) -> None:
        self.database = database
        self.totals = Totals(database)
        self.packed = PackedTable(database, self.totals)
        self.blocks = MatchBlocks(database, self.totals, self.packed)
        self.searches = Searches(database, self.totals)
        self.curves = Curves(database, self.totals, self.blocks)
        self.annotations = Annotations(database, self.totals, self.packed)
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
        self.annotations.keep_code(run_id, {name for names in names_of(specs_of(records)) for name in names})
        # All processes insert in the order of ids, so that two with the same matches cannot deadlock.
        return self.append_rows(run_id, rows_of(records, created)) if records else 0

    def append_rows(self, run_id: str, batch: MatchRows) -> int:
        """Stores matches, each once, as `append` does."""
        ids, games, *_ = batch.matches
        with self.database.writing() as connection:
            self.packed.lock(connection, games)
            if not self.packed.of_others(connection, ids):
                return self._insert(connection, run_id, batch)
        with self.database.writing() as connection:  # again, since a lock that others share cannot become one's own
            self.packed.lock(connection, games, alone=True)
            self.packed.unpack(connection, ids, self._attach_unpacked)
            return self._insert(connection, run_id, batch)

    def _insert(self, connection: Connection, run_id: str, batch: MatchRows) -> int:
        """Stores matches of which none is packed."""
        rows = list(zip(*batch.matches, strict=True))
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
        with self.database.reading() as connection:
            games = self.packed.of_others(connection, ids, run_id)
        with self.database.writing() as connection:
            self.packed.lock(connection, games, alone=True)
            self.packed.unpack(connection, ids, self._attach_unpacked, run_id)
            numbers = self._numbers(connection, ids)
            attached = self._attach(connection, run_id, numbers)
            self.blocks.add(connection, run_id, attached)
            packed = sum(len(places) for _, places in self.packed.with_ids(connection, ids))
            missing = len(ids) - len(numbers) - packed
            if missing:
                raise UserError(f"matches must be stored to be linked to run {run_id!r}, but {missing} are not.")

    def _attach_unpacked(
        self, connection: Connection, run_id: str, rows: MatchRows, numbers: Mapping[str, int]
    ) -> None:
        """Gives matches that were packed to their run, which counts them already."""
        links = [(run_id, number) for number in sorted(numbers.values())]
        self.database.insert_new(connection, run_matches, ("run_id", "match_number"), links)
        self.blocks.add(connection, run_id, sorted(numbers.values()), lambda: rows.columns(numbers))

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
                found |= self._packed(connection, ids, found)
        return found

    def _packed(self, connection: Connection, ids: Sequence[str], found: Collection[str]) -> set[str]:
        """Returns those ids of packed games that have not been found."""
        rest = [match_id for match_id in ids if match_id not in found]
        rows = [(packed.id_texts(), places) for packed, places in self.packed.with_ids(connection, rest)]
        return {texts[place] for texts, places in rows for place in places}

    @outlasting
    def adopt(self, run_id: str, match_ids: Sequence[str]) -> set[str]:
        """Attaches those of at most CHUNK matches that `played` returns to a run; returns them."""
        own, c = (run_matches.c.match_number == matches.c.number) & (run_matches.c.run_id == run_id), matches.c
        query = select(c.id, run_matches.c.run_id).outerjoin(run_matches, own)
        with self.database.reading() as connection:
            chosen = self.database.among(c.id, match_ids) & c.termination.not_in(FAILURES)
            found = dict(map(tuple, connection.execute(query.where(chosen))))
            found |= dict.fromkeys(self._packed(connection, match_ids, found))
        self.link(run_id, [match_id for match_id, run in found.items() if run is None])
        return set(found)

    def lock(self, name: str, holder: str | None = None, patience: float = 0.0) -> Lock:
        """Takes the lock with that name; raises Held, which names the holder, if it is still held after `patience` s.

        A lock is taken over if its holder gave no heartbeat for 30 s, or is an ended process of this machine. Use it as
        a context manager, which keeps the heartbeat going, and call `heartbeat` where losing the lock matters: it
        raises if another process has taken over.
        """
        deadline = time.monotonic() + patience
        while True:
            try:
                return Lock(self.database, name, holder or this_process())
            except Held:
                if time.monotonic() >= deadline:
                    raise
            time.sleep(0.1)
