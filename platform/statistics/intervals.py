"""95 % intervals of means, medians, differences of means and shares."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from turnier.statistics.distributions import Floats, Ints, median_rank, normal_quantile, t_quantile

CONFIDENCE = 0.95


class Interval(NamedTuple):
    """A value with the ends of its 95 % interval."""

    value: float
    low: float
    high: float


class Mean(NamedTuple):
    """A mean, or a difference of means, with the half-width of its 95 % interval."""

    mean: float
    half_width: float


_QUANTILE = normal_quantile(0.5 + CONFIDENCE / 2)
_UNKNOWN = Interval(math.nan, math.nan, math.nan)


def mean_interval(values: Sequence[float] | npt.NDArray[np.float64]) -> Mean:
    """Returns the mean with its 95 % interval (Student's t; NaN for fewer than two values)."""
    n = len(values)
    if n < 2:
        return Mean(float(values[0]) if n else math.nan, math.nan)
    return Mean(float(np.mean(values)), half_width_of_mean(n, float(np.std(values, ddof=1))))


def half_width_of_mean(n: int, deviation: float) -> float:
    """Returns the half-width of a mean's 95 % interval (Student's t; NaN for fewer than two values).

    Args:
        n: values.
        deviation: of the population, as estimated from them: the root of the sum of squares over n - 1.
    """
    return float(t_quantile(0.5 + CONFIDENCE / 2, n - 1) * (deviation / np.sqrt(n))) if n > 1 else math.nan


def median_interval(values: Sequence[float] | npt.NDArray[np.float64]) -> Interval:
    """Returns the median with its 95 % interval, for any distribution; NaN for too few values.

    The ends are order statistics (W. J. Conover, Practical Nonparametric Statistics, 1999, 3.2).
    """
    n = len(values)
    if n == 0:
        return _UNKNOWN
    ordered = np.sort(np.asarray(values, np.float64))
    below = median_rank(n, (1 - CONFIDENCE) / 2)  # P(fewer values below the median) is 2.5 % at most
    if 0.5**n > (1 - CONFIDENCE) / 2:
        return Interval(float(np.median(ordered)), math.nan, math.nan)
    return Interval(float(np.median(ordered)), float(ordered[below - 1]), float(ordered[n - below]))


def mean_of_means(groups: Sequence[Sequence[float]]) -> Mean:
    """Returns the mean of the groups' means with its 95 % interval.

    The squared standard errors of the means add up; a group of one value takes the groups' pooled variance. Student's t
    with the degrees of freedom of Welch and Satterthwaite; NaN where no group has two values.
    """
    sizes = np.array([len(group) for group in groups])
    if not len(sizes):
        return Mean(math.nan, math.nan)
    mean = float(np.mean([np.mean(group) for group in groups]))
    freedom = sizes - 1
    if not freedom.any():
        return Mean(mean, math.nan)
    spread = np.array([np.var(group, ddof=1) if len(group) > 1 else 0.0 for group in groups])
    pooled = float(freedom @ spread) / freedom.sum()
    squares = np.where(freedom > 0, spread, pooled) / sizes
    if not squares.any():
        return Mean(mean, 0.0)
    known = np.where(freedom > 0, freedom, freedom.sum())
    half = t_quantile(0.5 + CONFIDENCE / 2, squares.sum() ** 2 / (squares**2 / known).sum()) * math.sqrt(squares.sum())
    return Mean(mean, float(half) / len(sizes))


def share_interval(hits: int, n: int, among: int = 1) -> Interval:
    """Returns a share with its Wilson 95 % interval; NaN for n = 0.

    Args:
        hits: of n.
        n: tries.
        among: number of shares from which it was chosen because of its hits: the interval then holds whichever was
            chosen, as the error of 5 % is divided among them (Bonferroni).
    """
    if n == 0:
        return _UNKNOWN
    share = hits / n
    quantile = _QUANTILE if among == 1 else normal_quantile(1 - (1 - CONFIDENCE) / 2 / among)
    low, high = points_intervals(share, share * (1 - share), n, quantile)
    return Interval(share, float(low), float(high))


def points_interval(points: npt.ArrayLike) -> Interval:
    """Returns the mean of the points of games (1, 1/2, 0) with its 95 % interval; NaN for no game."""
    values = np.asarray(points, np.float64)
    if not len(values):
        return _UNKNOWN
    low, high = points_intervals(values.mean(), values.var(), len(values))
    return Interval(float(values.mean()), float(low), float(high))


def points_intervals(
    shares: npt.ArrayLike, variances: npt.ArrayLike, games: npt.ArrayLike, quantile: float = _QUANTILE
) -> tuple[Floats, Floats]:
    """Returns the ends of 95 % intervals of shares of points, each between 0 and 1; NaN where there is no game.

    Args:
        shares: means of the points of games.
        variances: of the points of one game, observed. Draws make it smaller than share times (1 - share).
        games: their numbers.
        quantile: of the normal distribution, for another confidence.

    Wilson's interval with the observed variance in place of the binomial one; without draws it is Wilson's interval.
    """
    share, variance, n = (np.asarray(values, np.float64) for values in (shares, variances, games))
    with np.errstate(divide="ignore", invalid="ignore"):
        shrink = quantile**2 / n
        centre = (share + shrink / 2) / (1 + shrink)
        half = np.sqrt(shrink * (variance + shrink / 4)) / (1 + shrink)
    low = np.where(share == 0, 0.0, np.maximum(centre - half, 0.0))
    return low, np.where(share == 1, 1.0, np.minimum(centre + half, 1.0))


class Shares(NamedTuple):
    """Shares of points, or of games won, with their 95 % intervals; every field is an array [groups]."""

    value: Floats  # NaN where there is no game
    low: Floats
    high: Floats


def shares_of_units(values: Floats, units: Ints, groups: Ints | None = None, number: int = 1) -> Shares:
    """Returns shares of groups of games, of which those of a unit are not independent.

    Args:
        values: [games] between 0 and 1.
        units: [games] equal numbers, from 0, for games that share a seed.
        groups: [games] the number of each one's group, from 0; None = all are one group.
        number: of groups.

    Student's t with two virtual units, a whole and an empty one, as in the interval of Agresti and Coull: it has a
    width where all units ended alike, lies between 0 and 1, and covers at least 94 % from 2 units on
    (tests/statistics/test_intervals.py). Larger units count more: their effective number is (sum of games)² / sum of
    squares (L. Kish, Survey Sampling, 1965).
    """
    group = np.zeros(len(values), np.int64) if groups is None else groups
    cells, cell = np.unique(group * (int(units.max(initial=0)) + 1) + units, return_inverse=True)
    of, games = cells // (int(units.max(initial=0)) + 1), np.bincount(cell).astype(np.float64)
    means = np.bincount(cell, values) / games
    total = np.bincount(of, games, number)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.bincount(of, games * means, number) / total
        n = total**2 / np.bincount(of, games**2, number)
        square = np.bincount(of, games * means**2, number) / total
        return Shares(share, *_share_ends(share, square, n))


def _share_ends(share: Floats, square: Floats, n: Floats) -> tuple[Floats, Floats]:
    """Returns the ends of intervals of means of n units, by the means of their values and of their squares."""
    centre = (n * share + 1) / (n + 2)
    variance = (n * square + 1) / (n + 2) - centre**2
    half = t_quantile(0.5 + CONFIDENCE / 2, n + 1) * np.sqrt(variance / (n + 2))
    return np.maximum(centre - half, 0.0), np.minimum(centre + half, 1.0)
