"""Studies search the parameters of an agent, for strength or for a front, and end with held-out games."""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from turnier.agents.agent import Agent
from turnier.agents.registry import AGENTS
from turnier.arena.match import derive_seed
from turnier.arena.randomness import one_game, repeats_one_game
from turnier.arena.workers.executor import Executor
from turnier.arena.workers.make import at_work
from turnier.arena.workers.where import Where
from turnier.games.game import Game
from turnier.games.registry import GAMES
from turnier.results.store.store import Store
from turnier.search import VERIFY
from turnier.search.definition import StudyDefinition, stored_definitions
from turnier.search.final_comparison import held_out_games
from turnier.search.front.agreement import POSITIONS, require_certainty
from turnier.search.front.pareto import MAX_FINALISTS, ParetoDefinition, ParetoStudy
from turnier.search.front.second_objective import CERTAINTY, TIME, read_objectives
from turnier.search.noise import NOISES
from turnier.search.objective import Objective, require_generation
from turnier.search.results import FrontResults, StudyResults
from turnier.search.samplers.registry import SAMPLERS
from turnier.search.samplers.sampler import PopulationSampler, Sampler
from turnier.search.space import Space, read_parameters
from turnier.search.storage.studies import as_begun, has_study, run_id_of
from turnier.search.study_run import StudyRun

GENERATIONS = 8  # of the search for a front, if the budget is large enough


class _Search(ABC):
    """What every search is planned from; raises UserError where it cannot be run."""

    def __init__(
        self,
        game: str | Game,
        agent: str | Agent,
        parameters: str | Sequence[str],
        against: str | Agent | Sequence[str | Agent],
        seed: int,
        name: str,
    ) -> None:
        self.game, self.agent = GAMES.make(game), AGENTS.make(agent)
        self.agent.require(self.game)
        self._text = parameters if isinstance(parameters, str) else ",".join(parameters)
        self._typed = read_parameters(self._text)
        self.parameters = Space.planned(self.agent, Space.once(self.agent, self._typed))
        self._earlier = self._typed, Space.planned(self.agent, self._typed)  # as earlier versions stored them
        opponents = (against,) if isinstance(against, str | Agent) else against
        self.against = tuple(AGENTS.make(opponent).full_text() for opponent in opponents)
        self.objective = Objective(self.game, self.against, seed)
        self.seed, self.name = seed, name

    @abstractmethod
    def definition(self, budget: int, store: Store | None = None) -> StudyDefinition | ParetoDefinition: ...

    def require_different_games(self, store: Store, run_id: str) -> None:
        """Raises UserError where all games of a new search would be the same, whatever is searched."""
        if any(run.id == run_id for run in store.runs()):
            return
        opponents, space = [AGENTS.make(text) for text in self.against], Space.of(self.agent, self.parameters)
        ends = [space.apply(self.agent, space.decode([end] * space.size)) for end in (0.0, 1.0)]
        if repeats_one_game(self.game, [*opponents, self.agent, *ends]):
            raise one_game(
                self.game, [self.agent, *opponents], "name an opponent that draws some, such as --against mcts"
            )

    def require(self, budget: int) -> None:
        """Raises UserError if the budget is too small to play anything."""
        require_generation(self.definition(budget).generation_games, budget)


