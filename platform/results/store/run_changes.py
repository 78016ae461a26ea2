"""Changes to stored runs by users: a new name, and deletion with all data that belong to them alone."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any, NamedTuple

from sqlalchemy import Connection, Select, Table, delete, func, insert, select, update

from ...core.errors import UserError
from ..integrity.checksums import checksum
from ..integrity.replays import remove_matches
from ..integrity.totals import Total
from .database import chunks
from .progress import LIVE, progress_of_runs
from .schema import locks, match_columns, matches, metadata, packed_games, run_matches, run_votes, runs, seats, votes
from .store import Run, Store

# The table that attaches games or searches to runs -> its column, and their own table.
_ATTACHED: dict[Table, tuple[str, Table]] = {run_matches: ("match_number", matches), run_votes: ("vote_number", votes)}


class Owned(NamedTuple):
    """The number of games or searches that only one run has, and of those that it shares."""

    own: int
    shared: int


def owned_games(store: Store, run: Run) -> Owned:
    return _owned(store, run, run_matches)


def owned_searches(store: Store, run: Run) -> Owned:
    with store.database.writing() as connection:
        _index_searches(connection)
    return _owned(store, run, run_votes)


def refuse_running(store: Store, run: Run) -> None:
    """Raises UserError if a run is playing."""
    for known in progress_of_runs(store):
        if known.run == run.id and known.state in LIVE:
            raise UserError(f"{run.id} must not be running to be changed, but {known.holder} drives it; end it first.")


def rename_run(store: Store, run: Run, name: str) -> None:
    """Gives a run another name to be shown; its id stays."""
    with store.database.writing() as connection:
        row = connection.execute(select(runs).where(runs.c.id == run.id)).one()._asdict()
        connection.execute(update(runs).where(runs.c.id == run.id).values(_changed(row, name=name)))


def move_run(connection: Connection, run: Run, run_id: str, name: str) -> None:
    """Gives a run whose id is its name another name, also in its definition, within a transaction."""
    row = connection.execute(select(runs).where(runs.c.id == run.id)).one()._asdict()
    definition = json.dumps(run.definition | {"name": name}, sort_keys=True)
    connection.execute(insert(runs).values(_changed(row, id=run_id, name=name, definition=definition)))
    for table in _tables_of_runs():
        connection.execute(update(table).where(table.c.run_id == run.id).values(run_id=run_id))
    connection.execute(delete(runs).where(runs.c.id == run.id))


def delete_run(store: Store, run: Run) -> None:
    """Deletes a run and the games and searches that only it has, all or nothing.

    Searched positions stay: they are few, and those without searches are never shown.
    """
    refuse_running(store, run)
    _require_sound_file(store)
    with store.database.writing() as connection:
        _index_searches(connection)
        own: dict[Table, list[Any]] = {table: list(connection.scalars(_own(table, run.id))) for table in _ATTACHED}
        forget_run(connection, run.id)
        for table, (_, kept_in) in _ATTACHED.items():
            _delete_kept(store, connection, kept_in, own[table])


def _index_searches(connection: Connection) -> None:
    """Adds the indexes of the table of searches that older stores lack; without them, the time grows quadratically."""
    for index in run_votes.indexes:
        index.create(connection, checkfirst=True)


def _require_sound_file(store: Store) -> None:
    """Raises Damaged if SQLite finds damage: games of other runs must not be mistaken for a run's own."""
    if wrong := store.database.structure():
        raise store.database.damaged(f"SQLite finds: {wrong[0]}")


def _delete_kept(store: Store, connection: Connection, table: Table, numbers: list[int]) -> None:
    """Deletes games or searches by their numbers."""
    for some in chunks(numbers):
        if table is matches:
            connection.execute(delete(seats).where(store.database.among(seats.c.match_number, some)))
        connection.execute(delete(table).where(store.database.among(table.c.number, some)))


