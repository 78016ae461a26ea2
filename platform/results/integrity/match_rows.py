"""Matches as rows: written with a checksum over the match and its seats, and read only if that agrees."""

from __future__ import annotations

import functools
import itertools
import json
import math
import zlib
from collections import defaultdict, namedtuple
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Any, NamedTuple, Self

from sqlalchemy import ColumnElement, Connection, Row, select

from ...arena.match import MatchRecord, MatchSpec, Termination, opening_of
from ...arena.played import PlayedMatches, specs_of
from ...core.compilation.code_digest import release
from ...core.compilation.machine import machine_name
from ..store.columns import MATCH_FIELDS, MatchColumns
from ..store.database import Database
from ..store.schema import matches, seats
from .checksums import CHANGED, checksum_of
from .damage import UNDECODABLE, reason

MATCH_COLUMNS = (
    *("id", "game", "seed", "max_plies", "opening", "termination", "seconds", "plies", "facts", "error", "created"),
    *("release", "worker", "checksum"),
)
SEAT_COLUMNS = ("match_number", "seat", "agent", "score", "decisions", "nodes", "seconds", "cpu_seconds")
_PLIES, _CREATED, _CHECKSUM = map(MATCH_COLUMNS.index, ("plies", "created", "checksum"))
_SHARED = ({str}, {int}, {type(None)})  # kinds of values that equal one another only if they are written alike
_OF_SPECS = attrgetter("id", "game", "seed", "max_plies", "opening", "agents")
_value_of = attrgetter("_value_")  # of an enum, in a tenth of the time of `value`
_flat = itertools.chain.from_iterable
_make_named: Callable[[str, Sequence[str]], Any] = namedtuple
_match, _seat = _make_named("_match", ("number", *MATCH_COLUMNS)), _make_named("_seat", SEAT_COLUMNS)
_encode = json.JSONEncoder(default=float).encode


@functools.lru_cache(maxsize=1 << 12)
def _facts_text(facts: tuple[tuple[str, float], ...], types: tuple[type, ...]) -> str:
    """Returns facts as JSON, cached: many matches have the same; types distinguish the equal keys 1, 1.0 and True."""
    return _encode(dict(facts))


def facts_text(facts: dict[str, float]) -> str:
    """Returns a match's facts as stored."""
    return _facts_text(tuple(facts.items()), tuple(map(type, facts.values()))) if facts else "{}"


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


