"""Two objectives at once, strength and another one: a study whose result is a front, not a point.

The storage is the only state: a resumed study first plays the trials that have no values yet. Time per decision is
measured, so two runs of a study that weighs it may differ; certainty is not.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import optuna
from optuna.samplers import NSGAIISampler
from optuna.study import StudyDirection
from optuna.trial import FrozenTrial, TrialState

from ...agents.agent import Agent
from ...agents.registry import AGENTS
from ...arena.match import MatchRecord, derive_seed
from ...arena.workers.executor import Executor
from ...core.errors import UserError
from ...core.number_text import number
from ...games.game import Game
from ...games.registry import GAMES
from ...results.store.store import Store
from ...runs.bar import Bar
from ...runs.plan import Playing
from ...runs.play import play_into
from ...statistics.intervals import mean_interval
from .. import EARLIER_VERIFY, EDITION, FIRST_EDITION
from ..definition import LATER, later_form
from ..final_comparison import HeldOutGames, held_out_games
from ..objective import Objective, Unit, require_generation
from ..space import Space
from ..storage.checked_studies import CHECKSUM, set_note, trial_checksum
from ..storage.definitions import NSGA2
from ..storage.studies import StoredStudy, as_begun, optuna_errors
from ..verdict import START
from .agreement import REPEATS, Agreement
from .measures import DecisionTime, Measure, Played
from .points import HELD_OUT, Point
from .pooled import PooledParents, Tried, in_layers, pooled
from .second_objective import CERTAINTY, SECOND_OBJECTIVES, TIME, SecondObjective, stored_objective

MAX_FINALISTS = 10
AGAIN = 0.25  # share of a generation that repeats agents: one trial may have been lucky
ASKED = "agent"  # the attribute stored last: Optuna stores each part of a candidate separately


@dataclass(frozen=True)
class ParetoDefinition:
    """The definition of a search for a front; a stored study is only continued with the same one."""

    name: str
    game: str
    agent: str  # where the search starts; it fixes what is not searched
    parameters: tuple[str, ...]  # paths, see Space.of
    against: tuple[str, ...] = ()
    population: int = 24  # candidates per generation
    games: int = 4  # units of each candidate, see Objective
    seed: int = 1
    second: str = TIME.name  # one of SECOND_OBJECTIVES
    positions: int = 0  # searched by each candidate if certainty is the second objective
    edition: int = EDITION  # see turnier.search
    begun_as: str = ""  # the name of a renamed study when it began
    openings: int = 0  # plies at the most, after which games begin

    def __post_init__(self) -> None:
        if self.population < 4 or self.games < 1 or self.seed < 0:
            raise UserError(
                "a search for a front needs a population of 4 or more, 1 game or more and a seed from 0 on, got"
                f" {self.population}, {self.games} and {self.seed}."
            )
        if self.second_objective == CERTAINTY and self.positions < 2:
            raise UserError(f"certainty must be measured at 2 positions or more, got {self.positions}.")

    @property
    def second_objective(self) -> SecondObjective:
        return SECOND_OBJECTIVES[self.second]

    @property
    def objective(self) -> Objective:
        own, game = (self.begun_as or self.name) if self.edition > FIRST_EDITION else "", GAMES.make(self.game)
        # The start needs games of its own for the second objective, even against itself.
        against = self.against or (() if game.num_seats == 1 else (self.agent,))
        return Objective(game, against, self.seed, own, self.agent, self.openings)

    @property
    def generation_games(self) -> int:
        return self.population * self.games * self.objective.unit_games

    @property
    def stored(self) -> dict[str, Any]:
        known = asdict(self) | {"sampler": NSGA2, "objectives": ["strength", self.second_objective.stored]}
        known = {key: value for key, value in known.items() if key not in ("second", *LATER)}
        known |= later_form(self.edition, self.begun_as, self.openings)
        if self.second_objective == TIME:
            del known["positions"]  # earlier versions had no other objective, and their studies must be resumed
            return known
        return known | {"repeats": REPEATS}

    @classmethod
    def of_stored(cls, stored: Mapping[str, Any]) -> ParetoDefinition:
        """Returns the definition with this stored form."""
        known = {key: value for key, value in stored.items() if key not in ("sampler", "objectives", "repeats")}
        known |= {key: tuple(known.get(key, ())) for key in ("parameters", "against")}
        return cls(**{"edition": FIRST_EDITION} | known | {"second": stored_objective(stored).name})


class ParetoStudy(StoredStudy):
    """A study in a store, ready to run or to be resumed: Optuna's NSGA-II, a generation at a time.

    Source: K. Deb et al., A fast and elitist multiobjective genetic algorithm: NSGA-II, IEEE TEVC 6, 2002.
    """

    def __init__(self, store: Store, definition: ParetoDefinition, progress: bool = True) -> None:
        self.definition = definition = as_begun(store, definition)
        self.game: Game = GAMES.make(definition.game)
        self.agent: Agent = AGENTS.make(definition.agent)
        self.agent.require(self.game)
        self.objective = definition.objective
        self.space = Space.of(self.agent, definition.parameters)
        self.second = definition.second_objective
        directions = (StudyDirection.MAXIMIZE, self.second.direction)
        super().__init__(store, definition.name, definition.stored, directions, progress)
        self.name_values(self.objective.name, self.second.title)
        self.measure: Measure = DecisionTime()
        if self.second == CERTAINTY:
            self.measure = Agreement(self, self.objective, self.agent, definition.positions)

    def drive(self, run: Playing, budget: int, verify: float, baselines: Mapping[str, Agent]) -> None:
        """Searches, then plays held-out games of the start and the front; for the arguments, see `StudyRun`."""
        verify = verify or EARLIER_VERIFY
        with self.sharing(run, held_out_games(verify, budget, 1 + MAX_FINALISTS, self.objective)):
            self.run(budget, run.pool)
            chosen = self.finalists()
            games = held_out_games(verify, budget, len(chosen), self.objective)
            self.play_final(chosen, games // (len(chosen) * self.objective.unit_games), run.pool)

    def run(self, games: int, executor: Executor) -> None:
        """Runs until the next generation would push the candidates' games above this total."""
        size = self.definition.generation_games
        require_generation(size, games)
        generations = games // size
        total = generations * size
        with self.driving(self.store.lock(self.run_id), total) as (lock, bar):
            if foreign := self.foreign_trials():
                raise UserError(
                    f"study {self.definition.name!r} must have only candidates of its own, since NSGA-II breeds from"
                    f" all of them, got {foreign} of other code; start another study with --name."
                )
            per_trial = self.definition.games * self.objective.unit_games
            self._remove_half_asked()
            finished = len(self._trials(TrialState.COMPLETE))
            bar.skip(finished * per_trial)
            while finished < generations * self.definition.population:
                lock.heartbeat()
                self._generation(finished, executor, bar)
                finished = len(self._trials(TrialState.COMPLETE))
                front = self.front()
                strongest = max(front, key=lambda tried: tried.values[0]).values
                bar.print(
                    f"generation {finished // self.definition.population:>3}: {len(front)} on the front, the strongest"
                    f" {number(strongest[0])} at {self.second.text(strongest[1])}"
                )

    def front(self) -> list[Tried]:
        """Returns the agents undominated by the means of their trials, the best at the second objective first."""
        return sorted(self._layers()[0], key=lambda tried: -self.second.sign * tried.values[1])

    def _layers(self) -> list[list[Tried]]:
        return in_layers(pooled(self._trials(TrialState.COMPLETE), self._text), self.second.sign)

    def _text(self, trial: FrozenTrial) -> str:
        return self.of(trial).full_text()

    def of(self, trial: FrozenTrial) -> Agent:
        try:
            agent = self.space.apply(self.agent, trial.params)
            agent.require(self.game)
        except UserError:
            vector = [d.encode(trial.params[d.path]) for d in self.space.dimensions]
            return self.space.accepted(self.agent, vector, lambda agent: agent.require(self.game)).agent
        return agent

    def finalists(self) -> dict[str, Agent]:
        """Returns the start and the front by label; of a long front, candidates spread evenly along it."""
        front = self.front()
        chosen = np.unique(np.linspace(0, len(front) - 1, min(len(front), MAX_FINALISTS)).round().astype(int))
        return {START: self.agent} | {
            f"front {n}": AGENTS.make(front[i].agent) for n, i in enumerate(chosen.tolist(), 1)
        }

    def play_final(self, agents: Mapping[str, Agent], count: int, executor: Executor) -> list[Point]:
        """Plays held-out games on the same seeds for every agent; stores and returns their points in this order."""
        played = HeldOutGames(self, self.objective, agents)
        with self.phase("held-out games", count * len(agents) * self.objective.unit_games) as bar:
            played.play(agents, count, executor, bar)
            texts = [Played(agents[label].full_text(), units) for label, units in played.units.items()]
            others = self.measure.finalists(texts, played.records, executor, bar)
        points = []
        for (label, values), other in zip(played.values().items(), others, strict=True):
            strength = mean_interval(values)
            found = *strength, other.value, other.half_width, len(values), other.positions
            points.append(Point(label, agents[label], *found, self.second))
        with optuna_errors(self.store.shown_url):
            set_note(self.optuna, HELD_OUT, [point.row() for point in points])
        return points

    def _trials(self, state: TrialState) -> list[FrozenTrial]:
        return self.optuna.get_trials(deepcopy=False, states=(state,))

    def _generation(self, finished: int, executor: Executor, bar: Bar) -> None:
        """Plays what is left of the current generation, and stores its values."""
        size = self.definition.population
        trials = self._trials(TrialState.RUNNING)
        while len(trials) < size - finished % size:
            trials.append(self._ask())
        units = {t.number: self._units(t) for t in trials}
        specs = {spec.id: spec for group in units.values() for unit in group for spec in unit}
        records: dict[str, MatchRecord] = {}
        for batch in play_into(self.store, self.run_id, list(specs.values()), executor):
            records |= {record.spec.id: record for record in batch}
            bar.advance(len(batch))
        played = [Played(self.of(trial).full_text(), units[trial.number]) for trial in trials]
        others = self.measure.candidates(played, records, executor, bar)
        for trial, one, other in zip(trials, played, others, strict=True):
            value = float(np.mean(self.objective.values(one.units, records)))
            checksum = trial_checksum(trial, TrialState.COMPLETE.name, (value, other))
            optuna.trial.Trial(self.optuna, trial._trial_id).set_user_attr(CHECKSUM, checksum)
            self.optuna.tell(trial.number, [value, other])

    def _remove_half_asked(self) -> None:
        """Removes the newest candidate if a kill has left it incomplete; asked for again, it is the same.

        The first candidate takes the parents of its generation with it: Optuna gives it the parents in the order in
        which it has just chosen them, but later candidates the stored ones, by number.
        """
        newest = max(self.optuna.get_trials(deepcopy=False), key=lambda trial: trial.number, default=None)
        if newest is None or newest.state.is_finished() or ASKED in newest.user_attrs:
            return
        generation = newest.system_attrs.get(NSGAIISampler._get_generation_key())
        if generation and newest.number % self.definition.population == 0:
            parents = f"{NSGAIISampler._get_parent_cache_key_prefix()}{generation}"
            self._storage.set_study_system_attr(self.optuna._study_id, parents, None)
        self._storage.remove_trial(newest._trial_id)
        # Opened again, since Optuna keeps in memory all that it has read.
        self.optuna = optuna.load_study(study_name=self.definition.name, storage=self._storage)

    def _ask(self) -> FrozenTrial:
        """Asks for one candidate; its random numbers depend on its number only. The first is the start."""
        number, size = len(self.optuna.get_trials(deepcopy=False)), self.definition.population
        generation, index = divmod(number, size)
        if number == 0:
            self.optuna.enqueue_trial(self.space.decode(self.space.encode(self.agent)))
        seed, parents = derive_seed(self.definition.seed, NSGA2, number) % 2**32, None
        if self.definition.edition > FIRST_EDITION:
            parents = PooledParents(size, self._text)
            if generation and index < round(AGAIN * size):
                self._enqueue_again(index)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # ways to choose parents are called experimental
            self.optuna.sampler = NSGAIISampler(
                population_size=size, seed=seed, elite_population_selection_strategy=parents
            )
        trial = self.optuna.ask(self.space.distributions())
        trial.set_user_attr(ASKED, str(self.of(trial)))  # type: ignore[arg-type]
        stored: FrozenTrial = self.optuna.get_trials(deepcopy=False)[trial.number]
        return stored

    def _enqueue_again(self, index: int) -> None:
        """Repeats a candidate on or near the front, the least tried first, in the next trial; `index` is the place."""
        near = [tried for layer in self._layers() for tried in sorted(layer, key=lambda tried: len(tried.trials))]
        if index < len(near):
            self.optuna.enqueue_trial(near[index].trials[0].params)

    def _units(self, trial: FrozenTrial) -> list[Unit]:
        agent, size = self.of(trial).full_text(), self.definition.population
        generation, index = divmod(trial.number, size)
        before = self.optuna.get_trials(deepcopy=False)[generation * size : trial.number]
        twin = [self.of(other).full_text() for other in before].count(agent)
        numbers = range(self.definition.games)
        return [self.objective.search_unit(agent, generation, index, n, twin) for n in numbers]
