"""Packed games in a store that may be damaged: one damaged bit of a row loses its games, since any may be wrong."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from sqlalchemy import Row

from ..integrity.checksums import CHANGED, MARKS, marks_of
from ..integrity.damage import UNDECODABLE
from ..integrity.totals import Total
from ..repair.lenient_reader import LenientReader, ill_typed
from ..store.columns import each_once
from ..store.schema import packed_games
from .known_ids import KnownIds
from .layout import PackedGames
from .table import is_id

AT_ONCE = 16  # rows read at once, some megabytes


class PackedRow(NamedTuple):
    """A row, its games unless it is damaged, and the damage, empty if there is none."""

    row: Row[Any]
    games: PackedGames | None
    wrong: str


class PackedLook:
    """Looks at all packed games once.

    Attributes:
        totals: of the sound games of each run.
        declared: number of games of each run as all of its rows say, damaged ones included.
    """

    def __init__(self, reader: LenientReader, runs: set[str]) -> None:
        self._reader, self._runs = reader, runs
        self.totals: dict[str, Total] = defaultdict(Total)
        self.declared: dict[str, int] = defaultdict(int)
        self._known = KnownIds()

    def look(self, keep: Callable[[Row[Any]], object], note: Callable[[str, str], object]) -> None:
        """Passes sound rows to `keep`, and the names and damage of the others to `note`."""
        for row, games, wrong in self._each():
            if games is not None and not wrong and self._known.find(games.ids).any():
                wrong = "games are stored twice"
            run, count = row._mapping.get("run_id"), row._mapping.get("matches")  # a damaged table may lack columns
            if isinstance(count, int) and run in self._runs:
                self.declared[run] += count
            if wrong or games is None:
                note(f"packed games {row.number}", wrong)
                continue
            ids, before = games.ids.tobytes(), self.totals[row.run_id]
            self._known.add(ids, row.number)
            marks = before.marks + sum(marks_of(ids).tolist())
            self.totals[row.run_id] = Total(before.rows + len(games.ids), marks % MARKS)
            keep(row)

    def _each(self) -> Iterator[PackedRow]:
        for _, rows in self._reader.by_number(packed_games, "number", AT_ONCE):
            for row in rows:
                yield _looked_at(row, self._runs)

    def has(self, ids: Sequence[Any]) -> list[bool]:
        """Whether games with these ids, which may be damaged, are packed."""
        sound = [match_id if is_id(match_id) else "0" * 32 for match_id in ids]
        found = self._known.find(np.frombuffer(bytes.fromhex("".join(sound)), "V16"))
        return [bool(number) for number in found]


def _looked_at(row: Row[Any], runs: set[str]) -> PackedRow:
    if wrong := ill_typed(packed_games, row):
        return PackedRow(row, None, wrong)
    if row.run_id not in runs:
        return PackedRow(row, None, "its run is missing or damaged")
    try:
        games = PackedGames.from_row(row)
    except UNDECODABLE:
        return PackedRow(row, None, CHANGED)
    twice = len(each_once(marks_of(games.ids.tobytes()))) < len(games.ids)
    return PackedRow(row, games, "a game is stored twice" if twice else "")
