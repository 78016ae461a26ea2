"""How a search for a front measures its second objective."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from turnier.arena.match import MatchRecord
from turnier.arena.workers.executor import Executor
from turnier.runs.bar import Bar
from turnier.search.objective import Unit
from turnier.statistics.intervals import mean_interval


class Estimate(NamedTuple):
    """A mean with the half width of its 95 % interval, and how many positions it covers: 0 if it covers games."""

    value: float
    half_width: float
    positions: int = 0


class Played(NamedTuple):
    """An agent with the units that it has played."""

    agent: str  # full text form
    units: Sequence[Unit]


Records = Mapping[str, MatchRecord]  # by the id of their specs


class Measure(Protocol):
    """Measures the second objective of agents whose games are played."""

    def candidates(self, played: Sequence[Played], records: Records, executor: Executor, bar: Bar) -> list[float]:
        """Returns the values by which a search is guided."""

    def finalists(self, played: Sequence[Played], records: Records, executor: Executor, bar: Bar) -> list[Estimate]:
        """Returns the values of finalists, taken from nothing that the search has seen."""


class DecisionTime:
    """The time of an agent's decisions: CPU time, or wall-clock time where that was not measured."""

    def candidates(self, played: Sequence[Played], records: Records, executor: Executor, bar: Bar) -> list[float]:
        return [self._milliseconds(one.units, records) for one in played]

    def finalists(self, played: Sequence[Played], records: Records, executor: Executor, bar: Bar) -> list[Estimate]:
        return [Estimate(*mean_interval([self._milliseconds([u], records) for u in one.units])) for one in played]

    def _milliseconds(self, units: Sequence[Unit], records: Records) -> float:
        seconds = decisions = 0.0
        for unit in units:
            for order, spec in enumerate(unit):
                seat, record = order % len(spec.agents), records[spec.id]
                seconds += (record.seat_cpu_seconds or record.seat_seconds)[seat]
                decisions += record.decisions[seat]
        return 1000 * seconds / max(1.0, decisions)
