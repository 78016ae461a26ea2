"""A copy of each run's matches in blocks of columns: a million games are read in the time of ten thousand rows.

The rows are authoritative, and blocks are made of checked rows only. A block is written once it is full; until then the
run's tail, in the same table, names the matches without a block, and their rows are read. All of this is in the
transaction that stores the rows. Every run has a tail from its beginning.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sqlalchemy import ColumnElement, Connection, Row, bindparam, delete, func, insert, select, update

from ..archive.reading import Archive, archive_of_run
from ..integrity.checksums import MARKS, checksum, differs
from ..integrity.damage import Damaged
from ..integrity.match_rows import MATCH_COLUMNS, read_matches
from ..integrity.totals import Total, Totals
from ..packed.layout import FIRST
from ..packed.table import PackedTable
from .columns import MATCH_FIELDS, SEAT_FIELDS, MatchColumns, each_once
from .database import Database, chunks
from .schema import match_columns, matches, run_matches

FULL = 1024  # matches of a new block: reading fewer from their rows takes some 20 ms
MERGED = 32  # blocks of about the same size that are merged into one
MAX_MATCHES = 1 << 18  # in a block: some 30 MB
TAIL = -2  # level of the row that names the matches in no block
_STORED = "<i8"  # a number
Numbers = npt.NDArray[np.int64]
# Made once: making them takes longer than executing them, which every commit does. Processes that add to the tail of
# the same run wait for each other.
_TAIL_OF = (
    select(match_columns)
    .where(match_columns.c.run_id == bindparam("run"), match_columns.c.level == TAIL)
    .with_for_update()
)
_CHANGE_TAIL = (
    update(match_columns)
    .where(match_columns.c.number == bindparam("tail"))
    .values({name: bindparam(name) for name in ("matches", "data", "checksum")})
)


class _Parts(NamedTuple):
    """A run's rows in the table: blocks by their numbers, and the matches in no block."""

    blocks: dict[int, MatchColumns]
    tail: dict[int, Numbers]


