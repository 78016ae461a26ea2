"""The needs of an experiment's row: games or searches for the target interval, and CPU time for them."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from turnier.arena.match import MatchRecord, MatchSpec
from turnier.arena.repeated_search import SearchRecord, SearchSpec
from turnier.results.store.store import Store
from turnier.runs.bar import one_by_one
from turnier.runs.experiments.experiment import (
    Experiment,
    measure,
    measure_searches,
    row_matches,
    row_records,
    row_searches,
    search_records,
)
from turnier.runs.experiments.published import NARROW_POINTS, OTHER, UNDECIDED, narrow, verdict
from turnier.runs.experiments.row import Measurement, Row
from turnier.runs.experiments.trained import TrainingStudy
from turnier.studies.campaigns.learned import untrained, with_agents
from turnier.studies.campaigns.statements import LEAST_GAMES

HOUR = 3600.0  # seconds
GAMES, SEARCHES = "games", "searches"
Spec = MatchSpec | SearchSpec


@dataclass(frozen=True)
class Outlook:
    """A row, its stored games, and its needs."""

    experiment: Experiment
    row: Row
    measured: Measurement
    played: int  # games, or searches
    planned: int  # searches: 0 until the games with their positions are played
    unit: str  # of the missing ones: GAMES or SEARCHES
    set_size: int  # number that belongs together: all seat orders, or a position of each group
    missing: Sequence[Spec]  # needed for the target interval, in order of playing
    now: int  # number of them to play before the total need is known
    seconds_each: float  # CPU time of one of the missing, NaN if never measured
    spent: Mapping[str, float]  # CPU time of stored ones, by id
    asked: int = 0  # games at the next look at a statement
    decides: bool = False  # an undecided statement is about the row
    seconds_to_verdict: float = 0.0  # CPU time of all games of the statement that is closest to one, if known

    @property
    def verdict(self) -> str:
        """The verdict as in reports, but undecided with so few games that it may be luck."""
        said = verdict(self.row, self.measured)
        planned = self.planned * self.measured.games / max(1, self.played)  # of the figure's games
        return UNDECIDED if said and self.measured.games < min(planned, LEAST_GAMES) else said

    @property
    def lacks_verdict(self) -> bool:
        compared = self.row.published is not None and self.row.setting != OTHER
        return compared and self.verdict in ("", UNDECIDED)

    @property
    def seconds_left(self) -> float:
        """CPU time of the missing ones; NaN if unknown."""
        if not self.missing:
            return 0.0
        unknown = self.row.states and self.unit == GAMES  # the number of searches to follow
        return math.nan if unknown else len(self.missing) * self.seconds_each

    @property
    def seconds_ahead(self) -> float:
        """CPU time until a possible verdict: of LEAST_GAMES at first, since fewer do not tell how many are needed."""
        few = self.played < min(self.planned, LEAST_GAMES)
        return self.now * self.seconds_each if few else max(self.seconds_left, self.seconds_to_verdict)


def outlooks(
    figures: Sequence[Experiment | TrainingStudy], store: Store, width: float = NARROW_POINTS
) -> list[list[Outlook]]:
    """Returns the needs of each row of experiments, see `outlook`; for untrained ones, the plan."""
    found = []
    for figure in one_by_one(figures, "reading results", "experiments"):
        known = with_agents(figure, store)
        if known:
            found.append([outlook(known, row, store, width) for row in known.rows])
        elif isinstance(figure, TrainingStudy):
            experiment = untrained(figure)
            found.append([_not_begun(experiment, row) for row in experiment.rows])
    return found


def _not_begun(experiment: Experiment, row: Row) -> Outlook:
    """Returns the outlook of a row whose agents are only known by its label."""
    specs = [replace(spec, agents=(row.label, *spec.agents)) for spec in row_matches(row, experiment.seed)]
    return Outlook(experiment, row, measure(row, []), 0, len(specs), GAMES, 1, specs, len(specs), math.nan, {})


def outlook(experiment: Experiment, row: Row, store: Store, width: float = NARROW_POINTS, games: int = 0) -> Outlook:
    """Returns the needs of a row.

    Args:
        experiment: of the row.
        row: with a published figure it needs an interval of the target half-width, otherwise the planned games.
        store: where the games are.
        width: the target half-width: percentage points for shares, otherwise % of the published figure.
        games: at the next look at a statement about the row.
    """
    if row.states:
        return _of_searches(experiment, row, store, width)
    return _of_matches(experiment, row, store, width, games)


def _of_matches(experiment: Experiment, row: Row, store: Store, width: float, games: int) -> Outlook:
    specs, records = row_matches(row, experiment.seed), row_records(row, experiment.seed, store)
    set_size = len(row_matches(replace(row, games=1), experiment.seed))
    known = {record.spec.id: record for record in records}

    def first(number: int) -> list[MatchSpec]:
        more = row_matches(replace(row, games=number), experiment.seed) if number > len(specs) else specs
        return more[: number + -number % set_size]

    def measured(number: int) -> _Sample:
        wanted = first(number)
        found = [known[spec.id] for spec in wanted if spec.id in known]
        return _Sample(measure(row, found), len(found), len(wanted))

    whole = _Sample(measure(row, records), len(records), len(records))
    end, needed = _sizes(row, measured, whole, len(specs), width)
    missing = [spec for spec in first(max(needed, games)) if spec.id not in known]
    now = sum(spec.id not in known for spec in first(end)) or len(missing)
    seconds = {record.spec.id: cpu_seconds(record) for record in records}
    numbers = (len(records), len(specs), GAMES, set_size)
    return Outlook(experiment, row, whole.measured, *numbers, missing, now, _mean(seconds.values()), seconds, games)


def _of_searches(experiment: Experiment, row: Row, store: Store, width: float) -> Outlook:
    specs, played = row_matches(row, experiment.seed), row_records(row, experiment.seed, store)
    seconds = {record.spec.id: cpu_seconds(record) for record in played}
    games = [spec for spec in specs if spec.id not in seconds]
    if games:
        numbers = (0, 0, GAMES, len(specs))
        nothing = measure_searches(row, [])
        return Outlook(experiment, row, nothing, *numbers, games, len(games), _mean(seconds.values()), seconds)
    searches = in_slices(row, row_searches(row, experiment.seed, played))
    known = {record.spec.id: record for record in search_records(row, store, searches)}
    ends = _ends(row, searches)

    def first(number: int) -> list[SearchSpec]:
        return searches[: next((end for end in ends if end >= number), len(searches))]

    def measured(number: int) -> _Sample:
        wanted = first(number)
        found = [known[spec.id] for spec in wanted if spec.id in known]
        return _Sample(measure_searches(row, found), len(found), len(wanted))

    whole = measured(len(searches))._replace(of=len(known))
    end, needed = _sizes(row, measured, whole, len(searches), width)
    if row.extended:  # statements compare it with others, so at the same positions: all of them
        needed = len(searches)
    missing = [spec for spec in first(needed) if spec.id not in known]
    now = sum(spec.id not in known for spec in first(end)) or len(missing)
    searched = {record.spec.id: cpu_seconds(record) for record in known.values()}
    numbers = (len(known), len(searches), SEARCHES, ends[0])
    each = _mean(searched.values())
    return Outlook(experiment, row, whole.measured, *numbers, missing, now, each, seconds | searched)


class _Sample(NamedTuple):
    """The figure of the first games or searches of a row: of `of` wanted ones, `stored` are stored."""

    measured: Measurement
    stored: int
    of: int

    def needed(self, aim: float, planned: int) -> int:
        """Returns the number with an interval of the target half-width, by the variance of these."""
        half = (self.measured.high - self.measured.low) / 2
        return planned if math.isnan(half) else math.ceil(self.stored * (half / aim) ** 2)


def _sizes(row: Row, measured: Callable[[int], _Sample], whole: _Sample, planned: int, width: float) -> tuple[int, int]:
    """Returns the number of games or searches before a row's next measurement, and about the number in all.

    Every row is first measured after LEAST_GAMES; one with a published figure then after as many as these suggest, and
    so on: the end depends on its games alone, not on when a campaign was stopped.

    Args:
        row: the row.
        measured: their number -> the figure of the first ones.
        whole: the figure of all stored ones.
        planned: their planned number.
        width: the target half-width, see `outlook`.
    """
    aim = narrow(row) * width / NARROW_POINTS
    if row.published is None or aim <= 0 or row.trainings:  # of these, more games would hardly help
        return (min(planned, LEAST_GAMES) if whole.of < LEAST_GAMES else planned), planned
    sample = measured(min(planned, LEAST_GAMES))
    while sample.stored == sample.of:
        needed = sample.needed(aim, planned)
        further = measured(needed) if needed > sample.of else sample
        if further.of <= sample.of:  # narrow enough, or no more positions
            more = whole.needed(aim, planned) if whole.of > sample.of else 0
            return (more, more) if more > whole.of else (sample.of, sample.of)
        sample = further
    return sample.of, max(sample.of, whole.needed(aim, planned))


def in_slices(row: Row, searches: Sequence[SearchSpec]) -> list[SearchSpec]:
    """Returns a row's searches in an order in which every prefix has about as many positions of each group.

    Otherwise the first part would be of a few groups, while the figure is a mean over groups.
    """
    places = _places(row, searches)
    return [searches[i] for i in sorted(range(len(searches)), key=places.__getitem__)]


def _places(row: Row, searches: Sequence[SearchSpec]) -> list[int]:
    """Returns the place of each search's position among those of its group."""
    groups: dict[tuple[int, int], dict[str, int]] = defaultdict(dict)
    places = []
    for spec in searches:
        seen = spec.position
        known = groups[(0, 0) if row.moves else (len(seen.legal), seen.phase)]
        places.append(known.setdefault(seen.id, len(known)))
    return places


def _ends(row: Row, searches: Sequence[SearchSpec]) -> list[int]:
    """Returns the end of each place in the order of `in_slices`."""
    counts = np.bincount(_places(row, searches)) if searches else np.zeros(1, int)
    return [int(end) for end in np.cumsum(counts)]


def cpu_seconds(record: MatchRecord | SearchRecord) -> float:
    """Returns the CPU time of the decisions, or the wall-clock time if that was not measured."""
    measured = record.seat_cpu_seconds if isinstance(record, MatchRecord) else ()
    return sum(measured) if measured else record.seconds


def _mean(seconds: Iterable[float]) -> float:
    values = list(seconds)
    return sum(values) / len(values) if values else math.nan


def seconds_left(outlooks: Iterable[Outlook]) -> float:
    """Returns the CPU time that rows need together, as far as it is known; shared games count once."""
    known = [row for row in outlooks if not math.isnan(row.seconds_left)]
    return sum({spec.id: row.seconds_each for row in known for spec in row.missing}.values())


def seconds_spent(outlooks: Iterable[Outlook]) -> float:
    """Returns the CPU time of the stored games of rows; shared games count once."""
    return sum(dict(itertools.chain.from_iterable(row.spent.items() for row in outlooks)).values())
