"""Rows of earlier versions: given today's columns and checksums after a check as far as possible."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from sqlalchemy import Connection, Row, Table, select, update

from ...arena.match import count_plies
from ..integrity.checksums import CHANGED, checksum
from ..integrity.damage import UNDECODABLE, reason
from ..integrity.match_rows import MatchRows, match_of
from ..store.annotations import ANCHOR
from ..store.columns import MatchColumns
from ..store.database import CHUNK, Database
from ..store.progress import LIVE, STOPPED, checked_values
from ..store.schema import matches, positions, run_progress, runs, seats, votes
from ..store.searches import position_of, search_of

OnGames = Callable[[int], object]


def upgrade_matches(database: Database, connection: Connection, on_games: OnGames) -> None:
    """Adds the release and worker of every match, empty if unknown, and its checksum."""
    c, last = matches.c, 0
    old = c.release.is_(None) | c.worker.is_(None) | c.checksum.is_(None)
    while rows := connection.execute(select(matches).where(old, c.number > last).order_by(c.number).limit(CHUNK)).all():
        last = rows[-1].number
        of_match: dict[int, list[Row[Any]]] = {row.number: [] for row in rows}
        chosen = database.among(seats.c.match_number, list(of_match))
        for seat in connection.execute(select(seats).where(chosen).order_by(seats.c.match_number, seats.c.seat)):
            of_match[seat.match_number].append(seat)
        for row in rows:
            if wrong := _wrong_match(row, of_match[row.number]):
                raise database.damaged(f"the game {row.id}: {wrong}")
            values = row._asdict() | {"release": row.release or "", "worker": row.worker or ""}
            own = [seat[1:] for seat in of_match[row.number]]
            (values["checksum"],) = MatchRows.of([tuple(values.values())[1:-1]], [own]).checksums()
            connection.execute(update(matches).where(c.number == row.number).values(values))
        on_games(len(rows))


def _wrong_match(row: Row[Any], match_seats: Sequence[Row[Any]]) -> str:
    """Returns the damage of a match; without a checksum, its id verifies game, agents, seed and opening."""
    if row.checksum is not None:
        played_by = [name for name in (row.release, row.worker) if name is not None]
        same = checksum(*row[1:-3], *played_by, *(tuple(seat[1:]) for seat in match_seats)) == row.checksum
        return "" if same else CHANGED
    try:
        record = match_of(row, match_seats)
        count_plies(record.plies)
    except UNDECODABLE as failure:
        return reason(failure)
    return "" if record.spec.id == row.id else "it is not the match of its id"


def upgrade_searches(database: Database, connection: Connection) -> None:
    """Gives positions and searches their checksums; their ids tell whether they are as they were stored."""
    known = {}
    for row in connection.execute(select(positions)).all():
        with database.decoding(f"the position {row.id}"):
            known[row.number] = position = position_of(row)
        if position.id != row.id:
            raise database.damaged(f"the position {row.id}: it is not the position of its id")
        _seal(connection, positions, row, row[1:-1])
    for row in connection.execute(select(votes).where(votes.c.checksum.is_(None))).all():
        if row.position_number not in known:
            raise database.damaged(f"the search {row.id}: its position is missing")
        with database.decoding(f"the search {row.id}"):
            found = search_of(row, known[row.position_number]).spec.id
        if found != row.id:
            raise database.damaged(f"the search {row.id}: it is not the search of its id")
        _seal(connection, votes, row, (row.id, known[row.position_number].id, *row[3:-1]))


def upgrade_runs(connection: Connection) -> None:
    """Gives runs and the reports of their drivers their checksums; no driver is left."""
    for row in connection.execute(select(runs)).all():
        _seal(connection, runs, row, row[:-1])
    live = run_progress.c.state.in_(LIVE)
    connection.execute(update(run_progress).where(live).values(state=STOPPED, checksum=None))
    for row in connection.execute(select(run_progress)).all():
        _seal(connection, run_progress, row, checked_values(row))


def _seal(connection: Connection, table: Table, row: Row[Any], values: Sequence[Any]) -> None:
    """Gives a row its checksum if it has none."""
    if row.checksum is None:
        key = next(iter(table.primary_key))
        connection.execute(update(table).where(key == row._mapping[key.name]).values(checksum=checksum(*values)))


def _games(text: str) -> int:
    return int(text.removesuffix("games").replace("_", ""))


# Kind of run -> option of a plan -> the option of the command, and the reader of its value.
_OPTIONS: dict[str, dict[str, tuple[str, Callable[[str], Any]]]] = {
    "tournament": {"games": ("--games", int), "certainty": ("--certain", float)},
    "comparison": {
        "margin": ("--margin", float),
        "alpha": ("--alpha", float),
        "games": ("--games", int),
        "first_round": ("--round", int),
    },
    "study": {"budget": ("--budget", _games), "verify": ("--verify", float)},
    "training": {"games": ("--games", int), "hours": ("--hours", float)},
}


def settings_of(
    kind: str,
    definition: Mapping[str, Any],
    command: Sequence[str],
    annotations: Mapping[str, str],
    columns: Callable[[], MatchColumns],
) -> dict[str, Any]:
    """Returns the options with which a run is resumed, as far as they are known.

    Args:
        kind, definition: of the run.
        command: the words that last drove it; empty if unknown.
        annotations: of the run, by name.
        columns: returns the games of the run.
    """
    given = dict(_given(command))
    found: dict[str, Any] = {}
    for name, (option, read) in _OPTIONS.get(kind, {}).items():
        try:
            found |= {name: read(given[option])} if option in given else {}
        except ValueError:
            continue  # of a command that failed
    if kind == "tournament":
        if "games" not in found and not command and "games" not in definition:
            found |= _games_each(definition, columns())
        found |= {"anchor": annotations[ANCHOR]} if ANCHOR in annotations else {}
    return found


def _given(command: Sequence[str]) -> list[tuple[str, str]]:
    """Returns the options of a command line with their values."""
    joined = [word.partition("=") for word in command if word.startswith("--") and "=" in word]
    apart = [pair for pair in itertools.pairwise(command) if pair[0].startswith("--")]
    return [*apart, *((name, value) for name, _, value in joined)]


def _games_each(definition: Mapping[str, Any], columns: MatchColumns) -> dict[str, int]:
    """Returns the largest number of games of a group of agents; all games if the format is adaptive."""
    total = len(columns.number)
    if definition.get("format") == "adaptive" or not total:
        return {"games": total} if total else {}
    seats_before = np.cumsum(columns.seats, dtype=np.int64)[:-1]
    groups = Counter(tuple(np.sort(group).tolist()) for group in np.split(columns.agent.codes, seats_before))
    return {"games": max(groups.values())}
