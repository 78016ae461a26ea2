"""Many matches as plain tuples, checked as fast as they are read: the source of archives and exports."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, select

from ..packed.layout import PackedGames
from ..packed.table import PackedTable
from ..store.database import CHUNK, Database
from ..store.schema import matches, run_matches, seats
from .match_rows import MATCH_COLUMNS, SEAT_COLUMNS, DamagedMatch, agreeing, read_matches
from .totals import Total, difference

MatchRow = tuple[Any, ...]  # the values of MATCH_COLUMNS
SeatRow = tuple[Any, ...]  # the values of SEAT_COLUMNS without the match's number


class CheckedRows(NamedTuple):
    """Undamaged matches in the order of their numbers, and the damage of the others."""

    numbers: list[int]
    matches: list[MatchRow]
    seats: list[list[SeatRow]]  # of each match, by seat
    wrong: list[DamagedMatch]

    def ids(self) -> list[str]:
        """Returns the ids of all matches with a row."""
        return [match[0] for match in self.matches] + [one.id for one in self.wrong if one.id]


def checked_rows(database: Database, connection: Connection, numbers: Sequence[int]) -> CheckedRows:
    """Returns the matches with these numbers; a missing match is among the wrong ones."""
    of_match: dict[int, list[SeatRow]] = defaultdict(list)
    columns = [seats.c[name] for name in SEAT_COLUMNS]
    chosen = select(*columns).where(database.among(seats.c.match_number, numbers))
    for number, *seat in connection.execute(chosen.order_by(seats.c.match_number, seats.c.seat)):
        of_match[number].append(tuple(seat))
    columns = [matches.c[name] for name in ("number", *MATCH_COLUMNS)]
    chosen = select(*columns).where(database.among(matches.c.number, numbers))
    found = {row[0]: tuple(row[1:]) for row in connection.execute(chosen.order_by(matches.c.number))}
    agree = agreeing(list(found.values()), [of_match[number] for number in found])
    doubtful = [number for number, right in zip(found, agree, strict=True) if not right]
    wrong = _wrong_among(database, connection, doubtful) + [
        DamagedMatch(number, "", "its row is missing") for number in numbers if number not in found
    ]
    for one in wrong:
        found.pop(one.number, None)
    return CheckedRows(list(found), list(found.values()), [of_match[number] for number in found], wrong)


def _wrong_among(database: Database, connection: Connection, numbers: Sequence[int]) -> list[DamagedMatch]:
    """Inspects matches without a checksum, or with a wrong one."""
    read = read_matches(database, connection, database.among(matches.c.number, numbers)) if numbers else ()
    return [DamagedMatch(one.row.number, str(one.row.id), one.wrong) for one in read if one.wrong]


def rows_of_run(table: PackedTable, run_id: str) -> Iterator[CheckedRows]:
    """Yields all matches of a run in the order in which they were stored, CHUNK at a time, packed ones last.

    If links of the run are missing, the last rows have a DamagedMatch without a number that says so.
    """
    database, found, last, c = table.database, Total(), 0, run_matches.c
    query = select(c.match_number).where(c.run_id == run_id).order_by(c.match_number).limit(CHUNK)
    while True:
        with database.reading() as connection:
            if not (numbers := list(connection.scalars(query.where(c.match_number > last)))):
                break
            rows = checked_rows(database, connection, numbers)
        last, found = numbers[-1], found.plus(rows.ids())
        yield rows
    with database.reading() as connection:
        known = table.totals.of_runs(connection, run_matches).get(run_id)
        for packed in table.of_run_or_damage(connection, run_id):
            rows = _of_packed(packed)
            found = found.plus(rows.ids())
            yield rows
    if known is not None and known != found:
        lost = f"{run_id} has {difference(known, found)} in {run_matches.name}"
        yield CheckedRows([], [], [], [DamagedMatch(0, "", lost)])


def _of_packed(packed: PackedGames | DamagedMatch) -> CheckedRows:
    if isinstance(packed, DamagedMatch):
        return CheckedRows([], [], [], [packed])
    rows = packed.rows()
    return CheckedRows(list(packed.numbers), list(zip(*rows.matches, strict=True)), rows.by_match(), [])
