"""How a study runs: a sampler over an agent's parameters, every candidate one Optuna trial, resumable after any kill.

The storage is the only state. A resumed study asks for its generations again, checks that they match the stored ones,
and gives the search the stored values; games of unfinished candidates come from the store, too. Other kinds of
processors compute different last digits, so the stored candidates are used, not the recomputed ones. A second driver of
the same study, on any machine that uses the store, plays games that the first one waits for and takes over when it
ends: the search depends only on the games, not on who played them.
"""

from __future__ import annotations

import math
import os
import random
import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

from optuna.trial import FrozenTrial, TrialState

from turnier.agents.agent import Agent
from turnier.agents.registry import AGENTS
from turnier.arena.match import MatchSpec
from turnier.arena.workers.executor import MATCHES, Executor, WorkTime
from turnier.core.errors import UserError
from turnier.core.number_text import number, plus_minus
from turnier.core.terminal.visible import say
from turnier.games.game import Game
from turnier.games.registry import GAMES
from turnier.results.store.locks import Held, Lock
from turnier.results.store.store import Store
from turnier.runs.bar import QUIET, Bar, game_bar
from turnier.runs.play import play_into, serve_into
from turnier.search import FIRST_EDITION, MIN_SHOWN, VERIFY
from turnier.search.definition import StudyDefinition
from turnier.search.final_comparison import (
    BEST_CANDIDATES,
    PROPOSED,
    START,
    FinalComparison,
    compare_finalists,
    held_out_games,
)
from turnier.search.generation import Candidate, Generation
from turnier.search.idle_games import StudyGames
from turnier.search.noise import NOISES
from turnier.search.objective import require_generation
from turnier.search.samplers.registry import SAMPLERS
from turnier.search.samplers.sampler import SteppingSearch
from turnier.search.space import Space
from turnier.search.storage.checked_studies import (
    SUMMARIES,
    TRIALS_SO_FAR,
    asked_of,
    facts_of,
    set_asked,
    set_note,
    study_notes,
)
from turnier.search.storage.commands import Again
from turnier.search.storage.hints import IN_A_ROW, without_difference
from turnier.search.storage.studies import StoredStudy, as_begun, optuna_errors
from turnier.search.storage.trials import played_between
from turnier.search.verdict import Finalist
from turnier.statistics.intervals import mean_interval

Fits = Callable[[Generation], bool]  # whether a generation fits the budget
POLL_SECONDS = 1.0  # between two checks of a second driver that has nothing to play
LAST_DIGITS = 1e-6  # by how much a number differs at the most that two kinds of processors have computed


class Asked(NamedTuple):
    """What a search elsewhere asked for in a generation, and what it recommended at its end, if that was reached."""

    vectors: Sequence[Sequence[float]]
    recommendation: Mapping[str, Any] | None = None


