"""Experiments: rows of matches or searches that answer one question, each next to a published figure.

An experiment's definition is stored with its run, so a report needs only the store: it derives the matches of every row
again (and from those its searches), a pure function, and measures the stored ones.
"""

from __future__ import annotations

import itertools
import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from ...agents.registry import AGENTS
from ...arena.match import MatchRecord, MatchSpec
from ...arena.positions import COLLECTOR, choose_by_move, choose_positions, collector_matches, search_specs
from ...arena.repeated_search import SearchRecord, SearchSpec, SeenPosition
from ...arena.schedules.repeats import without_repeats
from ...arena.schedules.round_robin import round_robin
from ...arena.workers.executor import Executor
from ...arena.workers.where import ANYWHERE, Where
from ...core.errors import UserError, unknown
from ...games.registry import GAMES
from ...results.frames.measures import SEARCH_MEASURES, match_measures
from ...results.store.store import Run, Store
from ...statistics.intervals import PERCENT, UNBOUNDED, Interval, mean_of_estimates
from ..play import play_into, playing, search_into
from ..results import RunResults
from .published import is_share, verdict
from .row import Measurement, Row, unit

KIND = "experiment"
# Fields of an experiment and its rows that do not affect games or measurements: scripts may improve them.
_ONLY_SHOWN = {"title", "text", "axis"}
_ONLY_SHOWN_OF_ROWS = {"label", "published", "published_games", "setting", "reason", "extended", "x", "series"}
_OF_AGENTS = _ONLY_SHOWN_OF_ROWS | {"agents", "measure"}  # the others decide which positions are searched
UNEVEN = "Some rows have not searched all of their positions yet: rows of the same groups are over different ones."
TESTS = "tiny"  # the preset that only tests a script: no report of published figures has its rows
SAME = 0.9  # share of the games of a training that another one played the same, from which on they err alike


@dataclass(frozen=True)
class Experiment:
    """A question, its source, and the rows that answer it."""

    document: str  # the report that it belongs to
    name: str
    title: str
    text: str  # the published result, and how ours compares; Markdown
    rows: tuple[Row, ...]
    seed: int = 1
    axis: str = ""  # meaning of `x`; empty = bars by label

    @property
    def run_id(self) -> str:
        return f"{self.document}:{self.name}"

    @property
    def preset(self) -> str:
        """The preset at the end of the name, such as quick; otherwise the name's last word."""
        return self.name.rpartition("-")[2]

    def definition(self) -> dict[str, Any]:
        """Returns the experiment as it is stored with its run."""
        return asdict(self) | {"rows": [row.definition() for row in self.rows]}

    def run(self, store: Store, *, where: Where | Executor = ANYWHERE, progress: bool = True) -> ExperimentResults:
        """Plays the games and searches that the store lacks; the same call resumes it. See `playing`."""
        with playing(store, self.run_id, self.name, 0, where, progress) as (pool, bar):
            for records in play_experiment(self, store, pool, bar.expect):
                bar.advance(len(records))
        return ExperimentResults(store, self.run_id, self)

    @classmethod
    def from_run(cls, run: Run) -> Experiment:
        return cls.from_definition(run.definition)

    @classmethod
    def from_definition(cls, stored: Mapping[str, Any]) -> Experiment:
        definition = dict(stored)
        return cls(rows=tuple(Row.from_definition(row) for row in definition.pop("rows")), **definition)


def counted(experiment: Experiment) -> tuple[str, str]:
    """Returns the headings of the number of games or searches, and of the time of one."""
    kinds = {bool(row.states) for row in experiment.rows}
    if len(kinds) > 1:
        return "games, searches", "s each"
    return ("searches", "s per search") if True in kinds else ("games", "s per game")


def row_matches(row: Row, seed: int) -> list[MatchSpec]:
    """Returns the matches of a row; they depend only on the row and the seed."""
    if row.states:
        return collector_matches(row.game, row.collector or COLLECTOR, row.games, seed)
    game, others = GAMES.make(row.game), [AGENTS.make(agent) for agent in row.agents[1:]]
    planned = [
        round_robin(game, [AGENTS.make(agent), *others], row.games, seed, row.openings) for agent in row.measured
    ]
    return [spec for together in zip(*planned, strict=True) for spec in together]  # with more games, the first stay so


def row_searches(row: Row, seed: int, records: Sequence[MatchRecord]) -> list[SearchSpec]:
    """Returns the searches of a row, given the records of its matches; none for a row of matches."""
    return [
        spec
        for agent, positions in row_positions(row, seed, records)
        for spec in search_specs(positions, agent, row.repeats, seed)
    ]


