"""The layout of an archive: a row per game, the values of its seats as lists, and the run in the file's footer.

Columns have the names and values of the store's tables, with the prefix `seat_` if of seats; a new column of a table is
archived without a change here. An id is 16 bytes. The footer holds the run, and a digest of the whole file with zeros
in the digest's place, so every flipped bit is noticed when the file is opened.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple

from sqlalchemy import Column

from ...core.errors import UserError
from ..integrity.checked_rows import MatchRow, SeatRow
from ..integrity.match_rows import MATCH_COLUMNS, SEAT_COLUMNS
from ..store.schema import matches, seats

FORMAT = 1
RUN_KEY, DIGEST_KEY = b"turnier.archive", b"turnier.digest"
OF_SEATS = "seat_"  # prefix of columns of seats
SEAT_NAMES = SEAT_COLUMNS[2:]  # without the match, given by the row, and the seat, given by the place in the list
ID = MATCH_COLUMNS.index("id")
_HEX = 64  # digits of a SHA-256
_MAGIC = b"PAR1"
_BLOCK = 1 << 20  # bytes hashed at once


class Contents(NamedTuple):
    """The footer's content, as JSON."""

    format: int
    schema: int  # version of the store's tables
    run: dict[str, Any]  # its row in the table of runs
    progress: dict[str, Any] | None  # its driver's last report
    annotations: list[list[str]]  # name and text
    games: int
    marks: int  # sum of the games' marks, see integrity/totals.py
    only_games: bool  # whether the run has nothing else in a store, such as searches or candidates
    written: str  # UTC, ISO 8601


def arrow_schema() -> Any:
    """Returns the columns of an archive."""
    import pyarrow as arrow

    def kind(column: Column[Any]) -> Any:
        kinds = {str: arrow.string(), int: arrow.int64(), float: arrow.float64(), bytes: arrow.binary()}
        return kinds[column.type.python_type]

    fields = [arrow.field(name, arrow.binary(16) if name == "id" else kind(matches.c[name])) for name in MATCH_COLUMNS]
    lists = [arrow.field(OF_SEATS + name, arrow.list_(kind(seats.c[name]))) for name in SEAT_NAMES]
    return arrow.schema([*fields, *lists])


def texts(schema: Any) -> list[str]:
    """Returns the Parquet names of the columns that hold texts: few different ones."""
    import pyarrow as arrow

    lists = [f"{field.name}.list.element" for field in schema if field.type == arrow.list_(arrow.string())]
    return [field.name for field in schema if field.type == arrow.string()] + lists


def parquet_columns(schema: Any) -> list[str]:
    """Returns the Parquet names of the columns that repeat values, each of which is written once."""
    lists = [f"{field.name}.list.element" for field in schema if field.name.startswith(OF_SEATS)]
    plain = ("id", "checksum")
    return [field.name for field in schema if field.name not in plain and not field.name.startswith(OF_SEATS)] + lists


def table_of(schema: Any, matches_: Sequence[MatchRow], seats_: Sequence[Sequence[SeatRow]]) -> Any:
    """Returns matches and their seats as an Arrow table."""
    import pyarrow as arrow

    columns = [list(column) for column in zip(*matches_, strict=True)]
    columns[ID] = [bytes.fromhex(text) for text in columns[ID]]
    columns += [[[seat[i] for seat in some] for some in seats_] for i in range(1, len(SEAT_NAMES) + 1)]
    arrays = [arrow.array(column, field.type) for column, field in zip(columns, schema, strict=True)]
    return arrow.Table.from_arrays(arrays, schema=schema)


def rows_in(table: Any) -> tuple[list[MatchRow], list[list[SeatRow]]]:
    """Returns the rows of a table made by `table_of`."""
    columns = [column.to_pylist() for column in table.columns]
    columns[ID] = [data.hex() for data in columns[ID]]
    split = len(MATCH_COLUMNS)
    of_seats = [
        [(seat, *values) for seat, values in enumerate(zip(*lists, strict=True))]
        for lists in zip(*columns[split:], strict=True)
    ]
    return list(zip(*columns[:split], strict=True)), of_seats


def seal(path: Path) -> None:
    """Writes the digest of a file into its footer, in place of the zeros."""
    with path.open("r+b") as file:
        place = _place(path, file)
        digest = _digest(file, place)
        file.seek(place)
        file.write(digest.encode())
        file.flush()
        os.fsync(file.fileno())


def sealed(path: Path) -> str:
    """Returns the digest of a file; raises UserError if it is wrong or missing."""
    with path.open("rb") as file:
        place = _place(path, file)
        digest = _digest(file, place)
        file.seek(place)
        written = file.read(_HEX)
    if written != digest.encode():
        raise wrong_file(path, "its bytes differ from its digest")
    return digest


def wrong_file(path: Path, what: str) -> UserError:
    """Returns the error to raise for a file that is no sound archive."""
    return UserError(
        f"an archive must be a whole file that turnier runs archive wrote, got {path}: {what}; use another copy."
    )


def _place(path: Path, file: IO[bytes]) -> int:
    """Returns the position of the digest in a file."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - 8))
    end = file.read(8)
    length = int.from_bytes(end[:4], "little")
    if end[4:] != _MAGIC or length + 8 > size:
        raise wrong_file(path, "it does not end like a Parquet file")
    file.seek(size - 8 - length)
    footer = file.read(length)
    key = footer.rfind(DIGEST_KEY)
    found = footer.find(b"\x40", key + len(DIGEST_KEY)) + 1 if key >= 0 else 0  # a length of 64, then the text
    if not found or found + _HEX > length:
        raise wrong_file(path, "it holds no digest")
    return size - 8 - length + found


def _digest(file: IO[bytes], place: int) -> str:
    """Returns the SHA-256 of a file whose digest, at a place, counts as zeros."""
    digest = hashlib.sha256()
    file.seek(0)
    left = place
    while left and (block := file.read(min(left, _BLOCK))):
        digest.update(block)
        left -= len(block)
    digest.update(b"0" * _HEX)
    file.seek(place + _HEX)
    while block := file.read(_BLOCK):
        digest.update(block)
    return digest.hexdigest()
