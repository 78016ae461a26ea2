"""Writes the games of a run into an archive, a part at a time, and reads the file back to check it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from sqlalchemy import func, select

from ...core.errors import UserError, require_extra
from ...core.outputs import require_file
from ..integrity.checked_rows import rows_of_run
from ..integrity.totals import COUNTED, Total
from ..store.annotations import ARCHIVE
from ..store.database import now
from ..store.schema import SCHEMA_VERSION, run_annotations, run_matches, run_progress, runs
from ..store.store import Run, Store
from .layout import DIGEST_KEY, FORMAT, RUN_KEY, Contents, arrow_schema, parquet_columns, seal, table_of
from .reading import Archive

GROUP = 1 << 17  # maximum games of a row group
GROUP_BYTES = 1 << 26  # approximate maximum of a row group, which long names of agents may reach first
OnGames = Callable[[int], object]


def require_archive(path: Path) -> None:
    """Raises UserError if an archive cannot be written to a path."""
    require_extra("an archive", "parquet", "pyarrow")
    if path.suffix != ".parquet":
        raise UserError(f"an archive must be a file ending in .parquet, got {path}; add the ending.")
    require_file(path, "an archive")


def write_archive(store: Store, run: Run, out: Path, on_games: OnGames = lambda games: None) -> Archive:
    """Writes all games of a run into a file, which appears only after it has been read back and checked.

    Raises Damaged if a game is damaged, UserError if the run has no games or the file cannot be written.

    Args:
        store: where the run is.
        run: any run with games.
        out: the file, ending in .parquet.
        on_games: called with numbers of written games, then of games read back: each game counts twice.
    """
    require_archive(out)
    part = out.with_name(f".{out.name}.part")
    try:
        _write(store, run, part, on_games)
        seal(part)
        archive = Archive.open(part)
        archive.require_sound(on_games)
        part.replace(out)
    except OSError as failure:
        raise UserError(f"an archive must be written to a folder with room, got {failure}; choose another.") from None
    finally:
        part.unlink(missing_ok=True)
    return replace(archive, path=out)


def _write(store: Store, run: Run, part: Path, on_games: OnGames) -> None:
    from pyarrow import parquet

    schema, total = arrow_schema(), Total()
    options = {"compression": "zstd", "write_page_checksum": True, "write_statistics": False}
    with parquet.ParquetWriter(part, schema, use_dictionary=parquet_columns(schema), **options) as writer:
        for table, ids in _groups(store, run.id, schema, on_games):
            writer.write_table(table)
            total = total.plus(ids)
        if not total.rows:
            raise UserError(f"a run must have games to be archived, got {run.id}, which has none; name another.")
        contents = _contents(store, run, total)
        writer.add_key_value_metadata({RUN_KEY: json.dumps(contents._asdict()), DIGEST_KEY: "0" * 64})


def _groups(store: Store, run_id: str, schema: Any, on_games: OnGames) -> Iterator[tuple[Any, list[str]]]:
    """Yields tables that fill a row group, and the ids of their games."""
    import pyarrow as arrow

    parts: list[Any] = []
    ids: list[str] = []
    for rows in rows_of_run(store.packed, run_id):
        if rows.wrong:
            raise store.database.damaged(str(rows.wrong[0]))
        parts.append(table_of(schema, rows.matches, rows.seats))
        ids += rows.ids()
        on_games(len(rows.matches))
        if len(ids) >= GROUP or sum(part.nbytes for part in parts) >= GROUP_BYTES:
            yield arrow.concat_tables(parts), ids
            parts, ids = [], []
    if parts:
        yield arrow.concat_tables(parts), ids


def _contents(store: Store, run: Run, total: Total) -> Contents:
    """Returns the footer's content for a run."""
    with store.database.reading() as connection:
        row = connection.execute(select(runs).where(runs.c.id == run.id)).one()
        progress = connection.execute(select(run_progress).where(run_progress.c.run_id == run.id)).one_or_none()
        others = [table for table in COUNTED if table not in (run_matches, run_annotations)]
        counts = [connection.scalar(select(func.count()).where(table.c.run_id == run.id)) for table in others]
    notes = [[name, text] for run_id, name, text in store.annotations.beginning("") if run_id == run.id]
    return Contents(
        FORMAT,
        SCHEMA_VERSION,
        row._asdict(),
        None if progress is None else progress._asdict(),
        [note for note in notes if note[0] != ARCHIVE],
        *total,
        run.kind != "study" and not any(counts),
        now(),
    )
