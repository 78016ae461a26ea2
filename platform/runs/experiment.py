"""Experiments: rows of matches or searches that answer one question, each beside the figure that a document published.

An experiment's definition is stored with its run, so a report needs nothing but the store: it derives every row's
matches (and from those its votes) again, which is pure, and measures those that are there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np

from turnier.agents.registry import AGENTS
from turnier.arena.match import MatchRecord, MatchSpec
from turnier.arena.positions import COLLECTOR, choose_by_move, choose_positions, collector_matches, search_specs
from turnier.arena.repeated_search import SearchRecord, SearchSpec
from turnier.arena.schedules.round_robin import round_robin
from turnier.arena.workers.executor import Executor
from turnier.core.errors import UserError, unknown
from turnier.games.registry import GAMES
from turnier.results.frames.measures import MATCH_MEASURES, SEARCH_MEASURES
from turnier.results.store.store import Run, Store
from turnier.runs.play import play_into, search_into

KIND = "experiment"
_FIRST_FIELDS = 8  # of a row, which every stored one has


@dataclass(frozen=True)
class Row:
    """One measured figure of matches: some agents at a game, in all roles; the first agent is the measured one.

    With `states` it is one of searches: the agent searches positions from the collector's games again and again. It
    may name several agents then, one for each number of legal actions from two on, the last for all that are larger.
    """

    label: str
    game: str
    agents: tuple[str, ...]
    games: int  # rounded up to whole sets of seat orders and openings; of certainty: what the collector plays
    measure: str = "win_rate"  # a name of MATCH_MEASURES, or of SEARCH_MEASURES
    published: float | None = None  # in the measure's unit
    x: float | None = None  # the row's place on the plot's axis, where rows are points of a curve
    openings: int = 0  # plies; see schedule.openings
    series: str = ""  # rows of the same series are one line of the plot
    states: int = 0  # positions of a group; 0 = a row of matches
    repeats: int = 0  # searches of a position
    collector: str = ""  # whose games positions come from; empty = arena.certainty.COLLECTOR
    legal: int = 0  # only positions with so many legal actions; 0 = all
    phases: tuple[int, ...] = ()  # only positions from the first to the second of these phases; empty = all
    moves: tuple[int, ...] = ()  # in place of groups: `states` positions from the first up to, without, the second move

    def definition(self) -> dict[str, Any]:
        """Returns the row as it is stored: what rows of earlier versions did not have only where it is used."""
        new = {field.name: field.default for field in fields(self)[_FIRST_FIELDS:]}
        return {key: value for key, value in asdict(self).items() if key not in new or value != new[key]}

    @classmethod
    def from_definition(cls, definition: dict[str, Any]) -> Row:
        values: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in definition.items()}
        return cls(**values)


@dataclass(frozen=True)
class Experiment:
    """A question, where it comes from, and the rows that answer it."""

    document: str  # the report that it belongs to
    name: str
    title: str
    text: str  # what was published, and what ours is to be compared with; Markdown
    rows: tuple[Row, ...]
    seed: int = 1
    axis: str = ""  # what `x` means; empty = bars by label

    @property
    def run_id(self) -> str:
        return f"{self.document}:{self.name}"

    def definition(self) -> dict[str, Any]:
        """Returns the experiment as it is stored with its run."""
        return asdict(self) | {"rows": [row.definition() for row in self.rows]}

    @classmethod
    def from_run(cls, run: Run) -> Experiment:
        definition = dict(run.definition)
        return cls(rows=tuple(Row.from_definition(row) for row in definition.pop("rows")), **definition)


@dataclass(frozen=True)
class Measurement:
    """A measured value with its 95 % interval; games says on how many (or how many searches), seconds what one took."""

    value: float
    low: float
    high: float
    games: int
    seconds: float


def unit(row: Row) -> str:
    """Returns what a row's figures count; raises UserError where its measure is unknown."""
    units = {name: kind.unit for name, kind in (SEARCH_MEASURES if row.states else MATCH_MEASURES).items()}
    if row.measure not in units:
        raise unknown("measure", row.measure, units)
    return units[row.measure]


def counted(experiment: Experiment) -> tuple[str, str]:
    """Returns the headings of what an experiment's figures rest on, and of how long one took."""
    kinds = {bool(row.states) for row in experiment.rows}
    if len(kinds) > 1:
        return "games, searches", "s each"
    return ("searches", "s per search") if True in kinds else ("games", "s per game")


