"""The settings of a search: settled by the options, by the budget, and by what the store has of the study."""

from __future__ import annotations

import itertools
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Any

from ..agents.agent import Agent
from ..agents.registry import AGENTS
from ..arena.match import derive_seed
from ..arena.randomness import one_game, repeats_one_game
from ..core.errors import UserError
from ..core.outside.classes import is_outside
from ..games.registry import GAMES
from ..results.store.store import Store
from . import EARLIER_VERIFY
from .course import Course
from .definition import StudyDefinition, stored_definitions
from .dimensions.options import with_options_declared
from .dimensions.tree import with_values
from .dimensions.typed import read_parameters
from .final_comparison import held_out_games
from .front.agreement import require_certainty
from .front.pareto import MAX_FINALISTS, ParetoDefinition, ParetoStudy
from .front.second_objective import CERTAINTY, TIME, SecondObjective
from .noise import NOISES, Fixed, Noise
from .objective import Objective
from .samplers.duels import Duels
from .samplers.of_optuna import read_sampler
from .samplers.registry import SAMPLERS, usual_samplers
from .samplers.sampler import Sampler, require_sound
from .space import Space
from .storage.studies import as_begun, has_study, run_id_of
from .storage.trials import best_values
from .study_run import StudyRun, max_held_out_games

GENERATIONS = 8  # of a search for a front, if the budget allows


