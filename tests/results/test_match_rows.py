"""Rows of matches: columns or records, one by one or together, give the same rows and checksums."""

from __future__ import annotations

import itertools
import math
from typing import Any

import pytest

from tests.results.made import DUEL, made
from turnier.arena.match import MatchRecord, MatchSpec, Termination
from turnier.arena.play import play_batch, play_matches
from turnier.arena.played import PlayedMatches, joined, specs_of
from turnier.results.integrity.checksums import checksum
from turnier.results.integrity.match_rows import MatchRows, agreeing, rows_of

CREATED = "2026-11-28T13:17:25.123456+00:00"
LINEUPS = (("random", "mc(iterations=1)"), ("mc(iterations=1)", "random"))
SPECS = [MatchSpec("tictactoe", agents, seed) for seed in range(20) for agents in LINEUPS]


def odd() -> list[MatchRecord]:
    """Returns matches of 1 to 4 seats whose values are easily confused or hard to write."""
    changes: list[dict[str, Any]] = [
        {"facts": {"a": 1}},
        {"facts": {"a": 1.0}},
        {"facts": {"a": True}, "error": "100 % broken: it's é \\ \0 \ud800", "termination": Termination.ERROR},
        {"seat_cpu_seconds": (), "worker": "another", "release": "0.0"},
    ]
    scores = (0.0, -0.0, 1.0, 1e-7, 1 / 3)
    found = []
    for seed, (change, seats) in enumerate(itertools.product(changes, (1, 2, 2, 3, 4))):
        agents = tuple(f"agent(text='{seat}%s')" for seat in range(seats))
        times = tuple(math.nan if (seed + seat) % 3 == 0 else 1e-9 * seed for seat in range(seats))
        of_seats = {"seat_seconds": times, "seat_cpu_seconds": times[:0] or (0.5,) * seats}
        some = {"decisions": (seed % 2,) * seats, "nodes": tuple(range(seats)), **of_seats, **change}
        found.append(made(seed, scores[:seats], agents, DUEL, **some))
    return found


def as_rows(rows: MatchRows) -> list[tuple[Any, list[Any]]]:
    seats = iter(zip(*rows.seats, strict=True))
    matches = zip(zip(*rows.matches, strict=True), rows.sizes, strict=True)
    return [(match, list(itertools.islice(seats, size))) for match, size in matches]


def test_checksums_are_those_of_each_match() -> None:
    records = odd()
    together = as_rows(rows_of(records, CREATED))
    assert [match[0] for match, _ in together] == sorted(record.spec.id for record in records)
    for match, seats in together:
        assert match[-1] == checksum(*match[:-1], *seats)
    alone = [as_rows(rows_of([record], CREATED))[0] for record in records]
    assert sorted(map(repr, alone)) == sorted(map(repr, together))
    assert rows_of([*records, *records], CREATED) == rows_of(records, CREATED)


def test_every_changed_value_is_noticed() -> None:
    rows = as_rows(rows_of(odd(), CREATED))
    matches, seats = [list(match) for match, _ in rows], [[list(seat) for seat in own] for _, own in rows]
    assert all(agreeing(matches, seats))
    for changed in (matches[3], seats[4][1]):
        for place, value in enumerate(changed):
            other = 2.5 if value is None else value + b"x" if isinstance(value, bytes) else None
            changed[place] = other
            wrong = [place for place, right in enumerate(agreeing(matches, seats)) if not right]
            assert wrong == [3 if changed is matches[3] else 4], place
            changed[place] = value


def test_columns_and_records_give_the_same_rows() -> None:
    played = play_batch(SPECS)
    assert isinstance(played, PlayedMatches) and specs_of(played) == SPECS
    records = list(played)
    assert [record.spec for record in records] == SPECS
    assert [record.plies for record in play_matches(SPECS)] == [record.plies for record in records]
    assert played[3] == records[3] == played[-37] and list(played[5:9]) == records[5:9]
    assert repr(as_rows(rows_of(played, CREATED))) == repr(as_rows(rows_of(records, CREATED)))
    with pytest.raises(IndexError):
        played[len(SPECS)]


def test_parts_are_joined_as_columns_if_they_have_the_same_seats() -> None:
    played, alone = play_batch(SPECS[:4]), play_batch([MatchSpec("2048(size=2)", ("random",), 1)])
    assert isinstance(joined([played, played]), PlayedMatches)
    mixed = joined([played, alone])
    assert isinstance(mixed, list) and mixed == [*played, *alone]
    assert joined([]) == []
