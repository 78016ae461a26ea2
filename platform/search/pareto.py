"""Two objectives at once, strength and time per decision: a study whose result is a front, not a point.

The storage is the only state: a resumed study first plays the trials that have no values yet. The cost of moves is
measured time, so two runs of one study may differ.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
import optuna
from optuna.study import StudyDirection
from optuna.trial import FrozenTrial, TrialState

from turnier.agents.agent import Agent
from turnier.agents.registry import AGENTS
from turnier.arena.match import MatchRecord, derive_seed
from turnier.arena.workers.executor import Executor
from turnier.core.errors import UserError
from turnier.core.number_text import number
from turnier.games.game import Game
from turnier.games.registry import GAMES
from turnier.results.store.store import Store
from turnier.runs.bar import Bar
from turnier.runs.play import play_into
from turnier.search.final_comparison import START, HeldOutGames
from turnier.search.objective import Objective, Unit, require_generation
from turnier.search.space import Space
from turnier.search.storage.studies import StoredStudy, optuna_errors
from turnier.search.storage.trials import study_notes
from turnier.statistics.intervals import mean_interval

DIRECTIONS = (StudyDirection.MAXIMIZE, StudyDirection.MINIMIZE)  # strength, milliseconds per decision
MAX_FINALISTS = 10
HELD_OUT = "held-out front"  # the attribute of Optuna's study


@dataclass(frozen=True)
class ParetoDefinition:
    """What is searched and how; a stored study is only continued with the same definition."""

    name: str
    game: str
    agent: str  # where the search starts; it fixes what is not searched
    parameters: tuple[str, ...]  # paths, see Space.of
    against: tuple[str, ...] = ()
    population: int = 24  # candidates per generation
    games: int = 4  # units of each candidate, see Objective
    seed: int = 1

    def __post_init__(self) -> None:
        if self.population < 4 or self.games < 1 or self.seed < 0:
            raise UserError(
                "a search for a front needs a population of 4 or more, 1 game or more and a seed from 0 on, got"
                f" {self.population}, {self.games} and {self.seed}."
            )

    @property
    def generation_games(self) -> int:
        unit = Objective(GAMES.make(self.game), self.against, self.seed).unit_games
        return self.population * self.games * unit

    @property
    def stored(self) -> dict[str, Any]:
        objectives = ["strength", "milliseconds a decision"]  # the wording of stored studies
        return asdict(self) | {"sampler": "nsga2", "objectives": objectives}


class Point(NamedTuple):
    """An agent with its strength and its cost; half widths are those of 95 % intervals."""

    label: str
    agent: Agent
    strength: float
    strength_half_width: float
    milliseconds: float  # per decision
    milliseconds_half_width: float
    units: int


def dominated(points: Sequence[Point]) -> list[bool]:
    """Returns which of the points another one beats: at least as strong and as cheap, and better at one of both."""
    return [
        any(
            other.strength >= point.strength
            and other.milliseconds <= point.milliseconds
            and (other.strength, -other.milliseconds) != (point.strength, -point.milliseconds)
            for other in points
        )
        for point in points
    ]


def stored_points(store: Store, study: str) -> list[Point]:
    """Returns the start and the front in held-out games, as a search for a front ended; empty where it has not."""
    rows = study_notes(store, study, HELD_OUT).get(HELD_OUT, ())
    return [Point(**row | {"agent": AGENTS.make(row["agent"])}) for row in rows]


class ParetoStudy(StoredStudy):
    """A study in a store, ready to run or to be resumed: Optuna's NSGA-II, a generation at a time.

    Source: K. Deb et al., A fast and elitist multiobjective genetic algorithm: NSGA-II, IEEE TEVC 6, 2002.
    """

    def __init__(self, store: Store, definition: ParetoDefinition, progress: bool = True) -> None:
        self.definition = definition
        self.game: Game = GAMES.make(definition.game)
        self.agent: Agent = AGENTS.make(definition.agent)
        self.agent.require(self.game)
        self.objective = Objective(self.game, definition.against, definition.seed)
        self.space = Space.of(self.agent, definition.parameters)
        super().__init__(store, definition.name, definition.stored, DIRECTIONS, progress)
        self.name_values(self.objective.name, "ms per decision")

    def run(self, games: int, executor: Executor) -> None:
        """Runs until the next generation would take the candidates' games above this total."""
        size = self.definition.generation_games
        require_generation(size, games)
        generations = games // size
        total = generations * size
        with self.driving(self.store.lock(self.run_id), total) as (lock, bar):
            per_trial = self.definition.games * self.objective.unit_games
            finished = len(self._trials(TrialState.COMPLETE))
            bar.skip(finished * per_trial)
            while finished < generations * self.definition.population:
                lock.heartbeat()
                self._generation(finished, executor, bar)
                finished = len(self._trials(TrialState.COMPLETE))
                front = self.front()
                strongest = max(front, key=lambda trial: trial.values[0]).values
                bar.print(
                    f"generation {finished // self.definition.population:>3}: {len(front)} on the front, the strongest"
                    f" {number(strongest[0])} at {number(strongest[1])} ms"
                )

    def front(self) -> list[FrozenTrial]:
        """Returns the candidates that no other one dominates, the cheapest first."""
        return sorted(self.optuna.best_trials, key=lambda trial: trial.values[1])

    def of(self, trial: FrozenTrial) -> Agent:
        return self.space.apply(self.agent, trial.params)

    def finalists(self) -> dict[str, Agent]:
        """Returns the start and the front by label; of a long front, candidates spread evenly along it."""
        front = self.front()
        chosen = np.unique(np.linspace(0, len(front) - 1, min(len(front), MAX_FINALISTS)).round().astype(int))
        return {START: self.agent} | {f"front {n}": self.of(front[i]) for n, i in enumerate(chosen.tolist(), 1)}

    def play_final(self, agents: Mapping[str, Agent], count: int, executor: Executor) -> list[Point]:
        """Plays held-out games on the same seeds for every agent; stores and returns their points in this order."""
        played = HeldOutGames(self, self.objective, agents)
        with self.phase("held-out games", count * len(agents) * self.objective.unit_games) as bar:
            played.play(agents, count, executor, bar)
        points = [self._point(label, agents[label], units, played.records) for label, units in played.units.items()]
        with optuna_errors(self.store.shown_url):
            self.optuna.set_user_attr(HELD_OUT, [point._asdict() | {"agent": str(point.agent)} for point in points])
        return points

    def _point(self, label: str, agent: Agent, units: Sequence[Unit], records: Mapping[str, MatchRecord]) -> Point:
        strength = mean_interval(self.objective.values(units, records))
        cost = mean_interval([self._milliseconds([unit], records) for unit in units])
        return Point(label, agent, *strength, *cost, len(units))

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
        for trial in trials:
            played = units[trial.number]
            value = float(np.mean(self.objective.values(played, records)))
            self.optuna.tell(trial.number, [value, self._milliseconds(played, records)])

    def _ask(self) -> FrozenTrial:
        """Asks for one candidate; its random numbers depend on its number only. The first is the start."""
        number = len(self.optuna.get_trials(deepcopy=False))
        if number == 0:
            self.optuna.enqueue_trial(self.space.decode(self.space.encode(self.agent)))
        seed = derive_seed(self.definition.seed, "nsga2", number) % 2**32
        self.optuna.sampler = optuna.samplers.NSGAIISampler(population_size=self.definition.population, seed=seed)
        trial = self.optuna.ask(self.space.distributions())
        trial.set_user_attr("agent", str(self.of(trial)))  # type: ignore[arg-type]
        stored: FrozenTrial = self.optuna.get_trials(deepcopy=False)[trial.number]
        return stored

    def _units(self, trial: FrozenTrial) -> list[Unit]:
        agent, size = self.of(trial).full_text(), self.definition.population
        generation, index = divmod(trial.number, size)
        before = self.optuna.get_trials(deepcopy=False)[generation * size : trial.number]
        twin = [self.of(other).full_text() for other in before].count(agent)
        numbers = range(self.definition.games)
        return [self.objective.search_unit(agent, generation, index, n, twin) for n in numbers]

    def _milliseconds(self, units: Sequence[Unit], records: Mapping[str, MatchRecord]) -> float:
        """Returns the mean time of the agent's decisions: CPU time, or the wall clock where that was not measured."""
        seconds = decisions = 0.0
        for unit in units:
            for order, spec in enumerate(unit):
                seat, record = order % self.game.num_seats, records[spec.id]
                seconds += (record.seat_cpu_seconds or record.seat_seconds)[seat]
                decisions += record.decisions[seat]
        return 1000 * seconds / max(1.0, decisions)
