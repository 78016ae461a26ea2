"""Takes archived games out of a store, and brings them back: the same rows, to the bit."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from sqlalchemy import insert, select

from turnier.core.errors import UserError
from turnier.results.archive.layout import ID
from turnier.results.archive.reading import Archive
from turnier.results.archive.writing import Archived
from turnier.results.run_mistakes import difference_of
from turnier.results.store.annotations import ARCHIVE
from turnier.results.store.run_changes import forget_games, refuse_running
from turnier.results.store.schema import run_progress, runs
from turnier.results.store.store import Run, Store


class Place(NamedTuple):
    """Where the games of a run are that its store no longer has, as the annotation ARCHIVE keeps it."""

    path: str
    digest: str
    games: int

    @classmethod
    def of_run(cls, store: Store, run_id: str) -> Place | None:
        """Returns where a run's games are; None if they are in the store."""
        text = store.annotations.get(run_id, ARCHIVE)
        return cls(**json.loads(text)) if text else None

    def open(self) -> Archive:
        """Opens the file; raises UserError if it has gone or is another one."""
        archive = Archive.open(Path(self.path))
        if archive.digest != self.digest:
            raise UserError(
                f"an archive must have the digest that was stored, {self.digest[:12]}, got {self.path} with"
                f" {archive.digest[:12]}; put the right file back."
            )
        return archive


def remove_games(store: Store, run: Run, archived: Archived) -> None:
    """Takes a run's games out of the store, except those that other runs have; the run names the archive instead.

    Raises UserError where the run has gone on since it was archived.
    """
    refuse_running(store, run)
    place = Place(str(archived.path.absolute()), archived.digest, archived.total.rows)
    store.annotations.set(run.id, ARCHIVE, json.dumps(place._asdict()))  # first: a kill must not leave it without games
    try:
        forget_games(store, run, archived.total)
    except UserError:
        store.annotations.set(run.id, ARCHIVE, "")
        raise
    if store.database.is_sqlite:
        _shrink(store.database.path)


def _shrink(path: Path) -> None:
    """Gives the room of deleted rows back to the disk, if nobody else uses the file; otherwise it is used again."""
    with contextlib.suppress(sqlite3.OperationalError), contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("VACUUM")


def restore(store: Store, archive: Archive, on_games: Callable[[int], object] = lambda games: None) -> Run:
    """Brings a run back into a store, all rows as they were; what is there already stays. Repeat it if it was ended.

    Raises UserError where a game is not what was stored, the store has another run of that id, or the run needs more
    than its games and is not in the store.

    Args:
        store: where the run is to be.
        archive: of its games.
        on_games: called with a number of games that were checked, or stored: each game counts twice.
    """
    archive.require_sound(on_games)
    run = archive.run
    _begin(store, archive)
    for matches, seats in archive.rows():
        store.append_rows(run.id, {match[ID]: (match, own) for match, own in zip(matches, seats, strict=True)})
        on_games(len(matches))
    store.annotations.set(run.id, ARCHIVE, "")
    return store.run(run.id)


def _begin(store: Store, archive: Archive) -> None:
    """Stores the run's row and what belongs to it, unless they are there."""
    row, run = archive.contents.run, archive.run
    with store.database.writing() as connection:
        known = connection.execute(select(runs).where(runs.c.id == run.id)).one_or_none()
        if known is None and not archive.contents.only_games:
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
    if not store.annotations.get(run.id, ARCHIVE):  # another store: what is kept beside the run is not there yet
        for name, text in archive.contents.annotations:
            if not store.annotations.get(run.id, name):
                store.annotations.set(run.id, name, text)
