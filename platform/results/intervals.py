"""95 % intervals of what games give: means, differences of means, shares."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy import stats

CONFIDENCE = 0.95


def mean_interval(values: Sequence[float]) -> tuple[float, float]:
    """Returns the mean and the half-width of its 95 % interval (Student's t; NaN for fewer than two values)."""
    n = len(values)
    if n < 2:
        return (float(values[0]) if n else math.nan), math.nan
    half = float(stats.t.ppf(0.5 + CONFIDENCE / 2, n - 1) * stats.sem(values))
    return float(np.mean(values)), half


def difference_interval(values: Sequence[float], baseline: Sequence[float]) -> tuple[float, float]:
    """Returns the difference of two means and the half-width of its 95 % interval (Welch; NaN below two values)."""
    if min(len(values), len(baseline)) < 2:
        return float(np.mean(values) - np.mean(baseline)), math.nan
    interval = stats.ttest_ind(values, baseline, equal_var=False).confidence_interval(CONFIDENCE)
    return float(np.mean(values) - np.mean(baseline)), float(interval.high - interval.low) / 2


def share_interval(hits: int, n: int) -> tuple[float, float, float]:
    """Returns a share and its Wilson 95 % interval (share, low, high); NaN for n = 0."""
    if n == 0:
        return math.nan, math.nan, math.nan
    interval = stats.binomtest(hits, n).proportion_ci(CONFIDENCE, method="wilson")
    return hits / n, float(interval.low), float(interval.high)
