"""Reads the rows of a database that may be damaged: unreadable rows are skipped and counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from sqlalchemy import Connection, Row, Table, text
from sqlalchemy.exc import SQLAlchemyError

ROWS = 2000  # keys read at once
GIVES_UP = 20  # consecutive unreadable ranges of keys
LARGEST = 1 << 62  # number of a row
UNREADABLE = (SQLAlchemyError, ValueError, OverflowError)
_ESCAPED = {code: None for code in range(0xDC80, 0xDD00)}  # bytes that are not UTF-8, as decoded by surrogateescape


class LenientReader:
    """Reads tables of a connection; `unreadable` is the number of unreadable places by table."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.is_sqlite = connection.dialect.name == "sqlite"
        self.unreadable: Counter[str] = Counter()
        if self.is_sqlite:  # by default the first text that is not UTF-8 ends reading
            raw: Any = connection.connection.dbapi_connection
            raw.text_factory = lambda data: data.decode("utf-8", "surrogateescape")

    def all(self, table: Table, source: str = "") -> list[Row[Any]]:
        """Returns all rows in the order of their keys; if some cannot be read, those before and after them.

        Args:
            table: the table to read.
            source: read instead of the table itself, such as its index.
        """
        keys = [column.name for column in table.primary_key]
        rows: dict[tuple[Any, ...], Row[Any]] = {}
        for direction in ("", " DESC"):
            order = ", ".join(f"{key}{direction}" for key in keys)
            if self._read(table, f"{source or table.name} ORDER BY {order}", keys, rows):
                break
            self.unreadable[table.name] += direction == ""
        return list(rows.values())

    def _read(self, table: Table, source: str, keys: list[str], rows: dict[tuple[Any, ...], Row[Any]]) -> bool:
        """Adds rows by their keys until the end, or until one is unreadable or repeated: a damaged tree may have loops.

        Returns whether all were read.
        """
        seen: set[tuple[Any, ...]] = set()
        try:
            for row in self.connection.execute(text(f"{self._columns_of(table)} FROM {source}")):
                key = tuple(getattr(row, name) for name in keys)
                if key in seen:
                    return False
                seen.add(key)
                rows.setdefault(key, row)
        except UNREADABLE:
            return False
        return True

    def by_number(self, table: Table, key: str, size: int = ROWS) -> Iterator[tuple[range, list[Row[Any]]]]:
        """Yields the rows of a table in ranges of an integer key, longer ones after an unreadable range."""
        first, failed = self._next(table, key, 0), 0
        while first is not None and failed < GIVES_UP and first < LARGEST:
            numbers = range(first, first + (size << failed))
            rows = self.between(table, key, numbers)
            yield numbers, rows
            failed = 0 if rows else failed + 1
            first = self._next(table, key, numbers.stop)

    def _next(self, table: Table, key: str, least: int) -> int | None:
        """Returns the smallest key from `least` on, None if there is none; `least` if the key cannot be read."""
        try:
            found = self.connection.scalar(text(f"SELECT min({key}) FROM {table.name} WHERE {key} >= {least}"))
        except UNREADABLE:
            self.unreadable[table.name] += 1
            return least
        return max(found, least) if isinstance(found, int) else None

    def between(self, table: Table, key: str, numbers: range) -> list[Row[Any]]:
        """Returns rows by an integer key; halves a range until only single keys are unreadable, or all of it is."""
        rows = self._rows(table, f"{key} BETWEEN {numbers[0]} AND {numbers[-1]}")
        if rows is not None:
            place = list(table.c.keys()).index(key)
            return [row for row in rows if row[place] in numbers]  # a damaged tree may return others, too
        ends = {numbers[0], numbers[len(numbers) // 2], numbers[-1]}
        if len(numbers) == 1 or all(self._rows(table, f"{key} = {number}") is None for number in ends):
            self.unreadable[table.name] += 1
            return []
        half = len(numbers) // 2
        return self.between(table, key, numbers[:half]) + self.between(table, key, numbers[half:])

    def _rows(self, table: Table, condition: str) -> list[Row[Any]] | None:
        """Returns the rows that meet a condition, None if they cannot be read."""
        try:
            keys = ", ".join(column.name for column in table.primary_key)
            query = f"{self._columns_of(table)} FROM {table.name} WHERE {condition} ORDER BY {keys}"
            return list(self.connection.execute(text(query)))
        except UNREADABLE:
            return None

    def _columns_of(self, table: Table) -> str:
        """Returns the beginning of a query for all columns by our names; SQLite ignores their case, which may flip."""
        return f"SELECT {', '.join(f'{column.name} AS {column.name}' for column in table.columns)}"


def ill_typed(table: Table, row: Row[Any]) -> str:
    """Returns the difference of a row's values from the types of its table; empty if there is none."""
    for column in table.columns:
        if column.name not in row._mapping:
            return f"it has no {column.name}"
        value, kind = row._mapping[column.name], column.type.python_type
        if value is None and column.nullable:
            continue
        if not isinstance(value, kind):
            return f"its {column.name} is {type(value).__name__} and not {kind.__name__}"
        if isinstance(value, str) and value != value.translate(_ESCAPED):
            return f"its {column.name} is no text"
    return ""