class MatchRows(NamedTuple):
    """Rows of matches and of their seats, as columns."""

    matches: Sequence[Sequence[Any]]  # MATCH_COLUMNS, each [matches]
    sizes: Sequence[int]  # [matches] numbers of seats
    seats: Sequence[Sequence[Any]]  # SEAT_COLUMNS without the number, each [all seats]

    @classmethod
    def of(cls, rows: Sequence[Sequence[Any]], match_seats: Sequence[Sequence[Sequence[Any]]]) -> Self:
        """Returns rows of MATCH_COLUMNS, or the first of these, with the seats of each match as columns."""
        seats = list(_flat(match_seats))
        columns = zip(*seats, strict=True) if seats else [()] * (len(SEAT_COLUMNS) - 1)
        return cls(list(zip(*rows, strict=True)), list(map(len, match_seats)), list(columns))

    def take(self, places: Sequence[int]) -> MatchRows:
        """Returns these matches, in this order."""
        ends = list(itertools.accumulate(self.sizes))
        of_seats = [seat for place in places for seat in range(ends[place] - self.sizes[place], ends[place])]
        matches, seats = (
            [[column[place] for place in some] for column in columns]
            for columns, some in ((self.matches, places), (self.seats, of_seats))
        )
        return MatchRows(matches, [self.sizes[place] for place in places], seats)

    def seat_rows(self, numbers: Mapping[str, int]) -> list[tuple[Any, ...]]:
        """Returns rows of SEAT_COLUMNS of the matches with a number, by their ids."""
        of_seats = _flat(map(itertools.repeat, map(numbers.get, self.matches[0]), self.sizes))
        rows = zip(of_seats, *self.seats, strict=True)
        return list(rows) if len(numbers) == len(self.sizes) else [row for row in rows if row[0] is not None]

    def by_match(self) -> list[list[tuple[Any, ...]]]:
        """Returns the seats of each match: values of SEAT_COLUMNS without the number."""
        rows = zip(*self.seats, strict=True)
        return [list(itertools.islice(rows, size)) for size in self.sizes]

    def columns(self, numbers: Mapping[str, int]) -> MatchColumns:
        """Returns the columns of the matches with a number, by their ids."""
        kept = [place for place, match_id in enumerate(self.matches[0]) if match_id in numbers]
        own = self if len(kept) == len(self.sizes) else self.take(kept)
        fields = [own.matches[MATCH_COLUMNS.index(name)] for name in MATCH_FIELDS[1:]]
        found = [numbers[match_id] for match_id in own.matches[0]]
        return MatchColumns.of([found, *fields], own.sizes, own.seats[1:]).in_order()

    def checksums(self) -> list[int]:
        """Returns the `checksum` of each match: of the values before it in MATCH_COLUMNS, and of its seats.

        Values that all matches share are written once.
        """
        different = sorted(set(self.sizes))
        if len(different) > 1:
            sums = [0] * len(self.sizes)
            for size in different:
                places = [place for place, own in enumerate(self.sizes) if own == size]
                for place, found in zip(places, self.take(places).checksums(), strict=True):
                    sums[place] = found
            return sums
        if not different:
            return []
        columns = list(self.matches[:_CHECKSUM])
        columns[_PLIES] = tuple(map(zlib.crc32, columns[_PLIES]))
        written = [_written(values) for values in columns]
        for seat in range(different[0]):
            forms, values = zip(*(_written(values[seat :: different[0]]) for values in self.seats), strict=True)
            written.append((f"({', '.join(forms)})", list(_flat(values))))
        form, varying = f"[{', '.join(form for form, _ in written)}]", [some for _, own in written for some in own]
        rows = zip(*varying, strict=True) if varying else itertools.repeat((), len(self.sizes))
        return [checksum_of(form % row) for row in rows]


def _written(values: Sequence[Any]) -> tuple[str, list[Iterable[Any]]]:
    """Returns a format for the values of a column, as `ascii` writes them, and what fills it."""
    if set(map(type, values)) in _SHARED:  # of one kind, since 1 equals 1.0, which is written differently
        different = set(values)
        if len(different) == 1:
            return ascii(values[0]).replace("%", "%%"), []
        if 2 * len(different) < len(values):
            written = {value: ascii(value) for value in different}
            return "%s", [map(written.__getitem__, values)]
    return "%a", [values]


def rows_of(records: Sequence[MatchRecord], created: str) -> MatchRows:
    """Returns the rows of matches, each once, in the order of their ids."""
    places = {spec.id: place for place, spec in enumerate(specs_of(records))}
    order = [places[match_id] for match_id in sorted(places)]
    known = _of_played(records.take(order)) if isinstance(records, PlayedMatches) else _of_records(records, order)
    matches = [*known.matches[:_CREATED], [created] * len(order), *known.matches[_CREATED:]]
    return MatchRows([*matches, known._replace(matches=matches).checksums()], known.sizes, known.seats)


def _of_played(played: PlayedMatches) -> MatchRows:
    """Returns the rows of matches without the time of storing and the checksum."""
    n, seats = played.scores.shape
    scores = played.scores + 0.0  # never -0.0, which SQLite does not keep
    arrays = scores, played.decisions, played.nodes, played.seat_seconds, played.seat_cpu_seconds
    ids, games, seeds, limits, openings, agents = zip(*map(_OF_SPECS, played.specs), strict=True)
    numbers = [list(map(int, seeds)), list(map(int, limits)), list(map(len, openings))]
    ends, facts = list(map(_value_of, played.terminations)), list(map(facts_text, played.facts))
    others = [played.seconds.tolist(), played.plies, facts, [""] * n, [release()] * n, [machine_name()] * n]
    of_seats = [list(range(seats)) * n, list(_flat(agents)), *(array.ravel().tolist() for array in arrays)]
    return MatchRows([ids, games, *numbers, ends, *others], [seats] * n, of_seats)


