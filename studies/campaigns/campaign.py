"""A campaign: many experiments share some hours of computing time, and the most informative games are played first.

The next games follow from the stored ones, so a campaign may be stopped at any time and resumed by the same call.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from turnier.arena.match import MatchRecord, MatchSpec, require_results
from turnier.arena.play import matches_in_step
from turnier.arena.repeated_search import SearchRecord, SearchSpec
from turnier.arena.workers.executor import Executor
from turnier.core.outputs import require_folder
from turnier.results.store.store import Store
from turnier.runs.bar import QUIET, Bar, game_bar, one_by_one, run_bar
from turnier.runs.experiments.experiment import Experiment, begin_experiment, needs_visits
from turnier.runs.experiments.published import NARROW_POINTS
from turnier.runs.experiments.row import unit
from turnier.runs.experiments.trained import Learner, TrainingStudy, train_all
from turnier.runs.play import play_into, search_into
from turnier.studies.campaigns.figures import statements_of
from turnier.studies.campaigns.learned import network_of, require_own_name, stored_experiment, untrained
from turnier.studies.campaigns.outlook import Outlook, Spec, cpu_seconds, outlook, seconds_left
from turnier.studies.campaigns.statements import LEAST_GAMES, OPEN, judge, next_look

FIRST_GAMES = 2  # of each row, to know the cost and the variance of its games
FIRST_SECONDS = 15.0  # of each learner, to know the cost of its training
SLICE_SECONDS = 300.0  # of one row on all workers; then the most informative job is chosen again


@dataclass
class Training:
    """An experiment whose learners have to be trained before its games are known."""

    study: TrainingStudy
    folder: Path
    seconds_left: float = math.nan  # CPU time; NaN before each learner has learned for a while

    @property
    def lacks_verdict(self) -> bool:
        published = any(row.published is not None for row in untrained(self.study).rows)
        return published or bool(statements_of(self.study.run_id))


class Campaign:
    """Plays the games that experiments lack.

    Every row with a published figure, or of an experiment that a statement is about, gets a first slice; then come
    those without a verdict, or without LEAST_GAMES for a statement, that are closest to it in CPU time, those whose
    verdict needs a narrower interval, and finally the others.
    """

    def __init__(
        self, store: Store, figures: Sequence[Experiment | TrainingStudy], folder: Path, width: float = NARROW_POINTS
    ) -> None:
        """Plans a campaign; raises UserError if the store has a different experiment of the same name.

        Args:
            store: holds the games, and receives new ones.
            figures: the experiments.
            folder: for the trained networks.
            width: the target half-width, see `outlook`.
        """
        self.store, self.width, self.seconds = store, width, 0.0  # of CPU time, played by this campaign
        self.rows: list[Outlook] = []
        self.trainings: list[Training] = []
        self._stored = store.stored_counts()  # games and searches by run
        begun = {run.id for run in store.runs()}
        for figure in one_by_one(figures, "reading results", "experiments"):
            if isinstance(figure, Experiment):
                self._add(figure, figure.run_id in begun)
            else:
                require_own_name(figure, store)
                known = stored_experiment(figure, store)
                if known:
                    self._add(known, begun=True)
                if known is None or any(row.missing for row in self._of(known)):
                    self._add_training(figure, known, folder)

    def _add(self, experiment: Experiment, begun: bool = False) -> None:
        for row in experiment.rows:
            unit(row)
        if begun:
            begin_experiment(experiment, self.store)
        rows = [outlook(experiment, row, self.store, self.width) for row in experiment.rows]
        stored = set[str]().union(*(row.spent for row in rows))
        if len(stored) > self._stored.get(experiment.run_id, 0):
            self._attach(experiment, stored)
        self.rows += rows
        self._judge(experiment)

    def _judge(self, experiment: Experiment) -> None:
        """Tests the statements about an experiment, and asks for the games of the next look at those not decided."""
        rows, more = {row.row.label: row for row in self._of(experiment)}, dict[str, float]()  # label -> seconds
        statements, deciding = statements_of(experiment.run_id), set[str]()
        for statement in statements:
            unplayed = [label for label in statement.rows if rows[label].missing]
            judged = judge(statement, {label: row.measured for label, row in rows.items()})
            within_look = any(rows[label].asked > rows[label].played for label in unplayed)
            deciding.update(unplayed if within_look or judged.verdict == OPEN else ())
            if not unplayed:
                spent = [rows[label].played * rows[label].seconds_each for label in judged.rows]
                ahead = (judged.times - 1) * math.fsum(spent)
                more.update({label: min(ahead, more.get(label, math.inf)) for label in judged.rows})
        for place, row in enumerate(self.rows):
            if row.experiment is experiment:
                label, games = row.row.label, next_look(row.planned, row.played)
                if label in more and games and not row.row.states and not row.row.trainings:
                    row = outlook(experiment, row.row, self.store, self.width, games)
                few = bool(statements) and row.played < LEAST_GAMES  # each point of a figure needs them
                needed = few or label in more
                decides = label in deciding or bool(row.missing and needed)
                ahead = 0.0 if few else more.get(label, row.seconds_to_verdict)
                self.rows[place] = replace(row, decides=decides, seconds_to_verdict=ahead)

    def _attach(self, experiment: Experiment, ids: Collection[str]) -> None:
        """Attaches games and searches of other runs to an experiment's run."""
        run_id = begin_experiment(experiment, self.store)
        self.store.link(run_id, self.store.played(ids))
        self.store.searches.link(run_id, self.store.searches.stored(ids))

    def _of(self, experiment: Experiment) -> list[Outlook]:
        return [row for row in self.rows if row.experiment is experiment]

    def _add_training(self, study: TrainingStudy, known: Experiment | None, folder: Path) -> None:
        """Adds a training; the networks of a stored experiment are in the folder named by its agents."""
        files = [file for row in known.rows if (file := network_of(row))] if known else []
        training = Training(study, files[0].parent if files else folder)
        require_folder(training.folder, "networks")
        if not all(learner.is_trained(training.folder) for learner in study.learners):
            self.trainings.append(training)
        elif known is None:
            self._add(study.experiment(folder))

    @property
    def seconds_left(self) -> float:
        """CPU time of all missing games, as far as it is known."""
        trainings = [training.seconds_left for training in self.trainings]
        return seconds_left(self.rows) + sum(seconds for seconds in trainings if not math.isnan(seconds))

    def run(self, executor: Executor, seconds: float = math.inf) -> None:
        """Plays and trains until nothing is missing, or for this many seconds; then finishes the work under way."""
        ends = time.monotonic() + seconds
        with game_bar("campaign", 0, unit="CPU s") as bar:
            while (left := ends - time.monotonic()) > 0 and (job := self._next()):
                needed = min(self.seconds_left, left * executor.workers)
                bar.reached(int(self.seconds), int(self.seconds + needed))
                name = job.experiment.run_id if isinstance(job, Outlook) else job.study.run_id
                bar.note(f"{needed / executor.workers / 3600:.1f} h left: {name}")  # slices are too long for its rate
                if isinstance(job, Outlook):
                    self._play(job, self._slice(job, executor.workers, left), executor, bar)
                else:
                    self._train(job, min(executor.workers, os.cpu_count() or 1))  # networks learn in this process

    def _next(self) -> Outlook | Training | None:
        waiting = {training.study.run_id for training in self.trainings}
        jobs: list[Outlook | Training] = [
            row for row in self.rows if row.missing and row.experiment.run_id not in waiting
        ]
        return min([*jobs, *self.trainings], key=_turn, default=None)

    def _slice(self, row: Outlook, workers: int, left: float) -> Sequence[Spec]:
        """Returns the next specs of a row: a first slice, then the work until the next choice."""
        seconds = min(SLICE_SECONDS, left) * workers
        number = FIRST_GAMES - row.played if _is_new(row) else int(seconds / max(row.seconds_each, 1e-9))
        if not _is_new(row) and isinstance(spec := row.missing[0], MatchSpec):
            number = max(number, workers * matches_in_step(spec))  # side by side they take half of the time each
        number = max(number - number % workers, workers)  # no worker idles while the last one is played
        return row.missing[: min(number + -number % row.set_size, row.now)]

    def _play(self, row: Outlook, specs: Sequence[Spec], executor: Executor, bar: Bar) -> None:
        run_id, whole = begin_experiment(row.experiment, self.store), self._of(row.experiment)
        stored = set().union(*(each.spent for each in whole))
        needed = stored.union(*({spec.id for spec in each.missing} for each in whole))
        words = (self.store, run_id, row.experiment.name, len(needed), QUIET, row.unit, len(stored))
        with run_bar(*words) as own:
            for records in _batches(self.store, run_id, specs, executor, needs_visits(row.row)):
                # Void ones would stay missing forever.
                require_results((record for record in records if isinstance(record, MatchRecord)), "a campaign")
                own.advance(len(records))
                self.seconds += sum(map(cpu_seconds, records))
                bar.reached(int(self.seconds), max(bar.total, int(self.seconds)))
        played = {spec.id for spec in specs}
        for i, each in enumerate(self.rows):
            shared = played & {spec.id for spec in each.missing}
            if shared:
                self.rows[i] = outlook(each.experiment, each.row, self.store, self.width, each.asked)
                if each.experiment is not row.experiment:
                    self._attach(each.experiment, shared)
        for experiment in dict.fromkeys(each.experiment for each in self.rows):
            self._judge(experiment)

    def _train(self, training: Training, workers: int) -> None:
        """Trains each learner for a while; when called again, all of them to the end."""
        learners = training.study.learners
        training.folder.mkdir(parents=True, exist_ok=True)
        if math.isnan(training.seconds_left):
            with ThreadPoolExecutor(workers, "training") as pool:
                training.seconds_left = sum(
                    pool.map(lambda learner: _train_a_while(learner, training.folder), learners)
                )
            return
        train_all(learners, training.folder, workers)
        self.seconds += training.seconds_left
        self.trainings.remove(training)
        if not any(row.experiment.run_id == training.study.run_id for row in self.rows):
            self._add(training.study.experiment(training.folder))


