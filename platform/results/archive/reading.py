"""Reads archives, a part at a time: rows, records and columns. Nothing is unpickled, no code of the run executed."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sqlalchemy import Connection, select

from ...arena.match import MatchRecord
from ...core.errors import MALFORMED, UserError, require_extra
from ..integrity.checked_rows import MatchRow, SeatRow
from ..integrity.checksums import CHANGED, checksum
from ..integrity.match_rows import agreeing, record_of_rows
from ..integrity.totals import Total, difference
from ..store.annotations import ARCHIVE
from ..store.columns import MATCH_FIELDS, SEAT_FIELDS, Array, MatchColumns, Texts
from ..store.database import CHUNK, Database
from ..store.schema import SCHEMA_VERSION, run_annotations
from .layout import FORMAT, ID, OF_SEATS, RUN_KEY, Contents, arrow_schema, rows_in, sealed, texts, wrong_file

PART = 1 << 15  # games read at once as columns
LARGEST_GROUP = 1 << 30  # bytes of a row group: larger ones were not written by us


class Place(NamedTuple):
    """The file with the games of a run that its store no longer has, as kept in the annotation ARCHIVE."""

    path: str
    digest: str
    games: int

    def open(self) -> Archive:
        """Opens the file; raises UserError if it is missing or another one."""
        archive = Archive.open(Path(self.path))
        if archive.digest != self.digest:
            raise UserError(
                f"an archive must have the digest that was stored, {self.digest[:12]}, got {self.path} with"
                f" {archive.digest[:12]}; put the right file back."
            )
        return archive


class Scores(NamedTuple):
    """The fields of MatchColumns that means are computed from."""

    game: Texts
    termination: Texts
    seed: Array
    seats: Array
    agent: Texts
    score: Array


def archive_of_run(database: Database, connection: Connection, run_id: str) -> Archive | None:
    """Returns the archive with the games of a run; None if the store has them."""
    known = run_annotations.c
    text = connection.scalar(select(known.text).where(known.run_id == run_id, known.name == ARCHIVE))
    return Place(**json.loads(text)).open() if text else None


@dataclass(frozen=True)
class Archive:
    """An intact file with a readable footer; its rows are checked when they are read."""

    path: Path
    digest: str
    contents: Contents
    groups: int

    @classmethod
    def open(cls, path: Path) -> Archive:
        """Opens an archive; raises UserError with one sentence if it cannot."""
        require_extra("an archive", "parquet", "pyarrow")
        if not path.is_file():
            raise UserError(f"an archive must be an existing file, got {path}; name another, or put it back.")
        digest = sealed(path)
        with reading(path):
            file = _parquet(path)
            contents = Contents(**json.loads(file.metadata.metadata[RUN_KEY]))
            if contents.schema > SCHEMA_VERSION or contents.format > FORMAT:
                raise UserError(
                    f"an archive must be of this version or an earlier one, got {path}; install a newer Turnier."
                )
            known = {field.name: field.type for field in arrow_schema()}
            if foreign := [f.name for f in _parquet(path, plain=True).schema_arrow if known.get(f.name) != f.type]:
                raise wrong_file(path, f"it has a column {foreign[0]} of another kind")
            groups = [file.metadata.row_group(i) for i in range(file.num_row_groups)]
            if any(group.total_byte_size > LARGEST_GROUP for group in groups):
                raise wrong_file(path, "its parts are too large")
            if file.metadata.num_rows != contents.games:
                raise wrong_file(path, f"it has {file.metadata.num_rows:,} of {contents.games:,} games")
            if checksum(*list(contents.run.values())[:-1]) != contents.run["checksum"] is not None:
                raise wrong_file(path, "its run differs from its checksum")
        return cls(path, digest, contents, len(groups))

    @property
    def total(self) -> Total:
        """The number of games, and the sum of their marks."""
        return Total(self.contents.games, self.contents.marks)

    def rows(self) -> Iterator[tuple[list[MatchRow], list[list[SeatRow]]]]:
        """Yields all games in the order in which they were stored, CHUNK at a time, as in `CheckedRows`."""
        import pyarrow as arrow

        with reading(self.path):
            schema = arrow_schema()
            for batch in _parquet(self.path, plain=True).iter_batches(CHUNK):
                yield rows_in(arrow.Table.from_batches([batch]).select(schema.names))

    def games(self) -> frozenset[str]:
        """Returns the full texts of the games (the rules) in it."""
        found: set[str] = set()
        with reading(self.path):
            for table in self._tables(["game"]):
                found.update(_texts(table.column(0).combine_chunks()).values.tolist())
        return frozenset(found)

    def require_sound(self, on_games: Callable[[int], object] = lambda games: None) -> None:
        """Raises UserError unless every game is as it was stored and none is missing."""
        total = Total()
        for matches, seats in self.rows():
            for match, right in zip(matches, agreeing(matches, seats), strict=True):
                if not right:
                    raise wrong_file(self.path, f"the game {match[ID]}: {CHANGED}")
            total = total.plus([match[ID] for match in matches])
            on_games(len(matches))
        if total != self.total:
            raise wrong_file(self.path, f"it has {difference(self.total, total)} of the run")

    def records(self) -> Iterator[list[MatchRecord]]:
        """Yields all games, CHUNK at a time."""
        for matches, seats in self.rows():
            with reading(self.path):
                records = list(map(record_of_rows, matches, seats))
            yield records

    def columns(self, first: int) -> MatchColumns:
        """Returns all games as columns, numbered from `first` on."""
        return MatchColumns.concatenated(list(self.parts(first)))

    def parts(self, first: int) -> Iterator[MatchColumns]:
        """Yields the same, a part at a time."""
        names = [name for name in MATCH_FIELDS if name != "number"]
        for table in self._tables([*names, *(OF_SEATS + name for name in SEAT_FIELDS[2:])]):
            with reading(self.path):
                part = _columns_of(table, first)
            yield part
            first += table.num_rows

    def scores(self) -> Iterator[Scores]:
        """Yields the data of means, a part at a time."""
        for table in self._tables(["game", "seed", "termination", "seat_agent", "seat_score"]):
            with reading(self.path):
                columns, flat, counts = _parts_of(table)
                game, termination = _texts(columns["game"]), _texts(columns["termination"])
                seed, score = _numbers(columns["seed"], np.int64), _numbers(flat["score"], np.float64)
                yield Scores(game, termination, seed, counts, _texts(flat["agent"]), score)

    def _tables(self, names: Sequence[str]) -> Iterator[Any]:
        import pyarrow as arrow

        with reading(self.path):
            file = _parquet(self.path)
            for group in range(self.groups):  # a batch of two groups would have two sets of different texts
                for batch in file.iter_batches(PART, [group], names):
                    yield arrow.Table.from_batches([batch])

    def values(self, first: int, numbers: Sequence[int], names: Sequence[str]) -> dict[int, tuple[Any, ...]]:
        """Returns values of games, such as their plies, by their numbers in `columns`; others are left out."""
        wanted = np.sort(np.array(numbers, np.int64))
        found: dict[int, tuple[Any, ...]] = {}
        with reading(self.path):
            file = _parquet(self.path)
            for group in range(self.groups):
                end = first + file.metadata.row_group(group).num_rows
                some = wanted[np.searchsorted(wanted, first) : np.searchsorted(wanted, end)]
                if len(some):
                    table = file.read_row_group(group, list(names)).take(some - first)
                    values = zip(*(column.to_pylist() for column in table.columns), strict=True)
                    found |= dict(zip(some.tolist(), values, strict=True))
                first = end
        return found


def _parquet(path: Path, plain: bool = False) -> Any:
    """Opens the file; its texts are read as indices of distinct ones unless `plain`."""
    from pyarrow import parquet

    return parquet.ParquetFile(
        path, read_dictionary=None if plain else texts(arrow_schema()), page_checksum_verification=True
    )


def _columns_of(table: Any, first: int) -> MatchColumns:
    """Returns a row group as columns, numbered from `first` on."""
    columns, flat, counts = _parts_of(table)
    floats = (np.float64, np.int64, np.int64, np.float64, np.float64)
    numbers = [_numbers(flat[name], kind) for name, kind in zip(SEAT_FIELDS[3:], floats, strict=True)]
    ids = np.frombuffer(columns["id"].buffers()[1], "V16", table.num_rows, 16 * columns["id"].offset)
    return MatchColumns(
        np.arange(first, first + table.num_rows),
        ids,
        _texts(columns["game"]),
        _numbers(columns["seed"], np.int64),
        _texts(columns["termination"]),
        _numbers(columns["seconds"], np.float64),
        _texts(columns["facts"]),
        counts,
        _texts(flat["agent"]),
        *numbers,
    )


def _parts_of(table: Any) -> tuple[dict[str, Any], dict[str, Any], Array]:
    """Returns the columns of a row group, those of seats one after another, and the number of seats of each game."""
    import pyarrow as arrow

    columns = {name: table.column(name).combine_chunks() for name in table.column_names}
    lists = {name: column for name, column in columns.items() if arrow.types.is_list(column.type)}
    counts = np.diff(next(iter(lists.values())).offsets.to_numpy()).astype(np.uint8)
    return columns, {name.removeprefix(OF_SEATS): column.flatten() for name, column in lists.items()}, counts


def _numbers(column: Any, kind: type) -> Array:
    """Returns numbers, NaN for missing ones."""
    return np.asarray(column.to_numpy(zero_copy_only=False), kind)


def _texts(column: Any) -> Texts:
    return Texts(np.array(column.dictionary.to_pylist(), str), column.indices.to_numpy().astype(np.int32))


@contextlib.contextmanager
def reading(path: Path) -> Iterator[None]:
    """Raises UserError if a file with the right digest cannot be read: it was not written by us."""
    try:
        yield
    except (OSError, *MALFORMED) as failure:  # pyarrow's errors about files are among these
        reason = " ".join(str(failure).split())[:200].rstrip(".")
        raise wrong_file(path, reason or type(failure).__name__) from None
