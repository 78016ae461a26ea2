"""The driver of a study: plays and stores the games of its `Course`, except those that are already stored.

The storage is the only state. A resumed study asks for its generations again, and its sampler learns the stored values.
A second driver of the same study, on any machine that uses the store, plays games that the first one waits for and
takes over when it ends: the search depends only on the games, not on their players.
"""

from __future__ import annotations

import os
import random
import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any, NamedTuple

from optuna.trial import FrozenTrial, TrialState

from ..agents.agent import Agent
from ..arena.match import MatchRecord, MatchSpec
from ..arena.workers.executor import MATCHES, Executor
from ..arena.workers.local import SerialExecutor
from ..arena.workers.work_done import WorkTime
from ..core.number_text import number, plus_minus
from ..core.terminal.visible import say
from ..results.store.locks import Held, Lock
from ..results.store.store import Store
from ..runs.bar import QUIET, Bar, game_bar
from ..runs.plan import Playing
from ..runs.play import play_into, serve_into
from ..statistics.intervals import mean_interval
from ..statistics.superiority import FIRST_SHARE
from . import EARLIER_VERIFY, LUCKY_EDITION, MIN_SHOWN, VERIFY
from .course import BEST_CANDIDATES, PATIENCE, Course, Generation, Known
from .definition import StudyDefinition
from .final_comparison import FinalComparison, compare_finalists, held_out_games
from .for_optuna.finalists import store_finalists
from .idle_games import StudyGames
from .objective import require_generation
from .storage.checked_studies import (
    SUMMARIES,
    TRIALS_SO_FAR,
    asked_of,
    facts_of,
    is_foreign,
    set_asked,
    set_note,
    study_notes,
)
from .storage.definitions import value_text
from .storage.hints import IN_A_ROW, without_difference
from .storage.studies import StoredStudy, as_begun, optuna_errors
from .storage.trials import played_between
from .verdict import Finalist

Fits = Callable[[Generation], bool]  # whether a generation fits the budget
Batches = Iterator[Sequence[MatchRecord]]
SECONDS = "seconds"  # that a search has taken, if its time is limited
now = time.monotonic
POLL_SECONDS = 1.0  # between two checks of a second driver that has nothing to play


class Asked(NamedTuple):
    """An imported generation: its candidates, and the recommendation at its end, if that was reached."""

    vectors: Sequence[Sequence[float]]
    recommendation: Mapping[str, Any] | None = None


def max_held_out_games(verify: float, budget: int, baselines: int, definition: StudyDefinition) -> int:
    """Returns the maximum number of held-out games after a search with this budget, see `held_out_games`.

    Args:
        verify: 0 = the default.
        budget: games of the search.
        baselines: their number.
        definition: of the study.
    """
    lucky = BEST_CANDIDATES if definition.edition <= LUCKY_EDITION else 0
    objective = definition.objective
    playing = 2 + baselines + lucky - objective.is_free(definition.agent)
    return held_out_games(verify or _usual_verify(definition), budget, playing, objective)


def _usual_verify(definition: StudyDefinition) -> float:
    return VERIFY if definition.edition > LUCKY_EDITION else EARLIER_VERIFY


