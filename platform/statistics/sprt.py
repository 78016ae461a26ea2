"""Sequential tests: play until one agent is shown to be stronger, or both to be equal within a margin.

In games of several seats, the independent unit is a pair (one seed, seats rotated) with the first agent's share of its
points: 0, 1/4, 1/2, 3/4 or 1 if a pair is two games (the pentanomial model). In single-player games it is the two
scores on one seed. Both are units (a, b), and the ratio of means E[a] / E[b] is tested; for shares b = 1.

Sources: A. Wald, Sequential Analysis, 1947. M. Sobel and A. Wald, A sequential decision procedure for choosing one of
three hypotheses, Ann. Math. Stat. 20, 1949. M. Van den Bergh, A practical introduction to the GSPRT, which fishtest and
fastchess follow: unknown parameters (here the variance) are estimated under either hypothesis. R. Royall, Statistical
Evidence, 1997, chapter 1 (likelihood intervals, and how rarely they mislead, at any stopping time).
"""

from __future__ import annotations

import enum
import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ..core.errors import UserError
from .distributions import t_quantile
from .intervals import CONFIDENCE, Interval

MARGIN_ELO = 20.0  # default margin if agents meet: a share of points of 0.529
MARGIN_SCORE = 0.05  # default margin in single-player games: a share of the second agent's mean score
MINIMUM = 24  # units before the first decision, simulated in tests/statistics/test_sprt.py
VIRTUAL = 2.0  # units added to the observed ones, half of them clear wins and half clear losses
FAR = 10.0  # see SequentialTest.evidence; simulated with margins of 0.3 to 0.003 standard deviations
UNLIKELY = 1 - CONFIDENCE  # see SequentialTest.estimate, and Improvement
_PATHS = 400
_LONGEST = 1000  # multiples of the units so far
_MIN_VARIANCE = 1e-12  # of the mean square


class Verdict(enum.StrEnum):
    STRONGER = "stronger"
    WEAKER = "weaker"
    EQUAL = "equal within the margin"
    UNDECIDED = "undecided"


def elo_of_share(share: float) -> float:
    """Returns the difference in Elo for an expected share of points; -inf and inf at 0 and 1."""
    if share <= 0 or share >= 1:
        return math.copysign(math.inf, share - 0.5)
    return 400 * math.log10(share / (1 - share))


def share_of_elo(elo: float) -> float:
    return 1 / (1 + 10 ** (-elo / 400))


