"""The links between runs and games: as arrays if table and index agree, otherwise row by row."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sqlalchemy import Row, text

from ...core.errors import MALFORMED
from ..integrity.checksums import CHANGED, differs
from ..store.columns import MatchColumns
from ..store.match_blocks import TAIL, named_in
from ..store.schema import run_matches
from .lenient_reader import UNREADABLE, LenientReader

Numbers = npt.NDArray[np.int64]
INDEX = f"{run_matches.name} INDEXED BY run_matches_by_match"  # has the same rows once more


class Links(NamedTuple):
    """The sound links."""

    of_run: dict[str, Numbers]  # ascending numbers of games
    wrong: int  # links to damaged or missing rows


def sound_links(reader: LenientReader, runs: set[str], games: Numbers) -> Links:
    """Returns the links between sound runs and sound games, whose numbers ascend."""
    found = {run: _numbers(reader, run_matches.name, run) for run in runs}
    links = {run: numbers for run, numbers in found.items() if numbers is not None and _all_among(numbers, games)}
    if len(links) == len(runs) and _agree(reader, links):
        return Links(links, 0)
    return _row_by_row(reader, runs, games)


def _numbers(reader: LenientReader, source: str, run: str) -> Numbers | None:
    """Returns a run's games by a table or index; None if they cannot be read."""
    query = text(f"SELECT match_number FROM {source} WHERE run_id = :run ORDER BY match_number")
    try:
        rows = reader.connection.execute(query, {"run": run})
        found = np.array([number for (number,) in rows])
    except UNREADABLE:
        return None
    return found.astype(np.int64) if found.dtype.kind == "i" or not len(found) else None


def _all_among(numbers: Numbers, games: Numbers) -> bool:
    return bool((np.diff(numbers) > 0).all() and np.isin(numbers, games, assume_unique=True).all())


def _agree(reader: LenientReader, links: dict[str, Numbers]) -> bool:
    """Whether these are all links of the table, and of its index."""
    total = sum(map(len, links.values()))
    sources = (run_matches.name, *([INDEX] if reader.is_sqlite else []))
    try:
        counts = [reader.connection.scalar(text(f"SELECT count(*) FROM {source}")) for source in sources]
    except UNREADABLE:
        return False
    if counts != [total] * len(sources):
        return False
    return not reader.is_sqlite or all(
        (other := _numbers(reader, INDEX, run)) is not None and np.array_equal(numbers, other)
        for run, numbers in links.items()
    )


def _row_by_row(reader: LenientReader, runs: set[str], games: Numbers) -> Links:
    """Returns the readable links, from the table or from its index."""
    before, known = reader.unreadable[run_matches.name], set(games.tolist())
    rows = _by_key(reader.all(run_matches))
    if reader.is_sqlite and rows:
        again = _by_key(reader.all(run_matches, INDEX))
        readable = reader.unreadable[run_matches.name] == before
        rows = {key: row for key, row in rows.items() if key in again} if readable else {**again, **rows}
    sound: dict[str, list[int]] = defaultdict(list)
    for run, number in rows:
        if run in runs and number in known:
            sound[run].append(number)
    of_run = {run: np.array(sorted(sound[run]), np.int64) for run in runs}
    return Links(of_run, len(rows) - sum(map(len, of_run.values())))


def _by_key(rows: list[Row[Any]]) -> dict[tuple[Any, Any], Row[Any]]:
    return {(row.run_id, row.match_number): row for row in rows}


class Copies:
    """The sound blocks and tails of runs, and the damage of others."""

    def __init__(self, rows: Iterable[Row[Any]]) -> None:
        self.blocks: dict[str, list[MatchColumns]] = defaultdict(list)
        self.wrong: dict[str, str] = {}  # by run
        self._named: dict[str, list[npt.NDArray[np.int64]]] = defaultdict(list)
        for row in rows:
            try:
                self._add(row)
            except (*MALFORMED, OSError) as failure:
                self.wrong.setdefault(row.run_id, str(failure))
        for run in self.blocks.keys() - self._named.keys():
            self.wrong.setdefault(run, "the tail is missing")
        for run in self.wrong:
            self.blocks.pop(run, None)

    def _add(self, row: Row[Any]) -> None:
        if differs(row, row.matches, row.data):
            raise ValueError(CHANGED)
        block = MatchColumns.from_rows([], []) if row.level == TAIL else MatchColumns.from_bytes(row.data)
        numbers = named_in(row.data) if row.level == TAIL else block.number
        if len(numbers) != row.matches:
            raise ValueError(f"a block must have {row.matches} games, got {len(numbers)}")
        self.blocks[row.run_id].append(block.in_order())
        if row.level == TAIL:
            self._named[row.run_id].append(numbers)

    def numbers(self, run: str) -> npt.NDArray[np.int64]:
        """Returns the numbers of all games of a run, in its blocks and its tail."""
        blocks = (block.number for block in self.blocks.get(run, ()))
        return np.concatenate([np.empty(0, np.int64), *self._named.get(run, ()), *blocks])