def row_matches(row: Row, seed: int) -> list[MatchSpec]:
    """Returns the matches of a row; they depend on the row and the seed and on nothing else."""
    if row.states:
        return collector_matches(row.game, row.collector or COLLECTOR, row.games, seed)
    return round_robin(GAMES.make(row.game), [AGENTS.make(a) for a in row.agents], row.games, seed, row.openings)


def row_searches(row: Row, seed: int, records: Sequence[MatchRecord]) -> list[SearchSpec]:
    """Returns the votes of a row of searches, given the records of its matches; none for a row of matches."""
    if row.moves:
        return search_specs(choose_by_move(records, row.moves, row.states, seed), row.agents[0], row.repeats, seed)
    chosen = choose_positions(records, row.states, seed) if row.states else {}
    return [
        spec
        for (legal, phase), positions in chosen.items()
        if row.legal in (0, legal) and (not row.phases or row.phases[0] <= phase <= row.phases[1])
        for spec in search_specs(positions, row.agents[min(legal - 2, len(row.agents) - 1)], row.repeats, seed)
    ]


def measure(row: Row, records: Sequence[MatchRecord]) -> Measurement:
    """Returns a row's figure from the records of its matches (those that are stored so far)."""
    estimate = MATCH_MEASURES[row.measure].estimate(records, AGENTS.make(row.agents[0]).full_text())
    return Measurement(*estimate, float(np.mean([r.seconds for r in records])) if records else 0.0)


def measure_searches(row: Row, records: Sequence[SearchRecord]) -> Measurement:
    """Returns the figure of a row of searches from the records of its votes (those that are stored so far)."""
    estimate = SEARCH_MEASURES[row.measure].estimate(records)
    return Measurement(*estimate, float(np.mean([r.seconds for r in records])) if records else 0.0)


def play_experiment(
    experiment: Experiment,
    store: Store,
    executor: Executor,
    expect: Callable[[int, str], object] = lambda more, unit: None,
) -> Iterator[Sequence[MatchRecord | SearchRecord]]:
    """Plays what the store does not have yet, batch by batch; raises UserError where another definition is stored.

    `expect` is told how many games are to come, and then, where there are rows of searches, how many searches.
    """
    for row in experiment.rows:
        unit(row)
    seed, run_id = experiment.seed, experiment.run_id
    matches = {spec.id: spec for row in experiment.rows for spec in row_matches(row, seed)}
    store.begin_run(run_id, KIND, experiment.title, experiment.definition())
    expect(len(matches), "games")
    yield from play_into(store, run_id, list(matches.values()), executor)
    votes = {spec.id: spec for row in experiment.rows for spec in row_searches(row, seed, _records(row, seed, store))}
    if votes:
        expect(len(votes), "searches")
        yield from search_into(store, run_id, list(votes.values()), executor)


def stored_experiments(store: Store, document: str) -> list[Experiment]:
    """Returns a document's experiments, the oldest first; raises UserError where there are none."""
    runs = [run for run in store.runs() if run.kind == KIND]
    found = [Experiment.from_run(run) for run in runs if run.definition["document"] == document]
    if found:
        return found
    known = sorted({str(run.definition["document"]) for run in runs})
    if known:
        raise unknown("report", document, known)
    raise UserError(f"a report needs stored experiments, got none in {store.shown_url}; run the scripts in studies/.")


def measurements(experiment: Experiment, store: Store) -> list[Measurement]:
    """Returns the figure of every row from what is stored."""
    return [_measurement(row, experiment.seed, store) for row in experiment.rows]


def _measurement(row: Row, seed: int, store: Store) -> Measurement:
    records = _records(row, seed, store)
    if not row.states:
        return measure(row, records)
    return measure_searches(row, store.searches.records([spec.id for spec in row_searches(row, seed, records)]))


def _records(row: Row, seed: int, store: Store) -> list[MatchRecord]:
    return store.records([spec.id for spec in row_matches(row, seed)])


def verdict(row: Row, measured: Measurement) -> str:
    """Says in a word how ours lies to the published figure: it agrees, or is higher or lower beyond its interval."""
    if row.published is None or not measured.games or math.isnan(measured.low):
        return ""
    if measured.low <= row.published <= measured.high:
        return "agrees"
    return "higher" if measured.low > row.published else "lower"
