"""What a study asks for next: a pure function of its definition and what is known of its candidates.

A `Course` asks its sampler for a generation, the noise strategy sets the number of games of each candidate, and their
values decide the next generation. Nothing here plays, stores or shows anything; `study_run` does.
"""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from optuna.trial import FrozenTrial, create_trial

from ..agents.agent import Agent
from ..agents.registry import AGENTS
from ..arena.match import MatchRecord, MatchSpec
from ..core.errors import UserError
from . import FIRST_EDITION, LUCKY_EDITION
from .definition import StudyDefinition
from .front.measures import decision_seconds
from .noise import NOISES, Noise
from .objective import Objective, Unit
from .samplers.registry import SAMPLERS
from .samplers.sampler import KnownFirst, Search, SteppingSearch, asked, began, calling, recommended
from .space import Accepted, Space
from .storage.checked_studies import facts_of
from .verdict import START, Finalist

PROPOSED = "proposed"
BEST_CANDIDATES = 3  # finalists by their values in the search, in studies of earlier editions
PATIENCE = 10  # generations in a row without any difference, after which a search ends
REFUSED, SLOW = "refused", "slow"  # notes on candidates at the ends of generations
LAST_DIGITS = 1e-6  # largest difference between results of different kinds of processors


@dataclass
class Candidate:
    """One member of a generation: its agent, its games, and its trial, if stored."""

    vector: list[float]
    values: dict[str, Any]
    agent: Agent
    units: list[Unit] = field(default_factory=list)
    trial: FrozenTrial | None = None
    refused: str = ""  # why its values are not those of the vector, which the agent refuses


