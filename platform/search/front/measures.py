"""How a search for a front measures its second objective."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from ...agents.registry import AGENTS
from ...arena.match import MatchRecord
from ...arena.workers.executor import Executor
from ...core.errors import UserError
from ...runs.bar import Bar
from ...statistics.intervals import mean_interval
from ..objective import Unit


class Estimate(NamedTuple):
    """A mean with the half width of its 95 % interval, and its number of positions, 0 if it covers games."""

    value: float
    half_width: float
    positions: int = 0


class Played(NamedTuple):
    """An agent with its played units."""

    agent: str  # full text form
    units: Sequence[Unit]


Records = Mapping[str, MatchRecord]  # by the id of their specs


class Measure(Protocol):
    """Measures the second objective of agents whose games are played."""

    def candidates(self, played: Sequence[Played], records: Records, executor: Executor, bar: Bar) -> list[float]:
        """Returns the values that guide a search."""

    def finalists(self, played: Sequence[Played], records: Records, executor: Executor, bar: Bar) -> list[Estimate]:
        """Returns the values of finalists, taken from nothing that the search has seen."""


BUSY = 0.05  # minimum share of CPU time in a decision's wall-clock time; less was measured wrongly


class DecisionTime:
    """The time of an agent's decisions: CPU time, or wall-clock time if CPU time is missing or implausible."""

    def candidates(self, played: Sequence[Played], records: Records, executor: Executor, bar: Bar) -> list[float]:
        return [self._milliseconds(one.units, records) for one in played]

    def finalists(self, played: Sequence[Played], records: Records, executor: Executor, bar: Bar) -> list[Estimate]:
        return [Estimate(*mean_interval([self._milliseconds([u], records) for u in one.units])) for one in played]

    def _milliseconds(self, units: Sequence[Unit], records: Records) -> float:
        seconds = decisions = 0.0
        for unit in units:
            for spec, (seat,) in zip(unit.specs, unit.seats, strict=True):
                record = records[spec.id]
                seconds += decision_seconds(record, seat)
                decisions += record.decisions[seat]
        if not seconds > 0 or not decisions:
            agents = " against ".join(str(AGENTS.make(agent)) for agent in dict.fromkeys(units[0].specs[0].agents))
            raise UserError(
                f"the time of a decision must be measurable, but {agents} took {seconds:g} seconds for"
                f" {decisions:,.0f} decisions; search for --objectives strength."
            )
        return 1000 * seconds / decisions


def decision_seconds(record: MatchRecord, seat: int) -> float:
    """Returns the seconds of a seat's decisions; games of earlier versions may have far too little CPU time."""
    wall, cpu = record.seat_seconds[seat], (*record.seat_cpu_seconds, *[0.0] * len(record.seat_seconds))[seat]
    return cpu if cpu >= BUSY * wall or math.isnan(wall) else wall
