"""Failed matches that are played again: their rows are removed to make room for new ones."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Any

from sqlalchemy import Connection, delete, select

from ...arena.match import Termination
from ..store.match_blocks import MatchBlocks
from ..store.schema import matches, run_matches, seats
from .checksums import mark_of
from .match_rows import MATCH_COLUMNS

FAILURES = [end.value for end in Termination if not end.has_result]
_end_of = itemgetter(*map(MATCH_COLUMNS.index, ("termination", "plies", "error")))


def remove_failures(
    blocks: MatchBlocks, connection: Connection, run_id: str, rows: Mapping[str, Sequence[Any]]
) -> tuple[list[str], dict[str, list[str]]]:
    """Removes void matches that new ones replace; one with the same failure stays.

    Args:
        blocks: of the store that has them.
        connection: of the transaction, which then inserts the new ones and attaches them to the runs.
        run_id: the run to which it attaches them in any case.
        rows: the new ones, by id, as MATCH_COLUMNS.

    Returns:
        The removed ids, all and by run.
    """
    if not rows:
        return [], {}
    c, among = matches.c, blocks.database.among
    query = select(c.number, c.id, c.termination, c.plies, c.error).where(c.termination.in_(FAILURES))
    # If two processes replace the same match, the second waits here and then finds none.
    found = connection.execute(query.where(among(c.id, list(rows))).order_by(c.number).with_for_update())
    failed = {row.number: row.id for row in found if tuple(row[2:]) != _end_of(rows[row.id])}
    return sorted(failed.values()), remove_matches(blocks, connection, run_id, failed) if failed else {}


def remove_matches(
    blocks: MatchBlocks, connection: Connection, run_id: str, ids: Mapping[int, str]
) -> dict[str, list[str]]:
    """Removes matches, ids by number, from the store and from all runs; returns the removed ids by run.

    The transaction may attach new ones to the run with the id `run_id`.
    """
    had: dict[str, list[str]] = defaultdict(list)
    numbers, among = list(ids), blocks.database.among
    for run, number in connection.execute(select(run_matches).where(among(run_matches.c.match_number, numbers))):
        had[run].append(ids[number])
    for run in sorted({run_id, *had}):  # all processes lock the totals of several runs in this order
        blocks.totals.lock(connection, run, run_matches)
    for run, some in had.items():
        blocks.totals.remove(connection, run, run_matches, map(mark_of, some))
    blocks.remove(connection, numbers)
    for column in (run_matches.c.match_number, seats.c.match_number, matches.c.number):
        connection.execute(delete(column.table).where(among(column, numbers)))
    return had
