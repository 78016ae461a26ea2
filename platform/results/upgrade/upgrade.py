"""Upgrades a store in one transaction, which either brings it to the present form or leaves it as it was."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NamedTuple

from sqlalchemy import Connection, delete, func, insert, inspect, select, text

from ...core.errors import UserError
from ..databases.urls import sqlite_file
from ..integrity.checksums import checksum
from ..integrity.totals import COUNTED, Totals
from ..store.annotations import SETTINGS
from ..store.database import Database, clock
from ..store.locks import is_gone
from ..store.match_blocks import TAIL
from ..store.progress import LIVE
from ..store.schema import (
    SCHEMA_VERSION,
    Outdated,
    is_new,
    lock_for_making,
    locks,
    match_columns,
    matches,
    metadata,
    refuse_code,
    run_annotations,
    run_progress,
    run_totals,
    runs,
    version,
)
from ..store.store import Store
from .rows import OnGames, settings_of, upgrade_matches, upgrade_runs, upgrade_searches

Also = Callable[[Database, Connection], object]


class Upgraded(NamedTuple):
    """The result of an upgrade: the store's earlier version, and the size of its content."""

    found: int
    runs: int
    games: int


class Present(UserError):
    """Raised if a store needs no upgrade."""


class _EarlierDatabase(Database):
    """A database whose tables are still those of an earlier version."""

    def _prepare(self) -> None:
        with self.reading() as connection:
            refuse_code(connection, self.place, self.shown_url)
            try:
                new = is_new(connection, self.place, self.shown_url)
            except Outdated as outdated:
                self.found = outdated.found
                return
        if new:
            raise UserError(f"{self.place} holds nothing to upgrade; name another with --store.")
        raise Present(f"{self.place} is of this version already; it needs no upgrade.")


def upgrade(
    url: str, also: Also = lambda database, connection: None, on_games: OnGames = lambda games: None
) -> Upgraded:
    """Brings a store of an earlier version to the present one; ids of runs and games stay.

    Raises Present if there is nothing to do, and UserError if the store is in use or damaged.

    Args:
        url: of the store.
        also: brings the tables of others in the database to their present form, in the same transaction.
        on_games: called with numbers of upgraded games.
    """
    path = sqlite_file(url)
    if path is not None and not path.exists():
        raise UserError(f"there must be a store to upgrade, but there is no {path}; name another with --store.")
    database = _EarlierDatabase(url)
    try:
        store = Store(database)
        with database.writing() as connection:
            lock_for_making(connection)
            _refuse_use(database, connection)
            _make_tables(connection)
            upgrade_matches(database, connection, on_games)
            upgrade_searches(database, connection)
            also(database, connection)
            upgrade_runs(connection)
            ids = list(connection.scalars(select(runs.c.id).order_by(runs.c.id)))
            for run_id in ids:
                _upgrade_blocks(store, connection, run_id)
                _upgrade_totals(store.totals, connection, run_id)
                _upgrade_settings(store, connection, run_id)
            connection.execute(delete(locks))
            connection.execute(delete(version))
            connection.execute(insert(version).values(version=SCHEMA_VERSION))
            games = connection.scalar(select(func.count()).select_from(matches)) or 0
        return Upgraded(database.found, len(ids), games)
    finally:
        database.close()


def _refuse_use(database: Database, connection: Connection) -> None:
    """Raises UserError if a driver is playing into the store."""
    if run_progress.name not in inspect(connection).get_table_names():
        return
    now, c = clock(connection), run_progress.c
    for row in connection.execute(select(c.holder, c.heartbeat).where(c.state.in_(LIVE))):
        if not is_gone(row.holder, row.heartbeat, now):
            raise UserError(f"{database.place} must not be in use, but {row.holder} plays into it; end it first.")


def _make_tables(connection: Connection) -> None:
    """Makes the tables and columns that later versions added."""
    names = set(inspect(connection).get_table_names())
    metadata.create_all(connection, [table for table in metadata.sorted_tables if table.name not in names])
    for table in (table for table in metadata.sorted_tables if table.name in names):
        known = {column["name"] for column in inspect(connection).get_columns(table.name)}
        for column in (column for column in table.columns if column.name not in known):
            kind = column.type.compile(connection.dialect)
            connection.execute(text(f"ALTER TABLE {table.name} ADD COLUMN {column.name} {kind}"))


def _upgrade_blocks(store: Store, connection: Connection, run_id: str) -> None:
    """Makes the copies of a run's games again, unless they are in the present form: with a tail and checksums."""
    c = match_columns.c
    rows = connection.execute(select(c.level, c.checksum).where(c.run_id == run_id)).all()
    if TAIL not in {row.level for row in rows} or any(row.checksum is None for row in rows):
        connection.execute(delete(match_columns).where(c.run_id == run_id))
        store.blocks.begin(connection, run_id)


def _upgrade_totals(totals: Totals, connection: Connection, run_id: str) -> None:
    """Counts the rows of a run in tables without a total of it."""
    names = connection.scalars(select(run_totals.c.name).where(run_totals.c.run_id == run_id))
    if {table.name for table in COUNTED} - set(names):
        totals.adopt(connection, run_id)


def _upgrade_settings(store: Store, connection: Connection, run_id: str) -> None:
    """Adds the latest options of a run as an annotation, if that is missing."""
    c = run_annotations.c
    kept = {row.name: row.text for row in connection.execute(select(run_annotations).where(c.run_id == run_id))}
    if SETTINGS in kept:
        return
    run = connection.execute(select(runs).where(runs.c.id == run_id)).one()
    reported = connection.scalar(select(run_progress.c.command).where(run_progress.c.run_id == run_id))
    with store.database.decoding(f"the command of {run_id}"):
        command = json.loads(reported) if reported else json.loads(run.environment).get("command") or []
        definition: dict[str, Any] = json.loads(run.definition)
    found = settings_of(run.kind, definition, command, kept, lambda: store.blocks.of_run(connection, run_id))
    if found:
        kept[SETTINGS] = json.dumps(found)
        connection.execute(insert(run_annotations).values(run_id=run_id, name=SETTINGS, text=kept[SETTINGS]))
        store.totals.replace(connection, run_id, run_annotations, [checksum(*row) for row in kept.items()])