def _turn(job: Outlook | Training) -> tuple[int, float]:
    """Returns the sort key of jobs, the next first."""
    decides = job.lacks_verdict or (isinstance(job, Outlook) and job.decides)
    first = decides or (isinstance(job, Outlook) and job.row.published is not None)
    if _is_new(job):
        return (0 if first else 3), 0.0
    ahead = job.seconds_ahead if isinstance(job, Outlook) else job.seconds_left
    if math.isinf(ahead):  # as far as can be seen, its statement will never be decided
        return 5, job.seconds_left
    return (1 if decides else 2 if first else 4), ahead


def _is_new(job: Outlook | Training) -> bool:
    """Whether a first slice is missing; without one, the cost of the rest is unknown."""
    return math.isnan(job.seconds_left) or (isinstance(job, Outlook) and job.played < FIRST_GAMES)


def _batches(
    store: Store, run_id: str, specs: Sequence[Spec], executor: Executor, with_visits: bool
) -> Iterator[Sequence[MatchRecord | SearchRecord]]:
    matches = [spec for spec in specs if isinstance(spec, MatchSpec)]
    searches = [spec for spec in specs if isinstance(spec, SearchSpec)]
    if matches:
        yield from play_into(store, run_id, matches, executor)
    if searches:
        yield from search_into(store, run_id, searches, executor, with_visits)


def _train_a_while(learner: Learner, folder: Path) -> float:
    """Trains for FIRST_SECONDS; returns the seconds for the rest at the same speed."""
    reported: list[int] = []  # first the games of earlier training
    learner.train(folder, reported.append, FIRST_SECONDS)
    return FIRST_SECONDS * (learner.games - sum(reported)) / max(1, sum(reported[1:]))
