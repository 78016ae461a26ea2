"""Storing the games of a plan: thousands of short ones as one row, the others as match rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from sqlalchemy import Connection, bindparam, select

from ...arena.match import MatchRecord
from ...arena.played import PlayedMatches
from ...arena.schedules.spec_columns import SpecColumns
from ..integrity.checksums import marks_of
from ..integrity.replays import FAILURES
from ..outage import outlasting
from ..store.database import CHUNK, now
from ..store.schema import matches, run_matches
from ..store.store import Store
from .known_ids import KnownIds
from .layout import PackedGames, can_be_packed
from .table import is_id

_VOID = -1  # in place of a row's number: a void game, which is played again
# Made once: making it takes longer than executing it, which every commit does.
_NEWER = (
    select(matches.c.number, matches.c.id, matches.c.termination)
    .where(matches.c.game == bindparam("game"), matches.c.number > bindparam("last"))
    .order_by(matches.c.number)
)


class Packing:
    """Looks up and stores the games of one run whose specs are all different.

    What others store meanwhile is noticed: it is read in the transaction that stores games.
    """

    def __init__(self, store: Store, run_id: str) -> None:
        self.store, self.database, self.run_id = store, store.database, run_id
        self._rows: dict[str, KnownIds] = {}  # by game: match rows
        self._began: set[str] = set()  # games whose packed rows from before are known

    @outlasting
    def adopt(self, specs: SpecColumns) -> npt.NDArray[np.bool_]:
        """Attaches those games to the run that any run has, unless they are void; returns which ones, [specs]."""
        store = self.store
        with store.database.reading() as connection:
            in_rows = self._in_rows(connection, specs.game).find(specs.ids)
            packed = store.packed.known(connection, specs.game, anew=specs.game not in self._began, own=False)
            in_packed = packed.find(specs.ids)
            self._began.add(specs.game)
            mine = store.packed.of_these(connection, np.unique(in_packed).tolist(), self.run_id)
        stored = np.isin(in_packed, mine)
        doubtful = np.flatnonzero(~stored & ((in_rows > 0) | (in_packed > 0)))
        for first in range(0, len(doubtful), CHUNK):
            places = doubtful[first : first + CHUNK]
            ids = [one.hex() for one in specs.ids[places].tolist()]
            found = store.adopt(self.run_id, ids)
            stored[places] = [match_id in found for match_id in ids]
        return stored

    def append(self, records: Sequence[MatchRecord]) -> int:
        """Stores games as `Store.append` does; returns the number of new ones."""
        if not isinstance(records, PlayedMatches) or not can_be_packed(records):
            return self.store.append(self.run_id, records)
        known = self._pack(records)
        new = len(records) - len(known)
        return new + (self.store.append(self.run_id, records.take(known)) if len(known) else 0)

    @outlasting
    def _pack(self, played: PlayedMatches) -> Sequence[int]:
        """Stores the games that the store does not have in any way; returns the places of the others."""
        store, specs = self.store, played.specs
        assert isinstance(specs, SpecColumns)
        store.annotations.keep_code(self.run_id, {name for names in specs.names() for name in names})
        with store.database.writing() as connection:
            store.packed.lock(connection, [specs.game], alone=True)
            in_rows = self._in_rows(connection, specs.game).find(specs.ids)
            table = store.packed.known(connection, specs.game, own=False)
            in_packed = table.find(specs.ids)
            known = np.flatnonzero((in_rows != 0) | (in_packed != 0)).tolist()
            if known:
                new = np.setdiff1d(np.arange(len(specs)), known).tolist()
                if not new:
                    return known
                played = played.take(new)
                specs = specs.take(np.array(new))
            packed = PackedGames.of(self.run_id, played, specs, now())
            marks = marks_of(packed.ids.tobytes()).tolist()
            store.totals.add(connection, self.run_id, run_matches, marks)
            number = store.packed.insert(connection, packed)
        table.left_out.add(number)  # only now: the transaction is done
        return known

    def _in_rows(self, connection: Connection, game: str) -> KnownIds:
        """Returns the ids of match rows as they are now; those of deleted rows may be among them."""
        known = self._rows.setdefault(game, KnownIds())
        rows = connection.execute(_NEWER, {"game": game, "last": known.last}).all()
        if rows:
            sound = [row for row in rows if is_id(row.id)]
            numbers = [_VOID if row.termination in FAILURES else row.number for row in sound]
            known.add(bytes.fromhex("".join(row.id for row in sound)), np.array(numbers, np.int64))
            known.last = rows[-1].number
        return known
