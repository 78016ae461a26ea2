"""Statements of the documents, such as "a depth of 20 is best": claims about rows of experiments, tested on our games.

The tests are stated before the games are played. A statement holds if each of its claims is shown, and does not hold if
one of them is refuted, by intervals so wide that LOOKS looks at growing numbers of games are wrong in at most 2.5 % of
the cases, either way.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from turnier.core.number_text import estimate
from turnier.runs.experiments.row import Measurement
from turnier.statistics.intervals import Interval, weighted_sum

HOLDS, FAILS, OPEN = "holds", "does not hold", "not decided"
LOOKS = 7  # at a statement: after the planned games and each extension; the one after LEAST_GAMES adds hardly any error
LEAST_GAMES = 20  # of a figure: the interval of fewer may be narrow by luck, so nothing is said of it
MUCH = 100  # times the games so far: more is no plan


class Claim(NamedTuple):
    """A weighted sum of figures that must be above a number."""

    weights: Mapping[str, float]  # row's label -> weight
    above: float = 0.0


@dataclass(frozen=True)
class Statement:
    """What a document says, as claims about the rows of one experiment."""

    name: str  # such as K5: the document's letter and a number
    source: str  # chapter or figure
    text: str  # a sentence
    experiment: str  # its run id without the preset paper, such as kutsch:figure5
    claims: tuple[Claim, ...]
    setting: str = ""  # how ours differs from the document's, a few words; empty = not at all

    @property
    def rows(self) -> list[str]:
        """The labels of the rows that the claims are about."""
        return list(dict.fromkeys(label for claim in self.claims for label in claim.weights))


class Judged(NamedTuple):
    """The verdict on a statement."""

    verdict: str  # HOLDS, FAILS or OPEN
    evidence: str  # of the claim that decides, or is furthest from being shown
    rows: Sequence[str] = ()  # labels of claims that are neither shown nor refuted
    times: float = math.inf  # the number of times their games that would decide, if all goes on as it has begun
    games: int = 0  # these games; 0 = unknown, or more than MUCH times those so far


def higher(one: str, other: str, by: float = 1.0) -> Claim:
    """The figure of one row is higher than that of another, or than so many times that."""
    return Claim({one: 1.0, other: -by})


def increasing(*labels: str) -> tuple[Claim, ...]:
    """Each row's figure is higher than that of the row before."""
    return tuple(higher(later, earlier) for earlier, later in itertools.pairwise(labels))


def best(one: str, *others: str, within: float = 0.05) -> tuple[Claim, ...]:
    """No other figure is higher by more than a share: of two that are equal, one can never be shown to be higher."""
    return tuple(higher(one, other, by=1 - within) for other in others)


def alike(*labels: str, within: float = 0.1) -> tuple[Claim, ...]:
    """No figure is higher than another by more than a share."""
    return tuple(higher(one, other, by=1 - within) for one in labels for other in labels if one != other)


def at_least(label: str, value: float) -> Claim:
    return Claim({label: 1.0}, value)


def at_most(label: str, value: float) -> Claim:
    return Claim({label: -1.0}, -value)


def judge(statement: Statement, measured: Mapping[str, Measurement]) -> Judged:
    """Tests a statement.

    Args:
        statement: its claims.
        measured: row's label -> figure; claims about those with fewer than LEAST_GAMES are not tested.
    """
    few = [label for label in statement.rows if measured[label].games < LEAST_GAMES]
    tested = [claim for claim in statement.claims if not claim.weights.keys() & set(few)]
    claims = [_Tested(claim, measured, len(statement.claims)) for claim in tested]
    refuted = [claim for claim in claims if claim.is_refuted]
    if refuted:
        return Judged(FAILS, max(refuted, key=lambda claim: claim.distance).evidence)
    if few:
        counts = ", ".join(f"{label} ({measured[label].games})" for label in few)
        return Judged(OPEN, f"fewer than {LEAST_GAMES} games yet: {counts}", few)
    if all(claim.is_shown for claim in claims):
        return Judged(HOLDS, min(claims, key=lambda claim: claim.distance).evidence)
    left = [claim for claim in claims if not claim.is_shown]
    rows = list(dict.fromkeys(label for claim in left for label in claim.claim.weights))
    # One claim refutes, but all must be shown.
    last = min((c for c in left if c.may_refute), key=_times, default=None) or max(left, key=_times)
    games = 0
    if last.times <= MUCH:
        deciding = last.claim.weights if last.may_refute else rows
        games = sum(math.ceil(last.times * measured[label].games) for label in deciding)
    return Judged(OPEN, min(left, key=lambda claim: claim.distance).evidence, rows, last.times, games)


def next_look(planned: int, played: int) -> int:
    """Returns a row's number of games at the next look, each after twice the games of the last; 0 after LOOKS."""
    return next((planned * 2**look for look in range(1, LOOKS) if planned * 2**look > played), 0)


def _times(claim: _Tested) -> float:
    return claim.times


class _Tested:
    """A claim with its interval."""

    def __init__(self, claim: Claim, measured: Mapping[str, Measurement], among: int) -> None:
        self.claim, self.measured = claim, measured
        figures = [measured[label] for label in claim.weights]
        values = [Interval(each.value, each.low, each.high) for each in figures]
        self.sum = weighted_sum(list(claim.weights.values()), values, LOOKS)
        # Any claim can refute the statement: they share the error.
        self._wider = weighted_sum(list(claim.weights.values()), values, LOOKS * among)
        self.is_refuted = self._wider.high < claim.above
        self.is_shown = self.sum.low > claim.above
        self.may_refute = self.sum.value < claim.above  # with more games, if all goes on as it has begun

    @property
    def distance(self) -> float:
        """How far the sum is from the number, in half-widths of its interval; not below 0, which refutes."""
        half = (self.sum.high - self.sum.low) / 2
        return abs(self.sum.value - self.claim.above) / half if half > 0 else math.inf

    @property
    def times(self) -> float:
        """The number of times its games at which it would be decided, if all goes on as it has begun."""
        ends = self._wider if self.may_refute else self.sum
        away = abs(ends.value - self.claim.above)
        return ((ends.high - ends.low) / 2 / away) ** 2 if away else math.inf

    @property
    def evidence(self) -> str:
        labels, weights = list(self.claim.weights), list(self.claim.weights.values())
        if len(labels) == 1:
            sign = weights[0]
            low, high = sorted((sign * self.sum.low, sign * self.sum.high))
            bound = f"{'more' if sign > 0 else 'less'} than {sign * self.claim.above:g} is claimed"
            return f"{labels[0]}: {estimate(sign * self.sum.value, low, high)}; {bound}"
        times = "" if weights[1] == -1 else f"{-weights[1]:g} times "
        return f"{labels[0]} minus {times}{labels[1]}: {estimate(*self.sum)}"
