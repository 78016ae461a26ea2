"""The damage of stored rows, each by itself, as the end of a sentence; empty if there is none."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import numpy as np
import numpy.typing as npt
from sqlalchemy import Row, Table

from ...core.errors import UserError
from ..integrity.checksums import CHANGED, differs
from ..integrity.damage import UNDECODABLE
from ..integrity.match_rows import agreeing
from ..store.columns import MatchColumns, Texts
from ..store.progress import checked_values
from ..store.schema import matches, positions, run_progress, runs, seats, votes
from ..store.searches import position_of, wrong_position, wrong_search
from .lenient_reader import ill_typed

_JSON = {runs: ("definition", "environment"), run_progress: ("command",)}


def wrong_row(table: Table, row: Row[Any]) -> str:
    """Checks the kinds of a row's values, its checksum, and texts that hold JSON or a time."""
    if wrong := ill_typed(table, row):
        return wrong
    if (table is runs and differs(row, *row[:-1])) or (table is run_progress and differs(row, *checked_values(row))):
        return CHANGED
    try:
        for name in _JSON.get(table, ()):
            json.loads(row._mapping[name])
        if "created" in table.c:
            datetime.fromisoformat(row._mapping["created"])
    except (UserError, *UNDECODABLE) as failure:
        return f"it holds what cannot be read: {failure}"
    return ""


def wrong_games(rows: Sequence[Row[Any]], match_seats: Sequence[Sequence[Row[Any]]]) -> list[str]:
    """Checks games with their seats by their checksums."""
    right = agreeing([row[1:] for row in rows], [[seat[1:] for seat in own] for own in match_seats])
    return list(map(_wrong_game, rows, match_seats, right))


def _wrong_game(match: Row[Any], match_seats: Sequence[Row[Any]], right: bool) -> str:
    seats_stored = bool(match_seats) and [seat.seat for seat in match_seats] == list(range(len(match_seats)))
    if seats_stored and right:
        return ""
    if wrong := wrong_row(matches, match) or next(filter(None, (ill_typed(seats, seat) for seat in match_seats)), ""):
        return wrong
    return CHANGED if seats_stored else "seats are missing"


def wrong_searched(row: Row[Any]) -> str:
    """Checks a searched position."""
    return ill_typed(positions, row) or wrong_position(row)


def wrong_vote(row: Row[Any], position: Row[Any] | None) -> str:
    """Checks a search of a position (None if that is damaged)."""
    return wrong_row(votes, row) or wrong_search(row, None if position is None else position_of(position))


def differing(rows: MatchColumns, copy: MatchColumns) -> npt.NDArray[np.int64]:
    """Returns the numbers of the matches, the same ones in both, whose copy differs.

    Unmeasured times may differ.
    """
    numbers: npt.NDArray[np.int64] = rows.number
    if not np.array_equal(rows.seats, copy.seats):
        return np.asarray(numbers[rows.seats != copy.seats])
    of_seat = np.repeat(np.arange(len(rows.number)), rows.seats)
    wrong = np.zeros(len(rows.number), bool)
    for name, mine, other in zip(rows._fields, rows, copy, strict=True):
        different = _differ(mine, other)
        wrong[different if name in _OF_MATCHES else of_seat[different]] = True
    return numbers[wrong]


_OF_MATCHES = MatchColumns._fields[: MatchColumns._fields.index("agent")]


def _differ(mine: Any, other: Any) -> npt.NDArray[np.bool_]:
    if isinstance(mine, Texts):
        return np.asarray(mine.values[mine.codes] != other.values[other.codes])
    different = np.asarray(mine != other)
    return different & ~np.isnan(other) if mine.dtype.kind == "f" else different
