"""Many rows at once, in the fastest way of each database: statements with many rows in SQLite, COPY in PostgreSQL."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from sqlalchemy import Connection, CursorResult, Engine, Table, event

ROWS = 200  # rows in one statement
COPIED = 64  # number of rows from which COPY is faster than INSERT


class Inserting:
    """Inserts rows into a database, given as tuples of the values of some columns."""

    is_sqlite: bool

    def insert_many(
        self, connection: Connection, table: Table, columns: Sequence[str], rows: Sequence[tuple[Any, ...]]
    ) -> int:
        """Inserts rows except those whose key exists already; returns the number of new ones."""
        return sum(done.rowcount for done in self._insert(connection, table, columns, rows, ""))

    def insert_returning(
        self,
        connection: Connection,
        table: Table,
        columns: Sequence[str],
        rows: Sequence[tuple[Any, ...]],
        returned: Sequence[str],
    ) -> list[tuple[Any, ...]]:
        """Inserts rows as `insert_many` does; returns some columns of the new rows."""
        done = self._insert(connection, table, columns, rows, f" RETURNING {', '.join(returned)}")
        return [tuple(row) for result in done for row in result]

    def insert_numbered(
        self, connection: Connection, table: Table, columns: Sequence[str], rows: Sequence[tuple[Any, ...]]
    ) -> dict[str, int]:
        """Inserts rows as `insert_many` does into a table that numbers them; returns id -> number of new rows.

        SQLite has one writer, so the new rows have the largest numbers. Returning them one by one takes longer.
        """
        if not self.is_sqlite:
            return {key: number for key, number in self._copy_numbered(connection, table, columns, rows)}
        (before,) = connection.exec_driver_sql(f"SELECT coalesce(max(number), 0) FROM {table.name}").one()
        if self.insert_many(connection, table, columns, rows) == len(rows):
            of_id = columns.index("id")
            return {row[of_id]: number for number, row in enumerate(rows, before + 1)}
        new = f"SELECT json_group_object(id, number) FROM {table.name} WHERE number > ?"
        return json.loads(connection.exec_driver_sql(new, (before,)).scalar_one())  # type: ignore[no-any-return]

    def insert_new(
        self, connection: Connection, table: Table, columns: Sequence[str], rows: Sequence[tuple[Any, ...]]
    ) -> None:
        """Inserts rows that cannot exist yet, because they belong to rows that this transaction has inserted."""
        if self.is_sqlite or len(rows) < COPIED:
            self.insert_many(connection, table, columns, rows)
        else:
            connection.exec_driver_sql(f"COPY {table.name} ({', '.join(columns)}) FROM STDIN", list(rows))

    def _copy_numbered(
        self, connection: Connection, table: Table, columns: Sequence[str], rows: Sequence[tuple[Any, ...]]
    ) -> Iterable[Sequence[Any]]:
        """Inserts rows as `insert_numbered` does, by a temporary table, since COPY cannot handle conflicts."""
        if len(rows) < COPIED:
            return self.insert_returning(connection, table, columns, rows, ("id", "number"))
        new, names = f"new_{table.name}", ", ".join(columns)
        made = f"CREATE TEMP TABLE IF NOT EXISTS {new} ON COMMIT DELETE ROWS AS SELECT {names} FROM {table.name}"
        connection.exec_driver_sql(f"{made} WITH NO DATA")
        connection.exec_driver_sql(f"COPY {new} ({names}) FROM STDIN", list(rows))
        insert = f"INSERT INTO {table.name} ({names}) SELECT {names} FROM {new} ORDER BY id ON CONFLICT DO NOTHING"
        return connection.exec_driver_sql(f"{insert} RETURNING id, number").all()

    def _insert(
        self, connection: Connection, table: Table, columns: Sequence[str], rows: Sequence[tuple[Any, ...]], end: str
    ) -> Iterator[CursorResult[Any]]:
        """Inserts many rows per statement: each statement costs time, and SQLite yields to other threads at each.

        Values go straight to the driver: going through SQLAlchemy costs as much as the insert itself.
        """
        mark = f"({', '.join(['?' if self.is_sqlite else '%s'] * len(columns))})"
        begin = f"INSERT INTO {table.name} ({', '.join(columns)}) VALUES "
        for first in range(0, len(rows), ROWS):
            some = rows[first : first + ROWS]
            statement = f"{begin}{', '.join([mark] * len(some))} ON CONFLICT DO NOTHING{end}"
            values = tuple(itertools.chain.from_iterable(some))
            yield connection.exec_driver_sql(statement, values, execution_options={"preserve_rowcount": True})


def let_copy(engine: Engine) -> None:
    """Passes rows to PostgreSQL's COPY statements, which psycopg does not execute in the usual way."""

    @event.listens_for(engine, "do_executemany")
    def copy(cursor: Any, statement: str, rows: Sequence[tuple[Any, ...]], _: Any) -> bool:
        if not statement.startswith("COPY "):
            return False
        with cursor.copy(statement) as target:
            for row in rows:
                target.write_row(row)
        return True