def _of_records(records: Sequence[MatchRecord], order: Sequence[int]) -> MatchRows:
    """Returns the rows of some matches without the time of storing and the checksum."""
    rows, match_seats = [], []
    for record in map(records.__getitem__, order):
        spec = record.spec
        rows.append(
            (
                *(spec.id, spec.game, int(spec.seed), int(spec.max_plies), len(spec.opening)),
                *(record.termination.value, float(record.seconds), record.plies, facts_text(record.facts)),
                _storable(record.error) if record.error else "",
                record.release or release(),
                _storable(record.worker) if record.worker else machine_name(),
            )
        )
        times = zip(record.seat_seconds, record.seat_cpu_seconds or (None,) * len(record.scores), strict=True)
        played = zip(spec.agents, record.scores, record.decisions, record.nodes, times, strict=True)
        own = []
        for seat, (agent, score, decisions, nodes, (seconds, cpu)) in enumerate(played):
            wall, cpu = None if seconds != seconds else float(seconds), None if cpu is None else float(cpu)
            own.append((seat, agent, float(score) + 0.0, int(decisions), int(nodes), wall, cpu))
        match_seats.append(own)
    return MatchRows.of(rows, match_seats)


def read_matches(database: Database, connection: Connection, chosen: ColumnElement[bool]) -> Iterator[StoredMatch]:
    """Yields the stored matches that meet a condition, checked, in the order of their numbers."""
    query = select(matches).where(chosen).order_by(matches.c.number)
    rows = connection.execute(query).all()
    of_match: dict[int, list[Row[Any]]] = defaultdict(list)
    of_seats = select(seats).where(database.among(seats.c.match_number, [row.number for row in rows]))
    for seat in connection.execute(of_seats.order_by(seats.c.match_number, seats.c.seat)):
        of_match[seat.match_number].append(seat)
    agree = agreeing([row[1:] for row in rows], [[seat[1:] for seat in of_match[row.number]] for row in rows])
    for row, right in zip(rows, agree, strict=True):
        yield StoredMatch(row, of_match[row.number], "" if right else CHANGED)


def record_of(match: StoredMatch) -> MatchRecord | DamagedMatch:
    """Returns the match, or its damage."""
    row, wrong = match.row, match.wrong
    if not wrong:
        try:
            return match_of(row, match.seats)
        except UNDECODABLE as failure:
            wrong = reason(failure)
    return DamagedMatch(row.number, str(row.id), wrong)


def agreeing(rows: Sequence[Sequence[Any]], match_seats: Sequence[Sequence[Sequence[Any]]]) -> list[bool]:
    """Whether each match has the right checksum.

    Args:
        rows: the values of MATCH_COLUMNS.
        match_seats: the values of SEAT_COLUMNS without the number, by match and seat.
    """
    try:
        found = MatchRows.of(rows, match_seats).checksums()
        return [bool(row[_CHECKSUM] == checksum) for row, checksum in zip(rows, found, strict=True)]
    except UNDECODABLE:  # one by one, to find the match
        each = zip(rows, match_seats, strict=True)
        return [agreeing([row], [own])[0] for row, own in each] if len(rows) > 1 else [False]


def match_of(match: Any, match_seats: Sequence[Any]) -> MatchRecord:
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


def record_of_rows(match: Sequence[Any], match_seats: Sequence[Sequence[Any]]) -> MatchRecord:
    """Returns the match of checked values of MATCH_COLUMNS, and of SEAT_COLUMNS without the number by seat."""
    return match_of(_match(0, *match), [_seat(0, *seat) for seat in match_seats])


def _storable(text: str) -> str:
    """Returns the text without characters that databases refuse: NUL (PostgreSQL) and halves of surrogate pairs."""
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}").encode("utf-8", "replace").decode()