def row_positions(row: Row, seed: int, records: Sequence[MatchRecord]) -> list[tuple[str, list[SeenPosition]]]:
    """Returns the positions of a row by group, each with its searching agent; see `row_searches`."""
    if row.moves:
        return [(row.agents[0], choose_by_move(records, row.moves, row.states, seed))]
    chosen = choose_positions(records, row.states, seed) if row.states else {}
    return [
        (row.agents[min(legal - 2, len(row.agents) - 1)], positions)
        for (legal, phase), positions in chosen.items()
        if row.legal in (0, legal) and (not row.phases or row.phases[0] <= phase <= row.phases[1])
    ]


def measure(row: Row, records: Sequence[MatchRecord]) -> Measurement:
    """Returns a row's figure from the records of its matches, without repeats by construction.

    Trainings that play the same games but for a few, as diverged ones do on the same seeds, err alike.
    """
    kind, found = match_measures(GAMES.make(row.game))[row.measure], without_repeats(records)
    texts = [AGENTS.make(agent).full_text() for agent in row.measured]
    seconds = float(np.mean([r.seconds for r in records])) if records else 0.0
    if not row.trainings:
        return Measurement(*kind.estimate(found, texts[0]), seconds)
    each, games = [], []
    for text in texts:
        own = [record for record in found if text in record.spec.agents]
        each.append(kind.estimate(own, text))
        games.append({(one.spec.seed, one.spec.agents.index(text), one.scores, one.decisions) for one in own})
    ends = [Interval(one.value, one.low, one.high) for one in each]
    groups = [next(i for i, others in enumerate(games) if len(some & others) >= SAME * len(some)) for some in games]
    mean = mean_of_estimates(ends, PERCENT if is_share(row) else UNBOUNDED, groups)
    different = sum(len(set().union(*(games[i] for i, group in enumerate(groups) if group == g))) for g in set(groups))
    return Measurement(*mean, different, seconds)


def measure_searches(row: Row, records: Sequence[SearchRecord]) -> Measurement:
    """Returns the figure of a row of searches from its records (those stored so far)."""
    estimate = SEARCH_MEASURES[row.measure].estimate(records)
    return Measurement(*estimate, float(np.mean([r.seconds for r in records])) if records else 0.0)


def uneven(experiment: Experiment, searches: Iterable[int]) -> str:
    """Returns a warning if rows that choose the same positions have not searched the same ones yet; empty otherwise.

    Args:
        experiment: has the rows.
        searches: number of stored searches of each row.
    """
    known: dict[str, set[int]] = defaultdict(set)
    for row, number in zip(experiment.rows, searches, strict=True):
        if row.states and number:
            chosen = {k: v for k, v in asdict(row).items() if k not in _OF_AGENTS}
            known[json.dumps(chosen, sort_keys=True)].add(number)
    return UNEVEN if any(len(numbers) > 1 for numbers in known.values()) else ""


def needs_visits(*rows: Row) -> bool:
    """Whether the measure of a row needs visits or values of searches, not only the chosen actions."""
    return any(row.states and SEARCH_MEASURES[row.measure].of_visits for row in rows)


def search_records(row: Row, store: Store, searches: Sequence[SearchSpec]) -> list[SearchRecord]:
    """Returns the stored ones of these searches by which the row can be measured."""
    needed, planned = needs_visits(row), {spec.id: spec for spec in searches}
    found = [record for record in store.searches.records(planned) if record.has_visits or not needed]
    return [replace(record, spec=planned[record.spec.id]) for record in found]  # know their collector matches


def play_experiment(
    experiment: Experiment,
    store: Store,
    executor: Executor,
    expect: Callable[[int, str], object] = lambda more, unit: None,
) -> Iterator[Sequence[MatchRecord | SearchRecord]]:
    """Plays the games and searches that the store lacks, batch by batch; raises UserError if the stored definition
    differs.

    `expect` receives the number of games to play and then, if there are rows of searches, the number of searches.
    """
    for row in experiment.rows:
        unit(row)
    seed, run_id = experiment.seed, begin_experiment(experiment, store)
    matches = {spec.id: spec for row in experiment.rows for spec in row_matches(row, seed)}
    expect(len(matches), "games")
    yield from play_into(store, run_id, list(matches.values()), executor)
    rows = [(row, row_records(row, seed, store)) for row in experiment.rows]
    searches = {spec.id: spec for row, records in rows for spec in row_searches(row, seed, records)}
    if searches:
        expect(len(searches), "searches")
        yield from search_into(store, run_id, list(searches.values()), executor, needs_visits(*experiment.rows))


