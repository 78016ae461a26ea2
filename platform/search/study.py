"""The study runner: CMA-ES over an agent's parameters, every candidate one Optuna trial, resumable after any kill.

The storage is the only state. A started study asks its generations again, checks that they are the stored ones, tells
the stored values and goes on; single games of an unfinished candidate come from the store too.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from optuna.trial import FrozenTrial, TrialState, create_trial

from turnier.agents.agent import Agent
from turnier.agents.registry import AGENTS
from turnier.arena.executors import Executor
from turnier.arena.progress import Bar
from turnier.arena.spec import MatchRecord, MatchSpec, derive_seed
from turnier.games.errors import UserError
from turnier.games.game import Game
from turnier.games.registry import GAMES
from turnier.results.play import play_into
from turnier.results.run_progress import run_bar
from turnier.results.store import Store
from turnier.search.samplers import CmaEs
from turnier.search.space import Space
from turnier.search.stored_study import open_study, optuna_errors


@dataclass(frozen=True)
class StudyDefinition:
    """What a study searches and how; a stored study is only continued with the same definition."""

    name: str
    game: str
    agent: str  # the start point and all that is not searched
    parameters: tuple[str, ...]  # paths, see Space.of
    population: int
    games: int  # a candidate
    sigma: float = 0.3
    seed: int = 1
    sampler: str = "cmaes"

    def __post_init__(self) -> None:
        if self.population < 4:
            raise UserError(f"a population must have at least 4 candidates, got {self.population}.")
        if self.games < 1:
            raise UserError(f"a candidate must play at least 1 game, got {self.games}.")
        if self.seed < 0:
            raise UserError(f"a seed must be 0 or larger, got {self.seed}.")

    def candidate_specs(self, agent: Agent, generation: int, index: int) -> list[MatchSpec]:
        """Returns a candidate's matches; seeds depend on the study's seed, generation, candidate and game only."""
        return [
            MatchSpec(self.game, (agent.full_text(),), derive_seed(self.seed, "search", generation, index, i))
            for i in range(self.games)
        ]

    def held_out_specs(self, agent: Agent, games: int) -> list[MatchSpec]:
        """Returns matches on seeds that the search never sees, the same for every agent."""
        return [MatchSpec(self.game, (agent.full_text(),), derive_seed(self.seed, "held-out", i)) for i in range(games)]


@dataclass
class Candidate:
    """One member of a generation: its agent, its matches and what they scored so far."""

    vector: list[float]
    values: dict[str, Any]
    specs: list[MatchSpec]
    records: dict[str, MatchRecord] = field(default_factory=dict)
    trial: FrozenTrial | None = None

    @property
    def done(self) -> bool:
        return self.trial is not None or len(self.records) == len(self.specs)

    def scores(self) -> list[float]:
        return [self.records[spec.id].scores[0] for spec in self.specs]


class Study:
    """A study in a store, ready to run or go on."""

    def __init__(self, store: Store, definition: StudyDefinition) -> None:
        self.store = store
        self.definition = definition
        self.game: Game = GAMES.make(definition.game)
        self.agent: Agent = AGENTS.make(definition.agent)
        if self.game.num_seats != 1:
            raise UserError(f"a study tunes mean scores of one-seat games, got {self.game}; choose 2048.")
        self.agent.require(self.game)
        self.space = Space.of(self.agent, definition.parameters)
        self.optuna = open_study(store, definition.name, asdict(definition))
        store.begin_run(self.run_id, "study", definition.name, asdict(definition))
        self.strategy = CmaEs(self.space.encode(self.agent), definition.sigma, definition.population, definition.seed)

    @property
    def run_id(self) -> str:
        return f"study:{self.definition.name}"

    def run(self, generations: int, executor: Executor) -> None:
        """Runs until `generations` are complete; those that are stored already are only replayed."""
        with self.store.lock(self.run_id) as lock, optuna_errors(self.store.shown_url):
            stored = self._stored_trials()
            self._summarised = set(self.optuna.user_attrs)
            total = generations * self.definition.population * self.definition.games
            with run_bar(self.store, self.run_id, self.definition.name, total) as bar:
                for generation in range(generations):
                    lock.heartbeat()  # raises where another driver has taken over
                    self._run_generation(generation, stored, executor, bar)

    def _stored_trials(self) -> dict[tuple[int, int], FrozenTrial]:
        trials = self.optuna.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
        return {(t.user_attrs["generation"], t.user_attrs["index"]): t for t in trials}

    def _run_generation(
        self, generation: int, stored: dict[tuple[int, int], FrozenTrial], executor: Executor, bar: Bar
    ) -> None:
        candidates = self._ask(generation, stored)
        bar.note(f"generation {generation + 1}")
        bar.skip(sum(c.trial is not None for c in candidates) * self.definition.games)
        by_match = {spec.id: c for c in candidates if c.trial is None for spec in c.specs}
        specs = [spec for c in candidates if c.trial is None for spec in c.specs]
        told = 0
        for records in play_into(self.store, self.run_id, specs, executor) if specs else ():
            for record in records:
                by_match[record.spec.id].records[record.spec.id] = record
            bar.advance(len(records))
            # Trials are added in the order of candidates, so that their numbers do not depend on who finished first.
            while told < len(candidates) and candidates[told].done:
                self._add_trial(generation, told, candidates[told])
                told += 1
        values = [float(c.trial.value) for c in candidates if c.trial is not None and c.trial.value is not None]
        self.strategy.tell(values)
        if f"generation {generation}" not in self._summarised:
            self.optuna.set_user_attr(f"generation {generation}", self._generation_summary(values))
            bar.print(
                f"generation {generation + 1:>3}: candidates' mean {statistics.fmean(values):>9,.0f}"
                f"   best {max(values):>9,.0f}   sigma {self.strategy.sigma:.3f}"
            )

    def _ask(self, generation: int, stored: dict[tuple[int, int], FrozenTrial]) -> list[Candidate]:
        """Asks the generation's candidates; raises UserError where they are not the stored ones."""
        candidates = []
        for index, vector in enumerate(self.strategy.ask().tolist()):
            values = self.space.decode(vector)
            agent = self.space.apply(self.agent, values)
            trial = stored.get((generation, index))
            if trial is not None and trial.user_attrs["vector"] != vector:
                raise UserError(
                    f"study {self.definition.name!r} must replay as stored, but candidate {index} of generation"
                    f" {generation} differs; the versions of cma or numpy changed: start another study with --name."
                )
            specs = self.definition.candidate_specs(agent, generation, index)
            candidates.append(Candidate(vector, values, specs, trial=trial))
        return candidates

    def _add_trial(self, generation: int, index: int, candidate: Candidate) -> None:
        if candidate.trial is not None:
            return
        scores = candidate.scores()
        failed = [r for r in candidate.records.values() if r.termination != "normal"]
        mean = statistics.fmean(scores)
        if failed or not math.isfinite(mean):
            raise UserError(
                f"every game of a study must end normally, got {failed[0].termination if failed else mean}"
                f" in generation {generation}, candidate {index}; mend the agent and start again."
            )
        attributes = {
            "generation": generation,
            "index": index,
            "vector": candidate.vector,
            "mean": mean,
            "standard_error": statistics.stdev(scores) / math.sqrt(len(scores)) if len(scores) > 1 else None,
            "games": len(scores),
            "seconds": sum(r.seconds for r in candidate.records.values()),
        }
        candidate.trial = create_trial(
            value=mean,
            params=candidate.values,
            distributions=self.space.distributions(),
            user_attrs=attributes,
        )
        self.optuna.add_trial(candidate.trial)

    def _generation_summary(self, values: Sequence[float]) -> dict[str, Any]:
        return {
            "mean": statistics.fmean(values),
            "best": max(values),
            "sigma": self.strategy.sigma,
            "axis_ratio": self.strategy.axis_ratio,
            "recommendation": {k: v for k, v in self.space.decode(self.strategy.mean).items()},
        }

    def recommended(self) -> Agent:
        """Returns the agent at the distribution's mean after `run`."""
        return self.space.apply(self.agent, self.space.decode(self.strategy.mean))

    def best(self) -> tuple[Agent, float]:
        """Returns the agent of the trial with the largest value, and that (lucky) value."""
        trials = [t for (g, _), t in self._stored_trials().items() if g < self.strategy.generation]
        trial = max(trials, key=lambda t: float(t.value or -math.inf))
        return self.space.apply(self.agent, dict(trial.params)), float(trial.value or np.nan)

    def play_held_out(self, agents: dict[str, Agent], games: int, executor: Executor) -> dict[str, list[float]]:
        """Plays fresh games on the same held-out seeds for every agent; returns the scores by label, in seed order."""
        specs = {label: self.definition.held_out_specs(agent, games) for label, agent in agents.items()}
        scores: dict[str, float] = {}
        flat = list({spec.id: spec for group in specs.values() for spec in group}.values())
        with run_bar(self.store, self.run_id, "held-out games", len(flat)) as bar:
            for records in play_into(self.store, self.run_id, flat, executor):
                scores |= {record.spec.id: record.scores[0] for record in records}
                bar.advance(len(records))
        return {label: [scores[spec.id] for spec in group] for label, group in specs.items()}