class Question(ABC):
    """The question of a study; raises UserError if it cannot be searched."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        self.game, self.agent = GAMES.make(options["game"]), AGENTS.make(options["agent"])
        self.agent.require(self.game)
        typed = read_parameters(options["parameters"])
        self.agent, self.typed = with_options_declared(self.agent, typed)
        once = Space.once(self.agent, self.typed)
        self.parameters = Space.planned(self.agent, once)
        # As earlier versions stored them.
        self._earlier = self.typed, *(Space.planned(self.agent, texts, even=True) for texts in (self.typed, once))
        for dimension in Space.of(self.agent, self.parameters).dimensions:
            for text in dimension.among if dimension.part else ():
                with_values(self.agent, {dimension.path: text}).require(self.game)
        self.against = tuple(AGENTS.make(one).full_text() for text in options["against"] for one in repeated(text))
        self.seed, self.name = options["seed"], options["name"]
        self.openings = options["openings"]
        start, also = self.agent.full_text(), tuple(map(GAMES.make, options["also"]))
        self.objective = Objective(self.game, self.against, self.seed, "", start, self.openings, also=also)
        self.objective.require(self.agent)

    @abstractmethod
    def settled(self, budget: int, store: Store | None = None, workers: int = 1) -> StudyDefinition | ParetoDefinition:
        """Returns what is stored of the study; settings left open are chosen to suit a budget in games, and workers.

        A stored study that is older than search ranges, or than some parameter of its sampler, is resumed without them;
        one with a parameter in two ranges is resumed as stored. Raises UserError if the ranges of a new study are not
        clear.
        """

    @abstractmethod
    def generation_games(self, settled: Any) -> int:
        """Returns the maximum number of games of the first generation."""

    @abstractmethod
    def method(self, settled: Any) -> str:
        """Returns the method and the objectives in words."""

    @abstractmethod
    def max_held_out_games(self, settled: Any, verify: float, budget: int, baselines: int) -> int:
        """Returns the maximum number of games after the search."""

    @abstractmethod
    def open(self, store: Store, settled: Any) -> StudyRun | ParetoStudy:
        """Returns the study in a store, begun if it is new."""

    def require_different_games(self) -> None:
        """Raises UserError if all games would be the same for any parameters."""
        opponents, space = [AGENTS.make(text) for text in self.against], Space.of(self.agent, self.parameters)
        ends = [space.accepted(self.agent, [end] * space.size, self.objective.require).agent for end in (0.0, 1.0)]
        for game in self.objective.games if not self.openings else ():
            if not repeats_one_game(game, [*opponents, self.agent, *ends]):
                continue
            raise one_game(
                game,
                [self.agent, *opponents],
                "begin after different openings, such as --openings 6, or name an opponent that draws some, such as"
                " --against mcts",
            )


class Strength(Question):
    """The parameters with which an agent plays best."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        if options["population"]:
            raise UserError("population is for fronts; write it with the sampler, such as cmaes(population=32).")
        super().__init__(options)
        self.slowest = read_milliseconds(options["max_per_move"])
        self.known = tuple(AGENTS.make(agent).full_text() for agent in options["known"])
        self.from_study = options["from_study"]
        space = Space.of(self.agent, self.parameters)
        for text in self.known:
            space.vector_of(self.agent, AGENTS.make(text))
        self._by_default = not options["sampler"]
        self._usual = partial(usual_samplers, self.objective.single_player, bool(self.against), space)
        self.sampler: Sampler = read_sampler(options["sampler"], space) if options["sampler"] else self._usual(0)[0]
        if is_outside(self.sampler.full_text()):
            require_sound(self.sampler, space.encode(self.agent), self.seed, space)
        if isinstance(self.sampler, Duels) and not self.against:
            self.sampler = self.sampler.replace(share=0.0)
        self.noise: Noise = NOISES.make(options["noise"] or self.sampler.usual_noise)
        if isinstance(self.sampler, Duels) and not isinstance(self.noise, Fixed):
            raise UserError(f"candidates that duel play equally often, got --noise {self.noise}; use fixed(games=N).")

    def settled(self, budget: int, store: Store | None = None, workers: int = 1) -> StudyDefinition:
        games = float(self.objective.unit_games)  # of a candidate's unit
        if isinstance(self.sampler, Duels):  # most units are games with the other one of a pair
            own = len(self.objective.games)
            games = own + self.sampler.share * (games - own)
        evaluations = int(budget // (games * self.noise.max_games(0, 1)))
        asked = {typed: typed.within(evaluations, workers) for typed in self._asked(budget)}
        for typed, sampler in asked.items():
            kinds = sampler, sampler.as_first(typed)
            for kind, parameters in itertools.product(kinds, (*self._earlier, self.parameters)):
                before = self._definition(kind, kind, parameters, store)
                if store and has_study(store, before.name, before.stored):
                    return before
        new, *others = (self._definition(own, typed, self.parameters, store) for typed, own in asked.items())
        if store:
            for one in (new, *others):
                if known := self.same_question(store, one.name):
                    return known
            Space.of(self.agent, self.parameters).require_clear()
        return new

    def _asked(self, budget: int) -> list[Sampler]:
        """Returns the sampler that is asked for; by default that for a budget, then those for others."""
        return self._usual(budget) if self._by_default else [self.sampler]

    def same_question(self, store: Store, name: str = "") -> StudyDefinition | None:
        """Returns the newest stored study that asks the same with a sampler that suited another budget or workers.

        With a name it is the one of that name; without one, it may have any sampler if none is asked for.
        """
        for known in stored_definitions(store):
            sampler = SAMPLERS.make(known.sampler)
            own = self._definition(sampler, sampler, self.parameters, None)
            own = replace(own, name=known.name, edition=known.edition, begun_as=known.begun_as)
            own = replace(own, known=known.known) if self.from_study else own
            own = replace(own, scales=known.scales)
            asked = any(map(sampler.is_closed, self._asked(0))) or (self._by_default and not name)
            if asked and own.stored == known.stored and name in ("", known.name):
                return known
        return None

    def _definition(
        self, sampler: Sampler, typed: Sampler, parameters: tuple[str, ...], store: Store | None
    ) -> StudyDefinition:
        """Returns a definition with a sampler, named after another one if it has no name of its own."""
        texts = self.game.full_text(), self.agent.full_text(), parameters
        rest: dict[str, Any] = {"noise": str(self.noise), "openings": self.openings}
        rest |= {"against": self.against, "seed": self.seed}
        make = partial(StudyDefinition, self.name) if self.name else StudyDefinition.named_by_content
        rest |= {"slowest": self.slowest, "known": self.known, "from_study": self.from_study}
        rest["also"] = tuple(game.full_text() for game in self.objective.also)
        definition: StudyDefinition = replace(make(*texts, **rest, sampler=str(typed)), sampler=str(sampler))
        if store and self.from_study:
            definition = replace(definition, known=self._known_from(store, definition.name))
        if store and rest["also"]:
            definition = replace(definition, scales=self._scales_in(store, definition.name))
        return as_begun(store, definition) if store else definition

    def _known_from(self, store: Store, name: str) -> tuple[str, ...]:
        """Returns the known agents with those of the earlier study: what this one began with, if it is stored."""
        for begun in stored_definitions(store):
            if (begun.name, begun.from_study) == (name, self.from_study):
                return begun.known
        space = Space.of(self.agent, self.parameters)
        found = [space.fitted(self.agent, values) for values in best_values(store, self.from_study)]
        texts = dict.fromkeys([*self.known, *(agent.full_text() for agent in found)])
        return tuple(text for text in texts if text != self.agent.full_text())

    def _scales_in(self, store: Store, name: str) -> tuple[float, ...]:
        """Returns what the scores of a study are divided by: measured now, if it is not stored."""
        begun = next((one for one in stored_definitions(store) if one.name == name), None)
        return begun.scales if begun else self._scales

    @cached_property
    def _scales(self) -> tuple[float, ...]:
        return self.objective.measured_scales()

    def generation_games(self, settled: Any) -> int:
        return Course(settled).ask().max_games

    def max_held_out_games(self, settled: Any, verify: float, budget: int, baselines: int) -> int:
        return max_held_out_games(verify, budget, baselines + len(self.known), settled)

    def method(self, settled: Any) -> str:
        return f"{SAMPLERS.make(settled.sampler)} with {NOISES.make(settled.noise)} games per candidate"

    def open(self, store: Store, settled: Any) -> StudyRun:
        return StudyRun(store, settled)


class Balance(Question):
    """The parameters that best balance strength with the time of decisions, or with certainty."""

    def __init__(self, options: Mapping[str, Any], second: SecondObjective) -> None:
        super().__init__(options)
        noise = NOISES.make(options["noise"] or "fixed")
        for name in ("known", "from_study", "max_per_move", "also"):
            if options[name]:
                raise UserError(f"{name} is for studies of strength, got a front; leave it out.")
        if options["sampler"] not in ("", "cmaes") or not isinstance(noise, Fixed):
            raise UserError(
                f"a front of strength and {second.name} is searched by NSGA-II; leave out --sampler, and let --noise be"
                " fixed(games=N)."
            )
        self.second = second
        self.population, self.games = options["population"], noise.games if options["noise"] else 0
        self.positions = options["positions"] if second == CERTAINTY else 0
        if second == CERTAINTY:
            require_certainty(self.game, self.agent, self.seed)

    def settled(self, budget: int, store: Store | None = None, workers: int = 1) -> ParetoDefinition:
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
        if store and self.name:  # a stored search keeps the settings for its first budget
            begun = next((run.definition for run in store.runs() if run.id == run_id_of(self.name)), {})
            population = population if self.population else begun.get("population", population)
            games = games if self.games else begun.get("games", games)
        texts = self.game.full_text(), self.agent.full_text()
        parts: list[str | int] = [*texts, ",".join(parameters), *self.against, population, games, self.seed]
        if self.second != TIME:  # names of earlier versions, which had no other, must stay
            parts += [self.second.name, self.positions]
        parts += ["openings", self.openings] * bool(self.openings)
        content = f"{derive_seed(*parts):016x}"[:6]
        name = self.name or f"{self.game.name}-{self.agent.name}-front-{content}"
        second = self.second.name, self.positions
        definition = ParetoDefinition(name, *texts, parameters, self.against, population, games, self.seed, *second)
        definition = replace(definition, openings=self.openings)
        return as_begun(store, definition) if store else definition

    def generation_games(self, settled: Any) -> int:
        return int(settled.generation_games)

    def max_held_out_games(self, settled: Any, verify: float, budget: int, baselines: int) -> int:
        return held_out_games(verify or EARLIER_VERIFY, budget, 1 + MAX_FINALISTS, self.objective)

    def method(self, settled: Any) -> str:
        return f"NSGA-II for {self.objective.name} and {self.second.title}"

    def open(self, store: Store, settled: Any) -> ParetoStudy:
        return ParetoStudy(store, settled)


def stored_options(definition: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the options of a study whose definition is stored."""
    if "objectives" in definition:
        front = ParetoDefinition.of_stored(definition)
        own: dict[str, Any] = {"objectives": f"strength,{front.second}", "noise": f"fixed(games={front.games})"}
        own |= {"population": front.population} | ({"positions": front.positions} if front.positions else {})
        return own | _shared(front)
    study = StudyDefinition.of_stored(definition)
    limit = f"{study.slowest:.12g}ms" if study.slowest else ""
    own = {"known": list(study.known), "also": list(study.also), "from_study": study.from_study, "max_per_move": limit}
    return {"sampler": study.sampler, "noise": study.noise} | own | _shared(study)


def read_milliseconds(text: str) -> float:
    """Returns the milliseconds of a text such as 50ms, 0 of an empty one; raises UserError for anything else."""
    found = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*ms\s*", text)
    if text and (not found or not float(found[1])):
        raise UserError(f"the time of a move must be milliseconds above 0, such as 50ms, got {text!r}.")
    return float(found[1]) if found else 0.0


def _shared(known: StudyDefinition | ParetoDefinition) -> dict[str, Any]:
    lists = {"parameters": list(known.parameters), "against": list(known.against)}
    return lists | {name: getattr(known, name) for name in ("game", "agent", "seed", "name", "openings")}


def repeated(opponent: Any) -> list[Any]:
    """Returns an opponent as often as its weight says, such as twice for 2*random: its games count so much more."""
    found = re.fullmatch(r"\s*([1-9][0-9]?)\s*\*\s*(.+)", opponent) if isinstance(opponent, str) else None
    return [found[2]] * int(found[1]) if found else [opponent]


def labelled(baselines: Mapping[str, Any] | Sequence[Any]) -> dict[str, Agent]:
    """Returns agents by their labels, or by their texts if they have none."""
    named = baselines.items() if isinstance(baselines, Mapping) else ((str(AGENTS.make(a)), a) for a in baselines)
    return {label: AGENTS.make(agent) for label, agent in named}
