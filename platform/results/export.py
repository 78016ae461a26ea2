"""A run's matches as files: tables with a row per seat (CSV, Parquet), JSON lines to replay, or PGN and SGF."""

from __future__ import annotations

import contextlib
import csv
import functools
import itertools
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict
from importlib.util import find_spec
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import select

from ..arena.match import MatchRecord, opening_of
from ..arena.match_json import to_json
from ..core.errors import UserError, require_extra
from ..core.outputs import require_file, require_folder
from .archive.layout import wrong_file
from .archive.reading import Archive, archive_of_run
from .archive.restoring import run_in
from .integrity.checked_rows import CheckedRows, MatchRow, SeatRow, rows_of_run
from .integrity.match_rows import MATCH_COLUMNS, DamagedMatch, record_of_rows
from .notation.pgn import pgn_of
from .notation.sgf import sgf_of
from .store.schema import matches, run_matches
from .store.store import Run, Store

COLUMNS = (
    "match",
    "game",
    "seed",
    "max_plies",
    "opening",
    "seat",
    "agent",
    "score",
    "decisions",
    "nodes",
    "seat_seconds",
    "seat_cpu_seconds",
    "seconds",
    "termination",
    "error",
)
LISTED = 20  # maximum number of damaged games in the sentence
Writer = Callable[[CheckedRows], object]
_of_match = itemgetter(*map(MATCH_COLUMNS.index, ("id", "game", "seed", "max_plies")))
_of_end = itemgetter(*map(MATCH_COLUMNS.index, ("seconds", "termination", "error")))
_of_moves = itemgetter(*map(MATCH_COLUMNS.index, ("plies", "opening")))
_GAME, _FACTS = map(MATCH_COLUMNS.index, ("game", "facts"))


class Source(NamedTuple):
    """A source of a run's games: a store or an archive."""

    run: Run
    batches: Callable[[], Iterable[CheckedRows]]  # in the order in which they were stored
    games: frozenset[str]
    damaged: Callable[[str], Exception]  # makes the error for games left out

    @classmethod
    def of_store(cls, store: Store, run: Run) -> Source:
        """Uses the archive of the run if it has one."""
        with store.database.reading() as connection:
            if archive := archive_of_run(store.database, connection, run.id):
                return cls.of_archive(archive)
        query = select(matches.c.game).join(run_matches, run_matches.c.match_number == matches.c.number)
        with store.database.reading() as connection:
            games = frozenset(connection.scalars(query.where(run_matches.c.run_id == run.id).distinct()))
            games |= store.packed.games_of_run(connection, run.id)
        return cls(run, lambda: rows_of_run(store.packed, run.id), games, store.database.damaged)

    @classmethod
    def of_archive(cls, archive: Archive) -> Source:
        def batches() -> Iterator[CheckedRows]:
            for some, seats in archive.rows():
                yield CheckedRows([], some, seats, [])

        return cls(run_in(archive), batches, archive.games(), lambda what: wrong_file(archive.path, what))


def export(store: Store, run: Run, out: Path, on_games: Callable[[int], object] = lambda games: None) -> list[Path]:
    """Writes a run's matches, see `export_from`."""
    return export_from(Source.of_store(store, run), out, on_games)


def export_from(source: Source, out: Path, on_games: Callable[[int], object] = lambda games: None) -> list[Path]:
    """Writes a run's matches in the order in which they were stored; returns the files, which appear only when
    complete.

    Damaged games are left out; Damaged, raised after all others were written, lists them.

    Args:
        source: of the matches.
        out: a file that ends in .csv, .parquet or .jsonl, in .pgn for chess, or in .sgf for Go, Othello and Hex; or a
            folder, for the first three and the run's manifest (Parquet only if pyarrow is installed).
        on_games: called after each batch with its number of games.
    """
    paths, run = export_files(out), source.run
    facts = _fact_names(source)
    parts = {path: path.with_name(f".{path.name}.part") for path in paths}
    left_out: list[DamagedMatch] = []
    try:
        with contextlib.ExitStack() as stack:
            if out not in paths:
                out.mkdir(exist_ok=True)
                manifest = asdict(run) | {"created": run.created.isoformat()}
                (out / "run.json").write_text(json.dumps(manifest, indent=2) + "\n")
            writers = [stack.enter_context(_WRITERS[path.suffix](part, facts)) for path, part in parts.items()]
            for rows in source.batches():
                left_out += rows.wrong
                for write in writers:
                    write(rows)
                on_games(len(rows.matches))
        for path, part in parts.items():
            part.replace(path)
    except OSError as failure:
        raise UserError(f"an export must be written to a folder with room, got {failure}; choose another.") from None
    finally:
        for part in parts.values():
            part.unlink(missing_ok=True)
    if left_out:
        shown = "; ".join(map(str, left_out[:LISTED]))
        more = f" and {len(left_out) - LISTED:,} more" if len(left_out) > LISTED else ""
        raise source.damaged(f"{', '.join(map(str, paths))} had to leave out damaged games ({shown}{more})")
    return paths


