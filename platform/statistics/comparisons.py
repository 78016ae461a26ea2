"""Two agents at a time: paired differences, and p-values that stay honest however many pairs of agents there are."""

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
    superiority: float  # likelihood that the true mean is above 0, before anything was known
    units: int


def paired_difference(differences: Sequence[float]) -> Difference:
    """Returns what independent differences, one of each pair of games or of each seed, say about their mean.

    Student's t. Where all differences are the same there is no variance to go by: then the p-value is that of the sign
    test, and the interval is missing (NaN) as it is for fewer than two differences.
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

    With any of them below 0.05 called a difference, the probability of calling one that is none is 5 % at most.
    Source: S. Holm, A simple sequentially rejective multiple test procedure, Scand. J. Stat. 6, 1979.
    """
    from statsmodels.stats.multitest import multipletests

    corrected = np.array(p_values, np.float64)
    known = ~np.isnan(corrected)
    if known.any():
        corrected[known] = multipletests(corrected[known], method="holm")[1]
    return [float(p) for p in corrected]


def units_needed(mean: float, high: float, units: int) -> float:
    """Returns how many independent differences such as these separate their mean from 0 in four tests of five.

    Args:
        mean: of the differences so far.
        high: upper end of its 95 % interval, as `paired_difference` says it.
        units: how many differences there were.

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
