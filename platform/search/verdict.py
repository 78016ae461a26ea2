"""The verdict at the end of a study: whether its agent is better, by how much, and how sure that is.

There are three verdicts: better, not better, and undecided, which names the number of games needed to decide.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple, Self

import numpy as np

from ..agents.agent import Agent
from ..core.number_text import estimate, roughly
from ..statistics.intervals import CONFIDENCE, mean_interval
from ..statistics.sprt import elo_of_share
from ..statistics.superiority import repeated, repeated_ratio

START = "start"  # the label of the agent that the search began with
BETTER, NOT_BETTER, UNDECIDED = "better", "not better", "undecided"
MAX_VERIFY = 10_000.0  # maximum held-out games, as a multiple of the games of the search
NOT_SHOWN = "not shown"  # in verdicts from before the last two were told apart
FIXED = (1 - CONFIDENCE) / 2  # the critical p-value of a single look


class Finalist(NamedTuple):
    """An agent that plays held-out games, its value in the search, if known, and whether the others have to beat it."""

    agent: Agent
    claimed: float | None
    reference: bool = False


@dataclass(frozen=True)
class HeldOutFigures:
    """One finalist's figures; `half_width` and the ends of intervals are NaN if there is no interval.

    The interval of a mean is a 95 % interval, those of differences are the test's, see `StudyVerdict.confidence`.
    """

    label: str
    agent: str
    claimed: float | None
    units: int  # held-out games, or rounds of games of one seed
    held_out: float
    half_width: float
    shrinkage: float | None  # claimed - held_out
    difference: float | None  # to the start, on common seeds
    difference_low: float | None
    difference_high: float | None
    gain: float | None  # over the best reference, on common seeds
    gain_low: float | None
    gain_high: float | None
    reference: bool = False  # which the others have to beat

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Self:
        """Returns stored figures; those of earlier versions have no references, and half widths in place of ends."""
        row = {"reference": stored["claimed"] is None, "gain": None} | dict(stored)
        for name in ("difference", "gain"):
            middle, half = row[name], row.pop(f"{name}_half_width", None)
            known = middle is not None and half is not None
            ends = (middle - half, middle + half) if known else (None, None)
            row = {f"{name}_low": ends[0], f"{name}_high": ends[1]} | row
        return cls(**row)


def figures_of(
    chosen: Mapping[str, Finalist],
    held_out: Mapping[str, Sequence[float]],
    start: str,
    reference: str,
    critical: Mapping[str, Mapping[int, float]] | None = None,
    single: float = FIXED,
) -> tuple[HeldOutFigures, ...]:
    """Returns the figures of all finalists.

    Args:
        chosen: the finalists by label.
        held_out: values of held-out games by label, on the same seeds in the same order; some agents may have played
            more.
        start: the label that the others are compared with.
        reference: the label of the best reference, with which they are compared, too.
        critical: p-values of the test of a challenger by its label and units, see `Superiority`; a missing one means a
            single look.
        single: the critical p-value of a single look.
    """
    figures = []
    for label, values in held_out.items():
        claimed, interval, looks = chosen[label].claimed, mean_interval(values), (critical or {}).get(label, {})
        to_start, to_reference = (
            (None, None, None) if label == other else _difference(values, held_out[other], looks, single)
            for other in (start, reference)
        )
        figures.append(
            HeldOutFigures(
                label,
                str(chosen[label].agent),
                claimed,
                len(values),
                interval.mean,
                interval.half_width,
                None if claimed is None else claimed - interval.mean,
                difference=to_start[0],
                difference_low=to_start[1],
                difference_high=to_start[2],
                gain=to_reference[0],
                gain_low=to_reference[1],
                gain_high=to_reference[2],
                reference=chosen[label].reference,
            )
        )
    return tuple(figures)


def _difference(
    values: Sequence[float], others: Sequence[float], looks: Mapping[int, float], single: float
) -> tuple[float, float, float]:
    """Returns the mean of the differences on the common seeds, and the ends of its repeated interval."""
    n = min(len(values), len(others))
    mean = float(np.mean(np.subtract(values[:n], others[:n]))) if n else math.nan
    return mean, *(repeated(values[:n], others[:n], looks.get(n, single)) if n > 1 else (math.nan, math.nan))


@dataclass(frozen=True)
class StudyVerdict:
    """Whether a search has found an agent that is better than its start and every baseline.

    The interval is that of the test, which allows for its looks and for an early end: it is above 0 exactly if the
    challenger has beaten the reference.
    """

    outcome: str  # better | not better | undecided; not shown
    label: str  # of the recommendation: a finalist of the search, otherwise the reference to keep
    agent: str  # its text form
    challenger: str | None  # its label; None if the search found only the start
    reference: str  # label of the best reference
    difference: float | None  # of the challenger to the reference, in the objective's unit or in %
    low: float | None  # of its interval, which holds the truth with at least the probability `confidence`
    high: float | None
    unit: str  # of the three: % of the reference's mean score, or percentage points of the share of points
    units: int  # held-out games, or rounds of games of one seed, of the challenger and of the reference each
    games: int  # held-out games of all finalists
    searched: int  # games of the search
    alpha: float  # probability of a false "better"
    figures: tuple[HeldOutFigures, ...]
    unit_games: int = 1  # games per unit
    needed: int | None = None  # units each that would decide; None if decided, or if none would
    repeated: bool = False  # whether the challenger and the reference each repeat one game
    budget: int = 0  # games of the search with which its command plays the same games
    confidence: float = CONFIDENCE  # of the interval; each of its ends errs half as often as it does
    free: int = 0  # finalists without games of their own: the start, if it is the opponent
    counted: str = "games"  # what they have played: games, or evaluations of a function

    @property
    def improved(self) -> bool:
        return self.outcome == BETTER

    @property
    def sentence(self) -> str:
        """The verdict in one sentence, without the agent's text."""
        if self.challenger is None:
            said = "No improvement shown" if self.outcome == NOT_SHOWN else "Not better"
            return f"{said}: the search found no other agent than {self._kept}; keep it."
        measured = f"{self._measured}, {self.units * self.unit_games:,} held-out {self.counted}{self._each}"
        if self.improved:
            return f"Recommended: the {self.label} agent, {measured}."
        if self.outcome == NOT_BETTER:
            return f"Not better: {self.challenger} {measured}; keep {self._kept}."
        if self.repeated:
            return (
                f"Undecided: of {self.units * self.unit_games:,} held-out games, {self.challenger} and"
                f" {self.reference} each have played only {self.unit_games:,} that differ, since nobody draws random"
                f" numbers; keep {self._kept}, and name an opponent that draws some with --against."
            )
        if self.outcome == UNDECIDED:
            return f"Undecided: {self.challenger} {measured}; {self._left} would tell; until then keep {self._kept}."
        over = "" if self.label == self.figures[0].label else f" over {self.label}"
        return f"No improvement{over} shown ({self.challenger}: {measured}): keep {self._kept}."

    @property
    def _left(self) -> str:
        return (
            "no number of games"
            if self.needed is None
            else f"about {roughly(self.needed * self.unit_games)}{self._each}"
        )

    @property
    def direct(self) -> bool:
        """Whether the challenger has played against the reference, which has no games of its own."""
        return bool(self.free) and self.reference == self.figures[0].label

    @property
    def elo(self) -> tuple[float, float, float] | None:
        """The difference in Elo with the ends of its interval, if the games were a match of two seats."""
        if not self.direct or self.unit_games != 2 or self.difference is None or self.low is None or self.high is None:
            return None
        ahead, low, high = (elo_of_share(0.5 + x / 100) for x in (self.difference, self.low, self.high))
        return ahead, low, high

    @property
    def _each(self) -> str:
        return "" if self.direct else " each"

    @property
    def verify(self) -> float | None:
        """The share of the search's games at which the held-out games should decide.

        None if the verdict is decided, or if the share is above the maximum.
        """
        if self.outcome != UNDECIDED or self.needed is None or not self.searched:
            return None
        share = self.needed * (len(self.figures) - self.free) * self.unit_games / self.searched
        step = 10.0 ** (math.floor(math.log10(share)) - 1)
        share = round(math.ceil(share / step) * step, 10)  # two digits, rounded up
        return share if share <= MAX_VERIFY else None

    @property
    def _kept(self) -> str:
        return f"the {self.label}" if self.label == START else self.label

    @property
    def _measured(self) -> str:
        if self.difference is None or self.low is None or self.high is None:
            return ""
        if self.difference == 0 and math.isnan(self.low):
            return f"plays the same as {self.reference} in every game"
        sure = "" if self.confidence == CONFIDENCE else f"{self.confidence:.0%}: ".replace("%", " %")
        said = estimate(self.difference, self.low, self.high, self.unit, signed=True, sure=sure)
        elo = f" or {estimate(*self.elo, ' Elo', signed=True)}" if self.elo else ""
        return f"{said}{elo} {'over' if self.difference >= 0 else 'compared with'} {self.reference}"

    def to_json(self) -> dict[str, Any]:
        """Returns the stored form, with the sentence for readers elsewhere."""
        return asdict(self) | {"improved": self.improved, "sentence": self.sentence}

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Self:
        """Returns a stored verdict."""
        known = dict(stored)
        del known["improved"], known["sentence"]
        return cls(**known | {"figures": tuple(map(HeldOutFigures.from_json, known["figures"]))})


def gain(
    values: Sequence[float], reference: Sequence[float], scores: bool, critical: float = FIXED
) -> tuple[float, float, float, str]:
    """Returns a mean difference on common seeds, the ends of its interval, and its unit.

    Args:
        values: [n] of held-out units, and those of the reference.
        scores: whether values are scores, compared by their ratio; otherwise shares of points.
        critical: p-value of the look at which the interval is taken, see `Superiority`.
    """
    mean, other = float(np.mean(values)), float(np.mean(reference))
    if scores and min(reference) >= 0 and other > 0:
        low, high = repeated_ratio(values, reference, critical)
        return 100 * (mean / other - 1), 100 * (low - 1), 100 * (high - 1), " %"
    low, high = repeated(values, reference, critical)
    if scores:
        return mean - other, low, high, " points"
    return 100 * (mean - other), 100 * low, 100 * high, " percentage points"