class Generation:
    """Asks the noise strategy for games until it needs no more; a pure function of the games' scores."""

    def __init__(
        self, number: int, candidates: list[Candidate], objective: Objective, noise: Noise, duels: int | None = None
    ) -> None:
        """Begins a generation.

        Args:
            number: from 0.
            candidates: in order; none has played.
            objective: what they play, and what it is worth.
            noise: how often they play.
            duels: of the first candidates this many pairs of neighbours play each other; None = not in this search.
        """
        self.number, self.candidates = number, candidates
        self.objective, self.noise = objective, noise
        self._duelling, self._counts_games = 2 * (duels or 0), duels is not None
        self.records: dict[str, MatchRecord] = {}
        self._missing: set[str] = set()
        texts = [candidate.agent.full_text() for candidate in candidates]
        self._agents = [(text, texts[:index].count(text)) for index, text in enumerate(texts)]

    @property
    def stored(self) -> bool:
        """Whether all candidates have trials, so that no game is needed."""
        return all(candidate.trial for candidate in self.candidates)

    @property
    def max_games(self) -> int:
        others = self.noise.max_games(self.number, len(self.candidates) - self._duelling) * self.objective.unit_games
        return self.noise.max_games(self.number, self._duelling) * len(self.objective.games) + others

    @property
    def known_games(self) -> int:
        """Number of games that need not be read because their candidates have trials."""
        known = [c.trial for c in self.candidates if c.trial] if self.noise.one_stage or self.stored else []
        counted = 1 if self._counts_games else self.objective.unit_games
        return sum(int(facts_of(trial)["games"]) for trial in known) * counted

    def _counted(self, index: int) -> int:
        """Returns what counts as games of a candidate's trial: units; if candidates duel, games, half of a duel's."""
        units = self.candidates[index].units
        if not self._counts_games:
            return len(units)
        return sum(map(len, units)) // (2 if index < self._duelling else 1)

    @property
    def games(self) -> int:
        """Number of games asked for or, if the generation is stored, played."""
        if self.stored:
            return self.known_games
        return len({spec.id for c in self.candidates for unit in c.units for spec in unit})

    def too_many(self, workers: int, ahead: bool = False) -> str:
        """Returns a sentence on using all workers if there are more of them than games at once; otherwise nothing."""
        games = self.max_games if self.noise.one_stage else self.games
        once, these = (2 * games, "it and the next") if ahead else (games, "it")
        if workers <= once:
            return ""
        return (
            f"A generation has {games:,} games, so at most {once:,} of the {workers:,} workers play for {these} at once"
            "; a larger population or more games per candidate would use more."
        )

    def next_matches(self) -> list[MatchSpec]:
        """Returns the matches needed next, none if the generation is complete; earlier ones must have been taken."""
        assert not self._missing
        if self.stored:
            return []
        specs: list[MatchSpec] = []
        for index, more in enumerate(self.noise.more(self.number, self.scores())):
            candidate = self.candidates[index]
            if self.noise.one_stage and candidate.trial:
                continue
            for number in range(len(candidate.units), len(candidate.units) + more):
                candidate.units.append(unit := self._unit(index, number))
                specs += unit
        self._missing = {spec.id for spec in specs} - self.records.keys()
        return specs

    def _unit(self, index: int, number: int) -> Unit:
        text, twin = self._agents[index]
        if index >= self._duelling:
            return self.objective.search_unit(text, self.number, index, number, twin)
        first, side = index - index % 2, index % 2
        pair = self._agents[first][0], self._agents[first + 1][0]
        return self.objective.duel_units(pair, self.number, first // 2, number)[side]

    def take(self, records: Iterable[MatchRecord]) -> list[MatchRecord]:
        """Takes the matches that the generation waits for; returns the others."""
        others = []
        for record in records:
            if record.spec.id in self._missing:
                self.records[record.spec.id] = record
                self._missing.discard(record.spec.id)
            else:
                others.append(record)
        return others

    @property
    def waiting(self) -> bool:
        return bool(self._missing)

    def finished(self) -> list[int]:
        """Returns candidates without a trial that have played all their games, up to the first that has not.

        In order: trial numbers must not depend on which candidate finished first.
        """
        played = itertools.takewhile(self._played, range(len(self.candidates)))
        return [index for index in played if self.candidates[index].trial is None]

    def _played(self, index: int) -> bool:
        candidate = self.candidates[index]
        if candidate.trial or not candidate.units:
            return candidate.trial is not None
        return all(spec.id in self.records for unit in candidate.units for spec in unit)

    def scores(self) -> list[list[float]]:
        return [self.objective.values(candidate.units, self.records) for candidate in self.candidates]

    def scores_of(self, index: int) -> list[float]:
        return self.objective.values(self.candidates[index].units, self.records)

    def seconds_of(self, index: int) -> float:
        units = self.candidates[index].units
        return sum({spec.id: self.records[spec.id].seconds for unit in units for spec in unit}.values())

    def milliseconds_of(self, index: int) -> float:
        """Returns the mean time of a candidate's decisions."""
        seconds = decisions = 0.0
        for unit in self.candidates[index].units:
            for spec, seats in zip(unit.specs, unit.seats, strict=True):
                record = self.records[spec.id]
                seconds += sum(decision_seconds(record, seat) for seat in seats)
                decisions += sum(record.decisions[seat] for seat in seats)
        return 1000 * seconds / max(1.0, decisions)

    def trial(self, index: int, space: Space, slowest: float = 0.0) -> FrozenTrial:
        """Returns the trial of a candidate that has played, to be stored.

        One whose decisions take more milliseconds than the slowest may, unless that is 0, is worth nothing.
        """
        candidate, scores = self.candidates[index], self.scores_of(index)
        taken = self.milliseconds_of(index) if slowest else 0.0
        if taken > slowest:
            scores = [self.objective.worst] * len(scores)
        mean = statistics.fmean(scores)
        facts = {
            "generation": self.number,
            "index": index,
            **({"standard_error": statistics.stdev(scores) / math.sqrt(len(scores))} if len(scores) > 1 else {}),
            "games": self._counted(index),
            "seconds": self.seconds_of(index),
            **({"milliseconds": taken} if slowest else {}),
            "vector": candidate.vector,  # last, since it may be long and optuna-dashboard truncates
        }
        searched = space.distributions(candidate.values)
        return create_trial(value=mean, params=candidate.values, distributions=searched, user_attrs=facts)

    @property
    def one_agent(self) -> bool:
        """Whether all candidates are the same agent."""
        return len({text for text, _ in self._agents}) == 1

    def values(self) -> list[float]:
        """Returns the candidates' values for the search, once all have trials."""
        return [float(c.trial.value) for c in self.candidates if c.trial is not None and c.trial.value is not None]

    def pooled(self) -> list[float]:
        """Returns the candidates' values, with equal agents given the mean over all of their units."""
        sums: dict[str, list[float]] = {}
        for (text, _), candidate, value in zip(self._agents, self.candidates, self.values(), strict=True):
            units = float(facts_of(candidate.trial)["games"]) if candidate.trial else 0.0
            total = sums.setdefault(text, [0.0, 0.0])
            total[0], total[1] = total[0] + units * value, total[1] + units
        return [sums[text][0] / sums[text][1] for text, _ in self._agents]


class Known(NamedTuple):
    """What is known of a search from before, by generation."""

    trials: Mapping[int, Mapping[int, FrozenTrial]] = {}  # and by index
    asked: Mapping[int, Sequence[Sequence[float]]] = {}  # vectors by generation; some lack trials
    recommended: Mapping[int, Mapping[str, Any]] = {}  # at their ends
    noted: Collection[int] = ()  # generations whose ends are stored


UNKNOWN = Known()


class Course:
    """A search up to now: its next generation, the values of past ones, and its proposal."""

    def __init__(self, definition: StudyDefinition) -> None:
        self.definition, self.objective = definition, definition.objective
        self.agent: Agent = AGENTS.make(definition.agent)
        self.objective.require(self.agent)
        self.noise = NOISES.make(definition.noise)
        self.space = Space.of(self.agent, definition.parameters)
        self.sampler = SAMPLERS.make(definition.sampler)
        start = self.space.encode(self.agent)
        if definition.known:
            known = [self.space.vector_of(self.agent, AGENTS.make(text)) for text in definition.known]
            self.search: Search = KnownFirst(start, definition.seed, known, self._begun)
        else:
            self.search = self._begun(start)
        if self.search.duels and self.objective.single_player:
            raise UserError(
                f"duels are for games of two or more seats, got {self.objective.game}; use --sampler cmaes."
            )
        self.games = 0  # of complete generations
        self.alike = 0  # latest generations in a row whose candidates do not differ
        self.refused: dict[str, Any] = {}  # candidates with values that the agent refuses, and why
        self.slow: dict[str, Any] = {}  # candidates that were too slow, and the time of the slowest
        self._tried: dict[str, tuple[Agent, list[float]]] = {}  # values of candidates by their agent's text
        self._recommended: Mapping[str, Any] | None = None  # known recommendation after the latest generation

    def _begun(self, start: Sequence[float]) -> Search:
        """Returns the sampler's search from a start, as in the edition of the study."""
        search = began(self.sampler, start, self.definition.seed, self.space)
        if isinstance(search, SteppingSearch):
            search.as_in(self.definition.edition)
            search.alive = self.space.dimensions if self.definition.edition > LUCKY_EDITION else ()
        return search

    def ask(self, known: Known = UNKNOWN, ahead: bool = False) -> Generation:
        """Returns the next generation; raises UserError if its candidates are not the known ones.

        Last digits depend on the kind of processor, so the known vectors are used.

        Args:
            known: from before.
            ahead: whether to return the one after the next, of a search that looks ahead.
        """
        number = self.search.generation + ahead
        trials = known.trials.get(number, {})
        vectors = dict(enumerate(known.asked.get(number, ())))
        vectors |= {index: facts_of(trial)["vector"] for index, trial in trials.items()}
        candidates = []
        for index, computed in enumerate(asked(self.sampler, self.search, self.space.size, ahead).tolist()):
            vector = list(vectors.get(index, computed))
            same = dict(enumerate(vector)), dict(enumerate(computed))
            self._require_same(*same, f"candidate {index + 1} of generation {number + 1}")
            known_trial, found = trials.get(index), self._accepted(vector)
            candidates.append(Candidate(vector, found.values, found.agent, trial=known_trial, refused=found.refused))
        return Generation(number, candidates, self.objective, self.noise, self.search.duelling(ahead) or None)

    def tell(self, generation: Generation, known: Known = UNKNOWN) -> list[float]:
        """Passes a generation whose candidates have trials to the sampler; returns their values."""
        values, pooled = generation.values(), generation.pooled()
        with calling(self.sampler, "tell"):
            self.search.tell(pooled if self.search.pools and self.definition.edition > FIRST_EDITION else values)
        self.alike = self.alike + 1 if len(set(pooled)) == 1 < len(pooled) else 0
        for candidate, value in zip(generation.candidates, values, strict=True):
            taken = facts_of(candidate.trial).get("milliseconds", 0.0) if candidate.trial else 0.0
            if taken > self.definition.slowest:
                most = max(taken, self.slow.get("milliseconds", 0.0))
                self.slow = {"candidates": self.slow.get("candidates", 0) + 1, "milliseconds": most}
            if candidate.refused:
                self.refused = {"why": candidate.refused} | self.refused
                self.refused["candidates"] = self.refused.get("candidates", 0) + 1
            self._tried.setdefault(candidate.agent.full_text(), (candidate.agent, []))[1].append(value)
        self.games += generation.games
        self._recommended = known.recommended.get(generation.number)
        return values

    def summary(self, values: Sequence[float]) -> dict[str, Any]:
        """Returns what to store at the end of the latest generation, given its values."""
        computed = self._accepted(self._recommendation()).values
        if self._recommended:
            what = f"the recommendation of generation {self.search.generation - 1}"
            self._require_same(self._recommended, computed, what)
        return {
            "mean": statistics.fmean(values),
            "best": max(values),
            **self.search.facts(),
            "games": self.games,
            "recommendation": self._recommended or computed,
        } | {name: known for name in (REFUSED, SLOW) if (known := getattr(self, name))}

    def _accepted(self, vector: Sequence[float]) -> Accepted:
        return self.space.accepted(self.agent, vector, self.objective.require)

    def proposed(self) -> Agent:
        """Returns the agent that the search proposes: never the luckiest candidate."""
        if self._recommended:
            return self.space.apply(self.agent, self._recommended)
        return self._accepted(self._recommendation()).agent

    def _recommendation(self) -> list[float]:
        return recommended(self.sampler, self.search, self.space.size)

    def best(self, count: int = 1) -> list[tuple[Agent, float]]:
        """Returns the agents with the largest (lucky) values, averaged if an agent was tried again."""
        means = [(agent, statistics.fmean(values)) for agent, values in self._tried.values()]
        return sorted(means, key=lambda known: -known[1])[:count]

    def finalists(self, baselines: Mapping[str, Agent] | None = None) -> dict[str, Finalist]:
        """Returns the start and the baselines, then the search's proposal, by label.

        In studies of earlier editions its best candidates follow.
        An agent with a label gets no second one; a baseline equal to the start replaces the start's label.
        """
        known = baselines or {}
        same = (label for label, agent in known.items() if agent.full_text() == self.agent.full_text())
        chosen = {next(same, START): Finalist(self.agent, None, reference=True)}
        chosen |= {label: Finalist(agent, None, reference=True) for label, agent in known.items()}
        # A share of the points against other candidates claims nothing.
        found = {PROPOSED: Finalist(self.proposed(), None if self.search.duels else self.search.estimate())}
        for place, text in enumerate(self.definition.known, 1):
            if text in self._tried:
                agent, values = self._tried[text]
                found[f"known {place}"] = Finalist(agent, None if self.search.duels else statistics.fmean(values))
        lucky = self.best(BEST_CANDIDATES) if self.definition.edition <= LUCKY_EDITION else []
        for place, (agent, claimed) in enumerate(lucky, 1):
            found[f"candidate {place}"] = Finalist(agent, claimed)
        for label, finalist in found.items():
            if finalist.agent.full_text() not in {one.agent.full_text() for one in chosen.values()}:
                chosen[label] = finalist
        return chosen

    @property
    def gave_up(self) -> bool:
        """Whether the search ends before its budget, since many generations in a row taught it nothing."""
        return self.definition.edition > LUCKY_EDITION and self.alike >= PATIENCE

    @property
    def least_budget(self) -> int:
        """A budget with which `StudyRun.run_budget` plays the same games."""
        return self.games if self.noise.one_stage else self.games + self.ask().max_games - 1

    def _require_same(self, stored: Mapping[Any, Any], computed: Mapping[Any, Any], what: str) -> None:
        """Raises UserError if values differ by more than the last digits, in which processors differ."""

        def same(one: object, other: object) -> bool:
            if isinstance(one, float) and isinstance(other, float):
                return math.isclose(one, other, rel_tol=LAST_DIGITS, abs_tol=LAST_DIGITS)
            return type(one) is type(other)  # the last digit may decide a rounding or a choice

        if stored.keys() != computed.keys() or not all(same(stored[key], computed[key]) for key in computed):
            raise UserError(
                f"study {self.definition.name!r} must replay as stored, but {what} differs: {self.sampler}"
                " or a package that it uses has changed; start another study with --name."
            )
