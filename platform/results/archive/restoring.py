"""Takes archived games out of a store, and brings them back: the same rows, to the bit."""

from __future__ import annotations

import contextlib
import json
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path

from sqlalchemy import insert, select

from ...core.errors import UserError
from ..integrity.match_rows import MatchRows
from ..run_mistakes import difference_of
from ..store.annotations import ARCHIVE
from ..store.run_changes import forget_games, refuse_running
from ..store.schema import run_progress, runs
from ..store.store import Run, Store
from .reading import Archive, Place, reading


def run_in(archive: Archive) -> Run:
    """Returns the run of an archive's games."""
    row = archive.contents.run
    with reading(archive.path):
        definition, environment = json.loads(row["definition"]), json.loads(row["environment"])
        created = datetime.fromisoformat(row["created"])
        return Run(row["id"], row["kind"], row["name"], definition, created, environment)


@contextlib.contextmanager
def as_store(archive: Archive) -> Iterator[tuple[Store, Run]]:
    """A store with only the run of an archive, whose games are read from the file."""
    with tempfile.TemporaryDirectory() as folder, Store.open(f"sqlite:///{folder}/{archive.path.stem}.db") as store:
        _begin(store, archive, anywhere=True)
        store.annotations.set(run_in(archive).id, ARCHIVE, json.dumps(_place(archive)._asdict()))
        yield store, store.run(run_in(archive).id)


def _place(archive: Archive) -> Place:
    return Place(str(archive.path.absolute()), archive.digest, archive.total.rows)


def remove_games(store: Store, run: Run, archive: Archive) -> None:
    """Takes a run's games out of the store, except those of other runs; the run names the archive instead.

    Raises UserError if the run has gone on since it was archived.
    """
    refuse_running(store, run)
    # First: a kill must not leave it without games.
    store.annotations.set(run.id, ARCHIVE, json.dumps(_place(archive)._asdict()))
    try:
        forget_games(store, run, archive.total)
    except UserError:
        store.annotations.set(run.id, ARCHIVE, "")
        raise
    if store.database.is_sqlite:
        _shrink(store.database.path)


def _shrink(path: Path) -> None:
    """Frees the disk space of deleted rows if no other program uses the file; otherwise new rows reuse it."""
    with contextlib.suppress(sqlite3.OperationalError), contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("VACUUM")


def restore(store: Store, archive: Archive, on_games: Callable[[int], object] = lambda games: None) -> Run:
    """Brings a run back into a store, all rows as they were; existing ones stay. After an interruption, repeat it.

    Raises UserError if a game is not as it was stored, if the store has another run of that id, or if the run needs
    more than its games and is not in the store.

    Args:
        store: where the run is to be.
        archive: of its games.
        on_games: called with numbers of checked games, then of stored ones: each game counts twice.
    """
    archive.require_sound(on_games)
    run = run_in(archive)
    _begin(store, archive)
    for matches, seats in archive.rows():
        store.append_rows(run.id, MatchRows.of(matches, seats))
        on_games(len(matches))
    store.annotations.set(run.id, ARCHIVE, "")
    return store.run(run.id)


def _begin(store: Store, archive: Archive, anywhere: bool = False) -> None:
    """Stores the run's row and its other data, unless present; `anywhere`: even if the run needs more than games."""
    row, run = archive.contents.run, run_in(archive)
    with store.database.writing() as connection:
        known = connection.execute(select(runs).where(runs.c.id == run.id)).one_or_none()
        if known is None and not archive.contents.only_games and not anywhere:
            raise UserError(
                f"{run.id} must be restored into the store that it was archived from, since a {run.kind} has more than"
                f" games, got {store.shown_url}; name that one with --store."
            )
        if known is not None and (known.kind, known.definition) != (row["kind"], row["definition"]):
            other = difference_of(json.loads(known.definition), run.definition)
            raise UserError(f"run {run.id!r} must be the archived one, got {other}; restore it into another store.")
        if known is None:
            connection.execute(insert(runs).values(row))
            store.totals.begin(connection, run.id, {})
            store.blocks.begin(connection, run.id)
            if archive.contents.progress is not None:
                connection.execute(insert(run_progress).values(archive.contents.progress))
    if known is not None:
        refuse_running(store, run)
    if not store.annotations.get(run.id, ARCHIVE):  # another store, without the run's annotations
        for name, text in archive.contents.annotations:
            if not store.annotations.get(run.id, name):
                store.annotations.set(run.id, name, text)
