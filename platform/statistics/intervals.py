"""95 % intervals of what games give: means, medians, differences of means, shares."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy import stats

CONFIDENCE = 0.95


def mean_interval(values: Sequence[float] | npt.NDArray[np.float64]) -> tuple[float, float]:
    """Returns the mean and the half-width of its 95 % interval (Student's t; NaN for fewer than two values)."""
    n = len(values)
    if n < 2:
        return (float(values[0]) if n else math.nan), math.nan
    half = float(stats.t.ppf(0.5 + CONFIDENCE / 2, n - 1) * stats.sem(values))
    return float(np.mean(values)), half


def median_interval(values: Sequence[float] | npt.NDArray[np.float64]) -> tuple[float, float, float]:
    """Returns the median and its 95 % interval (median, low, high), whatever the distribution; NaN for too few values.

    The ends are order statistics (W. J. Conover, Practical Nonparametric Statistics, 1999, 3.2).
    """
    n = len(values)
    if n == 0:
        return math.nan, math.nan, math.nan
    ordered = np.sort(np.asarray(values, np.float64))
    below = int(stats.binom.ppf((1 - CONFIDENCE) / 2, n, 0.5))  # P(fewer values below the median) is 2.5 % at most
    if stats.binom.cdf(0, n, 0.5) > (1 - CONFIDENCE) / 2:
        return float(np.median(ordered)), math.nan, math.nan
    return float(np.median(ordered)), float(ordered[below - 1]), float(ordered[n - below])


def mean_of_means(groups: Sequence[Sequence[float]]) -> tuple[float, float]:
    """Returns the mean of the groups' means and the half-width of its 95 % interval.

    The squared standard errors of the means add up; a group of one value takes the groups' pooled variance. Student's t
    with the degrees of freedom of Welch and Satterthwaite; NaN where no group has two values.
    """
    sizes = np.array([len(group) for group in groups])
    if not len(sizes):
        return math.nan, math.nan
    mean = float(np.mean([np.mean(group) for group in groups]))
    freedom = sizes - 1
    if not freedom.any():
        return mean, math.nan
    spread = np.array([np.var(group, ddof=1) if len(group) > 1 else 0.0 for group in groups])
    pooled = float(freedom @ spread) / freedom.sum()
    squares = np.where(freedom > 0, spread, pooled) / sizes
    if not squares.any():
        return mean, 0.0
    known = np.where(freedom > 0, freedom, freedom.sum())
    half = stats.t.ppf(0.5 + CONFIDENCE / 2, squares.sum() ** 2 / (squares**2 / known).sum()) * math.sqrt(squares.sum())
    return mean, float(half) / len(sizes)


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