def _fact_names(source: Source) -> list[str]:
    """Returns the names of the facts in a run's matches, in the order of each game's first undamaged match."""
    games, names = set(source.games), dict[str, None]()
    for rows in source.batches():
        for match in rows.matches:
            if match[_GAME] in games:
                games.remove(match[_GAME])
                names |= dict.fromkeys(json.loads(match[_FACTS]))
        if not games:
            break
    return list(names)


def export_files(out: Path) -> list[Path]:
    """Returns the files of an export, see `export`; raises UserError if they cannot be written."""
    if out.suffix == ".parquet":
        require_extra("an export to .parquet", "parquet", "pyarrow")
    if out.suffix in _WRITERS:
        require_file(out, "an export")
        return [out]
    if out.suffix:
        raise UserError(f"an export must be a folder or end in {', '.join(_WRITERS)}, got {out}; choose one of them.")
    if not out.parent.is_dir():
        raise UserError(f"the folder of an export must exist, got {out}; create {out.parent} first.")
    require_folder(out, "an export")
    return [out / f"games{suffix}" for suffix in _TABLES if suffix != ".parquet" or find_spec("pyarrow")]


def seat_rows(
    some: Sequence[MatchRow], seats: Sequence[Sequence[SeatRow]], facts: Sequence[str]
) -> Iterator[tuple[Any, ...]]:
    """Yields a row per match and seat: COLUMNS, then the game's facts (None if a game has no such fact)."""
    for match, own in zip(some, seats, strict=True):
        begin = (*_of_match(match), " ".join(map(str, opening_of(*_of_moves(match)))))
        end = (*_of_end(match), *_fact_values(match[_FACTS], facts))
        for seat in own:
            yield (*begin, *seat, *end)


def _fact_values(text: str, facts: Sequence[str]) -> Iterable[float | None]:
    if not facts:
        return ()
    known = json.loads(text)
    return [None if (value := known.get(fact)) is None else float(value) for fact in facts]


@contextlib.contextmanager
def _csv(path: Path, facts: Sequence[str]) -> Iterator[Writer]:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*COLUMNS, *facts])
        yield lambda rows: writer.writerows(seat_rows(rows.matches, rows.seats, facts))


@contextlib.contextmanager
def _parquet(path: Path, facts: Sequence[str]) -> Iterator[Writer]:
    import pyarrow as arrow
    from pyarrow import parquet

    text = dict.fromkeys(("match", "game", "opening", "agent", "termination", "error"), arrow.string())
    whole = dict.fromkeys(("seed", "max_plies", "seat", "decisions", "nodes"), arrow.int64())
    kinds = (
        text | whole | dict.fromkeys(("score", "seat_seconds", "seat_cpu_seconds", "seconds", *facts), arrow.float64())
    )
    schema = arrow.schema([(name, kinds[name]) for name in (*COLUMNS, *facts)])

    def write(rows: CheckedRows) -> None:
        columns = zip(*seat_rows(rows.matches, rows.seats, facts), strict=True)
        arrays = [arrow.array(column, field.type) for column, field in zip(columns, schema, strict=False)]
        if arrays:
            writer.write_table(arrow.Table.from_arrays(arrays, schema=schema))

    with parquet.ParquetWriter(path, schema) as writer:
        yield write


@contextlib.contextmanager
def _jsonl(path: Path, facts: Sequence[str]) -> Iterator[Writer]:
    encode = json.JSONEncoder(separators=(",", ":")).encode
    with path.open("w", encoding="utf-8") as file:
        yield lambda rows: file.writelines(encode(to_json(record)) + "\n" for record in _records(rows))


def _records(rows: CheckedRows) -> Iterator[MatchRecord]:
    return itertools.starmap(record_of_rows, zip(rows.matches, rows.seats, strict=True))


@contextlib.contextmanager
def _texts(written: Callable[[MatchRecord], str], path: Path, facts: Sequence[str]) -> Iterator[Writer]:
    """Writes each game as text."""
    with path.open("w", encoding="utf-8") as file:
        yield lambda rows: file.writelines(map(written, _records(rows)))


_TABLES = {".csv": _csv, ".parquet": _parquet, ".jsonl": _jsonl}  # of any game
_WRITERS = _TABLES | {".pgn": functools.partial(_texts, pgn_of), ".sgf": functools.partial(_texts, sgf_of)}
