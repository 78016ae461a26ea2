"""What experiments measure: a value with its 95 % interval from the records of matches, or from those of searches."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from turnier.arena.match import MatchRecord, unpack_plies
from turnier.arena.repeated_search import SearchRecord
from turnier.results.frames.certainty import estimates, position_certainty, searches_frame
from turnier.statistics.intervals import mean_interval, share_interval

Estimate = tuple[float, float, float, int]  # value, low, high, games counted
Measure = Callable[[Sequence[MatchRecord], str], Estimate]
SearchMeasure = Callable[[Sequence[SearchRecord]], Estimate]


def _mean(values: Sequence[float]) -> Estimate:
    mean, half = mean_interval(values)
    return mean, mean - half, mean + half, len(values)


def _percent(hits: int, n: int) -> Estimate:
    share, low, high = share_interval(hits, n)
    return 100 * share, 100 * low, 100 * high, n


def _agent_wins(records: Sequence[MatchRecord], agent: str, only: int | None = None) -> Estimate:
    seats = [(r, s) for r in records for s, name in enumerate(r.spec.agents) if name == agent and only in (None, s)]
    return _percent(sum(r.points[s] == 1 for r, s in seats), len(seats))


def _seat_wins(seat: int) -> Measure:
    return lambda records, agent: _percent(sum(r.points[seat] == 1 for r in records), len(records))


def _agent_score(records: Sequence[MatchRecord], agent: str) -> Estimate:
    return _mean([r.scores[s] for r in records for s, name in enumerate(r.spec.agents) if name == agent])


def _plies(records: Sequence[MatchRecord], agent: str) -> Estimate:
    return _mean([float(len(unpack_plies(r.plies))) for r in records])


def _reaches(tile: int) -> Measure:
    return lambda records, agent: _percent(sum(r.facts.get("max_tile", 0) >= tile for r in records), len(records))


# name -> unit, and what it says of a row's records and measured agent
MEASURES: dict[str, tuple[str, Measure]] = {
    "win_rate": ("games won, %", _agent_wins),
    "wins_as_first": ("games won, %", lambda records, agent: _agent_wins(records, agent, 0)),
    "wins_as_second": ("games won, %", lambda records, agent: _agent_wins(records, agent, 1)),
    "score": ("score", _agent_score),
    "plies": ("plies of a game", _plies),
    "reaches_2048": ("games with a 2048 tile, %", _reaches(2048)),
    "reaches_4096": ("games with a 4096 tile, %", _reaches(4096)),
    "reaches_8192": ("games with a 8192 tile, %", _reaches(8192)),
    "first_seat_wins": ("games won, %", _seat_wins(0)),
    "second_seat_wins": ("games won, %", _seat_wins(1)),
    "third_seat_wins": ("games won, %", _seat_wins(2)),
}


def _certainty(column: str) -> SearchMeasure:
    def measure(records: Sequence[SearchRecord]) -> Estimate:
        found = estimates(position_certainty(searches_frame(records)))
        value, low, high = (100 * found[name] for name in (column, f"{column}_low", f"{column}_high"))
        return value, max(low, 0.0) if column != "agreement" else low, min(high, 100.0), found["searches"]

    return measure


def _by_position(worth: Callable[[SearchRecord], float]) -> SearchMeasure:
    """The mean over positions, each the mean of its searches."""

    def measure(records: Sequence[SearchRecord]) -> Estimate:
        found: dict[str, list[float]] = {}
        for record in records:
            found.setdefault(record.spec.position.id, []).append(worth(record))
        return (*_mean([float(np.mean(values)) for values in found.values()])[:3], len(records))

    return measure


def _visits(place: int) -> Callable[[SearchRecord], float]:
    """The share of visits, %, that the action got whose mean value is in that place, 0 = best."""

    def worth(record: SearchRecord) -> float:
        ranked = np.argsort(record.values)[::-1]
        return float(100 * record.visits[ranked[place]] / sum(record.visits)) if place < len(ranked) else 0.0

    return worth


# name -> unit, and what it says of a row's searches
SEARCH_MEASURES: dict[str, tuple[str, SearchMeasure]] = {
    "certainty": ("certainty, %", _certainty("certainty")),
    "normalised_certainty": ("normalised certainty, %", _certainty("normalised")),
    "agreement": ("agreement, %", _certainty("agreement")),
    "mean_value": ("mean value of the actions", _by_position(lambda record: float(np.mean(record.values)))),
    **{f"visits_{place}": ("visits, %", _by_position(_visits(place - 1))) for place in range(1, 5)},
}
