"""Repeated searches in a store: what each search of a position chose, and its visits and values.

Their tables are called votes, since each search is a vote for an action.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from operator import itemgetter
from typing import Any

from sqlalchemy import Connection, Row, Table, func, select

from turnier.arena.repeated_search import SearchRecord, SearchSpec, SeenPosition
from turnier.core.errors import UserError
from turnier.results.outage import outlasting
from turnier.results.store.database import Database, chunks, now
from turnier.results.store.schema import positions, run_votes, votes

_POSITION_COLUMNS = ("id", "game", "state", "returns", "legal", "phase")
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
)


class Searches:
    """Reads and writes repeated searches; it is `Store.searches`."""

    def __init__(self, database: Database) -> None:
        self.database = database

    @outlasting
    def append(self, run_id: str, records: Iterable[SearchRecord]) -> int:
        """Stores searches of a run that has begun, all or none; returns the number of new ones.

        A search that is stored already (by any run) stays as it is and is linked to this run.
        """
        created = now()
        # All processes insert in the order of ids, so that two with the same searches cannot deadlock.
        batch = sorted(((record.spec.id, record) for record in records), key=itemgetter(0))
        searched = {record.spec.position.id: record.spec.position for _, record in batch}
        position_rows = [
            (i, p.game, json.dumps(p.state), json.dumps(p.returns), json.dumps(p.legal), p.phase)
            for i, p in sorted(searched.items())
        ]
        with self.database.writing() as connection:
            self.database.insert_many(connection, positions, _POSITION_COLUMNS, position_rows)
            numbers = _numbers(connection, positions, searched)
            rows = [
                (
                    search_id,
                    numbers[record.spec.position.id],
                    record.spec.agent,
                    record.spec.seed,
                    record.action,
                    json.dumps(record.visits),
                    json.dumps(record.values),
                    record.nodes,
                    float(record.seconds),
                    created,
                )
                for search_id, record in batch
            ]
            new = self.database.insert_many(connection, votes, _VOTE_COLUMNS, rows)
            self._link(connection, run_id, [search_id for search_id, _ in batch])
        return new

    @outlasting
    def link(self, run_id: str, search_ids: Iterable[str]) -> None:
        """Attaches searches that are stored already (by any run) to a run that has begun."""
        ids = sorted(set(search_ids))
        with self.database.writing() as connection:
            missing = len(ids) - self._link(connection, run_id, ids)
            if missing:
                raise UserError(f"searches must be stored to be linked to run {run_id!r}, but {missing} are not.")

    def _link(self, connection: Connection, run_id: str, search_ids: Iterable[str]) -> int:
        """Attaches those searches that are stored to a run; returns their number."""
        numbers = _numbers(connection, votes, search_ids)
        rows = [(run_id, number) for number in sorted(numbers.values())]
        self.database.insert_many(connection, run_votes, ("run_id", "vote_number"), rows)
        return len(numbers)

    @outlasting
    def counts(self) -> dict[str, int]:
        """Returns the number of searches of every run that has any."""
        query = select(run_votes.c.run_id, func.count()).group_by(run_votes.c.run_id)
        with self.database.reading() as connection:
            return {run_id: count for run_id, count in connection.execute(query)}

    @outlasting
    def stored(self, search_ids: Iterable[str]) -> set[str]:
        """Returns those of the ids whose searches are stored, by any run."""
        with self.database.reading() as connection:
            return set(_numbers(connection, votes, search_ids))

    @outlasting
    def records(self, search_ids: Iterable[str]) -> list[SearchRecord]:
        """Returns stored searches in the order of the ids; ids that are not stored are left out."""
        records: list[SearchRecord] = []
        searched: dict[int, SeenPosition] = {}
        with self.database.reading() as connection:
            for ids in chunks(search_ids):
                rows = {row.id: row for row in connection.execute(select(votes).where(votes.c.id.in_(ids)))}
                unknown = {row.position_number for row in rows.values()} - searched.keys()
                query = select(positions).where(positions.c.number.in_(unknown))
                searched.update((row.number, _position(row)) for row in connection.execute(query))
                records += [_record(rows[i], searched[rows[i].position_number]) for i in ids if i in rows]
        return records

    @outlasting
    def of_run(self, run_id: str) -> list[SearchRecord]:
        """Returns all searches of a run, in the order in which they were stored."""
        query = select(votes.c.id).join(run_votes, run_votes.c.vote_number == votes.c.number)
        with self.database.reading() as connection:
            ids = list(connection.scalars(query.where(run_votes.c.run_id == run_id).order_by(votes.c.number)))
        return self.records(ids)


def _numbers(connection: Connection, table: Table, ids: Iterable[str]) -> dict[str, int]:
    """Returns the numbers of the stored rows by id."""
    numbers: dict[str, int] = {}
    for some in chunks(ids):
        query = select(table.c.id, table.c.number).where(table.c.id.in_(some))
        numbers.update((row.id, row.number) for row in connection.execute(query))
    return numbers


def _position(row: Row[Any]) -> SeenPosition:
    state, returns, legal = (tuple(json.loads(text)) for text in (row.state, row.returns, row.legal))
    return SeenPosition(row.game, state, returns, legal, row.phase)


def _record(row: Row[Any], position: SeenPosition) -> SearchRecord:
    visits, values = (tuple(json.loads(text)) for text in (row.visits, row.action_values))
    return SearchRecord(SearchSpec(position, row.agent, row.seed), row.action, visits, values, row.nodes, row.seconds)
