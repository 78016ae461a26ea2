"""Comparisons of two agents: paired differences, and p-values corrected for the number of pairs of agents."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy import stats

from turnier.statistics.intervals import CONFIDENCE


class Difference(NamedTuple):
    """A mean with its 95 % interval, tested against 0."""

    mean: float
    low: float
    high: float
    p: float  # two-sided: probability of a difference at least as large between equal agents
    superiority: float  # likelihood that the true mean is above 0, with a flat prior
    units: int


def paired_difference(differences: Sequence[float]) -> Difference:
    """Returns the mean of independent differences, one per pair of games or per seed, tested by Student's t.

    Where all differences are equal there is no variance: the p-value is then that of the sign test, and the interval is
    missing (NaN), as for fewer than two differences.
    """
    values = np.asarray(differences, np.float64)
    n = len(values)
    mean = float(np.mean(values)) if n else math.nan
    error = float(stats.sem(values)) if n > 1 else 0.0
    if error > 0:
        low, high = (float(end) for end in stats.t.interval(CONFIDENCE, n - 1, mean, error))
        below = float(stats.t.cdf(-mean / error, n - 1))
        return Difference(mean, low, high, 2 * min(below, 1 - below), 1 - below, n)
    signs = n if mean else 0
    p = float(stats.binomtest(signs, signs).pvalue) if signs else 1.0
    return Difference(mean, math.nan, math.nan, p, 0.5 if not mean else 1 - p / 2 if mean > 0 else p / 2, n)


def holm(p_values: Sequence[float]) -> list[float]:
    """Returns p-values corrected for their number; NaN stays NaN and does not count.

    If those below 0.05 are called differences, the probability of any false one is at most 5 %.
    Source: S. Holm, A simple sequentially rejective multiple test procedure, Scand. J. Stat. 6, 1979.
    """
    from statsmodels.stats.multitest import multipletests

    corrected = np.array(p_values, np.float64)
    known = ~np.isnan(corrected)
    if known.any():
        corrected[known] = multipletests(corrected[known], method="holm")[1]
    return [float(p) for p in corrected]


def units_needed(mean: float, high: float, units: int) -> float:
    """Returns the number of such independent differences that separates their mean from 0 in four of five tests.

    Args:
        mean: of the differences so far.
        high: upper end of its 95 % interval, from `paired_difference`.
        units: number of differences.

    Two-sided t-test at 5 % with a power of 80 %; infinite for a mean of 0, NaN where the interval is missing.
    Source: W. C. Guenther, Sample size formulas for normal theory t tests, The American Statistician 35, 1981.
    """
    if math.isnan(high) or units < 2:
        return math.nan
    if mean == 0:
        return math.inf
    deviation = (high - mean) / float(stats.t.ppf(0.5 + CONFIDENCE / 2, units - 1)) * math.sqrt(units)
    test, power = float(stats.norm.ppf(0.5 + CONFIDENCE / 2)), float(stats.norm.ppf(0.8))
    return float(math.ceil(((test + power) * deviation / mean) ** 2 + test**2 / 2))
