"""The votes of a store: searches of single positions, with what each chose and found out."""

from __future__ import annotations

import json
from collections.abc import Iterable
from operator import itemgetter
from typing import Any

from sqlalchemy import Connection, Row, Table, func, select

from turnier.arena.repeated_search import SearchRecord, SearchSpec, SeenPosition
from turnier.core.errors import UserError
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
    """What `Store` is to matches, this is to votes; it is `Store.votes`."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def append(self, run_id: str, records: Iterable[SearchRecord]) -> int:
        """Stores votes of a run that has begun, all or none; returns how many were not stored before.

        A vote that is stored already (by any run) stays as it is and is linked to this run.
        """
        created = now()
        # Everyone inserts in the order of ids: two processes with the same votes cannot wait for each other.
        batch = sorted(((record.spec.id, record) for record in records), key=itemgetter(0))
        searched = {record.spec.position.id: record.spec.position for _, record in batch}
        its_positions = [
            (i, p.game, json.dumps(p.state), json.dumps(p.returns), json.dumps(p.legal), p.phase)
            for i, p in sorted(searched.items())
        ]
        with self.database.writing() as connection:
            self.database.insert_many(connection, positions, _POSITION_COLUMNS, its_positions)
            numbers = _numbers(connection, positions, searched)
            rows = [
                (
                    vote_id,
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
                for vote_id, record in batch
            ]
            new = self.database.insert_many(connection, votes, _VOTE_COLUMNS, rows)
            self._link(connection, run_id, [vote_id for vote_id, _ in batch])
        return new

    def link(self, run_id: str, vote_ids: Iterable[str]) -> None:
        """Attaches votes that are stored already (by any run) to a run that has begun."""
        ids = sorted(set(vote_ids))
        with self.database.writing() as connection:
            missing = len(ids) - self._link(connection, run_id, ids)
            if missing:
                raise UserError(f"votes must be stored to be linked to run {run_id!r}, but {missing} are not.")

    def _link(self, connection: Connection, run_id: str, vote_ids: Iterable[str]) -> int:
        """Attaches those votes that are stored to a run; returns how many."""
        numbers = _numbers(connection, votes, vote_ids)
        rows = [(run_id, number) for number in sorted(numbers.values())]
        self.database.insert_many(connection, run_votes, ("run_id", "vote_number"), rows)
        return len(numbers)

    def counts(self) -> dict[str, int]:
        """Returns the number of votes of every run that has any."""
        query = select(run_votes.c.run_id, func.count()).group_by(run_votes.c.run_id)
        with self.database.reading() as connection:
            return {run_id: count for run_id, count in connection.execute(query)}

    def stored(self, vote_ids: Iterable[str]) -> set[str]:
        """Returns those of the ids whose votes are stored, by whichever run."""
        with self.database.reading() as connection:
            return set(_numbers(connection, votes, vote_ids))

    def records(self, vote_ids: Iterable[str]) -> list[SearchRecord]:
        """Returns stored votes in the order of the ids; ids that are not stored are left out."""
        records: list[SearchRecord] = []
        searched: dict[int, SeenPosition] = {}
        with self.database.reading() as connection:
            for ids in chunks(vote_ids):
                rows = {row.id: row for row in connection.execute(select(votes).where(votes.c.id.in_(ids)))}
                unknown = {row.position_number for row in rows.values()} - searched.keys()
                query = select(positions).where(positions.c.number.in_(unknown))
                searched.update((row.number, _position(row)) for row in connection.execute(query))
                records += [_record(rows[i], searched[rows[i].position_number]) for i in ids if i in rows]
        return records

    def of_run(self, run_id: str) -> list[SearchRecord]:
        """Returns all votes of a run, in the order in which they were stored."""
        query = select(votes.c.id).join(run_votes, run_votes.c.vote_number == votes.c.number)
        with self.database.reading() as connection:
            ids = list(connection.scalars(query.where(run_votes.c.run_id == run_id).order_by(votes.c.number)))
        return self.records(ids)


def _numbers(connection: Connection, table: Table, ids: Iterable[str]) -> dict[str, int]:
    """Returns the numbers of those rows that are stored, by id."""
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