class SequentialTest:
    """Three hypotheses of E[a] / E[b], low, middle and high, and two tests: low against middle, middle against high.

    The verdict is stronger if high beats middle, weaker if low beats middle, equal if middle beats both. Each is wrong
    (the agent is not better; not worse; further away than the margin) with probability at most alpha: each of the two
    ways of leaving the middle has half of alpha.

    Args:
        ratios: (low, middle, high).
        alpha: probability of a wrong verdict, above 0 and below 0.5.
        sharing: the number of tests that share the errors of verdicts and intervals.
    """

    def __init__(self, ratios: tuple[float, float, float], alpha: float, sharing: int = 1) -> None:
        if not 0 < alpha < 0.5:
            raise UserError(f"alpha must be above 0 and below 0.5, got {alpha:g}; 0.05 is usual.")
        self.low, self.middle, self.high = ratios
        self._leave = math.log((1 - alpha) / (alpha / 2))
        self._stay = math.log(alpha / (1 - alpha / 2))
        self.unlikely = UNLIKELY / sharing  # see `estimate`
        self._stayed: set[float] = set()  # hypotheses that the middle has beaten
        self.units = 0
        self.verdict = Verdict.UNDECIDED
        self._seen = np.zeros(6)  # sums of 1, a, b, a², ab, b²

    @classmethod
    def of_shares(cls, margin: float = MARGIN_ELO, alpha: float = 0.05, sharing: int = 1) -> SequentialTest:
        """Returns the test of shares of points, with the margin in Elo."""
        if not 0 < margin <= 800:
            raise UserError(f"a margin must be above 0 and at most 800 Elo, got {margin:g}.")
        return cls((share_of_elo(-margin), 0.5, share_of_elo(margin)), alpha, sharing)

    @classmethod
    def of_scores(cls, margin: float = MARGIN_SCORE, alpha: float = 0.05, sharing: int = 1) -> SequentialTest:
        """Returns the test of scores, with the margin as a share of the second agent's mean score."""
        if not 0 < margin < 1:
            raise UserError(f"a margin must be above 0 and below 100 % of the mean score, got {100 * margin:g} %.")
        return cls((1 - margin, 1.0, 1 + margin), alpha, sharing)

    def add(self, a: Sequence[float], b: Sequence[float] | None = None) -> Verdict:
        """Adds units and tests once; a verdict is final.

        Args:
            a: [n] shares of points, or the first agent's scores.
            b: [n] the second agent's scores on the same seeds; None for shares.
        """
        first = np.asarray(a, np.float64)
        second = np.ones(len(first)) if b is None else np.asarray(b, np.float64)
        sign = self.sign
        self._seen += [len(first), first.sum(), second.sum(), first @ first, first @ second, second @ second]
        self.units += len(first)
        if self.sign != sign:
            self._stayed.clear()
        if self.verdict is Verdict.UNDECIDED and self.units >= MINIMUM and self._seen[2]:
            self.verdict = self._decide()
        return self.verdict

    @property
    def sign(self) -> int:
        """-1 if the second agent's mean score is negative: the ratios are then those of the agents' losses."""
        return -1 if self._seen[2] < 0 else 1

    @property
    def ratios(self) -> dict[Verdict, float]:
        """The ratio of each of the two tests."""
        return dict(zip((Verdict.WEAKER, Verdict.STRONGER), (self.low, self.high)[:: self.sign], strict=True))

    @property
    def _signed(self) -> npt.NDArray[np.float64]:
        """The observed sums, with negated scores if `sign` is -1."""
        return self._seen * [1, self.sign, self.sign, 1, 1, 1]

    @property
    def _sums(self) -> list[float]:
        """The observed sums, with those of the virtual units.

        Without these, agents that rarely differ, and were equal on the first seeds, would have a variance of 0.
        """
        mean = self._signed[2] / self._seen[0] if self.units else 0.0
        own = self.middle * mean
        weights = np.array([1, own, mean, 2 * own**2, own * mean, mean**2])
        return [float(total) for total in self._signed + VIRTUAL * weights]

    def _decide(self) -> Verdict:
        for verdict, ratio in self.ratios.items():
            if ratio in self._stayed:
                continue
            evidence = self.evidence(ratio)
            if evidence >= self._leave:
                return verdict
            if evidence <= self._stay:
                self._stayed.add(ratio)
        return Verdict.EQUAL if len(self._stayed) == len(self.ratios) else Verdict.UNDECIDED

    @property
    def bounds(self) -> tuple[float, float]:
        """The evidence at which a test ends: for the middle ratio, and for the other one."""
        return self._stay, self._leave

    def evidence(self, ratio: float) -> float:
        """Returns the generalised log likelihood ratio of a ratio to the middle one.

        The likelihood of a bivariate normal sample, maximised under E[a] = r E[b], is proportional to
        (1 + m² / v)^(-n/2), where m and v are mean and variance of a - r b (Hotelling's T²); for shares fastchess
        computes the same.

        Differs: an estimate far outside both contradicts both almost equally, so clear cases would take long. Therefore
        the likelihood ratio of "that ratio or beyond" to "the middle or beyond" counts too, minus log FAR for the
        second attempt.
        """
        n, a, b, *_ = self._sums
        middle, other = self._distance(self.middle), self._distance(ratio)
        simple = 0.5 * n * (middle - other)
        away = math.copysign(1.0, ratio - self.middle)
        contradicts_middle, contradicts_other = away * (a - self.middle * b) > 0, away * (a - ratio * b) < 0
        beyond = 0.5 * n * (middle * contradicts_middle - other * contradicts_other)
        return math.copysign(max(abs(simple), abs(beyond) - math.log(FAR)), beyond)

    def _distance(self, ratio: float) -> float:
        n, a, b, *_ = self._sums
        mean = (a - ratio * b) / n
        return math.log1p((mean / self._spread(ratio)) ** 2) if mean else 0.0

    @property
    def estimate(self) -> Interval:
        """The ratio of means with its 95 % interval, which allows for the early end; NaN if there is none.

        The interval has the ratios under which the units are at least `unlikely` times as likely as under the best one;
        it is never narrower than for a planned number of units. At any stopping time, the true ratio falls below this
        relative likelihood with a probability of at most `unlikely`, compared with any one other ratio; compared with
        the best one, this is simulated in tests/statistics/test_sprt.py. Verdicts with alpha up to 5 % need more
        evidence, so their intervals exclude the middle. After an early end the ratio itself is slightly too far from
        the middle.
        """
        likely = math.expm1(2 * math.log(1 / self.unlikely) / self._sums[0])
        return self._fieller(float(np.maximum(self._planned, likely)))

    @property
    def _planned(self) -> float:
        """For `_fieller` with a planned number of units: by Student's t."""
        freedom = self.units - 1
        return float(t_quantile(1 - self.unlikely / 2, freedom)) ** 2 / freedom if freedom > 0 else math.nan

    def _fieller(self, q: float) -> Interval:
        """Returns the ratio of means and the ends of Fieller's interval (1954).

        Args:
            q: largest squared mean of a - ratio b, in variances of a unit; NaN without an interval.
        """
        _, seen_a, seen_b, *_ = self._signed.tolist()
        if math.isnan(q) or seen_b <= 0:
            return Interval(math.nan, math.nan, math.nan)
        # Sums of shares include the virtual units, as in Agresti and Coull's interval; scores vary anyway.
        n, *sums = self._sums if self.middle == 0.5 else self._signed.tolist()
        a, b, aa, ab, bb = (total / n for total in sums)
        square = b * b - q * (bb - b * b)
        half = a * b - q * (ab - a * b)
        root = half * half - square * (a * a - q * (aa - a * a))
        if square <= 0:  # the second agent's mean may be 0, so any ratio may be true
            return Interval(seen_a / seen_b, math.nan, math.nan)
        width = math.sqrt(max(root, 0.0))
        return Interval(seen_a / seen_b, (half - width) / square, (half + width) / square)

    def units_left(self) -> float:
        """Returns the expected number of further units until a verdict if the current estimate is true.

        By seeded simulation: the evidence of the two tests continues as a Brownian motion with opposite signs.
        """
        if self.verdict is not Verdict.UNDECIDED:
            return 0.0
        n, _, b, *_ = self._sums
        if not self.units or b <= 0:
            return math.nan
        ratios = sorted(self.ratios.values())
        evidence = np.array([self.evidence(ratio) for ratio in ratios])
        spreads = np.array([self._spread(ratio) for ratio in ratios])
        noise = np.array([(ratio - self.middle) * b / n for ratio in ratios]) / spreads
        random = np.random.default_rng(0)
        at = np.tile(evidence[:, None], _PATHS)
        stayed = np.tile([[ratio in self._stayed] for ratio in ratios], _PATHS)
        time, left = 0.0, np.zeros(_PATHS)
        open_ = np.ones(_PATHS, bool)
        while open_.any() and time < _LONGEST * n:
            step = max(1.0, 0.1 * (n + time), MINIMUM - self.units - time)
            time += step
            at += step * evidence[:, None] / n + noise[:, None] * random.normal(0, math.sqrt(step), _PATHS)
            stayed |= at <= self._stay
            left[open_] = time
            open_ &= ~(((at >= self._leave) & ~stayed).any(axis=0) | stayed.all(axis=0))
        return float(left.mean())

    @property
    def mean(self) -> tuple[float, float]:
        """The first agent's mean, and the variance of that mean; both with the virtual units."""
        n, a, _, aa, *_ = self._sums
        return self.sign * a / n, (aa / n - (a / n) ** 2) / n

    def _spread(self, ratio: float) -> float:
        """Returns the standard deviation of a - ratio b."""
        n, a, b, aa, ab, bb = self._sums
        return math.sqrt(
            max((aa - 2 * ratio * ab + ratio**2 * bb) / n - ((a - ratio * b) / n) ** 2, _MIN_VARIANCE * (aa + bb) / n)
        )


class Improvement(SequentialTest):
    """Two hypotheses, middle and high, and one test: STRONGER if high beats middle, EQUAL (not better) if it loses.

    STRONGER is wrong (the agent is not better) with probability at most alpha / sharing, EQUAL (it is better by the
    margin) with at most UNLIKELY. With alpha up to 5 %, intervals never contradict STRONGER, since its bound is Wald's
    without credit for the other error.
    """

    def __init__(self, ratios: tuple[float, float, float], alpha: float, sharing: int = 1) -> None:
        super().__init__(ratios, alpha, sharing)
        self._leave, self._stay = math.log(sharing / alpha), math.log(UNLIKELY / (1 - alpha / sharing))

    @property
    def ratios(self) -> dict[Verdict, float]:
        """The ratio of the test."""
        return {Verdict.STRONGER: super().ratios[Verdict.STRONGER]}