def forget_games(store: Store, run: Run, saved: Total) -> None:
    """Deletes the games that only this run has, all or nothing; the run stays, without games.

    Raises UserError unless its games are exactly those that were saved elsewhere.
    """
    _require_sound_file(store)
    with store.database.writing() as connection:
        store.totals.lock(connection, run.id, run_matches)
        mine = run_matches.c.run_id == run.id
        packed = store.packed.counts(connection).get(run.id, 0)
        found = Total((connection.scalar(select(func.count()).where(mine)) or 0) + packed, saved.marks)
        if {found, store.totals.of_runs(connection, run_matches).get(run.id, found)} != {saved}:
            raise UserError(
                f"{run.id} must still have the games that were archived, got {found.rows:,} after {saved.rows:,};"
                " archive it again."
            )
        own: list[Any] = list(connection.scalars(_own(run_matches, run.id)))
        connection.execute(delete(run_matches).where(mine))
        for table in (match_columns, packed_games):
            connection.execute(delete(table).where(table.c.run_id == run.id))
        store.totals.replace(connection, run.id, run_matches, [])
        store.blocks.begin(connection, run.id)
        _delete_kept(store, connection, matches, own)


def games_of_worker(store: Store, run: Run, worker: str) -> dict[str, int]:
    """Returns the number of one run's games by a worker, also in other runs with these games: that run first.

    Raises UserError if the run has none.
    """
    query = select(matches.c.worker, func.count()).where(matches.c.number.in_(_numbers(run))).group_by(matches.c.worker)
    also = select(run_matches.c.run_id, func.count()).where(
        run_matches.c.match_number.in_(_numbers(run, worker)), run_matches.c.run_id != run.id
    )
    with store.database.reading() as connection:
        played = Counter(dict(map(tuple, connection.execute(query))))
        for origin in store.packed.origins(connection, run.id):
            played[origin.worker] += origin.games
        if worker not in played:
            known = ", ".join(sorted(filter(None, played))) or "none that are known"
            raise UserError(f"a worker must have played games of {run.id}, got {worker!r}; its workers are: {known}.")
        others = connection.execute(also.group_by(run_matches.c.run_id).order_by(run_matches.c.run_id))
        return {run.id: played[worker], **{other: count for other, count in others}}


def purge_worker(store: Store, run: Run, worker: str) -> None:
    """Deletes the games of a run that a worker has played, also from other runs: commands then play them again."""
    with store.database.writing() as connection:
        store.packed.remove(connection, run.id, worker)
        chosen = matches.c.number.in_(_numbers(run, worker))
        found = connection.execute(select(matches.c.number, matches.c.id).where(chosen).with_for_update())
        if ids := {number: match_id for number, match_id in found}:
            remove_matches(store.blocks, connection, run.id, ids)


def _numbers(run: Run, worker: str = "") -> Select[tuple[int]]:
    """Returns the query for the numbers of a run's games, or of those played by a worker."""
    query = select(matches.c.number).join(run_matches, run_matches.c.match_number == matches.c.number)
    query = query.where(run_matches.c.run_id == run.id)
    return query.where(matches.c.worker == worker) if worker else query


def forget_run(connection: Connection, run_id: str) -> None:
    """Deletes a run, but not its games and searches, with which its command begins it again; packed games are its own
    and go with it.
    """
    for table in _tables_of_runs():
        connection.execute(delete(table).where(table.c.run_id == run_id))
    connection.execute(delete(locks).where(locks.c.name == run_id))
    connection.execute(delete(runs).where(runs.c.id == run_id))


def _changed(row: dict[str, Any], **changes: str) -> dict[str, Any]:
    """Returns the row of a run with changes, and its checksum."""
    *values, _ = (row | changes).values()
    return row | changes | {"checksum": checksum(*values)}


def _tables_of_runs() -> list[Table]:
    """Returns the tables whose rows belong to runs."""
    return [t for t in metadata.sorted_tables if "run_id" in t.c and t.c.run_id.references(runs.c.id)]


def _own(table: Table, run_id: str) -> Select[tuple[int]]:
    """Returns the query for the numbers of rows that only this run has."""
    number, other = table.c[_ATTACHED[table][0]], table.alias()
    of_others = select(other.c.run_id).where(other.c[number.name] == number, other.c.run_id != run_id)
    return select(number).where(table.c.run_id == run_id, ~of_others.exists())


def _owned(store: Store, run: Run, table: Table) -> Owned:
    with store.database.reading() as connection:
        own = connection.scalar(select(func.count()).select_from(_own(table, run.id).subquery())) or 0
        everything = connection.scalar(select(func.count()).where(table.c.run_id == run.id)) or 0
        packed = store.packed.counts(connection).get(run.id, 0) if table is run_matches else 0
    return Owned(own + packed, everything - own)
