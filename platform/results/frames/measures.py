"""The measures of experiments: a value with its 95 % interval, from the records of matches or of searches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from ...arena.match import MatchRecord, count_plies
from ...arena.repeated_search import SearchRecord
from ...games.game import Game
from ...games.registry import game_of
from ...statistics.intervals import (
    COUNT,
    PERCENT,
    UNBOUNDED,
    Bounds,
    mean_interval,
    mean_over_groups,
    points_intervals,
    share_interval,
)
from .certainty import estimates, position_certainty, searches_frame


class Estimate(NamedTuple):
    """A value with its 95 % interval."""

    value: float
    low: float
    high: float
    n: int  # number of games or searches


class MatchMeasure(NamedTuple):
    """A property of an agent, measured from matches."""

    unit: str
    estimate: Callable[[Sequence[MatchRecord], str], Estimate]  # (records, full text of the measured agent)


class SearchMeasure(NamedTuple):
    """A property of an agent, measured from repeated searches of positions."""

    unit: str
    estimate: Callable[[Sequence[SearchRecord]], Estimate]
    of_visits: bool  # needs visits or values of the actions, not only the chosen one


def _mean(values: Sequence[float], bounds: Bounds) -> Estimate:
    mean, half_width = mean_interval(values)
    return Estimate(mean, *bounds.around(mean, half_width), len(values))


def _percent(hits: int, n: int) -> Estimate:
    share, low, high = share_interval(hits, n)
    return Estimate(100 * share, 100 * low, 100 * high, n)


def _agent_wins(records: Sequence[MatchRecord], agent: str, only: int | None = None) -> Estimate:
    """Games won, by the seats of an agent: all of them, or only one."""
    seats = [(r, s) for r in records for s, name in enumerate(r.spec.agents) if name == agent and only in (None, s)]
    return _percent(sum(r.points[s] == 1 for r, s in seats), len(seats))


def _agent_points(records: Sequence[MatchRecord], agent: str) -> Estimate:
    """Points of an agent's seats: 1 for a win, and shares of it for draws."""
    points = np.array([r.points[s] for r in records for s, name in enumerate(r.spec.agents) if name == agent])
    if not len(points):
        return _percent(0, 0)
    low, high = points_intervals(points.mean(), points.var(), len(points))
    return Estimate(100 * float(points.mean()), 100 * float(low), 100 * float(high), len(points))


def _seat_wins(seat: int) -> MatchMeasure:
    return MatchMeasure(
        "games won, %",
        lambda records, agent: _percent(sum(r.points[seat] == 1 for r in records), len(records)),
    )


def _agent_score(records: Sequence[MatchRecord], agent: str, only: int | None = None) -> Estimate:
    """The mean score of an agent: in all of its seats, or only in one."""
    seats = [(r, s) for r in records for s, name in enumerate(r.spec.agents) if name == agent and only in (None, s)]
    scores = [r.scores[s] for r, s in seats]
    return _mean(scores, score_bounds(game_of(records[0].spec.game)) if records else UNBOUNDED)


def _plies(records: Sequence[MatchRecord], agent: str) -> Estimate:
    return _mean([float(count_plies(r.plies)) for r in records], COUNT)


def _reaches(fact: str, threshold: int) -> MatchMeasure:
    return MatchMeasure(
        f"games with {fact.replace('_', ' ')} {threshold}, %",
        lambda records, agent: _percent(sum(r.facts.get(fact, 0.0) >= threshold for r in records), len(records)),
    )


MATCH_MEASURES: dict[str, MatchMeasure] = {
    "win_rate": MatchMeasure("games won, %", _agent_wins),
    "points": MatchMeasure("points, %", _agent_points),
    "wins_as_first": MatchMeasure("games won, %", lambda records, agent: _agent_wins(records, agent, 0)),
    "wins_as_second": MatchMeasure("games won, %", lambda records, agent: _agent_wins(records, agent, 1)),
    "score": MatchMeasure("score", _agent_score),
    "score_as_first": MatchMeasure("score", lambda records, agent: _agent_score(records, agent, 0)),
    "plies": MatchMeasure("plies per game", _plies),
    "first_seat_wins": _seat_wins(0),
    "second_seat_wins": _seat_wins(1),
    "third_seat_wins": _seat_wins(2),
}


def match_measures(game: Game) -> dict[str, MatchMeasure]:
    """Returns the measures of a game's matches: MATCH_MEASURES, and reaches_N for each of its milestones."""
    milestones = game.milestones.items()
    return MATCH_MEASURES | {f"reaches_{n}": _reaches(fact, n) for fact, thresholds in milestones for n in thresholds}


def score_bounds(game: Game) -> Bounds:
    """Returns the least and the largest score that a game can end with."""
    return Bounds(game.min_return, game.max_return)


def _certainty(unit: str, column: str) -> SearchMeasure:
    """The mean of a column of `position_certainty`, %."""

    def estimate(records: Sequence[SearchRecord]) -> Estimate:
        row = estimates(position_certainty(searches_frame(records)))
        value, low, high = (100 * row[name] for name in (column, f"{column}_low", f"{column}_high"))
        # Agreement is below 0 if searches agree less often than by chance; the other two cannot be.
        low = low if column == "agreement" else max(low, 0.0)
        return Estimate(value, low, min(high, 100.0), row["searches"])

    return SearchMeasure(unit, estimate, of_visits=False)


def _by_position(unit: str, value_of: Callable[[SearchRecord], float], bounds: Bounds = UNBOUNDED) -> SearchMeasure:
    """The mean over positions, each the mean of its searches; its interval counts the games they come from."""

    def estimate(records: Sequence[SearchRecord]) -> Estimate:
        by_position: dict[str, list[float]] = {}
        for record in records:
            by_position.setdefault(record.spec.position.id, []).append(value_of(record))
        games = {record.spec.position.id: record.spec.position.source for record in records}
        clusters = [games[position] or position for position in by_position]
        values = [float(np.mean(found)) for found in by_position.values()]
        mean, half_width = mean_over_groups(values, np.zeros(len(values)), clusters)
        return Estimate(mean, *bounds.around(mean, half_width), len(records))

    return SearchMeasure(unit, estimate, of_visits=True)


def _visits(place: int) -> SearchMeasure:
    """The share of visits, %, of the action with that place in the order of mean values, 0 = best."""

    def share(record: SearchRecord) -> float:
        ranked = np.argsort(record.values)[::-1]
        return float(100 * record.visits[ranked[place]] / sum(record.visits)) if place < len(ranked) else 0.0

    return _by_position("visits, %", share, PERCENT)


SEARCH_MEASURES: dict[str, SearchMeasure] = {
    "certainty": _certainty("certainty, %", "certainty"),
    "normalised_certainty": _certainty("normalised certainty, %", "normalised"),
    "agreement": _certainty("agreement, %", "agreement"),
    "mean_value": _by_position("mean value of the actions", lambda record: float(np.mean(record.values))),
    **{f"visits_{place}": _visits(place - 1) for place in range(1, 5)},
}