class StudyRun(StoredStudy):
    """A study in a store, ready to run or to be resumed."""

    def __init__(self, store: Store, definition: StudyDefinition, progress: bool = True) -> None:
        self.definition = definition = as_begun(store, definition)
        self.game: Game = GAMES.make(definition.game)
        self.agent: Agent = AGENTS.make(definition.agent)
        self.agent.require(self.game)
        self.objective = definition.objective
        self.noise = NOISES.make(definition.noise)
        self.space = Space.of(self.agent, definition.parameters)
        start = self.space.encode(self.agent)
        self.search = SAMPLERS.make(definition.sampler).begin(start, definition.seed)
        if isinstance(self.search, SteppingSearch):
            self.search.stays = definition.edition > FIRST_EDITION
        self.games = 0  # of complete generations
        self.idle_games = 0  # of recommendations, played by this driver
        self.worked = WorkTime()  # of the workers of this driver, in generations
        self._tried: dict[str, tuple[Agent, list[float]]] = {}  # values of candidates by their agent's text
        self._notes: dict[str, Any] = {}  # stored summaries of generations
        self._asked: Sequence[Asked] = ()  # of generations that are rebuilt
        self._planned = 0  # games of the search
        self._alike = 0  # latest generations in a row without any difference between candidates
        self._begun = False  # whether what the search asks for now is stored
        super().__init__(store, definition.name, definition.stored, progress=progress)
        self.name_values(self.objective.name)

    def load_kernels(self) -> None:
        """Loads or compiles what the first games of the study need, or raises UserError where they cannot be played."""
        MATCHES.prepare(MATCHES.one_of_each_kind(self.next_generation({}).next_matches()))

    def run(self, generations: int, executor: Executor) -> None:
        """Runs until `generations` are complete; stored ones are only replayed."""
        # Populations may grow: what is left is as large as what is known.
        first = self.next_generation({})
        self._run(executor, generations * first.max_games, lambda generation: generation.number < generations)

    def run_budget(self, games: int, executor: Executor) -> None:
        """Runs until the next generation would push the candidates' games above this total."""
        require_generation(self.next_generation({}).max_games, games)
        self._run(executor, games, lambda generation: self.games + generation.max_games <= games)

    def rebuild(self, asked: Sequence[Asked]) -> None:
        """Adds the trials of imported games, for all complete generations."""
        self._asked = asked
        with self.store.lock(self.run_id) as lock, optuna_errors(self.store.shown_url), game_bar("", 0, QUIET) as bar:
            stored, source = self._stored(), StudyGames(self.store, self.objective)
            self._next(stored, source, bar, lock, lambda one: one.number < len(asked) and not self._unplayed(one))
            if self.search.generation < len(asked):
                self._keep_asked(self.next_generation(stored.get(self.search.generation, {})))

    def _stored(self) -> dict[int, dict[int, FrozenTrial]]:
        """Returns the stored trials, and remembers what else is stored."""
        stored = self.stored_trials()
        self._notes = study_notes(self.store, self.definition.name, f"{SUMMARIES}%")
        self._finished = sum(map(len, stored.values()))
        return stored

    def _run(self, executor: Executor, total: int, fits: Fits) -> None:
        self._planned = total
        with self.driving(self._lock_or_play(executor, fits), total) as (lock, bar):
            stored = self._stored()
            bar.waits = executor.waits
            bar.skip(self.games)  # of generations that were complete before this driver had the lock
            source = StudyGames(self.store, self.objective)
            generation, before = self._next(stored, source, bar, lock, fits), executor.time
            if generation and (sentence := generation.too_many(executor.workers)):
                bar.print(sentence)
            for records in serve_into(self.store, self.run_id, source, executor):
                for record in records:
                    if generation and generation.take(record):
                        bar.advance(1)
                    else:
                        source.take(record)
                if generation:
                    known = source.stored_by_others()
                    bar.advance(sum(generation.take(record) for record in known))
                if generation and self._needs_games(generation, source):
                    continue
                generation = generation and self._next(stored, source, bar, lock, fits)
            self.idle_games += source.played
            self.worked = executor.time.since(before)

    def _lock_or_play(self, executor: Executor, fits: Fits) -> Lock:
        """Takes the lock of the study; while another driver holds it, plays some of its games."""
        rng = random.Random(os.getpid())  # waiting drivers play different games; which ones changes no result
        announced = False
        while True:
            try:
                return self.store.lock(self.run_id)
            except Held as held:
                if not announced:
                    say(f"{held.holder} drives this study; playing games for it until it ends.", errors=True)
                announced = True
            with optuna_errors(self.store.shown_url):
                generation = self.next_generation(self.stored_trials().get(self.search.generation, {}))
            fitting = fits(generation)  # the other driver may run for longer than this one
            if fitting and generation.stored:
                self.tell(generation)
                continue
            missing = self._unplayed(generation) if fitting and self._begun else []
            if not missing:
                time.sleep(POLL_SECONDS)
            some = rng.sample(missing, min(len(missing), 4 * executor.workers))
            for _ in play_into(self.store, self.run_id, some, executor):
                pass

    def _unplayed(self, generation: Generation) -> list[MatchSpec]:
        """Returns the games that the generation waits for and that the store does not have."""
        while specs := generation.next_matches():
            known = self.store.records([spec.id for spec in specs])
            for record in known:
                generation.take(record)
            if generation.waiting:
                stored = {record.spec.id for record in known}
                return [spec for spec in specs if spec.id not in stored]
        return []

    def _next(
        self, stored: Mapping[int, dict[int, FrozenTrial]], source: StudyGames, bar: Bar, lock: Lock, fits: Fits
    ) -> Generation | None:
        """Begins generations until one has games to play; returns it, or None if no other one fits."""
        while fits(generation := self.next_generation(stored.get(self.search.generation, {}))):
            lock.heartbeat()  # raises where another driver has taken over
            self._added, self._bar, self._lock = 0, bar, lock
            if not generation.stored:
                self._keep_asked(generation)
                source.recommend(self.proposed(), self.search.generation)
            bar.note(f"generation {generation.number + 1}")
            bar.skip(generation.known_games)
            if self._needs_games(generation, source):
                return generation
        source.stop()
        return None

    def _needs_games(self, generation: Generation, source: StudyGames) -> bool:
        """Adds finished candidates and requests their next games; returns whether the generation waits for any.

        Stored games are taken at once. A complete generation is passed to the search.
        """
        self._add_trials(generation, self.noise.one_stage)
        while not generation.waiting:
            specs = generation.next_matches()
            if not specs:
                self._end(generation, source)
                return False
            ids = list(dict.fromkeys(spec.id for spec in specs))
            stored = self.store.played(ids)
            if stored:
                self.store.link(self.run_id, stored)
                known = self.store.records([match_id for match_id in ids if match_id in stored])
                self._bar.skip(sum(generation.take(record) for record in known))
            missing = {spec.id: spec for spec in specs if spec.id not in stored}
            MATCHES.prepare(MATCHES.one_of_each_kind(list(missing.values())))
            source.need(missing.values())
            self._add_trials(generation, self.noise.one_stage)
        return True

    def tell(self, generation: Generation) -> list[float]:
        """Passes a complete generation to the search; returns its values."""
        values, pooled = generation.values(), generation.pooled()
        self.search.tell(pooled if self.search.pools and self.definition.edition > FIRST_EDITION else values)
        self._alike = self._alike + 1 if len(set(pooled)) == 1 < len(pooled) else 0
        for candidate, value in zip(generation.candidates, values, strict=True):
            self._tried.setdefault(candidate.agent.full_text(), (candidate.agent, []))[1].append(value)
        self.games += generation.games
        return values

    def _end(self, generation: Generation, source: StudyGames) -> None:
        self._add_trials(generation, True)
        values = self.tell(generation)
        name = _summary_of(generation.number)
        if name in self._notes:
            return
        summary = self._summary(values) | {TRIALS_SO_FAR: self._finished}
        if generation.number < len(self._asked) and (ended := self._asked[generation.number].recommendation):
            self._require_same(ended, summary["recommendation"], f"the recommendation of {name}")
            summary["recommendation"] = ended
        idle = source.values()
        if len(idle) > 1:
            mean, half = mean_interval(idle)
            summary["recommended before"] = {"mean": mean, "half_width": half, "games": len(idle)}
        set_note(self.optuna, name, summary)
        self._notes[name] = summary
        games = len(idle) * self.objective.unit_games
        known = f"   proposed {plus_minus(mean, half)}" if len(idle) >= MIN_SHOWN else ""
        known = known or (f"   proposed: {games:,} game{'s' * (games > 1)} so far" if games else "")
        self._bar.print(
            f"generation {generation.number + 1:>3}: candidates' mean {number(statistics.fmean(values)):>9}"
            f"   best {number(max(values)):>9}   sigma {number(self.search.sigma)}{known}"
        )
        if self._alike == IN_A_ROW:
            again = Again(self.store, self.definition, self._planned)
            when = f"In the last {IN_A_ROW} generations"
            self._bar.print(without_difference(when, generation.one_agent, again))

    def stored_trials(self) -> dict[int, dict[int, FrozenTrial]]:
        """Returns the stored trials by generation and index."""
        trials: dict[int, dict[int, FrozenTrial]] = defaultdict(dict)
        for trial in self.optuna.get_trials(deepcopy=False, states=(TrialState.COMPLETE,)):
            facts = facts_of(trial)
            trials[facts["generation"]][facts["index"]] = trial
        return trials

    def next_generation(self, stored: Mapping[int, FrozenTrial]) -> Generation:
        """Asks for the next generation; raises UserError where its candidates are not the stored ones."""
        number, candidates, asked = self.search.generation, [], self.search.ask().tolist()
        known = dict(enumerate(self._asked[number].vectors)) if number < len(self._asked) else {}
        latest, vectors = asked_of(self.store, self.definition.name)
        self._begun = latest == number  # whoever drives the study has asked for these
        known |= enumerate(vectors) if self._begun else {}
        known |= {index: facts_of(trial)["vector"] for index, trial in stored.items()}
        for index, computed in enumerate(asked):
            vector = list(known.get(index, computed))
            same = dict(enumerate(vector)), dict(enumerate(computed))
            self._require_same(*same, f"candidate {index + 1} of generation {number + 1}")
            values = self.space.decode(vector)
            candidates.append(Candidate(vector, values, self.space.apply(self.agent, values), trial=stored.get(index)))
        return Generation(number, candidates, self.objective, self.noise)

    def _keep_asked(self, generation: Generation) -> None:
        vectors = [candidate.vector for candidate in generation.candidates]
        set_asked(self._storage, self.optuna._study_id, generation.number, vectors)

    def _require_same(self, stored: Mapping[Any, Any], computed: Mapping[Any, Any], what: str) -> None:
        """Raises UserError where values differ by more than the last digits, which another processor computes."""

        def same(one: object, other: object) -> bool:
            if isinstance(one, float) and isinstance(other, float):
                return math.isclose(one, other, rel_tol=LAST_DIGITS, abs_tol=LAST_DIGITS)
            return type(one) is type(other)  # a number may be rounded, and a choice made, by its last digit

        if stored.keys() != computed.keys() or not all(same(stored[key], computed[key]) for key in computed):
            raise UserError(
                f"study {self.definition.name!r} must replay as stored, but {what} differs; the versions of cma or"
                " numpy changed: start another study with --name."
            )

    def _add_trials(self, generation: Generation, complete: bool) -> None:
        """Adds the trials of finished candidates, in order: their numbers do not depend on which finished first."""
        candidates, first = generation.candidates, self._added
        while complete and self._added < len(candidates) and generation.played(self._added):
            self._added += 1
        if new := [index for index in range(first, self._added) if candidates[index].trial is None]:
            self._lock.heartbeat()  # a driver that was suspended must not add what another one has added
            games = [[spec.id for unit in candidates[index].units for spec in unit] for index in new]
            trials = [generation.trial(index, self.space) for index in new]
            for trial, times in zip(trials, played_between(self.store, games), strict=True):
                trial.datetime_start, trial.datetime_complete = times
            self.add_trials(trials)
            for index, trial in zip(new, trials, strict=True):
                candidates[index].trial = trial
            self._finished += len(new)

    def _summary(self, values: Sequence[float]) -> dict[str, Any]:
        return {
            "mean": statistics.fmean(values),
            "best": max(values),
            **self.search.facts(),
            "games": self.games,
            "recommendation": self.space.decode(self.search.recommended()),
        }

    def proposed(self) -> Agent:
        """Returns the agent that the search proposes after `run`: never the luckiest candidate."""
        noted = self._notes.get(_summary_of(self.search.generation - 1))
        values = noted["recommendation"] if noted else self.space.decode(self.search.recommended())
        return self.space.apply(self.agent, values)

    def tried(self) -> dict[str, dict[str, Any]]:
        """Returns the parameters of the candidates so far, by their agent's text."""
        return {text: self.space.of_agent(agent) for text, (agent, _) in self._tried.items()}

    def best(self, count: int = 1) -> list[tuple[Agent, float]]:
        """Returns the agents with the largest (lucky) values, which are means where an agent was tried again."""
        means = [(agent, statistics.fmean(values)) for agent, values in self._tried.values()]
        return sorted(means, key=lambda known: -known[1])[:count]

    def finalists(self, start: str = START, baselines: Mapping[str, Agent] | None = None) -> dict[str, Finalist]:
        """Returns the start and the baselines, then what the search proposes and its best candidates, by label.

        An agent that already has a label gets no second one.
        """
        chosen = {start: Finalist(self.agent, None)}
        chosen |= {label: Finalist(agent, None) for label, agent in (baselines or {}).items()}
        found = {PROPOSED: Finalist(self.proposed(), self.search.estimate())}
        for place, (agent, claimed) in enumerate(self.best(BEST_CANDIDATES), 1):
            found[f"candidate {place}"] = Finalist(agent, claimed)
        for label, finalist in found.items():
            if finalist.agent.full_text() not in {known.agent.full_text() for known in chosen.values()}:
                chosen[label] = finalist
        return chosen

    def _budget(self) -> int:
        """Returns a number of games up to which `run_budget` plays what was played."""
        return self.games if self.noise.one_stage else self.games + self.next_generation({}).max_games - 1

    def max_held_out_games(self, verify: float, budget: int, baselines: Collection[str] = ()) -> int:
        """Returns the maximum number of held-out games after a search with this budget, see `held_out_games`."""
        return held_out_games(verify, budget, 2 + len(baselines) + BEST_CANDIDATES, self.objective)

    def compare(self, chosen: Mapping[str, Finalist], executor: Executor, verify: float = VERIFY) -> FinalComparison:
        """Plays held-out games of the finalists until the verdict, which is stored, or until the games are used up.

        Args:
            chosen: the finalists by label, the start first.
            verify: maximum held-out games, as a share of the games of the search.
        """
        games = held_out_games(verify, self.games, len(chosen), self.objective)
        final = compare_finalists(self, self.objective, chosen, games, self.games, executor, self._budget())
        self.store_verdict(final.verdict)
        return final


def _summary_of(generation: int) -> str:
    """Returns the key of the note at the end of a generation."""
    return f"{SUMMARIES}{generation}"
