"""Matches as rows: written with a checksum over the match and its seats, and read only if that agrees."""

from __future__ import annotations

import functools
import json
import math
import zlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Row, select

from ...arena.match import MatchRecord, MatchSpec, Termination, opening_of
from ...core.compilation.code_digest import release
from ...core.compilation.machine import machine_name
from ..store.database import Database
from ..store.schema import matches, seats
from .checksums import CHANGED, checksum_of
from .damage import UNDECODABLE, reason

MATCH_COLUMNS = (
    *("id", "game", "seed", "max_plies", "opening", "termination", "seconds", "plies", "facts", "error", "created"),
    *("release", "worker", "checksum"),
)
SEAT_COLUMNS = ("match_number", "seat", "agent", "score", "decisions", "nodes", "seconds", "cpu_seconds")
_encode = json.JSONEncoder(default=float).encode


@functools.lru_cache(maxsize=1 << 12)
def _facts_text(facts: tuple[tuple[str, float], ...], types: tuple[type, ...]) -> str:
    """Returns facts as JSON, cached: many matches have the same; types distinguish the equal keys 1, 1.0 and True."""
    return _encode(dict(facts))


@functools.lru_cache(maxsize=1 << 12)
def _quoted(text: str) -> str:
    """Returns a text as written for checksums, cached: many matches have the same games, agents and facts."""
    return ascii(text)


class DamagedMatch(NamedTuple):
    """A stored match that cannot be shown; if its row is missing, it has no id."""

    number: int
    id: str
    reason: str

    def __str__(self) -> str:
        if not self.number:
            return self.reason
        return (
            f"the game {self.id}: {self.reason}"
            if self.id
            else f"the game with the number {self.number}: {self.reason}"
        )


class StoredMatch(NamedTuple):
    """A match's row, the rows of its seats, and the damage, empty if there is none."""

    row: Row[Any]
    seats: list[Row[Any]]
    wrong: str


def rows_of(match_id: str, record: MatchRecord, created: str) -> tuple[tuple[Any, ...], list[tuple[Any, ...]]]:
    """Returns the values of MATCH_COLUMNS, and of SEAT_COLUMNS without the number."""
    spec, facts = record.spec, record.facts
    match = (
        match_id,
        spec.game,
        int(spec.seed),
        int(spec.max_plies),
        len(spec.opening),
        record.termination.value,
        float(record.seconds),
        record.plies,
        _facts_text(tuple(facts.items()), tuple(map(type, facts.values()))),
        _storable(record.error) if record.error else "",
        created,
        record.release or release(),
        _storable(record.worker) if record.worker else machine_name(),
    )
    match_seats = []
    cpu_seconds = record.seat_cpu_seconds or (None,) * len(record.scores)
    times = zip(record.seat_seconds, cpu_seconds, strict=True)
    played = zip(spec.agents, record.scores, record.decisions, record.nodes, times, strict=True)
    for seat, (agent, score, decisions, nodes, (seconds, cpu)) in enumerate(played):
        wall, cpu = None if seconds != seconds else float(seconds), None if cpu is None else float(cpu)
        # Never -0.0, which SQLite does not keep.
        match_seats.append((seat, agent, float(score) + 0.0, int(decisions), int(nodes), wall, cpu))
    return (*match, checksum_of_match(match, match_seats)), match_seats


def checksum_of_match(match: tuple[Any, ...], match_seats: list[tuple[Any, ...]]) -> int:
    """Returns the checksum of the values of MATCH_COLUMNS before it, and of SEAT_COLUMNS without the number."""
    return checksum_of(_written(match, match_seats))


def _written(match: tuple[Any, ...], match_seats: list[tuple[Any, ...]]) -> str:
    """Returns the values of a match and its seats as `checksum` writes them, in half the time."""
    match_id, game, seed, max_plies, opening, termination, seconds, plies, facts, error, created, *played_by = match
    of_seats = ""
    for seat, agent, score, decisions, nodes, own, cpu in match_seats:
        of_seats += f", ({seat}, {_quoted(agent)}, {score!r}, {decisions}, {nodes}, {own!r}, {cpu!r})"
    return (
        f"['{match_id}', {_quoted(game)}, {seed}, {max_plies}, {opening}, '{termination}', {seconds!r},"
        f" {zlib.crc32(plies)}, {_quoted(facts)}, {_quoted(error)}, '{created}',"
        f" {', '.join(map(_quoted, played_by))}{of_seats}]"
    )


def read_matches(database: Database, connection: Connection, chosen: ColumnElement[bool]) -> Iterator[StoredMatch]:
    """Yields the stored matches that meet a condition, checked, in the order of their numbers."""
    query = select(matches).where(chosen).order_by(matches.c.number)
    rows = connection.execute(query).all()
    of_match: dict[int, list[Row[Any]]] = defaultdict(list)
    of_seats = select(seats).where(database.among(seats.c.match_number, [row.number for row in rows]))
    for seat in connection.execute(of_seats.order_by(seats.c.match_number, seats.c.seat)):
        of_match[seat.match_number].append(seat)
    for row in rows:
        yield StoredMatch(row, of_match[row.number], wrong_match(row, of_match[row.number]))


def record_of(match: StoredMatch) -> MatchRecord | DamagedMatch:
    """Returns the match, or its damage."""
    row, wrong = match.row, match.wrong
    if not wrong:
        try:
            return match_of(row, match.seats)
        except UNDECODABLE as failure:
            wrong = reason(failure)
    return DamagedMatch(row.number, str(row.id), wrong)


def agrees_with_checksum(match: Sequence[Any], match_seats: Sequence[tuple[Any, ...]]) -> bool:
    """Whether a match has the right checksum.

    Args:
        match: the values of MATCH_COLUMNS.
        match_seats: the values of SEAT_COLUMNS without the number, by seat.
    """
    *values, known = match
    try:
        return bool(checksum_of_match(tuple(values), list(match_seats)) == known)
    except UNDECODABLE:
        return False


def wrong_match(row: Row[Any], match_seats: Sequence[Row[Any]]) -> str:
    """Returns the damage of a stored match; empty if there is none."""
    return "" if agrees_with_checksum(row[1:], [seat[1:] for seat in match_seats]) else CHANGED


def match_of(match: Row[Any], match_seats: Sequence[Row[Any]]) -> MatchRecord:
    """Returns the match of checked rows."""
    opening = opening_of(match.plies, match.opening)
    return MatchRecord(
        MatchSpec(match.game, tuple(seat.agent for seat in match_seats), match.seed, match.max_plies, opening),
        Termination(match.termination),
        tuple(seat.score for seat in match_seats),
        tuple(seat.decisions for seat in match_seats),
        tuple(seat.nodes for seat in match_seats),
        tuple(math.nan if seat.seconds is None else seat.seconds for seat in match_seats),
        match.seconds,
        match.plies,
        json.loads(match.facts),
        match.error,
        tuple(seat.cpu_seconds for seat in match_seats if seat.cpu_seconds is not None),  # of all seats or of none
        match.release,
        match.worker,
    )


def _storable(text: str) -> str:
    """Returns the text without characters that databases refuse: NUL (PostgreSQL) and halves of surrogate pairs."""
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}").encode("utf-8", "replace").decode()
