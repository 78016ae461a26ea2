"""What a study says at its end: whether what it found is better, by how much, and how sure that is."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple, Self

from turnier.agents.agent import Agent
from turnier.core.number_text import estimate
from turnier.statistics.comparisons import paired_difference
from turnier.statistics.intervals import mean_interval
from turnier.statistics.sprt import SequentialTest


class Finalist(NamedTuple):
    """An agent that plays held-out games, and its value in the search; without one it is a reference to beat."""

    agent: Agent
    claimed: float | None


@dataclass(frozen=True)
class HeldOutFigures:
    """One finalist's figures; half widths are those of 95 % intervals, NaN where there is none."""

    label: str
    agent: str
    claimed: float | None
    units: int  # held-out games, or rounds of games of one seed
    held_out: float
    half_width: float
    shrinkage: float | None  # claimed - held_out
    difference: float | None  # to the start, on the seeds that both have played
    difference_half_width: float | None
    gain: float | None  # over the best reference, on the seeds that both have played
    gain_half_width: float | None


def figures_of(
    chosen: Mapping[str, Finalist], held_out: Mapping[str, Sequence[float]], start: str, reference: str
) -> tuple[HeldOutFigures, ...]:
    """Returns the figures of all finalists.

    Args:
        chosen: the finalists by label.
        held_out: values of held-out games by label, on the same seeds in the same order; some agents may have played
            longer.
        start: the label that the others are compared with.
        reference: the label of the best reference, with which they are compared, too.
    """
    figures = []
    for label, values in held_out.items():
        claimed, interval = chosen[label].claimed, mean_interval(values)
        to_start, to_reference = (
            (None, None) if label == other else _difference(values, held_out[other]) for other in (start, reference)
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
                *to_start,
                *to_reference,
            )
        )
    return tuple(figures)


def _difference(values: Sequence[float], others: Sequence[float]) -> tuple[float, float]:
    """Returns the mean of the differences on the common seeds, and the half width of its 95 % interval."""
    pairs = paired_difference([a - b for a, b in zip(values, others, strict=False)])
    return pairs.mean, (pairs.high - pairs.low) / 2


@dataclass(frozen=True)
class StudyVerdict:
    """Whether a search has found an agent that is better than its start and than every baseline.

    The interval treats the number of games as fixed: after an early end it is slightly too far from 0.
    """

    improved: bool
    label: str  # of what is recommended: a finalist of the search, otherwise the reference to keep
    agent: str  # its text form
    challenger: str | None  # label of what is compared with the reference; None where the search found only the start
    reference: str  # label of the best reference
    difference: float | None  # of the challenger to the reference, in the objective's unit or in %
    low: float | None  # of its 95 % interval
    high: float | None
    unit: str  # of the three: % of the reference's mean score, or percentage points of the share of points
    units: int  # held-out games, or rounds of games of one seed, of the challenger and of the reference each
    games: int  # held-out games of all finalists
    searched: int  # games of the search
    alpha: float  # probability of a false "better"
    figures: tuple[HeldOutFigures, ...]
    unit_games: int = 1  # games per unit

    @property
    def sentence(self) -> str:
        """The verdict in one sentence, without the agent's text."""
        if self.challenger is None:
            return f"No improvement shown: the search found no other agent than {self._kept}; keep it."
        measured = f"{self._measured}, {self.units * self.unit_games:,} held-out games each"
        if self.improved:
            return f"Recommended: the {self.label} agent, {measured}."
        start = self.figures[0].label
        over = "" if self.label == start else f" over {self.label}"
        return f"No improvement{over} shown ({self.challenger}: {measured}): keep {self._kept}."

    @property
    def _kept(self) -> str:
        return f"the {self.label}" if self.label == "start" else self.label

    @property
    def _measured(self) -> str:
        if self.difference is None or self.low is None or self.high is None:
            return ""
        if self.difference == 0 and math.isnan(self.low):
            return f"the same as {self.reference} in every game"
        return f"{estimate(self.difference, self.low, self.high, self.unit, signed=True)} over {self.reference}"

    def to_json(self) -> dict[str, Any]:
        """Returns what is stored, with the sentence for those who read it elsewhere."""
        return asdict(self) | {"sentence": self.sentence}

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Self:
        known = {key: value for key, value in stored.items() if key != "sentence"}
        return cls(**known | {"figures": tuple(HeldOutFigures(**row) for row in known["figures"])})


def gain(values: Sequence[float], reference: Sequence[float], scores: bool) -> tuple[float, float, float, str]:
    """Returns a mean difference on common seeds, the ends of its 95 % interval, and its unit.

    Args:
        scores: whether values are scores, compared by their ratio (Fieller's interval); otherwise shares of points.
    """
    n = min(len(values), len(reference))
    if scores and min(reference[:n]) >= 0 and sum(reference[:n]) > 0:
        test = SequentialTest.of_scores()
        test.add(values[:n], reference[:n])
        ratio, low, high = test.planned_estimate
        return 100 * (ratio - 1), 100 * (low - 1), 100 * (high - 1), " %"
    pairs = paired_difference([a - b for a, b in zip(values[:n], reference[:n], strict=True)])
    if scores:
        return pairs.mean, pairs.low, pairs.high, " points"
    return 100 * pairs.mean, 100 * pairs.low, 100 * pairs.high, " percentage points"
