"""The games of a study: those that its generation waits for, and games for workers that would otherwise be idle.

At the end of a generation idle workers play games of the current recommendation. These games show the progress of the
search and do not affect it: its state depends on the candidates' games only. The next generation does not wait for
them, and there are at most as many as games of candidates, since workers may cost money.
"""

from __future__ import annotations

import time
from collections.abc import Collection

from ..agents.agent import Agent
from ..arena.match import MatchRecord, MatchSpec
from ..arena.workers.executor import Source
from ..results.store.store import Store
from .objective import Objective, Unit

BLOCK = 32  # units per look-up in the store
LOOK_SECONDS = 2.0  # between two look-ups of games that other drivers have stored


class StudyGames(Source[MatchSpec]):
    """The games that a generation waits for, then idle-time games of the current recommendation."""

    def __init__(self, store: Store, objective: Objective) -> None:
        super().__init__()
        self.store, self.objective = store, objective
        self.played = 0  # idle-time games by this driver
        self._begun = self._needed = 0  # idle-time games, and games of generations, by this driver
        self._looked = time.monotonic()
        self._agent: str | None = None
        self._generation = 0
        self._units: list[Unit] = []
        self._next: list[Unit] = []
        self._records: dict[str, MatchRecord] = {}

    def recommend(self, agent: Agent, generation: int) -> None:
        """Sets the agent of idle-time games: the one recommended after this many generations."""
        self._agent, self._generation = agent.full_text(), generation
        self._units, self._next, self._records = [], [], {}

    @property
    def is_new(self) -> bool:
        """Whether no generation has needed a game yet."""
        return not self._needed

    def need(self, specs: Collection[MatchSpec]) -> None:
        """Adds games that a generation waits for."""
        self.waiting.extend(specs)
        self._needed += len(specs)

    def stored_by_others(self) -> list[MatchRecord]:
        """Returns games that other drivers have stored meanwhile, and stops waiting for them."""
        now = time.monotonic()
        if not self.waiting or now - self._looked < LOOK_SECONDS:
            return []
        self._looked = now
        played = self.store.played([spec.id for spec in self.waiting])
        stored = [spec.id for spec in self.waiting if spec.id in played]
        if stored:
            left = [spec for spec in self.waiting if spec.id not in played]
            self.waiting.clear()  # in place: the executor holds this queue
            self.waiting.extend(left)
        return self.store.records(stored)

    def stop(self) -> None:
        """Ends the idle-time games, and what no generation waits for any more, so that the executor returns."""
        self._agent = None
        self.waiting.clear()

    def idle_specs(self, count: int) -> list[MatchSpec]:
        """Returns further games of the recommendation, in total at most as many as the generations have needed."""
        specs: list[MatchSpec] = []
        while self._agent and len(specs) < count and self._begun + len(specs) < self._needed:
            if not self._next:
                self._look_up(self._agent)
                continue
            specs += self._next.pop(0)
        self._begun += len(specs)
        return specs

    def _look_up(self, agent: str) -> None:
        """Plans further units; those of an earlier driver are in the store."""
        first = len(self._units)
        units = [self.objective.idle_unit(agent, self._generation, n) for n in range(first, first + BLOCK)]
        stored = self.store.records([spec.id for unit in units for spec in unit])
        self._records |= {record.spec.id: record for record in stored}
        self._units += units
        self._next = [unit for unit in units if not all(spec.id in self._records for spec in unit)]

    def take(self, records: Collection[MatchRecord]) -> None:
        """Takes idle-time games."""
        self.played += len(records)
        self._records |= {record.spec.id: record for record in records}

    def values(self) -> list[float]:
        """Returns the values of the idle-time units of the current recommendation."""
        complete = [unit for unit in self._units if all(spec.id in self._records for spec in unit)]
        return self.objective.values(complete, self._records)