class StudyRun(StoredStudy):
    """A study in a store, ready to run or to be resumed."""

    def __init__(self, store: Store, definition: StudyDefinition, progress: bool = True) -> None:
        self.definition = definition = as_begun(store, definition)
        self.course = Course(definition)
        self.idle_games = 0  # of recommendations, played by this driver
        self.worked = WorkTime()  # of the workers of this driver, in generations
        super().__init__(store, definition.name, definition.stored, progress=progress)
        self.name_values(self.course.objective.name)

    def drive(
        self, run: Playing, budget: int, verify: float, baselines: Mapping[str, Agent], seconds: float = 0.0
    ) -> None:
        """Searches, then plays held-out games until the verdict.

        Args:
            run: the run of its games.
            budget: games of the search.
            verify: maximum held-out games, as a share of them; 0 = the default.
            baselines: agents by label that play the held-out games, too.
            seconds: of the search; then the budget is about what it will play. 0 = the budget counts.
        """
        later = max_held_out_games(verify, budget, len(baselines), self.definition)
        with self.sharing(run, later):
            if seconds:
                self.run_for(seconds, budget, run.pool)
            else:
                self.run_budget(budget, run.pool)
            left = budget - self.course.games if self.course.gave_up else 0
            self.compare(self.course.finalists(baselines), run.pool, verify, left)

    def run(self, generations: int, executor: Executor) -> None:
        """Runs until `generations` are complete; stored ones are only replayed."""
        # Populations may grow, so this total is an estimate.
        self._search(executor, generations * self.course.ask().max_games, lambda one: one.number < generations)

    def run_budget(self, games: int, executor: Executor) -> None:
        """Runs until the next generation would push the candidates' games above this total, or nothing is learned."""
        require_generation(self.course.ask().max_games, games)
        course = self.course

        def fits(one: Generation) -> bool:
            before = course.ask().max_games if one.number > course.search.generation else 0
            return not course.gave_up and course.games + before + one.max_games <= games

        self._search(executor, games, fits)

    def run_for(self, seconds: float, games: int, executor: Executor) -> None:
        """Asks for generations until the search has taken this long, with all drivers that it has had.

        How many games that gives is not decided by seeds; each of them is, and the next generation after any number.

        Args:
            seconds: of the whole search.
            games: about what it plays.
            executor: plays the games.
        """
        notes = study_notes(self.store, self.definition.name, f"{SUMMARIES}%").values()
        before, began = max((note.get(SECONDS, 0.0) for note in notes), default=0.0), now()

        def used() -> float:
            return before + now() - began

        def fits(one: Generation) -> bool:
            return not self.course.gave_up and (one.games > 0 or not one.number or used() < seconds)

        self._search(executor, games, fits, used)

    def _search(self, executor: Executor, total: int, fits: Fits, used: Callable[[], float] | None = None) -> None:
        with self.driving(self._lock_or_play(executor, fits), total) as (lock, bar):
            before = executor.time
            bar.follow(executor)
            if foreign := self.foreign_trials(TrialState.WAITING):
                bar.print(f"The search leaves out {foreign} trial{'s' * (foreign > 1)} that other code has added.")
            bar.skip(self.course.games)  # of generations that were complete before this driver had the lock
            drive = Drive(self, self.known(), lock, bar, total, used)
            drive.run(executor, fits)
            self.idle_games += drive.games.played
            self.worked = executor.time.since(before)
            if self.worked.offered:
                bar.print(
                    f"Workers spent {self.worked.useful_share:.0%} of their time on games of candidates; they were busy"
                    f" for {self.worked.busy_share:.0%}."
                )

    def rebuild(self, asked: Sequence[Asked]) -> None:
        """Adds the trials of imported games, for all complete generations."""
        with self.store.lock(self.run_id) as lock, optuna_errors(self.store.shown_url), game_bar("", 0, QUIET) as bar:
            stored = self.known()
            imported = {number: one.recommendation for number, one in enumerate(asked) if one.recommendation}
            known = stored._replace(
                asked=dict(enumerate(one.vectors for one in asked)) | dict(stored.asked),
                recommended=imported | dict(stored.recommended),
            )
            drive = Drive(self, known, lock, bar)
            drive.run(SerialExecutor(), lambda one: one.number < len(asked) and not self._unplayed(one))
            if self.course.search.generation < len(asked):
                drive.keep_asked(self.course.ask(known))

    def known(self) -> Known:
        """Returns the stored state of the search."""
        trials: dict[int, dict[int, FrozenTrial]] = defaultdict(dict)
        for trial in self.optuna.get_trials(deepcopy=False, states=(TrialState.COMPLETE,)):
            if not is_foreign(trial):
                facts = facts_of(trial)
                trials[facts["generation"]][facts["index"]] = trial
        latest, vectors = asked_of(self.store, self.definition.name)
        notes = study_notes(self.store, self.definition.name, f"{SUMMARIES}%")
        ended = {int(key.removeprefix(SUMMARIES)): note["recommendation"] for key, note in notes.items()}
        return Known(trials, {latest: vectors}, ended, ended.keys())

    def _lock_or_play(self, executor: Executor, fits: Fits) -> Lock:
        """Takes the lock of the study; while another driver holds it, plays some of that one's games."""
        rng = random.Random(os.getpid())  # waiting drivers play different games, which changes no result
        announced = False
        while True:
            try:
                return self.store.lock(self.run_id)
            except Held as held:
                if not announced:
                    say(f"{held.holder} drives this study; playing games for it until it ends.", errors=True)
                announced = True
            with optuna_errors(self.store.shown_url):
                generation = self.course.ask(known := self.known())
            fitting = fits(generation)  # the other driver may run for longer than this one
            if fitting and generation.stored:
                self.course.tell(generation, known)
                continue
            begun = generation.number in known.asked  # the driver of the study has asked for these
            missing = self._unplayed(generation) if fitting and begun else []
            if not missing:
                time.sleep(POLL_SECONDS)
            some = rng.sample(missing, min(len(missing), 4 * executor.workers))
            for _ in play_into(self.store, self.run_id, some, executor):
                pass

    def _unplayed(self, generation: Generation) -> list[MatchSpec]:
        """Returns the games that the generation waits for and the store lacks."""
        while specs := generation.next_matches():
            generation.take(known := self.store.records([spec.id for spec in specs]))
            if generation.waiting:
                stored = {record.spec.id for record in known}
                return [spec for spec in specs if spec.id not in stored]
        return []

    def compare(
        self, chosen: Mapping[str, Finalist], executor: Executor, verify: float = 0.0, left: int = 0
    ) -> FinalComparison:
        """Plays held-out games of the finalists until the verdict, which is stored, or until the games are used up.

        Args:
            chosen: the finalists by label, the start first.
            executor: plays the games.
            verify: maximum held-out games, as a share of the games of the search; 0 = the default.
            left: games of a search that has ended early, which are held-out games, too.
        """
        course, definition = self.course, self.definition
        playing = [one for one in chosen.values() if not course.objective.is_free(one.agent.full_text())]
        share = verify or _usual_verify(definition)
        games = held_out_games(share, course.games, len(playing), course.objective) + left
        alone = sum(not one.reference for one in chosen.values()) == 1  # else known agents meet the start, too
        first_share = 1.0 if definition.edition > LUCKY_EDITION and alone else FIRST_SHARE
        final = compare_finalists(
            self, course.objective, chosen, games, course.games, executor, course.least_budget, first_share
        )
        self.store_verdict(verdict := final.verdict)
        with optuna_errors(self.store.shown_url):
            store_finalists(self.store, self._storage, definition.name, course.objective.name, course.space, verdict)
        return final


