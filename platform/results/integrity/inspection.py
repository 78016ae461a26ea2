"""Looks at everything in a store: `inspect` says what is damaged, what is lost by it, and what can be repaired.

It reads all rows, where commands read and check only what they show. What it needs to repair is here too:

- indexes: SQLite's `REINDEX` (findings of INDEX);
- columns: `store.blocks.rebuild(connection, run)`, which refuses to copy damaged rows (findings of COLUMNS);
- totals: `store.totals.recount(connection, run, table)`, after which rows that are lost are no longer missed;
- games and searches that are damaged can only be deleted, and are played again when their run is repeated.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlalchemy import ColumnElement, Select, Table, func, select

from turnier.core.errors import UserError
from turnier.results.integrity.match_rows import read_matches
from turnier.results.integrity.totals import COUNTED, difference
from turnier.results.store.columns import MatchColumns, Texts
from turnier.results.store.database import CHUNK
from turnier.results.store.progress import reported
from turnier.results.store.schema import (
    match_columns,
    matches,
    run_matches,
    run_progress,
    run_totals,
    run_votes,
    runs,
    seats,
    votes,
)
from turnier.results.store.store import Store

_OF_INDEX = re.compile("index", re.IGNORECASE)
STRUCTURE_LINES = 100  # of SQLite's own check
NULLS = "stored by an earlier version, without a checksum: damage to scores and times would not be noticed"


class Kind(enum.StrEnum):
    """What is wrong."""

    STRUCTURE = "structure"  # pages of the SQLite file
    INDEX = "index"  # entries of an index; the rows are whole
    ROW = "row"  # a row is not what was stored
    MISSING = "missing"  # rows of a run have gone
    COLUMNS = "columns"  # the copy of a run's games as columns
    ORPHAN = "orphan"  # rows that belong to nothing: they are never shown
    UNCHECKED = "unchecked"  # no damage: there is nothing to check it by


@dataclass(frozen=True)
class Finding:
    """Something that is not as it was stored."""

    kind: Kind
    table: str
    lost: str  # what is wrong and what is lost by it, as part of a sentence
    run: str = ""  # id; empty where it is not of one run
    game: str = ""  # id of the match or of the search; empty where it is neither, or has gone
    repairable: bool = False  # without losing anything

    @property
    def is_damage(self) -> bool:
        return self.kind is not Kind.UNCHECKED

    def __str__(self) -> str:
        return ": ".join(part for part in (self.run, self.lost) if part)


def inspect(store: Store) -> Iterator[Finding]:
    """Yields all that is wrong in a store, the worst first; reads every row, 20,000 games per second."""
    found: list[Finding] = []
    for table, look in (
        ("", _structure),
        (runs.name, _runs),
        (matches.name, _matches),
        (run_totals.name, _totals),
        (match_columns.name, lambda store: _columns(store, found)),
        (votes.name, _searches),
        (run_progress.name, _progress),
        (seats.name, _orphans),
    ):
        for finding in _read(store, table, look):
            found.append(finding)
            yield finding


def _read(store: Store, table: str, look: Callable[[Store], Iterator[Finding]]) -> Iterator[Finding]:
    """Yields what one part finds; where it cannot be read at all, that."""
    try:
        yield from look(store)
    except UserError as error:
        yield Finding(Kind.STRUCTURE, table, str(error))


def _structure(store: Store) -> Iterator[Finding]:
    for line in store.database.structure(STRUCTURE_LINES):
        kind = Kind.INDEX if _OF_INDEX.search(line) else Kind.STRUCTURE
        yield Finding(kind, "", f"SQLite finds: {line}", repairable=kind is Kind.INDEX)


def _runs(store: Store) -> Iterator[Finding]:
    for row in store.run_rows():
        try:
            run = store.run_of(row)
        except UserError as error:
            yield Finding(Kind.ROW, runs.name, str(error), run=str(row.id))
            continue
        if row.checksum is None:
            yield Finding(Kind.UNCHECKED, runs.name, f"begun on {run.created:%Y-%m-%d} by an earlier version", run.id)
    with store.database.reading() as connection:
        known = set(connection.scalars(select(runs.c.id)))
        for lost in sorted(store.totals.of_runs(connection, run_matches).keys() - known):
            yield Finding(Kind.MISSING, runs.name, "its definition has gone, its games are there", run=lost)


def _matches(store: Store) -> Iterator[Finding]:
    """Checks all games, also those of no run."""
    last, unchecked = 0, 0
    while True:
        with store.database.reading() as connection:
            some = connection.scalars(_after(matches, last)).all()
            if not some:
                break
            numbers = store.database.among(matches.c.number, some)
            wrong = [one for one in read_matches(store.database, connection, numbers) if one.wrong]
            for row, _, what in wrong:
                having = select(run_matches.c.run_id).where(run_matches.c.match_number == row.number)
                for run in connection.scalars(having).all() or [""]:
                    yield Finding(Kind.ROW, matches.name, f"the game {row.id}: {what}", run, str(row.id))
            if not store.database.lacks(run_totals):
                nulls = select(func.count()).where(numbers & matches.c.checksum.is_(None))
                unchecked += connection.scalar(nulls) or 0
        last = some[-1]
    if unchecked:
        yield Finding(Kind.UNCHECKED, matches.name, f"{unchecked:,} games were {NULLS}")


def _totals(store: Store) -> Iterator[Finding]:
    for row in store.run_rows():
        with store.database.reading() as connection:
            totals = [(table, *store.totals.of_run(connection, row.id, table)) for table in COUNTED]
            having = store.totals.of_runs(connection, run_matches)
        if row.checksum is not None and row.id not in having:
            yield Finding(Kind.MISSING, run_totals.name, "its totals have gone", run=row.id)
        for table, known, found in totals:
            if known != found:
                yield Finding(Kind.MISSING, table.name, f"{difference(known, found)} in {table.name}", run=row.id)


def _columns(store: Store, before: list[Finding]) -> Iterator[Finding]:
    """Compares columns with rows; `before` are earlier findings, since columns are made anew from whole rows only."""
    lossy = {one.run for one in before if one.is_damage and one.table in (matches.name, run_matches.name)}
    for row in store.run_rows():
        try:
            with store.database.reading() as connection:
                same = _same(store.blocks.of_run(connection, row.id), store.blocks.of_rows(connection, row.id))
            what = "" if same else "the copy of its games as columns differs from their rows"
        except UserError as error:
            what = str(error)
        if what and row.id in lossy:
            what += " (some of its games are damaged)"
        if what:
            yield Finding(Kind.COLUMNS, match_columns.name, what, row.id, repairable=row.id not in lossy)


def _same(columns: MatchColumns, rows: MatchColumns) -> bool:
    pairs: list[tuple[Any, Any]] = list(zip(columns, rows, strict=True))
    return all(
        np.array_equal(mine.values[mine.codes], other.values[other.codes])
        if isinstance(mine, Texts)
        else np.array_equal(mine, other, equal_nan=mine.dtype.kind == "f")
        for mine, other in pairs
    )


def _searches(store: Store) -> Iterator[Finding]:
    if store.database.lacks(run_votes):
        return
    for row in store.run_rows():
        try:
            store.searches.of_run(row.id)
        except UserError as error:
            yield Finding(Kind.ROW, votes.name, str(error), run=row.id)


def _progress(store: Store) -> Iterator[Finding]:
    try:
        reported(store)
    except UserError as error:
        yield Finding(Kind.ROW, run_progress.name, str(error))


def _orphans(store: Store) -> Iterator[Finding]:
    """Counts rows whose match or run has gone, and games that no run has."""
    pairs: list[tuple[Table, ColumnElement[int], ColumnElement[int], str]] = [
        (seats, seats.c.match_number, matches.c.number, "seats of no game"),
        (run_matches, run_matches.c.match_number, matches.c.number, "games of runs have no row"),
        (matches, matches.c.number, run_matches.c.match_number, "games of no run"),
    ]
    with store.database.reading() as connection:
        for table, mine, other, what in pairs:
            count = connection.scalar(select(func.count()).select_from(table).where(mine.not_in(select(other)))) or 0
            if count:
                kind = Kind.MISSING if table is run_matches else Kind.ORPHAN
                yield Finding(kind, table.name, f"{count:,} {what}", repairable=kind is Kind.ORPHAN)


def _after(table: Table, last: int) -> Select[int]:
    return select(table.c.number).where(table.c.number > last).order_by(table.c.number).limit(CHUNK)
