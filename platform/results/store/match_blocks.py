"""A copy of each run's matches in blocks of columns: a million games are read in the time of ten thousand rows.

The rows are authoritative; blocks are written in the same transaction. Every run has a block from its beginning, even
if it is empty; of a run without blocks, which an earlier version stored, the rows are read instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from sqlalchemy import Connection, Select, delete, insert, select, update

from turnier.results.store.columns import MATCH_FIELDS, SEAT_FIELDS, MatchColumns
from turnier.results.store.database import Database, chunks
from turnier.results.store.schema import match_columns, matches, run_matches, runs, seats

MERGED = 32  # blocks of about the same size that become one
MAX_MATCHES = 1 << 18  # in a block: some 30 MB


class MatchBlocks:
    """Reads and writes blocks within the transactions of the store."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def begin(self, connection: Connection, run_id: str) -> None:
        """Gives a run its first block, with the matches that an earlier version stored, if any."""
        one = select(runs.c.id).where(runs.c.id == run_id)
        connection.execute(one.with_for_update(key_share=True))  # two processes that begin it wait for each other
        if not self._has_blocks(connection, run_id):
            self._insert(connection, run_id, -1, self._from_rows(connection, run_id))

    def add(self, connection: Connection, run_id: str, columns: MatchColumns) -> None:
        """Stores matches that were just attached to a run; merges small blocks, so that there are never many."""
        if not self._has_blocks(connection, run_id):
            return
        level, block = 0, columns
        while len(block.number):
            self._insert(connection, run_id, level, block)
            table = match_columns.c
            same = select(table.number).where((table.run_id == run_id) & (table.level == level))
            # Two processes that merge wait for each other; the second then finds nothing left to merge.
            numbers = list(connection.scalars(same.order_by(table.number).with_for_update()))
            if len(numbers) < MERGED:
                return
            query = select(table.matches, table.data).where(table.number.in_(numbers)).order_by(table.number)
            blocks = connection.execute(query).all()
            if sum(count for count, _ in blocks) > MAX_MATCHES:
                connection.execute(update(match_columns).where(table.number.in_(numbers)).values(level=-1))
                return
            connection.execute(delete(match_columns).where(table.number.in_(numbers)))
            level, block = level + 1, MatchColumns.concatenated([MatchColumns.from_bytes(data) for _, data in blocks])

    def remove(self, connection: Connection, numbers: Sequence[int]) -> None:
        """Removes matches from the blocks of all their runs; `run_matches` must still have them."""
        run_ids = select(run_matches.c.run_id).where(run_matches.c.match_number.in_(numbers)).distinct()
        table = match_columns.c
        query = select(table.number, table.data).where(table.run_id.in_(run_ids)).order_by(table.number)
        for number, data in connection.execute(query.with_for_update()).all():
            block = MatchColumns.from_bytes(data)
            kept = np.flatnonzero(~np.isin(block.number, numbers))
            if len(kept) < len(block.number):
                remaining = {"matches": len(kept), "data": block.take(kept).to_bytes()}
                connection.execute(update(match_columns).where(table.number == number).values(remaining))

    def of_run(self, connection: Connection, run_id: str) -> MatchColumns:
        """Returns all matches of a run in the order of their numbers."""
        if not self._has_blocks(connection, run_id):
            return self._from_rows(connection, run_id)
        query = select(match_columns.c.data).where(match_columns.c.run_id == run_id)
        blocks = [MatchColumns.from_bytes(data) for data in connection.scalars(query)]
        return MatchColumns.concatenated(blocks).in_order()

    def of_matches(self, connection: Connection, numbers: Iterable[int]) -> MatchColumns:
        """Returns stored matches by their numbers, from their rows."""
        return MatchColumns.concatenated([self._read(connection, some) for some in chunks(sorted(numbers))])

    def _has_blocks(self, connection: Connection, run_id: str) -> bool:
        if self.database.lacks(match_columns):
            return False
        some = select(match_columns.c.number).where(match_columns.c.run_id == run_id).limit(1)
        return connection.scalar(some) is not None

    def _insert(self, connection: Connection, run_id: str, level: int, block: MatchColumns) -> None:
        row = {"run_id": run_id, "level": level, "matches": len(block.number), "data": block.to_bytes()}
        connection.execute(insert(match_columns).values(row))

    def _from_rows(self, connection: Connection, run_id: str) -> MatchColumns:
        return self._read(connection, select(run_matches.c.match_number).where(run_matches.c.run_id == run_id))

    def _read(self, connection: Connection, numbers: Sequence[int] | Select[tuple[int]]) -> MatchColumns:
        of_matches = select(*(matches.c[name] for name in MATCH_FIELDS)).where(matches.c.number.in_(numbers))
        of_seats = select(*(self.database.stored(seats.c[name]) for name in SEAT_FIELDS))
        of_seats = of_seats.where(seats.c.match_number.in_(numbers))
        return MatchColumns.from_rows(
            map(tuple, connection.execute(of_matches.order_by(matches.c.number))),
            map(tuple, connection.execute(of_seats.order_by(seats.c.match_number, seats.c.seat))),
        )
