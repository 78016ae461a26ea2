"""What a study plays: the games that its generation waits for, and beside them games of what it recommends.

A worker that would idle at the end of a generation plays fresh games of the present recommendation. They say how far
the search is and change nothing in it: its state depends on the candidates' games only.
"""

from __future__ import annotations

import time

from turnier.agents.agent import Agent
from turnier.arena.match import MatchRecord, MatchSpec
from turnier.arena.workers.executor import Source
from turnier.results.store.store import Store
from turnier.search.objective import Objective, Unit

BLOCK = 32  # units that are looked up in the store at once
LOOK_SECONDS = 2.0  # how often is looked for what other drivers have stored


class StudyGames(Source[MatchSpec]):
    """Games waited for, and spare games of the recommendation after each generation."""

    def __init__(self, store: Store, objective: Objective) -> None:
        super().__init__()
        self.store, self.objective = store, objective
        self.played = 0  # spare games by this driver
        self._looked = time.monotonic()
        self._agent: str | None = None
        self._generation = 0
        self._units: list[Unit] = []
        self._next: list[Unit] = []
        self._records: dict[str, MatchRecord] = {}

    def recommend(self, agent: Agent, generation: int) -> None:
        """Says what spare workers play from now on: the agent recommended after so many generations."""
        self._agent, self._generation = agent.full_text(), generation
        self._units, self._next, self._records = [], [], {}

    def stored_by_others(self) -> list[MatchRecord]:
        """Returns games that other drivers have stored meanwhile, which are then not waited for; looks now and then."""
        now = time.monotonic()
        if not self.waiting or now - self._looked < LOOK_SECONDS:
            return []
        self._looked = now
        found = self.store.records([spec.id for spec in self.waiting])
        if found:
            known = {record.spec.id for record in found}
            left = [spec for spec in self.waiting if spec.id not in known]
            self.waiting.clear()  # the executor has it in its hands
            self.waiting.extend(left)
        return found

    def stop(self) -> None:
        """Says that nothing is left to wait for."""
        self._agent = None

    def idle_specs(self, count: int) -> list[MatchSpec]:
        if self._agent is None:
            return []
        specs: list[MatchSpec] = []
        while len(specs) < count:
            if not self._next:
                self._look_up(self._agent)
                continue
            specs += self._next.pop(0)
        return specs

    def _look_up(self, agent: str) -> None:
        """Takes further units; what the store has of them was played by an earlier driver."""
        first = len(self._units)
        units = [self.objective.spare_unit(agent, self._generation, n) for n in range(first, first + BLOCK)]
        stored = self.store.records([spec.id for unit in units for spec in unit])
        self._records |= {record.spec.id: record for record in stored}
        self._units += units
        self._next = [unit for unit in units if not all(spec.id in self._records for spec in unit)]

    def take(self, record: MatchRecord) -> None:
        self.played += 1
        self._records[record.spec.id] = record

    def values(self) -> list[float]:
        """Returns what the spare games of the present recommendation are worth, unit by unit."""
        whole = [unit for unit in self._units if all(spec.id in self._records for spec in unit)]
        return self.objective.values(whole, self._records)
