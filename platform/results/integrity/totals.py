"""The number and identity of each run's rows: rows hidden by damage are missed when they are read.

A total is the number of a run's rows in a table and the sum of their marks, in any order. It is written in the
transaction that writes the rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Column, Connection, Table, bindparam, func, select, update

from ..store.database import Database
from ..store.schema import (
    matches,
    packed_games,
    run_annotations,
    run_matches,
    run_totals,
    run_votes,
    runs,
    training_evaluations,
    training_points,
    votes,
)
from .checksums import MARKS, checksum, mark_of, marks_of, sum_of

COUNTED = (run_matches, run_votes, run_annotations, training_points, training_evaluations)
# Tables whose rows name another row, whose id is their mark; the mark of other rows is their checksum.
_OF_IDS: dict[Table, tuple[str, Table]] = {run_matches: ("match_number", matches), run_votes: ("vote_number", votes)}

# Made once: making it takes longer than executing it, which every commit does.
_CHANGE = (
    update(run_totals)
    .where(run_totals.c.run_id == bindparam("run"), run_totals.c.name == bindparam("table"))
    .values(count=run_totals.c.count + bindparam("rows"), sum=(run_totals.c.sum + bindparam("marks")) % MARKS)
)


class Total(NamedTuple):
    """The number of rows, and the sum of their marks."""

    rows: int = 0
    marks: int = 0

    @classmethod
    def of(cls, marks: Iterable[int]) -> Total:
        known = list(marks)
        return cls(len(known), sum_of(known))

    def plus(self, ids: Sequence[str]) -> Total:
        """Returns the total with the rows of these ids, too."""
        more = Total.of(map(mark_of, ids))
        return Total(self.rows + more.rows, (self.marks + more.marks) % MARKS)


class Totals:
    """Reads and writes totals within the transactions of the store."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def begin(self, connection: Connection, run_id: str, totals: Mapping[Table, Total]) -> None:
        """Gives a run its first totals; missing ones are zero."""
        rows = [(run_id, table.name, *totals.get(table, Total())) for table in COUNTED]
        self.database.insert_many(connection, run_totals, ("run_id", "name", "count", "sum"), rows)

    def adopt(self, connection: Connection, run_id: str) -> None:
        """Gives a run the totals of its present rows."""
        self.begin(connection, run_id, {table: self.found(connection, run_id, table) for table in COUNTED})

    def found(self, connection: Connection, run_id: str, table: Table) -> Total:
        """Returns the total of the present rows."""
        if table in _OF_IDS:
            number, of = _OF_IDS[table]
            ids = select(of.c.id).join(table, table.c[number] == of.c.number).where(table.c.run_id == run_id)
            found = Total.of(map(mark_of, connection.scalars(ids)))
            return self._with_packed(connection, run_id, found) if table is run_matches else found
        rows = connection.execute(select(*content(table)).where(table.c.run_id == run_id))
        return Total.of(checksum(*row) for row in rows)

    def _with_packed(self, connection: Connection, run_id: str, total: Total) -> Total:
        """Adds the packed games of a run to a total."""
        rows, marks = total
        with self.database.decoding(f"packed games of {run_id}"):
            for ids in connection.scalars(select(packed_games.c.ids).where(packed_games.c.run_id == run_id)):
                own = marks_of(ids)
                rows, marks = rows + len(own), marks + sum(own.tolist())
        return Total(rows, marks % MARKS)

    def of_run(self, connection: Connection, run_id: str, table: Table) -> tuple[Total, Total]:
        """Returns the stored total of a run and that of its present rows; the latter twice if no total is stored."""
        found = self.found(connection, run_id, table)
        return self.of_runs(connection, table).get(run_id, found), found

    def lock(self, connection: Connection, run_id: str, table: Table) -> None:
        """Makes other writers of the same rows wait for the transaction's end; call it before writing those of
        `replace`."""
        mine = (run_totals.c.run_id == run_id) & (run_totals.c.name == table.name)
        connection.execute(select(run_totals.c.count).where(mine).with_for_update())

    def add(self, connection: Connection, run_id: str, table: Table, marks: Iterable[int]) -> None:
        """Counts rows just added; a run without totals stays without."""
        self._change(connection, run_id, table, Total.of(marks))

    def remove(self, connection: Connection, run_id: str, table: Table, marks: Iterable[int]) -> None:
        """Subtracts rows just deleted."""
        count, total = Total.of(marks)
        self._change(connection, run_id, table, Total(-count, -total % MARKS))

    def replace(self, connection: Connection, run_id: str, table: Table, marks: Iterable[int]) -> None:
        """Counts a run's present rows in place of all earlier ones."""
        count, total = Total.of(marks)
        self._update(connection, run_id, table, {"count": count, "sum": total})

    def of_runs(self, connection: Connection, table: Table) -> dict[str, Total]:
        """Returns the totals of a table by run."""
        query = select(run_totals.c.run_id, run_totals.c.count, run_totals.c.sum)
        rows = connection.execute(query.where(run_totals.c.name == table.name))
        return {run_id: Total(count, total) for run_id, count, total in rows}

    def counts(self, table: Table, copied: Mapping[str, int] | None = None) -> dict[str, int]:
        """Returns the number of a table's rows for every run that has any; raises Damaged if some are missing.

        Args:
            table: one of COUNTED.
            copied: rows of runs as counted elsewhere; runs with an equal total are not counted again, which takes a
                second for three million rows.
        """
        with self.database.reading() as connection:
            totals = self.of_runs(connection, table)
            found = {
                run: total.rows for run, total in totals.items() if total.rows and (copied or {}).get(run) == total.rows
            }
            found |= self._counted(connection, table, set(found))
        for run_id, known in totals.items():
            if found.get(run_id, 0) != known.rows:
                got = difference(known, Total(found.get(run_id, 0)))
                raise self.database.damaged(f"{run_id} has {got} in {table.name}")
        return found

    def _counted(self, connection: Connection, table: Table, without: set[str]) -> dict[str, int]:
        """Counts the rows of all runs but some."""
        query = select(table.c.run_id, func.count()).group_by(table.c.run_id)
        if without:  # a condition that excludes runs would still read all of their rows
            others = set(connection.scalars(select(runs.c.id))) - without
            query = query.where(table.c.run_id.in_(sorted(others)))
        found = Counter({run_id: count for run_id, count in connection.execute(query)})
        if table is run_matches:
            c = packed_games.c
            packed = select(c.run_id, func.sum(c.matches)).group_by(c.run_id)
            found.update({run: int(n) for run, n in connection.execute(packed) if run not in without})
        return dict(found)

    def check(self, connection: Connection, run_id: str, table: Table, found: Total) -> None:
        """Raises Damaged if the found rows of a run differ from its total."""
        known = self.of_runs(connection, table).get(run_id)
        if known is not None and known != found:
            raise self.database.damaged(f"{run_id} has {difference(known, found)} in {table.name}")

    def _change(self, connection: Connection, run_id: str, table: Table, by: Total) -> None:
        if by.rows:
            row = {"run": run_id, "table": table.name, "rows": by.rows, "marks": by.marks}
            connection.execute(_CHANGE, row)

    def _update(self, connection: Connection, run_id: str, table: Table, values: Mapping[str, object]) -> None:
        mine = (run_totals.c.run_id == run_id) & (run_totals.c.name == table.name)
        connection.execute(update(run_totals).where(mine).values(values))


def content(table: Table) -> list[Column[Any]]:
    """Returns the columns of a row's checksum: not the run, which may be renamed."""
    return [column for column in table.columns if column.name != "run_id"]


def difference(known: Total, found: Total) -> str:
    """Returns the difference of found rows from a total, as part of a sentence."""
    if known.rows == found.rows:
        return f"{known.rows:,} rows, but not those that were stored,"
    return f"{found.rows:,} of {known.rows:,} rows"