class MatchBlocks:
    """Reads and writes blocks within the transactions of the store."""

    def __init__(self, database: Database, totals: Totals, packed: PackedTable) -> None:
        self.database, self.totals, self.packed = database, totals, packed
        self._archives: list[tuple[int, Archive]] = []  # with the first number of their games, below 0

    def begin(self, connection: Connection, run_id: str) -> None:
        """Gives a run its tail, and blocks of its existing matches."""
        own = select(run_matches.c.match_number).where(run_matches.c.run_id == run_id)
        numbers = sorted(connection.scalars(own))
        for first in range(0, len(numbers), MAX_MATCHES):
            some = numbers[first : first + MAX_MATCHES]
            self._insert(connection, run_id, -1, self.of_matches(connection, some))
        connection.execute(insert(match_columns).values(run_id=run_id, level=TAIL, **_naming([])))

    def add(
        self,
        connection: Connection,
        run_id: str,
        numbers: Sequence[int],
        columns: Callable[[], MatchColumns] | None = None,
    ) -> None:
        """Adds matches just attached to a run: to its tail, or in a block together with the tail.

        Args:
            connection, run_id: of the transaction, and the run.
            numbers: of the matches, ascending.
            columns: makes their columns; by default from their rows.
        """
        if not numbers:
            return
        table = match_columns.c
        tail = [(row.number, self._named(row)) for row in connection.execute(_TAIL_OF, {"run": run_id})]
        if not tail:
            raise self._without_tail(run_id)
        before = [number for _, some in tail for number in some.tolist()]
        is_full = len(before) + len(numbers) >= FULL
        now = _naming([] if is_full else before + list(numbers))
        if len(tail) == 1:
            connection.execute(_CHANGE_TAIL, {"tail": tail[0][0], **now})
        else:
            connection.execute(delete(match_columns).where(table.number.in_([number for number, _ in tail])))
            connection.execute(insert(match_columns).values(run_id=run_id, level=TAIL, **now))
        if is_full:
            new = columns() if columns else self.of_matches(connection, numbers)
            parts = [self.of_matches(connection, before), new] if before else [new]
            self._add_block(connection, run_id, MatchColumns.concatenated(parts))

    def _add_block(self, connection: Connection, run_id: str, block: MatchColumns) -> None:
        """Stores a block; merges blocks of about the same size, so there are never many."""
        level, table = 0, match_columns.c
        while len(block.number):
            self._insert(connection, run_id, level, block)
            same = select(table.number, table.matches).where((table.run_id == run_id) & (table.level == level))
            # Processes that merge wait for each other; the second then finds nothing to merge.
            sizes = {row.number: row.matches for row in connection.execute(same.with_for_update())}
            numbers = sorted(sizes)
            if len(numbers) < MERGED:
                return
            with self.database.decoding(f"columns of {run_id}"):
                large = sum(sizes.values()) > MAX_MATCHES  # decided before reading: together they may be a million
            if large:
                connection.execute(update(match_columns).where(table.number.in_(numbers)).values(level=-1))
                return
            blocks = self._checked(connection, table.number.in_(numbers)).blocks
            connection.execute(delete(match_columns).where(table.number.in_(numbers)))
            level, block = level + 1, MatchColumns.concatenated(list(blocks.values()))

    def remove(self, connection: Connection, numbers: Sequence[int]) -> None:
        """Removes matches from the blocks and tails of all their runs; `run_matches` must still have them."""
        run_ids = (
            select(run_matches.c.run_id).where(self.database.among(run_matches.c.match_number, numbers)).distinct()
        )
        parts = self._checked(connection, match_columns.c.run_id.in_(run_ids), lock=True)
        changed: dict[int, dict[str, Any]] = {}
        for number, block in parts.blocks.items():
            kept = np.flatnonzero(~np.isin(block.number, numbers))
            if len(kept) < len(block.number):
                changed[number] = _values(block.take(kept))
        changed |= {i: _naming(some[~np.isin(some, numbers)].tolist()) for i, some in parts.tail.items()}
        for number, values in changed.items():
            connection.execute(update(match_columns).where(match_columns.c.number == number).values(values))

    def of_run(self, connection: Connection, run_id: str) -> MatchColumns:
        """Returns all matches of a run in the order of their numbers, below 0 if they are in an archive."""
        if archive := archive_of_run(self.database, connection, run_id):
            return archive.columns(self._first_of(archive))
        blocks, tail = self._checked(connection, match_columns.c.run_id == run_id)
        if not tail:
            raise self._without_tail(run_id)
        rest = self.of_matches(connection, (number for some in tail.values() for number in some.tolist()))
        packed = [games.columns() for games in self.packed.of_run(connection, run_id)]
        columns = MatchColumns.concatenated([*blocks.values(), rest, *packed]).in_order()
        self._require_whole(connection, run_id, columns.short_ids())
        return columns

    def parts_of_run(self, connection: Connection, run_id: str) -> Iterator[MatchColumns]:
        """Yields the matches of `of_run` in parts and in any order; damage is noticed by the end."""
        if archive := archive_of_run(self.database, connection, run_id):
            yield from archive.parts(self._first_of(archive))
            return
        query = select(match_columns.c.number).where(match_columns.c.run_id == run_id)
        numbers = connection.scalars(query).all()
        if not numbers:
            raise self._without_tail(run_id)
        marks = []
        for number in numbers:
            blocks, tail = self._checked(connection, match_columns.c.number == number)
            rest = [self.of_matches(connection, some.tolist()) for some in tail.values() if len(some)]
            for part in (*blocks.values(), *rest):
                marks.append(part.short_ids())
                yield part
        for some in self._packed_parts(connection, run_id):
            marks.append(some.short_ids())
            yield some
        self._require_whole(connection, run_id, np.concatenate(marks) if marks else np.zeros(0, np.int64))

    def _packed_parts(self, connection: Connection, run_id: str) -> Iterator[MatchColumns]:
        """Yields the packed games of a run, about MAX_MATCHES at a time."""
        parts: list[MatchColumns] = []
        for games in self.packed.of_run(connection, run_id):
            parts.append(games.columns())
            if sum(len(part.number) for part in parts) >= MAX_MATCHES:
                yield MatchColumns.concatenated(parts)
                parts = []
        if parts:
            yield MatchColumns.concatenated(parts)

    def games_of_run(self, connection: Connection, run_id: str) -> int:
        """Returns the number of matches in the blocks or the archive of a run, without reading them."""
        if archive := archive_of_run(self.database, connection, run_id):
            return archive.total.rows
        return self.counts().get(run_id, 0)

    def _require_whole(self, connection: Connection, run_id: str, marks: Numbers) -> None:
        """Raises Damaged unless these are the marks of all matches of a run."""
        found = Total(len(marks), int(marks.sum()) % MARKS)  # integers of 64 bits wrap around at a multiple
        self.totals.check(connection, run_id, run_matches, found)
        if len(each_once(marks)) < len(marks):
            raise self.database.damaged(f"{run_id} has a game twice")

    def _first_of(self, archive: Archive) -> int:
        """Returns the first number of the games of an archive."""
        first = next((first for first, known in self._archives if known == archive), 0)
        if not first:
            first = min((first for first, _ in self._archives), default=0) - archive.total.rows
            self._archives.append((first, archive))
        return first

    def counts(self) -> dict[str, int]:
        """Returns the number of matches in the blocks of each run, and of its packed ones."""
        query = select(match_columns.c.run_id, func.sum(match_columns.c.matches)).group_by(match_columns.c.run_id)
        with self.database.reading() as connection:
            copied = Counter({run_id: int(count) for run_id, count in connection.execute(query)})
            copied.update(self.packed.counts(connection))
        return dict(copied)

    def values(
        self, connection: Connection, numbers: Sequence[int], names: Sequence[str]
    ) -> dict[int, tuple[Any, ...]]:
        """Returns values of matches, such as their plies, by their numbers in `of_run`; lost ones are left out."""
        found: dict[int, tuple[Any, ...]] = {}
        for packed, places in self.packed.numbered(connection, numbers):
            own = packed.rows(places).matches
            values = zip(*(own[MATCH_COLUMNS.index(name)] for name in names), strict=True)
            found |= dict(zip((packed.numbers[place] for place in places), values, strict=True))
        for some in chunks(number for number in numbers if 0 < number < FIRST):
            query = select(matches.c.number, *(matches.c[name] for name in names))
            rows = connection.execute(query.where(self.database.among(matches.c.number, some)))
            found |= {row[0]: tuple(row[1:]) for row in rows}
        archived = [number for number in numbers if number < 0]
        for first, archive in self._archives if archived else ():
            found |= archive.values(first, archived, names)
        return found

    def of_matches(self, connection: Connection, numbers: Iterable[int]) -> MatchColumns:
        """Returns stored matches by their numbers, from their rows; raises Damaged if one is damaged or missing."""
        ordered = sorted(numbers)
        own = chunks(number for number in ordered if number < FIRST)
        packed = self.packed.numbered(connection, [number for number in ordered if number >= FIRST])
        parts = [games.columns().take(np.array(places)) for games, places in packed]
        return MatchColumns.concatenated([*(self._read(connection, some) for some in own), *parts])

    def _without_tail(self, run_id: str) -> Damaged:
        return self.database.damaged(f"{run_id} has no tail in {match_columns.name}")

    def _checked(self, connection: Connection, chosen: ColumnElement[bool], lock: bool = False) -> _Parts:
        """Returns the chosen rows of the table; raises Damaged if they are not as they were stored."""
        query = select(match_columns).where(chosen).order_by(match_columns.c.number)
        parts = _Parts({}, {})
        for row in connection.execute(query.with_for_update() if lock else query):
            if row.level == TAIL:
                parts.tail[row.number] = self._named(row)
                continue
            self._require_same(row)
            with self.database.decoding(f"columns of {row.run_id}"):
                parts.blocks[row.number] = MatchColumns.from_bytes(row.data)
        return parts

    def _named(self, row: Row[Any]) -> Numbers:
        self._require_same(row)
        with self.database.decoding(f"columns of {row.run_id}"):
            return named_in(row.data)

    def _require_same(self, row: Row[Any]) -> None:
        if differs(row, row.matches, row.data):
            raise self.database.damaged(f"columns of {row.run_id} differ from their checksum")

    def _insert(self, connection: Connection, run_id: str, level: int, block: MatchColumns) -> None:
        connection.execute(insert(match_columns).values(run_id=run_id, level=level, **_values(block)))

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
    """Returns the stored values of a block."""
    data = block.to_bytes()
    return {"matches": len(block.number), "data": data, "checksum": checksum(len(block.number), data)}


def _naming(numbers: Sequence[int]) -> dict[str, Any]:
    """Returns the stored values of a tail."""
    data = np.array(numbers, _STORED).tobytes()
    return {"matches": len(numbers), "data": data, "checksum": checksum(len(numbers), data)}


def named_in(data: bytes) -> Numbers:
    """Returns the numbers of the matches that a tail names; raises ValueError if it is damaged."""
    return np.frombuffer(data, _STORED).astype(np.int64)
