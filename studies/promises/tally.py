"""How often a promise was kept, and whether that matches the promise.

Counts of one tournament depend on each other, so each unit (a tournament, a comparison, a block of games) also leaves
squares: the interval of a share is Wilson's, with the equivalent number of independent tries (L. Kish, Survey Sampling,
1965: the design effect).
"""

from __future__ import annotations

import enum
import math
from collections.abc import Callable, Mapping
from typing import NamedTuple

from turnier.results.store.store import Store
from turnier.statistics.distributions import normal_quantile
from turnier.statistics.intervals import CONFIDENCE, Interval, points_intervals

FEW = 0.9  # the promise for means of few games
CLOSE = 0.005  # from 95 %: intervals are approximations, which enough games always show


class Kind(enum.Enum):
    """The promise for a share."""

    INTERVAL = "95 %"  # share of intervals that hold the truth
    AT_LEAST = ">= 95 %"  # of intervals for several things at once, for early ends, or with virtual games
    AT_MOST = "<= 5 %"  # of false claims
    FEW = ">= 90 %"  # of means of so few games that rare results may be missing, see docs/tournaments.md
    SAID = "as said, or more"  # over fields of all kinds, at least the mean of the stated probabilities
    OF_FIELD = "none of one field"  # a part of the last one
    NONE = "none"  # no promise: the share is given as if some assumption held
    SHOWN = "no promise"  # the mean error of an estimate, not a share


class Promise(NamedTuple):
    """One row of the table."""

    text: str
    kind: Kind
    before: str = ""  # the figure before 27 November 2026, %


class Seen(NamedTuple):
    """A unit's result for a promise."""

    hits: float
    n: int
    said: float = 0.0  # the sum of the stated probabilities


class Part(NamedTuple):
    """Units of one kind, such as tournaments of ten equal agents."""

    name: str
    text: str
    units: int  # at scale 1
    measure: Callable[[int, Store], Mapping[str, Seen]]  # (number of the unit, an empty store) -> results by promise
    promises: Mapping[str, Promise]
    public: bool = True  # whether it uses the public interface; otherwise schedules and statistics on `play_matches`


class Tally(NamedTuple):
    """The results of all units so far for a promise, as sums."""

    units: int = 0
    hits: float = 0.0
    n: int = 0
    said: float = 0.0
    hits_squared: float = 0.0
    hits_times_n: float = 0.0
    n_squared: float = 0.0

    def plus(self, seen: Seen) -> Tally:
        """Returns the tally with a further unit."""
        hits, n, said = seen
        return Tally(
            self.units + 1,
            self.hits + hits,
            self.n + n,
            self.said + said,
            self.hits_squared + hits**2,
            self.hits_times_n + hits * n,
            self.n_squared + n**2,
        )

    def joined(self, other: Tally) -> Tally:
        """Returns the tally with the units of another one."""
        units, *sums = (mine + its for mine, its in zip(self, other, strict=True))
        return Tally(int(units), sums[0], int(sums[1]), *sums[2:])

    def interval(self, kind: Kind) -> Interval:
        """Returns the share, or the mean of errors, with its 95 % interval."""
        share = self.hits / self.n
        apart = self.hits_squared - 2 * share * self.hits_times_n + share**2 * self.n_squared
        variance = max(apart, 0.0) / self.n**2
        if kind is Kind.SHOWN:
            half = normal_quantile(0.5 + CONFIDENCE / 2) * math.sqrt(variance)
            return Interval(share, share - half, share + half)
        independent = share * (1 - share)
        worth = min(self.n, independent / variance) if variance and independent else self.n
        low, high = points_intervals(share, independent, worth)
        return Interval(share, float(low), float(high))

    def nominal(self, kind: Kind) -> float:
        """Returns the promised share; NaN if there is none."""
        if kind in (Kind.SAID, Kind.OF_FIELD):
            return self.said / self.n
        return {Kind.AT_MOST: 1 - CONFIDENCE, Kind.SHOWN: math.nan, Kind.FEW: FEW}.get(kind, CONFIDENCE)

    def verdict(self, kind: Kind) -> str:
        """Returns whether the promise is kept: right, close, wide, or the fault."""
        _, low, high = self.interval(kind)
        nominal = self.nominal(kind)
        if kind in (Kind.SHOWN, Kind.OF_FIELD, Kind.NONE):
            return ""
        if kind is Kind.AT_MOST:
            return "right" if low <= nominal else "too often"
        if low <= nominal <= high or (low > nominal and kind is not Kind.INTERVAL):
            return "right"
        if kind is Kind.INTERVAL and low - CLOSE <= nominal <= high + CLOSE:
            return "close"
        if low > nominal:
            return "wide"
        return "too sure" if kind is Kind.SAID else "too narrow"
