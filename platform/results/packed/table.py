"""The table of packed games within the transactions of the store: reading, writing, and unpacking into match rows.

What changes single games, or attaches them to another run, unpacks their whole row first. So a packed game has exactly
one run, and whatever attaches or replaces games knows match rows alone.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from sqlalchemy import ColumnElement, Connection, Select, bindparam, delete, func, select, text

from ..integrity.checksums import marks_of
from ..integrity.damage import UNDECODABLE, reason
from ..integrity.match_rows import MATCH_COLUMNS, SEAT_COLUMNS, DamagedMatch, MatchRows
from ..integrity.totals import Totals
from ..store.database import Database, chunks
from ..store.schema import matches, packed_games, run_matches, seats
from .known_ids import KnownIds, words_of
from .layout import COLUMNS, PackedGames, numbers_in, places_of

DIGITS = set("0123456789abcdef")
_FEW_AT_ONCE = {"stream_results": True, "max_row_buffer": 16}  # PostgreSQL's driver would read all rows first
_LOCK = 0x7061636B  # the first key of PostgreSQL's advisory locks of games
# Made once: making them takes longer than executing them, which every commit does.
_IDS = select(packed_games.c.number, packed_games.c.run_id, packed_games.c.ids)
_NEWER = _IDS.where(packed_games.c.game == bindparam("game"), packed_games.c.number > bindparam("last")).order_by(
    packed_games.c.number
)
Attach = Callable[[Connection, str, MatchRows, dict[str, int]], object]


class Origin(NamedTuple):
    """Where the games of a row come from."""

    number: int  # of the row
    games: int
    created: str
    release: str
    worker: str

    @property
    def numbers(self) -> range:
        """The numbers of the games."""
        return numbers_in(self.number, self.games)


class _Texts(NamedTuple):
    number: int
    run_id: str
    games: int
    texts: dict[str, Any]


class PackedTable:
    """Reads and writes packed games; every method belongs to a transaction of the store."""

    def __init__(self, database: Database, totals: Totals) -> None:
        self.database, self.totals = database, totals
        self._known: dict[str, KnownIds] = {}  # by game

    def lock(self, connection: Connection, games: Iterable[str], alone: bool = False) -> None:
        """Keeps others from packing these games until the transaction's end; if `alone`, also from storing them as
        rows.

        Take it before any other lock. SQLite has one writer at a time anyway.
        """
        if not self.database.is_sqlite:
            kind = "" if alone else "_shared"
            for game in sorted(set(games)):
                lock = text(f"SELECT pg_advisory_xact_lock{kind}({_LOCK}, hashtext(:game))")
                connection.execute(lock, {"game": game})

    def known(self, connection: Connection, game: str, anew: bool = False, own: bool = True) -> KnownIds:
        """Returns the ids of packed games, as they are now.

        Args:
            connection: of the transaction.
            game: the rules.
            anew: read all of them; otherwise those of deleted rows may be among them.
            own: whether those of rows that this process has written must be among them.
        """
        if anew:
            self._known.pop(game, None)
        known = self._known.setdefault(game, KnownIds())
        for number, ids in self._ids(connection, _NEWER, game=game, last=known.last):
            known.read(ids, number)
        if own:
            for some in chunks(sorted(known.left_out)):
                query = _IDS.where(self.database.among(packed_games.c.number, some))
                for number, ids in self._ids(connection, query):
                    known.add(ids, number)
            known.left_out.clear()
        return known

    def _ids(self, connection: Connection, query: Select[Any], **values: Any) -> Iterator[tuple[int, bytes]]:
        """Yields the numbers of rows, and the ids of their games; raises Damaged if these cannot be ids."""
        for number, run_id, ids in connection.execute(query, values, execution_options=_FEW_AT_ONCE):
            if not isinstance(ids, bytes) or len(ids) % 16:
                raise self.database.damaged(f"packed games of {run_id} have no ids")
            yield number, ids

    def insert(self, connection: Connection, packed: PackedGames) -> int:
        """Stores games that the store lacks; returns the number of their row."""
        values = dict(zip(COLUMNS, packed.values(), strict=True))
        statement = packed_games.insert().values(values).returning(packed_games.c.number)
        return int(connection.execute(statement).scalar_one())

    def of_run(self, connection: Connection, run_id: str) -> Iterator[PackedGames]:
        """Yields the games of a run, row by row; raises Damaged if one is not as it was stored."""
        yield from self._checked(connection, packed_games.c.run_id == run_id)

    def of_run_or_damage(self, connection: Connection, run_id: str) -> Iterator[PackedGames | DamagedMatch]:
        """Yields the games of a run, and a DamagedMatch without a number for each damaged row."""
        query = select(packed_games).where(packed_games.c.run_id == run_id).order_by(packed_games.c.number)
        for row in connection.execute(query, execution_options=_FEW_AT_ONCE):
            try:
                yield PackedGames.from_row(row)
            except UNDECODABLE as failure:
                yield DamagedMatch(0, "", f"packed games of {run_id} cannot be read: {reason(failure)}")

    def numbered(self, connection: Connection, numbers: Sequence[int]) -> Iterator[tuple[PackedGames, list[int]]]:
        """Yields the rows that have some games, given by their numbers, and their places; others are left out."""
        places = places_of(numbers)
        for some in chunks(sorted(places)):
            for packed in self._checked(connection, self.database.among(packed_games.c.number, some)):
                yield packed, places[packed.number]

    def with_ids(self, connection: Connection, ids: Sequence[str]) -> Iterator[tuple[PackedGames, list[int]]]:
        """Yields the rows that have games with some ids, and the places of these."""
        if not ids or not (games := self.games(connection)):
            return
        try:
            wanted = np.frombuffer(bytes.fromhex("".join(ids)), "V16")
        except ValueError:  # damaged ids are in match rows
            wanted = np.frombuffer(b"".join(bytes.fromhex(one) for one in ids if is_id(one)), "V16")
        rows = np.max([self.known(connection, game).find(wanted) for game in games], axis=0)
        for some in chunks(np.unique(rows[rows > 0]).tolist()):
            for packed in self._checked(connection, self.database.among(packed_games.c.number, some)):
                places = KnownIds.of(packed.ids.tobytes()).find(wanted[rows == packed.number])
                yield packed, (places[places > 0] - 1).tolist()

    def with_marks(self, connection: Connection, marks: Sequence[int]) -> dict[int, str]:
        """Returns the ids of the packed games with some marks."""
        found: dict[int, str] = {}
        chosen = np.array(marks, np.int64)
        for _, ids in self._ids(connection, _IDS) if len(chosen) else ():
            own = marks_of(ids)
            for place in np.flatnonzero(np.isin(own, chosen)).tolist():
                found[int(own[place])] = ids[16 * place : 16 * place + 16].hex()
        return found

    def beginning(self, connection: Connection, text: str, limit: int) -> list[str]:
        """Returns at most `limit` ids of packed games that begin with a text."""
        if len(text) > 32 or set(text) - DIGITS:
            return []
        found: list[str] = []
        low, high = bytes.fromhex(text.ljust(32, "0")), bytes.fromhex(text.ljust(32, "f"))
        first, last = (np.uint64(int.from_bytes(end[:8], "big")) for end in (low, high))
        for _, ids in self._ids(connection, _IDS):
            words, _ = words_of(ids)
            for place in np.flatnonzero((words >= first) & (words <= last)).tolist():
                if low <= (one := ids[16 * place : 16 * place + 16]) <= high:
                    found.append(one.hex())
            if len(found) >= limit:
                break
        return found[:limit]

    def latest(
        self, connection: Connection, run_id: str, agents: Sequence[str], limit: int
    ) -> list[tuple[str, int, str]]:
        """Returns the latest packed games of a run with all of some agents: times of storing, numbers and ids."""
        found: list[tuple[str, int, str]] = []
        c = packed_games.c
        query = select(packed_games).where(c.run_id == run_id).order_by(c.number.desc())
        for row in connection.execute(query, execution_options=_FEW_AT_ONCE):
            packed = self.decoded(row)
            ids = packed.id_texts()
            places = packed.with_agents(agents)[-limit:].tolist()
            found += [(packed.texts["created"], packed.numbers[place], ids[place]) for place in places]
            if len(found) >= limit:
                break
        return found

    def below(self, connection: Connection, run_id: str, share: float) -> list[str]:
        """Returns the ids of a run's packed games that begin with less than a share of all beginnings."""
        found: list[str] = []
        for _, ids in self._ids(connection, _IDS.where(packed_games.c.run_id == run_id)):
            words, _ = words_of(ids)
            places = np.flatnonzero((words >> np.uint64(32)) < int(share * 16**8)).tolist()
            found += [ids[16 * place : 16 * place + 16].hex() for place in places]
        return found

    def games(self, connection: Connection) -> list[str]:
        """Returns the games (the rules) of which some are packed."""
        found = []
        query = select(func.min(packed_games.c.game))
        game = connection.scalar(query)
        while game is not None:  # by the index: few are different
            found.append(game)
            game = connection.scalar(query.where(packed_games.c.game > game))
        return found

    def of_these(self, connection: Connection, numbers: Sequence[int], run_id: str) -> list[int]:
        """Returns those rows of a run, by their numbers, that are among some."""
        c = packed_games.c
        query = select(c.number).where(self.database.among(c.number, numbers), c.run_id == run_id)
        return list(connection.scalars(query)) if numbers != [0] else []

    def games_of_run(self, connection: Connection, run_id: str) -> set[str]:
        """Returns the packed games (the rules) of a run."""
        return set(connection.scalars(select(packed_games.c.game).where(packed_games.c.run_id == run_id).distinct()))

    def agents(self, connection: Connection, run_id: str | None = None) -> dict[str, set[str]]:
        """Returns the full texts of the agents in the packed games of each run, or of one."""
        found: dict[str, set[str]] = {}
        for row in self._with_texts(connection, run_id):
            found.setdefault(row.run_id, set()).update(row.texts["agents"])
        return found

    def origins(self, connection: Connection, run_id: str) -> list[Origin]:
        """Returns where the packed games of a run come from."""
        return [
            Origin(row.number, row.games, *(str(row.texts[name]) for name in Origin._fields[2:]))
            for row in self._with_texts(connection, run_id)
        ]

    def _with_texts(self, connection: Connection, run_id: str | None) -> Iterator[_Texts]:
        c = packed_games.c
        query = select(c.number, c.run_id, c.matches, c.texts).order_by(c.number)
        for number, run, games, texts in connection.execute(
            query if run_id is None else query.where(c.run_id == run_id)
        ):
            with self.database.decoding(f"packed games of {run}"):
                yield _Texts(number, run, games, json.loads(texts))

    def counts(self, connection: Connection) -> dict[str, int]:
        """Returns the number of packed games of every run that has any."""
        query = select(packed_games.c.run_id, func.sum(packed_games.c.matches)).group_by(packed_games.c.run_id)
        return {run_id: int(count) for run_id, count in connection.execute(query)}

    def remove(self, connection: Connection, run_id: str, worker: str) -> None:
        """Deletes the packed games of a run that a worker has played."""
        rows = [one.number for one in self.origins(connection, run_id) if one.worker == worker]
        if not rows:
            return
        self.totals.lock(connection, run_id, run_matches)
        for packed in list(self._checked(connection, packed_games.c.number.in_(rows), lock=True)):
            self.totals.remove(connection, run_id, run_matches, marks_of(packed.ids.tobytes()).tolist())
            connection.execute(delete(packed_games).where(packed_games.c.number == packed.number))

    def of_others(self, connection: Connection, ids: Sequence[str], run_id: str | None = None) -> set[str]:
        """Returns the games (the rules) of packed games with some ids, except those of the run `run_id`."""
        return {packed.game for packed, _ in self.with_ids(connection, ids) if packed.run_id != run_id}

    def unpack(self, connection: Connection, ids: Sequence[str], attach: Attach, run_id: str | None = None) -> None:
        """Turns the rows that have games with some ids into match rows, except those of the run `run_id`.

        The transaction must have locked their games alone: others that store these games lock totals of runs after
        they have inserted match rows, not before.
        """
        found = {packed.number for packed, _ in self.with_ids(connection, ids) if packed.run_id != run_id}
        self.unpack_rows(connection, sorted(found), attach)

    def unpack_rows(self, connection: Connection, numbers: Sequence[int], attach: Attach) -> None:
        """Turns rows, given by their numbers, into match rows; `attach` gives these to their run."""
        if not numbers:
            return
        c = packed_games.c
        runs = connection.scalars(select(c.run_id).where(c.number.in_(numbers)).distinct()).all()
        for run in sorted(runs):
            self.totals.lock(connection, run, run_matches)
        for packed in list(self._checked(connection, c.number.in_(numbers), lock=True)):
            rows = packed.rows()
            tuples = sorted(zip(*rows.matches, strict=True))
            new = self.database.insert_numbered(connection, matches, MATCH_COLUMNS, tuples)
            self.database.insert_new(connection, seats, SEAT_COLUMNS, rows.seat_rows(new))
            connection.execute(delete(packed_games).where(c.number == packed.number))
            attach(connection, packed.run_id, rows, new)

    def _checked(
        self, connection: Connection, chosen: ColumnElement[bool], lock: bool = False
    ) -> Iterator[PackedGames]:
        query = select(packed_games).where(chosen).order_by(packed_games.c.number)
        rows = connection.execute(query.with_for_update()) if lock else None
        for row in rows or connection.execute(query, execution_options=_FEW_AT_ONCE):
            yield self.decoded(row)

    def decoded(self, row: Any) -> PackedGames:
        """Returns the games of a row; raises Damaged if they are not as they were stored."""
        with self.database.decoding(f"packed games of {row.run_id}"):
            return PackedGames.from_row(row)


def is_id(text: object) -> bool:
    """Whether a text is the id of a match."""
    return isinstance(text, str) and len(text) == 32 and not set(text) - DIGITS
