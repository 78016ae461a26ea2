"""Records made by hand, and what other processes of the tests do with a store."""

from __future__ import annotations

import itertools
import multiprocessing
from collections.abc import Callable, Sequence
from multiprocessing.process import BaseProcess
from typing import Any

import numpy as np
from sqlalchemy import delete, select, text, update

from turnier.arena.match import MatchRecord, MatchSpec, Termination, pack_plies
from turnier.arena.repeated_search import SearchRecord, SearchSpec, SeenPosition
from turnier.results.integrity.checksums import checksum
from turnier.results.store import schema
from turnier.results.store.schema import matches
from turnier.results.store.store import Store

GAME = "2048(size=4)"
DUEL = "tictactoe"
BATCH = 50  # records that `append_forever` writes at once


def made(
    seed: int,
    scores: Sequence[float] = (100.0,),
    agents: Sequence[str] = ("random",),
    game: str = GAME,
    **changes: Any,
) -> MatchRecord:
    n = len(agents)
    values: dict[str, Any] = {
        "termination": Termination.NORMAL,
        "decisions": tuple(range(10, 10 + n)),
        "nodes": (7,) * n,
        "seat_seconds": (0.5 / n,) * n,
        "seconds": 0.5,
        "plies": pack_plies(np.array([seed % 7, 3, 2], np.int64)),
        "facts": {"max_tile": 128} if game == GAME else {},
    }
    return MatchRecord(MatchSpec(game, tuple(agents), seed), scores=tuple(scores), **{**values, **changes})


def ids(records: Sequence[MatchRecord]) -> list[str]:
    return [record.spec.id for record in records]


def as_version(store: Store, number: int) -> None:
    """Makes a store what an earlier version made of the same runs and games."""
    added = {2: (schema.positions, schema.votes, schema.run_votes), 3: _TRAINING, 4: (schema.match_columns,)}
    added |= {5: (schema.run_annotations,), 6: (schema.run_totals,), 10: (schema.packed_games,)}
    later = {table.name for version, tables in added.items() for table in tables if version >= number}
    with store.database.writing() as connection:
        rows, of_match = connection.execute(select(matches)).all(), {}
        for seat in connection.execute(select(schema.seats).order_by(schema.seats.c.seat)):
            of_match.setdefault(seat.match_number, []).append(tuple(seat[1:]))
        for row in rows if 6 < number < 9 else ():  # their checksums did not know who had played
            played_by = [row.release] * (number == 8)
            known = checksum(*row[1:-3], *played_by, *of_match[row.number])
            connection.execute(update(matches).where(matches.c.number == row.number).values(checksum=known))
        for table in reversed(schema.metadata.sorted_tables):
            if table.name in later:
                connection.execute(text(f"DROP TABLE {table.name}"))
            elif "checksum" in table.c and number < 7:
                connection.execute(text(f"ALTER TABLE {table.name} DROP COLUMN checksum"))
        columns = {("seats", "seconds"): 4, ("matches", "release"): 8, ("matches", "worker"): 9}
        for (table_name, column), since in columns.items():
            if number < since:
                connection.execute(text(f"ALTER TABLE {table_name} DROP COLUMN {column}"))
        connection.execute(text(f"UPDATE turnier_version SET version = {number}"))


_TRAINING = (schema.training_points, schema.training_evaluations, schema.run_progress)


def without_checks(store: Store) -> None:
    """Takes from all runs what versions before checksums did not store with them."""
    with store.database.writing() as connection:
        connection.execute(delete(schema.run_totals))
        for table in schema.metadata.sorted_tables:
            if "checksum" in table.c:
                connection.execute(update(table).values(checksum=None))


def search_some(store: Store, run: str) -> list[SearchRecord]:
    """Stores two searches of a position of tic-tac-toe, and returns them."""
    position = SeenPosition(DUEL, (0,) * 2, (0.0, 0.0), (0, 1, 2), 0)
    found = 1, (3, 4, 5), (0.1, 0.2, 0.3), 12, 0.5
    searches = [SearchRecord(SearchSpec(position, "mc", seed), *found) for seed in (1, 2)]
    assert store.searches.append(run, searches) == 2
    return searches


def started(work: Callable[..., None], *arguments: Any) -> tuple[BaseProcess, Any]:
    """Starts work(connection, *arguments) in a new process; returns it and our end of the connection."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=work, args=(theirs, *arguments), daemon=True)
    process.start()
    theirs.close()
    return process, ours


def message_from(connection: Any) -> Any:
    """Returns what the other process sends next."""
    assert connection.poll(60), "the other process is silent"
    return connection.recv()


def append_all(connection: Any, url: str, seeds: range) -> None:
    """Waits for a word, opens the store, appends batches that overlap, and sends how many were new."""
    connection.send("ready")
    connection.recv()
    with Store.open(url) as store:
        store.begin_run("run", "tournament", "both", {"seeds": 1})
        batches = [seeds[i : i + 40] for i in range(0, len(seeds), 20)]
        connection.send(sum(store.append("run", [made(seed) for seed in batch]) for batch in batches))


def append_forever(connection: Any, url: str) -> None:
    """Appends batches of BATCH matches of two seats until it is ended; sends a word after the first."""
    with Store.open(url) as store:
        store.begin_run("run", "tournament", "endless", {})
        for i in itertools.count():
            seeds = range(i * BATCH, (i + 1) * BATCH)
            store.append("run", [made(seed, (1.0, -1.0), ("random", "greedy"), DUEL) for seed in seeds])
            if i == 0:
                connection.send("begun")
