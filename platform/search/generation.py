"""One generation of a study: its candidates, the games they play, and when it is complete."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass, field
from typing import Any

from optuna.trial import FrozenTrial, create_trial

from turnier.agents.agent import Agent
from turnier.arena.match import MatchRecord, MatchSpec
from turnier.search.noise import Noise
from turnier.search.objective import Objective, Unit
from turnier.search.space import Space
from turnier.search.storage.checked_studies import facts_of


@dataclass
class Candidate:
    """One member of a generation: its agent, its games, and its trial where that is stored."""

    vector: list[float]
    values: dict[str, Any]
    agent: Agent
    units: list[Unit] = field(default_factory=list)
    trial: FrozenTrial | None = None


class Generation:
    """Asks the noise strategy for games until it needs no more; a pure function of the games' scores."""

    def __init__(self, number: int, candidates: list[Candidate], objective: Objective, noise: Noise) -> None:
        self.number, self.candidates = number, candidates
        self.objective, self.noise = objective, noise
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
        return self.noise.max_games(self.number, len(self.candidates)) * self.objective.unit_games

    @property
    def known_games(self) -> int:
        """Number of games that need not be read, since their candidates have trials."""
        known = [c.trial for c in self.candidates if c.trial] if self.noise.one_stage or self.stored else []
        return sum(int(facts_of(trial)["games"]) for trial in known) * self.objective.unit_games

    @property
    def games(self) -> int:
        """Number of games that it has asked for or, if it is stored, has played."""
        if self.stored:
            return self.known_games
        return sum(len(unit) for c in self.candidates for unit in c.units)

    def too_many(self, workers: int) -> str:
        """Returns a sentence on what would use all workers, if there are more than games that they can play at once."""
        games = self.max_games if self.noise.one_stage else self.games
        if workers <= games:
            return ""
        return (
            f"A generation has {games:,} games, so at most {games:,} of the {workers:,} workers play for it at once; a"
            " larger population or more games per candidate would use more."
        )

    def next_matches(self) -> list[MatchSpec]:
        """Returns the matches that it needs next, none if it is complete; those before must have been taken."""
        assert not self._missing
        if self.stored:
            return []
        specs: list[MatchSpec] = []
        for index, more in enumerate(self.noise.more(self.number, self.scores())):
            candidate = self.candidates[index]
            if self.noise.one_stage and candidate.trial:
                continue
            for number in range(len(candidate.units), len(candidate.units) + more):
                text, twin = self._agents[index]
                unit = self.objective.search_unit(text, self.number, index, number, twin)
                candidate.units.append(unit)
                specs += unit
        self._missing = {spec.id for spec in specs} - self.records.keys()
        return specs

    def take(self, record: MatchRecord) -> bool:
        """Takes a match; returns whether the generation waited for it."""
        expected = record.spec.id in self._missing
        if expected:
            self.records[record.spec.id] = record
            self._missing.discard(record.spec.id)
        return expected

    @property
    def waiting(self) -> bool:
        return bool(self._missing)

    def played(self, index: int) -> bool:
        """Returns whether a candidate has its trial, or all games that it has asked for so far."""
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

    def trial(self, index: int, space: Space) -> FrozenTrial:
        """Returns the trial of a candidate that has played, to be stored."""
        candidate, scores = self.candidates[index], self.scores_of(index)
        mean = statistics.fmean(scores)
        facts = {
            "generation": self.number,
            "index": index,
            "mean": mean,
            "standard_error": statistics.stdev(scores) / math.sqrt(len(scores)) if len(scores) > 1 else None,
            "games": len(scores),
            "seconds": self.seconds_of(index),
            "vector": candidate.vector,  # the last, since it may be long and optuna-dashboard cuts what it shows
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
        """Returns the candidates' values, those of equal agents replaced by the mean over all of their units."""
        sums: dict[str, list[float]] = {}
        for (text, _), candidate, value in zip(self._agents, self.candidates, self.values(), strict=True):
            units = float(facts_of(candidate.trial)["games"]) if candidate.trial else 0.0
            total = sums.setdefault(text, [0.0, 0.0])
            total[0], total[1] = total[0] + units * value, total[1] + units
        return [sums[text][0] / sums[text][1] for text, _ in self._agents]