class Drive:
    """The search of one driver while it holds the lock: plays generations, stores their trials and ends."""

    def __init__(
        self,
        study: StudyRun,
        known: Known,
        lock: Lock,
        bar: Bar,
        planned: int = 0,
        used: Callable[[], float] | None = None,
    ) -> None:
        self.study, self.course, self.store = study, study.course, study.store
        self.known, self.lock, self.bar = known, lock, bar
        self.planned = planned  # games of the search
        self.used = used  # the seconds that the search has taken, if these are limited
        self.games = StudyGames(self.store, self.course.objective)
        self.ahead: Generation | None = None  # the next one, whose games workers play before they idle
        self.trials = sum(map(len, known.trials.values()))  # stored ones

    def run(self, executor: Executor, fits: Fits) -> None:
        """Plays generation after generation while they fit; stored games are not played again."""
        with closing(serve_into(self.store, self.study.run_id, self.games, executor)) as batches:
            while fits(generation := self.ahead or self.course.ask(self.known)):
                self.ahead = None
                self.lock.heartbeat()  # raises if another driver has taken over
                self.bar.note(f"generation {generation.number + 1}")
                self.bar.skip(generation.known_games)
                if not generation.stored:
                    self.keep_asked(generation)
                    self.games.recommend(self.course.proposed(), generation.number)
                    self._play(generation, batches, executor, fits)
                self._end(generation)
            self.games.stop()
            for records in batches:  # still under way when the idle-time games ended
                self.games.take(records)

    def _play(self, generation: Generation, batches: Batches, executor: Executor, fits: Fits) -> None:
        """Plays until the noise strategy needs no more games; trials are stored as soon as their games are played."""
        self._store_trials(generation)
        while generation.waiting or self._begin(generation, executor):
            self._store_trials(generation)
            self._look_ahead(executor, fits)
            while generation.waiting:
                batch = next(batches)
                others = self._take(batch, generation)
                self.games.take(others)
                elsewhere = self.games.stored_by_others()
                self.bar.advance(len(batch) - len(others) + len(elsewhere) - len(self._take(elsewhere, generation)))
                self._store_trials(generation)

    def _begin(self, generation: Generation, executor: Executor) -> bool:
        """Asks for the next games of a generation, and returns whether it needs any."""
        if not (specs := generation.next_matches()):
            return False
        missing = self._without_stored(specs, generation)
        many = generation.too_many(executor.workers, self.course.search.looks_ahead) if self.games.is_new else ""
        if missing and many:
            self.bar.print(many)
        self.games.need(missing)
        return True

    def _look_ahead(self, executor: Executor, fits: Fits) -> None:
        """Begins the next generation as well, if the search can ask for it: workers do not wait for the last games."""
        looks = self.course.search.looks_ahead and not self.ahead
        if looks and fits(following := self.course.ask(self.known, ahead=True)):
            self.ahead = following
            self._begin(following, executor)

    def _take(self, records: Sequence[MatchRecord], generation: Generation) -> list[MatchRecord]:
        """Takes games of the generation and of the next; returns the others."""
        others = generation.take(records)
        return self.ahead.take(others) if self.ahead else others

    def _without_stored(self, specs: Sequence[MatchSpec], generation: Generation) -> list[MatchSpec]:
        """Passes stored matches to the generation; returns the others, prepared."""
        ids = list(dict.fromkeys(spec.id for spec in specs))
        if stored := self.store.played(ids):
            self.store.link(self.study.run_id, stored)
            known = self.store.records([match_id for match_id in ids if match_id in stored])
            self.bar.skip(len(known) - len(generation.take(known)))
        missing = {spec.id: spec for spec in specs if spec.id not in stored}
        MATCHES.prepare(MATCHES.one_of_each_kind(list(missing.values())))
        return list(missing.values())

    def keep_asked(self, generation: Generation) -> None:
        """Stores the vectors of the generation, for others that play for it."""
        vectors = [candidate.vector for candidate in generation.candidates]
        set_asked(self.study.optuna, generation.number, vectors)

    def _store_trials(self, generation: Generation, complete: bool = False) -> None:
        """Stores the trials of finished candidates; while more games may follow, only if scores cannot cause these."""
        if not (complete or self.course.noise.one_stage) or not (new := generation.finished()):
            return
        self.lock.heartbeat()  # a driver that was suspended must not add trials that another one has added
        games = [[spec.id for unit in generation.candidates[index].units for spec in unit] for index in new]
        trials = [generation.trial(index, self.course.space, self.course.definition.slowest) for index in new]
        for trial, times in zip(trials, played_between(self.store, games), strict=True):
            trial.datetime_start, trial.datetime_complete = times
        self.study.add_trials(trials)
        for index, trial in zip(new, trials, strict=True):
            generation.candidates[index].trial = trial
        self.trials += len(new)

    def _end(self, generation: Generation) -> None:
        """Passes a complete generation to the course; stores and shows its end if that is new."""
        self._store_trials(generation, complete=True)
        values = self.course.tell(generation, self.known)
        if generation.number in self.known.noted:
            return
        summary, idle = self.course.summary(values) | {TRIALS_SO_FAR: self.trials}, self.games.values()
        if self.used:
            summary[SECONDS] = self.used()
        if len(idle) > 1:
            mean, half = mean_interval(idle)
            summary["recommended before"] = {"mean": mean, "half_width": half, "games": len(idle)}
        set_note(self.study.optuna, f"{SUMMARIES}{generation.number}", summary)
        self.bar.print(f"generation {generation.number + 1:>3}: {self._state(values)}{self._shown(idle)}")
        if self.course.alike == IN_A_ROW:
            self.bar.print(without_difference(f"In the last {IN_A_ROW} generations", generation.one_agent))
        if self.course.gave_up and self.course.alike == PATIENCE:
            said = f"The search ends after {self.course.games:,} of {self.planned:,} games"
            self.bar.print(f"{said}: in {PATIENCE} generations in a row there was nothing to learn.")

    def _state(self, values: Sequence[float]) -> str:
        """Returns where the search is; values of candidates that duel say nothing, as they share the points."""
        if not self.course.search.duels:
            mean, best = number(statistics.fmean(values)), number(max(values))
            return f"candidates' mean {mean:>9}   best {best:>9}   sigma {number(self.course.search.sigma)}"
        space, agent = self.course.space, self.course.proposed()
        return ", ".join(f"{path}={value_text(value)}" for path, value in space.of_agent(agent).items())

    def _shown(self, idle: Sequence[float]) -> str:
        """Returns the result of idle-time games of the recommendation, as part of a line."""
        if len(idle) >= MIN_SHOWN:
            return f"   proposed {plus_minus(*mean_interval(idle))}"
        games = len(idle) * self.course.objective.unit_games
        return f"   proposed: {games:,} game{'s' * (games > 1)} so far" if games else ""
