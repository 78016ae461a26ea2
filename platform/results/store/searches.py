"""Repeated searches in a store: the action chosen by each search of a position, and its visits and values.

Their tables are called votes, since each search is a vote for an action.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from sqlalchemy import ColumnElement, Connection, Row, Table, select, update

from ...core.errors import UserError
from ..integrity.checksums import CHANGED, checksum, differs, mark_of
from ..integrity.damage import UNDECODABLE, reason
from ..integrity.totals import Total, Totals
from ..outage import outlasting
from .database import Database, chunks, now
from .schema import positions, run_votes, votes

if TYPE_CHECKING:  # the code that searches takes long to import
    from ...arena.repeated_search import SearchRecord, SeenPosition

UNKNOWN = json.dumps(math.nan)  # in place of visits missing in an import
_POSITION_COLUMNS = ("id", "game", "state", "returns", "legal", "phase", "checksum")
_VOTE_COLUMNS = (
    "id",
    "position_number",
    "agent",
    "seed",
    "action",
    "visits",
    "action_values",
    "nodes",
    "seconds",
    "created",
    "checksum",
)


class Searches:
    """Reads and writes repeated searches; it is `Store.searches`."""

    def __init__(self, database: Database, totals: Totals) -> None:
        self.database, self.totals = database, totals

    @outlasting
    def append(self, run_id: str, records: Iterable[SearchRecord]) -> int:
        """Stores searches of a run that has begun, all or none; returns the number of new ones.

        A search that is already stored (by any run) is only linked to this run. Visits and values missing since an
        import are added; such a search is not new.
        """
        created = now()
        # All processes insert in the order of ids, so that two with the same searches cannot deadlock.
        batch = sorted(((record.spec.id, record) for record in records), key=itemgetter(0))
        searched = {record.spec.position.id: record.spec.position for _, record in batch}
        position_rows = [
            _with_checksum(i, p.game, json.dumps(p.state), json.dumps(p.returns), json.dumps(p.legal), int(p.phase))
            for i, p in sorted(searched.items())
        ]
        with self.database.writing() as connection:
            self.database.insert_many(connection, positions, _POSITION_COLUMNS, position_rows)
            numbers = _numbers(connection, positions, searched)
            rows = [
                (search_id, numbers[record.spec.position.id], *_values(search_id, record, created))
                for search_id, record in batch
            ]
            new = self.database.insert_many(connection, votes, _VOTE_COLUMNS, rows)
            self._complete(connection, [row for row, (_, record) in zip(rows, batch, strict=True) if record.has_visits])
            self._link(connection, run_id, [search_id for search_id, _ in batch])
        return new

    def _complete(self, connection: Connection, rows: Sequence[tuple[Any, ...]]) -> None:
        """Replaces stored searches without visits by these rows of all columns."""
        for some in chunks(row[0] for row in rows):
            lacking = select(votes.c.id).where(votes.c.id.in_(some), votes.c.visits.contains(UNKNOWN))
            ids = set(connection.execute(lacking).scalars())
            for row in rows:
                if row[0] in ids:
                    values = dict(zip(_VOTE_COLUMNS[1:], row[1:], strict=True))
                    connection.execute(update(votes).where(votes.c.id == row[0]).values(values))

    @outlasting
    def link(self, run_id: str, search_ids: Iterable[str]) -> None:
        """Attaches searches that are already stored (by any run) to a run that has begun."""
        ids = sorted(set(search_ids))
        with self.database.writing() as connection:
            missing = len(ids) - self._link(connection, run_id, ids)
            if missing:
                raise UserError(f"searches must be stored to be linked to run {run_id!r}, but {missing} are not.")

    def _link(self, connection: Connection, run_id: str, search_ids: Iterable[str]) -> int:
        """Attaches the stored ones of some searches to a run; returns their number."""
        numbers = _numbers(connection, votes, search_ids)
        ids = {number: search_id for search_id, number in numbers.items()}
        rows, columns = [(run_id, number) for number in sorted(ids)], ("run_id", "vote_number")
        new = self.database.insert_returning(connection, run_votes, columns, rows, columns[1:])
        self.totals.add(connection, run_id, run_votes, (mark_of(ids[number]) for (number,) in new))
        return len(numbers)

    @outlasting
    def counts(self) -> dict[str, int]:
        """Returns the number of searches of every run that has any."""
        return self.totals.counts(run_votes)

    @outlasting
    def stored(self, search_ids: Iterable[str], with_visits: bool = False) -> set[str]:
        """Returns the ids of stored searches, by any run; `with_visits`: only of those with visits."""
        whole = [~votes.c.visits.contains(UNKNOWN)] if with_visits else []
        with self.database.reading() as connection:
            return set(_numbers(connection, votes, search_ids, *whole))

    @outlasting
    def records(self, search_ids: Iterable[str]) -> list[SearchRecord]:
        """Returns stored searches in the order of the ids; unknown ids are left out."""
        records: list[SearchRecord] = []
        with self.database.reading() as connection:
            for ids in chunks(search_ids):
                found = {record.spec.id: record for record in self._read(connection, votes.c.id.in_(ids))}
                records += [found[i] for i in ids if i in found]
        return records

    @outlasting
    def of_run(self, run_id: str) -> list[SearchRecord]:
        """Returns all searches of a run, in the order in which they were stored."""
        numbers = select(run_votes.c.vote_number).where(run_votes.c.run_id == run_id)
        with self.database.reading() as connection:
            records = self._read(connection, votes.c.number.in_(numbers))
            self.totals.check(connection, run_id, run_votes, Total.of(mark_of(record.spec.id) for record in records))
        return records

    @outlasting
    def of_positions(self, run_id: str, position_ids: Iterable[str]) -> list[SearchRecord]:
        """Returns the searches of some positions in a run, in the order in which they were stored."""
        linked = select(run_votes.c.vote_number).where(run_votes.c.run_id == run_id)
        with self.database.reading() as connection:
            numbers = list(_numbers(connection, positions, position_ids).values())
            return self._read(connection, votes.c.number.in_(linked) & votes.c.position_number.in_(numbers))

    def _read(self, connection: Connection, chosen: ColumnElement[bool]) -> list[SearchRecord]:
        """Returns searches in the order in which they were stored; raises Damaged if one is not as it was stored."""
        query = select(votes).where(chosen).order_by(votes.c.number)
        rows = connection.execute(query).all()
        searched: dict[int, SeenPosition] = {}
        for numbers in chunks({row.position_number for row in rows}):
            of = select(positions).where(positions.c.number.in_(numbers))
            for row in connection.execute(of):
                if wrong := wrong_position(row):
                    raise self.database.damaged(f"the position {row.id}: {wrong}")
                searched[row.number] = position_of(row)
        records = []
        for row in rows:
            position = searched.get(row.position_number)
            if wrong := wrong_search(row, position):
                raise self.database.damaged(f"the search {row.id}: {wrong}")
            assert position is not None
            records.append(search_of(row, position))
        return records


def _with_checksum(*values: Any) -> tuple[Any, ...]:
    return (*values, checksum(*values))


def _values(search_id: str, record: SearchRecord, created: str) -> tuple[Any, ...]:
    """Returns the values of _VOTE_COLUMNS after the first two."""
    spec = record.spec
    values = (
        *(spec.agent, int(spec.seed), int(record.action), json.dumps(record.visits), json.dumps(record.values)),
        *(int(record.nodes), float(record.seconds), created),
    )
    return (*values, checksum(search_id, spec.position.id, *values))


def _numbers(connection: Connection, table: Table, ids: Iterable[str], *which: ColumnElement[bool]) -> dict[str, int]:
    """Returns the numbers of the stored rows by id, of those that meet the conditions `which`."""
    numbers: dict[str, int] = {}
    for some in chunks(ids):
        query = select(table.c.id, table.c.number).where(table.c.id.in_(some), *which)
        numbers.update((row.id, row.number) for row in connection.execute(query))
    return numbers


def wrong_position(row: Row[Any]) -> str:
    """Returns the damage of a stored position; empty if none is found."""
    if differs(row, *row[1:-1]):
        return CHANGED
    try:
        return "" if position_of(row).id == row.id else "it is not the position of its id"
    except UNDECODABLE as failure:
        return reason(failure)


def wrong_search(row: Row[Any], position: SeenPosition | None) -> str:
    """Returns the damage of a stored search; empty if none is found."""
    if position is None:
        return "its position is missing or damaged"
    if differs(row, row.id, position.id, *row[3:-1]):
        return CHANGED
    try:
        record = search_of(row, position)
    except UNDECODABLE as failure:
        return reason(failure)
    if record.spec.id != row.id:
        return "it is not the search of its id"
    chosen = record.spec.may_choose(record.action)
    if not chosen or not len(record.visits) == len(record.values) == len(position.legal):
        return "its action is not legal there, or numbers are missing"
    return ""


def position_of(row: Row[Any]) -> SeenPosition:
    """Returns the position of a checked row."""
    from ...arena.repeated_search import SeenPosition

    state, returns, legal = (tuple(json.loads(text)) for text in (row.state, row.returns, row.legal))
    return SeenPosition(row.game, state, returns, legal, row.phase)


def search_of(row: Row[Any], position: SeenPosition) -> SearchRecord:
    """Returns the search of a checked row."""
    from ...arena.repeated_search import SearchRecord, SearchSpec

    visits, values = (tuple(json.loads(text)) for text in (row.visits, row.action_values))
    return SearchRecord(SearchSpec(position, row.agent, row.seed), row.action, visits, values, row.nodes, row.seconds)