class Study(_Search):
    """A search for the parameters with which an agent plays best."""

    def __init__(
        self,
        game: str | Game,
        agent: str | Agent,
        parameters: str | Sequence[str],
        *,
        against: str | Agent | Sequence[str | Agent] = (),
        sampler: str = "cmaes",
        noise: str = "",
        seed: int = 1,
        name: str = "",
    ) -> None:
        """Plans a study; raises UserError where it cannot be run.

        Args:
            game: such as "2048".
            agent: where the search starts; it fixes what is not searched.
            parameters: to search, such as ["rollout_depth=0..50", "evaluator.*"], or one text with commas; without
                limits, each is searched in its declared search range.
            against: opponents; without any, single-player games count the mean score.
            sampler: cmaes, cmaes_lr, tpe, gp, random, grid or spsa, with parameters where needed.
            noise: strategy for the number of games per candidate: fixed, growing, reevaluated or racing; empty = what
                suits the sampler.
            seed: the same seed gives the same search, whatever the number of workers.
            name: of the study in the store; empty = derived from its settings.
        """
        super().__init__(game, agent, parameters, against, seed, name)
        self.sampler = SAMPLERS.make(sampler)
        self.noise = NOISES.make(noise or self.sampler.usual_noise)

    def definition(self, budget: int, store: Store | None = None) -> StudyDefinition:
        """Returns what is stored of the study; settings left open are chosen to suit a budget in games.

        A stored study from before there were search ranges, or some parameter of its sampler, is resumed without them,
        and one with a parameter in two ranges is resumed as it is stored. Raises UserError where the ranges of a new
        study are not clear.
        """
        sampler = self.sampler.within(budget // (self.objective.unit_games * self.noise.max_games(0, 1)))
        earlier = sampler.as_first(self.sampler)
        for kind, parameters in itertools.product((sampler, earlier), (*self._earlier, self.parameters)):
            before = self._definition(kind, parameters, store)
            if store and has_study(store, before.name, before.stored):
                return before
        if store and self.name and (known := self.same_question(store)):
            return known
        if store:
            Space.of(self.agent, self.parameters).require_clear()
        return self._definition(sampler, self.parameters, store)

    def same_question(self, store: Store) -> StudyDefinition | None:
        """Returns the newest stored study that asks the same with a population that suited another budget.

        It is of this study's name, where that has one; None where the population is given.
        """
        if not isinstance(self.sampler, PopulationSampler) or self.sampler.population:
            return None
        for known in stored_definitions(store):
            own = self._definition(SAMPLERS.make(known.sampler), self.parameters, None)
            own = replace(own, name=known.name, edition=known.edition, begun_as=known.begun_as)
            open_ = SAMPLERS.make(known.sampler)
            same = isinstance(open_, PopulationSampler) and open_.replace(population=0) == self.sampler
            if same and own.stored == known.stored and self.name in ("", known.name):
                return known
        return None

    def _definition(self, sampler: Sampler, parameters: tuple[str, ...], store: Store | None) -> StudyDefinition:
        texts = self.game.full_text(), self.agent.full_text(), parameters
        rest: dict[str, Any] = {"sampler": str(sampler), "noise": str(self.noise)}
        rest |= {"against": self.against, "seed": self.seed}
        make = partial(StudyDefinition, self.name) if self.name else StudyDefinition.named_by_content
        definition: StudyDefinition = make(*texts, **rest)
        return as_begun(store, definition) if store else definition

    def run(
        self,
        store: Store,
        *,
        budget: int = 5000,
        verify: float = VERIFY,
        baselines: Mapping[str, Agent] | None = None,
        where: Where | Executor = Where(),
        progress: bool = True,
    ) -> StudyResults:
        """Searches, then plays held-out games until a verdict; however it is stopped, the same call resumes it.

        Args:
            store: where candidates and games go.
            budget: total games of the candidates.
            verify: maximum held-out games of all finalists, as a share of the budget.
            baselines: agents by label that play the held-out games, too.
            where: where it plays; or an executor that has been started, which stays open.
            progress: whether bars are shown.
        """
        self.require(budget)
        definition = self.definition(budget, store)
        self.require_different_games(store, run_id_of(definition.name))
        run = StudyRun(store, definition, progress)
        later = run.max_held_out_games(verify, budget, baselines or ())
        with at_work(where) as pool, run.in_phases(later):
            run.run_budget(budget, pool)
            run.compare(run.course.finalists(baselines=baselines), pool, verify)
        results = StudyResults(store, run.run_id)
        results.warn_of_failures()
        return results


class Front(_Search):
    """A search for the best trade-offs between strength and time per decision, or certainty, by NSGA-II."""

    def __init__(
        self,
        game: str | Game,
        agent: str | Agent,
        parameters: str | Sequence[str],
        *,
        against: str | Agent | Sequence[str | Agent] = (),
        objectives: str = "strength,time",
        population: int = 0,
        games: int = 0,
        positions: int = POSITIONS,
        seed: int = 1,
        name: str = "",
    ) -> None:
        """Plans a search; raises UserError where it cannot be run.

        Args:
            game: such as "2048".
            agent: where the search starts; it fixes what is not searched.
            parameters: to search, such as ["iterations=10..1000"].
            against: opponents; without any, single-player games count the mean score.
            objectives: "strength,time" or "strength,certainty".
            population: candidates per generation; 0 = as suits the budget.
            games: units of games per candidate, see `Objective`; 0 = as suits the budget.
            positions: number of positions that each candidate searches repeatedly, for certainty; at the end there are
                more.
            seed: the same seed gives the same games and searches; times are measured and differ.
            name: of the study in the store; empty = derived from its settings.
        """
        super().__init__(game, agent, parameters, against, seed, name)
        self.population, self.games = population, games
        self.second = read_objectives(objectives) or TIME
        self.positions = positions if self.second == CERTAINTY else 0
        if self.second == CERTAINTY:
            require_certainty(self.game, self.agent, seed)

    def definition(self, budget: int, store: Store | None = None) -> ParetoDefinition:
        """Returns what is stored of the search, as `Study.definition` does."""
        for parameters in (*self._earlier, self.parameters):
            before = self._definition(budget, parameters, store)
            if store and has_study(store, before.name, before.stored):
                return before
        if store:
            Space.of(self.agent, self.parameters).require_clear()
        return self._definition(budget, self.parameters, store)

    def _definition(self, budget: int, parameters: tuple[str, ...], store: Store | None) -> ParetoDefinition:
        units = budget // self.objective.unit_games // GENERATIONS
        games = self.games or max(1, min(8, units // 16))
        population = self.population or max(4, min(32, units // games))
        if store and self.name:  # a stored search keeps what suited its first budget
            begun = next((run.definition for run in store.runs() if run.id == run_id_of(self.name)), {})
            population = population if self.population else begun.get("population", population)
            games = games if self.games else begun.get("games", games)
        texts = self.game.full_text(), self.agent.full_text()
        searched = self._text if parameters == self._typed else ",".join(parameters)
        parts: list[str | int] = [*texts, searched, *self.against, population, games, self.seed]
        if self.second != TIME:  # names of earlier versions, which had no other, must stay
            parts += [self.second.name, self.positions]
        content = f"{derive_seed(*parts):016x}"[:6]
        name = self.name or f"{self.game.name}-{self.agent.name}-front-{content}"
        second = self.second.name, self.positions
        definition = ParetoDefinition(name, *texts, parameters, self.against, population, games, self.seed, *second)
        return as_begun(store, definition) if store else definition

    def run(
        self,
        store: Store,
        *,
        budget: int = 5000,
        verify: float = VERIFY,
        where: Where | Executor = Where(),
        progress: bool = True,
    ) -> FrontResults:
        """Searches, then measures the start and the front in held-out games; the arguments are those of `Study.run`."""
        self.require(budget)
        definition = self.definition(budget, store)
        self.require_different_games(store, run_id_of(definition.name))
        run = ParetoStudy(store, definition, progress)
        later = held_out_games(verify, budget, 1 + MAX_FINALISTS, run.objective)
        with at_work(where) as pool, run.in_phases(later):
            run.run(budget, pool)
            chosen = run.finalists()
            units = held_out_games(verify, budget, len(chosen), run.objective) // (
                len(chosen) * run.objective.unit_games
            )
            run.play_final(chosen, units, pool)
        results = FrontResults(store, run.run_id)
        results.warn_of_failures()
        return results
