"""Comparisons of two agents: paired differences, and p-values corrected for the number of pairs of agents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .distributions import Floats, normal_quantile, t_probability, t_quantile
from .intervals import CONFIDENCE
from .superiority import VIRTUAL


class Difference(NamedTuple):
    """A mean with its 95 % interval, tested against 0."""

    mean: float
    low: float
    high: float
    p: float  # two-sided: the probability of a difference at least this large between equal agents
    units: int


class Differences(NamedTuple):
    """Many means of differences, see `Difference`; every field is an array [groups]."""

    mean: Floats
    low: Floats
    high: Floats
    p: Floats
    units: npt.NDArray[np.int64]


def paired_difference(differences: Sequence[float]) -> Difference:
    """Returns the mean of independent differences, one per pair of games or per seed, tested by Student's t.

    If all differences are equal, there is no variance: the p-value is then that of the sign test, and the interval is
    missing (NaN), as for fewer than two differences.
    """
    values = np.asarray(differences, np.float64)
    found = paired_differences(values, np.zeros(len(values), np.int64), 1)
    return Difference(*(field[0].item() for field in found))


def paired_differences(
    values: Floats,
    group: npt.NDArray[np.int64],
    groups: int,
    points: bool = False,
    games: Floats | None = None,
    times: Floats | None = None,
) -> Differences:
    """Returns the `paired_difference` of each of many groups.

    Args:
        values: differences.
        group: [values] index of the group.
        groups: number of groups.
        games: [values] number of games behind each difference, by which the mean and its interval are weighted.
        points: whether these are differences of points. They take few values, so a few pairs often vary less than their
            agents do, or not at all, by chance. The test then adds virtual differences, as in `superiority`; the
            intervals have none.
        times: [values] number of differences like each; None = 1.
    """
    alike = np.ones(len(values)) if times is None else times
    n = np.bincount(group, alike, groups).astype(np.int64)
    weights = np.ones(len(values)) if games is None else games
    with np.errstate(divide="ignore", invalid="ignore"):
        total = np.bincount(group, alike * weights, groups)
        mean = np.bincount(group, alike * weights * values, groups) / total
        squares = np.bincount(group, alike * (weights * (values - mean[group])) ** 2, groups)
        error = np.sqrt(squares * n / (n - 1)) / total
        least, most = np.full(groups, np.inf), np.full(groups, -np.inf)
        np.minimum.at(least, group, values)
        np.maximum.at(most, group, values)
        varied = most > least
        scaled, freedom = np.where(varied, mean / error, 0.0), np.where(varied, n - 1, 1)
        half = np.where(varied, t_quantile(0.5 + CONFIDENCE / 2, freedom) * error, np.nan)
    signs = np.where(mean != 0, 0.5 ** (n - 1.0), 1.0)  # p-value of the sign test if all signs agree
    p = np.where(n == 0, 1.0, np.where(varied, 2 * t_probability(-np.abs(scaled), freedom), signs))
    if points:
        p = _p_of_points(values, group, n, alike)
    return Differences(mean, mean - half, mean + half, p, n)


def _p_of_points(values: Floats, group: npt.NDArray[np.int64], n: npt.NDArray[np.int64], times: Floats) -> Floats:
    """Returns two-sided p-values [groups] of n differences of points each, by Student's t with virtual differences."""
    groups, size = len(n), n + VIRTUAL
    apart = np.bincount(group, times * (values != 0), groups)
    squares = np.bincount(group, times * values**2, groups)
    mean = np.bincount(group, times * values, groups) / size
    usual = squares / np.maximum(apart, 1)
    error = np.sqrt((squares + VIRTUAL * usual - size * mean**2) / (size - 1) / size)
    p = 2 * t_probability(-np.abs(mean) / np.where(apart > 0, error, 1.0), size - 1)
    return np.asarray(np.where(apart > 0, p, 1.0), np.float64)


def holm(p_values: Sequence[float]) -> list[float]:
    """Returns p-values corrected for their number; NaN stays NaN and does not count.

    If p-values below 0.05 are called differences, the probability of any false one is at most 5 %.
    Source: S. Holm, A simple sequentially rejective multiple test procedure, Scand. J. Stat. 6, 1979.
    """
    corrected = np.array(p_values, np.float64)
    known = np.flatnonzero(~np.isnan(corrected))
    ascending = known[np.argsort(corrected[known], kind="stable")]
    times = np.arange(len(ascending), 0, -1)  # the number of p-values that are at least as large
    corrected[ascending] = np.minimum(np.maximum.accumulate(corrected[ascending] * times), 1.0)
    return [float(p) for p in corrected]


def units_needed(
    mean: npt.ArrayLike, high: npt.ArrayLike, units: npt.ArrayLike, critical: float = (1 - CONFIDENCE) / 2
) -> Floats:
    """Returns the number of independent differences whose mean is distinguished from 0 in four of five tests.

    Args:
        mean: of the differences so far.
        high: upper end of its 95 % interval, from `paired_difference`.
        units: number of differences.
        critical: the p-value at which a one-sided test claims a difference; by default that of a two-sided one at 5 %.

    T-test with a power of 80 %; infinite for a mean of 0, NaN if the interval is missing.
    Source: W. C. Guenther, Sample size formulas for normal theory t tests, The American Statistician 35, 1981.
    """
    means, highs, n = (np.asarray(values, np.float64) for values in (mean, high, units))
    test, power = normal_quantile(1 - critical), normal_quantile(0.8)
    with np.errstate(divide="ignore", invalid="ignore"):
        deviation = (highs - means) / t_quantile(0.5 + CONFIDENCE / 2, np.maximum(n - 1, 1)) * np.sqrt(n)
        needed = np.ceil(((test + power) * deviation / means) ** 2 + test**2 / 2)
    known = (n >= 2) & ~np.isnan(highs)
    return np.asarray(np.where(known, np.where(means == 0, np.inf, needed), np.nan), np.float64)
