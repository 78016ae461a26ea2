"""The matches of each run stored once more, as columns: a million games are read in the time of ten thousand rows.

Rows are the facts, and columns are written in the same transaction. A run has columns from its beginning on, be they
empty; the rows of one that has none (an earlier version stored it) are read instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from sqlalchemy import Connection, Select, delete, insert, select, update

from turnier.results.store.columns import MATCH_FIELDS, SEAT_FIELDS, MatchColumns
from turnier.results.store.database import Database
from turnier.results.store.schema import match_columns, matches, run_matches, runs, seats

MERGED = 32  # parts of about the same size that become one
MOST = 1 << 18  # matches in a part: some 30 MB


class MatchBlocks:
    """Reads and writes matches as columns, within the transactions of the store."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def begin(self, connection: Connection, run_id: str) -> None:
        """Gives a run columns; those of an earlier version's matches, where it has any."""
        one = select(runs.c.id).where(runs.c.id == run_id)
        connection.execute(one.with_for_update(key_share=True))  # two that begin it wait for each other
        if not self._has_columns(connection, run_id):
            self._insert(connection, run_id, -1, self._from_rows(connection, run_id))

    def add(self, connection: Connection, run_id: str, columns: MatchColumns) -> None:
        """Stores matches that were just attached to a run. Small parts are merged, so that there are never many."""
        if not self._has_columns(connection, run_id):
            return
        level, part = 0, columns
        while len(part.number):
            self._insert(connection, run_id, level, part)
            table = match_columns.c
            same = select(table.number).where((table.run_id == run_id) & (table.level == level))
            # Two who merge wait for each other; the second then finds nothing left to merge.
            numbers = list(connection.scalars(same.order_by(table.number).with_for_update()))
            if len(numbers) < MERGED:
                return
            parts = select(table.matches, table.data).where(table.number.in_(numbers)).order_by(table.number)
            found = connection.execute(parts).all()
            if sum(count for count, _ in found) > MOST:
                connection.execute(update(match_columns).where(table.number.in_(numbers)).values(level=-1))
                return
            connection.execute(delete(match_columns).where(table.number.in_(numbers)))
            level, part = level + 1, MatchColumns.concatenated([MatchColumns.from_bytes(data) for _, data in found])

    def remove(self, connection: Connection, numbers: Sequence[int]) -> None:
        """Takes matches out of the columns of all their runs; `run_matches` must still have them."""
        its_runs = select(run_matches.c.run_id).where(run_matches.c.match_number.in_(numbers)).distinct()
        table = match_columns.c
        query = select(table.number, table.data).where(table.run_id.in_(its_runs)).order_by(table.number)
        for number, data in connection.execute(query.with_for_update()).all():
            part = MatchColumns.from_bytes(data)
            keep = np.flatnonzero(~np.isin(part.number, numbers))
            if len(keep) < len(part.number):
                left = {"matches": len(keep), "data": part.take(keep).to_bytes()}
                connection.execute(update(match_columns).where(table.number == number).values(left))

    def of_run(self, connection: Connection, run_id: str) -> MatchColumns:
        """Returns all matches of a run in the order of their numbers."""
        if not self._has_columns(connection, run_id):
            return self._from_rows(connection, run_id)
        query = select(match_columns.c.data).where(match_columns.c.run_id == run_id)
        blocks = [MatchColumns.from_bytes(data) for data in connection.scalars(query)]
        return MatchColumns.concatenated(blocks).in_order()

    def of_matches(self, connection: Connection, numbers: Iterable[int]) -> MatchColumns:
        """Returns stored matches by their numbers, from their rows."""
        parts = [self._read(connection, some) for some in _some(sorted(numbers))]
        return MatchColumns.concatenated(parts)

    def _has_columns(self, connection: Connection, run_id: str) -> bool:
        if self.database.lacks(match_columns):
            return False
        some = select(match_columns.c.number).where(match_columns.c.run_id == run_id).limit(1)
        return connection.scalar(some) is not None

    def _insert(self, connection: Connection, run_id: str, level: int, part: MatchColumns) -> None:
        row = {"run_id": run_id, "level": level, "matches": len(part.number), "data": part.to_bytes()}
        connection.execute(insert(match_columns).values(row))

    def _from_rows(self, connection: Connection, run_id: str) -> MatchColumns:
        return self._read(connection, select(run_matches.c.match_number).where(run_matches.c.run_id == run_id))

    def _read(self, connection: Connection, numbers: Sequence[int] | Select[tuple[int]]) -> MatchColumns:
        its_matches = select(*(matches.c[name] for name in MATCH_FIELDS)).where(matches.c.number.in_(numbers))
        its_seats = select(*(self.database.stored(seats.c[name]) for name in SEAT_FIELDS))
        its_seats = its_seats.where(seats.c.match_number.in_(numbers))
        return MatchColumns.from_rows(
            map(tuple, connection.execute(its_matches.order_by(matches.c.number))),
            map(tuple, connection.execute(its_seats.order_by(seats.c.match_number, seats.c.seat))),
        )


def _some(numbers: Sequence[int]) -> Iterator[Sequence[int]]:
    """Yields numbers in as many as SQLite and PostgreSQL take as parameters of one query."""
    for first in range(0, len(numbers), 5000):
        yield numbers[first : first + 5000]