def begin_experiment(experiment: Experiment, store: Store, created: str | None = None) -> str:
    """Begins the experiment's run, or resumes the run with the same games and measures; returns its id.

    An imported experiment was `created` elsewhere, see `Store.begin_run`.
    """
    definition: Mapping[str, Any] = experiment.definition()
    stored = experiment_of_run(store, experiment.run_id)
    if stored and same_games(stored, experiment):
        definition = store.run(experiment.run_id).definition
    store.begin_run(experiment.run_id, KIND, experiment.title, definition, created)
    return experiment.run_id


def experiment_of_run(store: Store, run_id: str) -> Experiment | None:
    """Returns the experiment of a run, None if the store has no such run."""
    return next((Experiment.from_run(run) for run in store.runs() if run.id == run_id and run.kind == KIND), None)


def same_games(one: Experiment, other: Experiment) -> bool:
    """Whether two experiments have the same games and measures, whatever their texts."""
    return _decisive(one.definition()) == _decisive(other.definition())


def shown_as(stored: Experiment, known: Experiment) -> Experiment:
    """Returns a stored experiment with the words and published figures of a newer one of as many rows."""
    rows = (
        replace(row, **{name: getattr(shown, name) for name in _ONLY_SHOWN_OF_ROWS})
        for row, shown in zip(stored.rows, known.rows, strict=True)
    )
    return replace(stored, rows=tuple(rows), **{name: getattr(known, name) for name in _ONLY_SHOWN})


def _decisive(definition: Mapping[str, Any]) -> str:
    """Returns, for comparison, the part of a definition that decides games and measurements."""
    rows = [{k: v for k, v in row.items() if k not in _ONLY_SHOWN_OF_ROWS} for row in definition["rows"]]
    return json.dumps({k: v for k, v in definition.items() if k not in _ONLY_SHOWN} | {"rows": rows}, sort_keys=True)


def stored_experiments(store: Store, document: str, tests: bool = False) -> list[Experiment]:
    """Returns a document's experiments, the oldest first; raises UserError if there are none.

    Those of the preset for tests are left out unless `tests` is set.
    """
    runs = [run for run in store.runs() if run.kind == KIND]
    stored = [Experiment.from_run(run) for run in runs if run.definition["document"] == document]
    shown = [experiment for experiment in stored if tests or experiment.preset != TESTS]
    if shown:
        return shown
    if stored:
        raise UserError(
            f"a report of {document} needs experiments that can be compared, got only the preset {TESTS}, which has"
            " too few games; run the scripts with --preset quick or paper."
        )
    known = sorted({str(run.definition["document"]) for run in runs})
    if known:
        raise unknown("report", document, known)
    raise UserError(f"a report needs stored experiments, got none in {store.shown_url}; run the scripts in studies/.")


def measurements(experiment: Experiment, store: Store) -> list[Measurement]:
    """Returns the figure of every row from the stored games and searches."""
    return [_measurement(row, experiment.seed, store) for row in experiment.rows]


def _measurement(row: Row, seed: int, store: Store) -> Measurement:
    records = row_records(row, seed, store)
    if not row.states:
        return measure(row, records)
    return measure_searches(row, search_records(row, store, row_searches(row, seed, records)))


def row_records(row: Row, seed: int, store: Store) -> list[MatchRecord]:
    """Returns the stored matches by which a row is measured, or from which its positions come.

    These are the planned ones, without those in which an agent failed: they are played again. Once all are played, a
    row of matches with a published figure, or one that is `extended`, also has the matches that more games would add,
    up to the first that is not stored: a campaign plays them if the interval is wide.
    """
    specs = row_matches(row, seed)
    records = _with_result(store.records([spec.id for spec in specs]))
    extends = (row.published is not None or row.extended) and not row.states and not row.trainings
    while extends and len(records) == len(specs):
        more = row_matches(replace(row, games=2 * len(specs)), seed)[len(specs) :]
        found = {record.spec.id: record for record in _with_result(store.records([spec.id for spec in more]))}
        records += map(found.__getitem__, itertools.takewhile(found.__contains__, (spec.id for spec in more)))
        specs += more
    return records


def _with_result(records: Sequence[MatchRecord]) -> list[MatchRecord]:
    return [record for record in records if record.termination.has_result]


@dataclass(frozen=True)
class ExperimentResults(RunResults):
    """The results of an experiment."""

    experiment: Experiment

    def table(self) -> pd.DataFrame:
        """Returns a row per row of the experiment: its figure with the 95 % interval, and the published figure."""
        rows, figures = self.experiment.rows, measurements(self.experiment, self.store)
        compared = [
            asdict(figure) | {"published": row.published, "ours is": verdict(row, figure)}
            for row, figure in zip(rows, figures, strict=True)
        ]
        return pd.DataFrame(compared, index=[row.label for row in rows])
