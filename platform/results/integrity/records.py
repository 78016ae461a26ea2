"""Stored matches as records, each checked: match rows and packed games alike."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from sqlalchemy import select

from ...arena.match import MatchRecord
from ...core.errors import UserError
from ..archive.reading import archive_of_run
from ..outage import outlasting
from ..packed.layout import PackedGames
from ..packed.table import PackedTable
from ..store.database import CHUNK, Database, chunks
from ..store.schema import matches, run_matches
from .match_rows import DamagedMatch, read_matches, record_of, record_of_rows
from .totals import Totals, difference

OnDamage = Callable[[DamagedMatch], object]


class Records:
    """Reads records; a part of the store."""

    database: Database
    totals: Totals
    packed: PackedTable

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
                found = {one.row.id: record_of(one) for one in read_matches(self.database, connection, chosen)}
                for packed, places in self.packed.with_ids(connection, [i for i in ids if i not in found]):
                    found |= {record.spec.id: record for record in records_in(packed, places)}
                records += [found[match_id] for match_id in ids if match_id in found]
        return records

    def _whole(self, found: MatchRecord | DamagedMatch) -> MatchRecord:
        if isinstance(found, DamagedMatch):
            raise self.database.damaged(str(found))
        return found

    def records_of_run(self, run_id: str, damage: OnDamage | None = None) -> Iterator[list[MatchRecord]]:
        """Yields all matches of a run in the order in which they were stored, CHUNK at a time, packed ones last.

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
        with self.database.reading() as connection:
            for packed in self.packed.of_run_or_damage(connection, run_id):
                if isinstance(packed, DamagedMatch):
                    (damage or self._whole)(packed)
                else:
                    yield records_in(packed)

    def _records_of_run(self, run_id: str, damage: OnDamage) -> Iterator[list[MatchRecord]]:
        """Yields the matches with a row of their own."""
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
            found = [*connection.scalars(query), *self.packed.beginning(connection, text, 2)]
        if len(found) > 1:
            raise UserError(f"an id must name one match, but several begin with {text!r}; type more of it.")
        return self.record(found[0] if found else text)


def records_in(packed: PackedGames, places: Sequence[int] | None = None) -> list[MatchRecord]:
    """Returns the records of packed games at some places, of all by default."""
    rows = packed.rows(places)
    seats = rows.by_match()
    return list(map(record_of_rows, zip(*rows.matches, strict=True), seats))
