"""A copy of each run's matches in blocks of columns: a million games are read in the time of ten thousand rows.

The rows are authoritative, and blocks are made of checked rows only; they are written in the same transaction. Every
run has a block from its beginning, even if it is empty; of a run without blocks, which an earlier version stored, the
rows are read instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from sqlalchemy import ColumnElement, Connection, delete, func, insert, select, update

from turnier.results.archive.reading import Archive, archive_of_run
from turnier.results.integrity.checksums import MARKS, checksum
from turnier.results.integrity.match_rows import read_matches
from turnier.results.integrity.totals import Total, Totals
from turnier.results.store.columns import MATCH_FIELDS, SEAT_FIELDS, MatchColumns
from turnier.results.store.database import Database, chunks
from turnier.results.store.schema import match_columns, matches, run_matches

MERGED = 32  # blocks of about the same size that become one
MAX_MATCHES = 1 << 18  # in a block: some 30 MB


class MatchBlocks:
    """Reads and writes blocks within the transactions of the store."""

    def __init__(self, database: Database, totals: Totals) -> None:
        self.database, self.totals = database, totals
        self._archives: list[tuple[int, Archive]] = []  # the first number of their games, below 0

    def begin(self, connection: Connection, run_id: str) -> None:
        """Gives a run its first block, with the matches that an earlier version stored, if any."""
        if not self._has_blocks(connection, run_id):
            self._insert(connection, run_id, -1, self.of_rows(connection, run_id))

    def add(self, connection: Connection, run_id: str, columns: MatchColumns) -> None:
        """Stores matches that were just attached to a run; merges small blocks, so that there are never many."""
        if not self._has_blocks(connection, run_id):
            self._refuse_without(connection, run_id)
            return
        level, block = 0, columns
        while len(block.number):
            self._insert(connection, run_id, level, block)
            table = match_columns.c
            same = select(table.number, table.matches).where((table.run_id == run_id) & (table.level == level))
            # Two processes that merge wait for each other; the second then finds nothing left to merge.
            sizes = {row.number: row.matches for row in connection.execute(same.with_for_update())}
            numbers = sorted(sizes)
            if len(numbers) < MERGED:
                return
            with self.database.decoding(f"columns of {run_id}"):
                large = sum(sizes.values()) > MAX_MATCHES  # asked before they are read: together they may be a million
            if large:
                connection.execute(update(match_columns).where(table.number.in_(numbers)).values(level=-1))
                return
            blocks = self._checked(connection, table.number.in_(numbers))
            connection.execute(delete(match_columns).where(table.number.in_(numbers)))
            level, block = level + 1, MatchColumns.concatenated(list(blocks.values()))

    def remove(self, connection: Connection, numbers: Sequence[int]) -> None:
        """Removes matches from the blocks of all their runs; `run_matches` must still have them."""
        run_ids = select(run_matches.c.run_id).where(run_matches.c.match_number.in_(numbers)).distinct()
        for number, block in self._checked(connection, match_columns.c.run_id.in_(run_ids), lock=True).items():
            kept = np.flatnonzero(~np.isin(block.number, numbers))
            if len(kept) < len(block.number):
                changed = update(match_columns).where(match_columns.c.number == number)
                connection.execute(changed.values(_values(block.take(kept))))

    def of_run(self, connection: Connection, run_id: str) -> MatchColumns:
        """Returns all matches of a run in the order of their numbers, below 0 if they are in an archive."""
        if archive := archive_of_run(self.database, connection, run_id):
            first = next((first for first, known in self._archives if known == archive), 0)
            if not first:
                first = min((first for first, _ in self._archives), default=0) - archive.total.rows
                self._archives.append((first, archive))
            return archive.columns(first)
        if not self._has_blocks(connection, run_id):
            self._refuse_without(connection, run_id)
            return self.of_rows(connection, run_id)
        blocks = self._checked(connection, match_columns.c.run_id == run_id)
        columns = MatchColumns.concatenated(list(blocks.values())).in_order()
        marks = columns.short_ids()
        found = Total(len(marks), int(marks.sum()) % MARKS)  # integers of 64 bits wrap around at a multiple
        self.totals.check(connection, run_id, run_matches, found)
        if len(np.unique(marks)) < len(marks):
            raise self.database.damaged(f"{run_id} has a game twice")
        return columns

    def counts(self) -> dict[str, int]:
        """Returns how many matches the blocks of each run have."""
        if self.database.lacks(match_columns):
            return {}
        query = select(match_columns.c.run_id, func.sum(match_columns.c.matches)).group_by(match_columns.c.run_id)
        with self.database.reading() as connection:
            return {run_id: int(count) for run_id, count in connection.execute(query)}

    def values(
        self, connection: Connection, numbers: Sequence[int], names: Sequence[str]
    ) -> dict[int, tuple[Any, ...]]:
        """Returns values of matches, such as their plies, by the numbers that `of_run` gave; lost ones are left out."""
        found: dict[int, tuple[Any, ...]] = {}
        for some in chunks(number for number in numbers if number > 0):
            query = select(matches.c.number, *(matches.c[name] for name in names))
            rows = connection.execute(query.where(self.database.among(matches.c.number, some)))
            found |= {row[0]: tuple(row[1:]) for row in rows}
        archived = [number for number in numbers if number < 0]
        for first, archive in self._archives if archived else ():
            found |= archive.values(first, archived, names)
        return found

    def of_matches(self, connection: Connection, numbers: Iterable[int]) -> MatchColumns:
        """Returns stored matches by their numbers, from their rows; raises Damaged where one is damaged or missing."""
        return MatchColumns.concatenated([self._read(connection, some) for some in chunks(sorted(numbers))])

    def _has_blocks(self, connection: Connection, run_id: str) -> bool:
        if self.database.lacks(match_columns):
            return False
        some = select(match_columns.c.number).where(match_columns.c.run_id == run_id).limit(1)
        return connection.scalar(some) is not None

    def _refuse_without(self, connection: Connection, run_id: str) -> None:
        """Raises Damaged for a run without blocks, unless an earlier version stored it."""
        if run_id in self.totals.of_runs(connection, run_matches):
            raise self.database.damaged(f"{run_id} has no rows in {match_columns.name}")

    def _checked(
        self, connection: Connection, chosen: ColumnElement[bool], lock: bool = False
    ) -> dict[int, MatchColumns]:
        """Returns blocks by their numbers; raises Damaged where one is not what was stored."""
        query = select(*map(self.database.stored, match_columns.columns)).where(chosen).order_by(match_columns.c.number)
        blocks = {}
        for row in connection.execute(query.with_for_update() if lock else query):
            what = f"columns of {row.run_id}"
            if row.checksum is not None and checksum(row.matches, row.data) != row.checksum:
                raise self.database.damaged(f"{what} differ from their checksum")
            with self.database.decoding(what):
                blocks[row.number] = MatchColumns.from_bytes(row.data)
        return blocks

    def _insert(self, connection: Connection, run_id: str, level: int, block: MatchColumns) -> None:
        connection.execute(insert(match_columns).values(run_id=run_id, level=level, **_values(block)))

    def of_rows(self, connection: Connection, run_id: str) -> MatchColumns:
        """Returns all matches of a run from their rows; raises Damaged as `of_matches` does."""
        numbers = select(run_matches.c.match_number).where(run_matches.c.run_id == run_id)
        return self.of_matches(connection, connection.scalars(numbers).all())

    def _read(self, connection: Connection, numbers: Sequence[int]) -> MatchColumns:
        found = list(read_matches(self.database, connection, self.database.among(matches.c.number, numbers)))
        for row, _, wrong in found:
            if wrong:
                raise self.database.damaged(f"the game {row.id}: {wrong}")
        if len(found) < len(numbers):
            raise self.database.damaged(f"{len(numbers) - len(found):,} games have no row in {matches.name}")
        return MatchColumns.from_rows(
            (tuple(row._mapping[name] for name in MATCH_FIELDS) for row, _, _ in found),
            (tuple(seat._mapping[name] for name in SEAT_FIELDS) for _, own, _ in found for seat in own),
        )


def _values(block: MatchColumns) -> dict[str, Any]:
    """Returns what is stored of a block."""
    data = block.to_bytes()
    return {"matches": len(block.number), "data": data, "checksum": checksum(len(block.number), data)}
