"""95 % intervals of means, medians, differences of means and shares."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .distributions import Floats, Ints, median_rank, normal_quantile, t_quantile

CONFIDENCE = 0.95
LEAST_CLUSTERS = 20  # for the interval of `common_share`
SAME = 1e-12  # mean square below which differences are rounding errors


class Interval(NamedTuple):
    """A value with the ends of its 95 % interval."""

    value: float
    low: float
    high: float


class Mean(NamedTuple):
    """A mean, or a difference of means, with the half-width of its 95 % interval."""

    mean: float
    half_width: float


class Bounds(NamedTuple):
    """The least and the largest value that a quantity can have; its intervals end there."""

    least: float = -math.inf
    most: float = math.inf

    def around(self, value: Any, half_width: Any) -> tuple[Any, Any]:
        """Returns the ends of an interval, of numbers or of columns of a frame."""
        return np.maximum(value - half_width, self.least), np.minimum(value + half_width, self.most)


UNBOUNDED, COUNT, SHARE, PERCENT = Bounds(), Bounds(0.0), Bounds(0.0, 1.0), Bounds(0.0, 100.0)

_UNKNOWN = Interval(math.nan, math.nan, math.nan)


def mean_interval(values: npt.ArrayLike) -> Mean:
    """Returns the mean with its 95 % interval, see `half_width_of_mean`; NaN for fewer than two values.

    Measured coverage on scores of 2048 (sizes 2 to 4; random, greedy, mc), where Student's t alone covers 89 to 95 %:
    92.2 to 96.3 % with 20 games or more, 93.7 to 96.7 % with 10 (91 to 92 % at size 2, whose scores take few values),
    and 87 to 98 % with 5, which may miss rare scores.
    """
    found = np.asarray(values, np.float64)
    n = len(found)
    if n < 2:
        return Mean(float(found[0]) if n else math.nan, math.nan)
    mean = float(np.mean(found))
    return Mean(mean, half_width_of_mean(n, float(np.std(found, ddof=1)), _skewness(found - mean)))


def half_width_of_mean(n: int, deviation: float, skewness: float = 0.0) -> float:
    """Returns the half-width of a mean's 95 % interval; NaN for fewer than two values.

    Args:
        n: number of values.
        deviation: of the population, estimated from the values: the root of the sum of squares over n - 1.
        skewness: of the population, estimated from the values.

    Student's t, widened to restore the confidence that the skewness takes away: by the term of order 1/n of its
    Edgeworth expansion (P. Hall, The Bootstrap and Edgeworth Expansion, 1992). The width at most doubles; for symmetric
    values it grows by 5 % with 10 values, by 1 % with 20.
    """
    if n < 2:
        return math.nan
    quantile = normal_quantile(0.5 + CONFIDENCE / 2)
    wider = 1 + (quantile**4 + 2 * quantile**2 - 3) / 18 * skewness**2 / n
    return float(t_quantile(0.5 + CONFIDENCE / 2, n - 1) * (deviation / np.sqrt(n)) * wider)


def _skewness(residuals: Floats) -> float:
    """Returns the skewness of a population from the residuals of a sample, unbiased for a normal one; 0 if n < 3."""
    n, deviation = len(residuals), math.sqrt(np.mean(residuals**2))
    if n < 3 or not deviation:
        return 0.0
    scaled = residuals / deviation
    return float(np.mean(scaled * scaled * scaled)) * math.sqrt(n * (n - 1)) / (n - 2)  # a power of 3 is slow


def mean_of_estimates(
    values: Sequence[Interval], bounds: Bounds = UNBOUNDED, groups: Sequence[int] | None = None
) -> Interval:
    """Returns the mean of estimated values, such as those of several trainings, with its 95 % interval.

    Args:
        values: with their own intervals.
        bounds: of the values.
        groups: a number for each value, the same for those by the same games, which err alike; None = all differ.

    The interval is that over the values, see `mean_interval`, and at least as wide as their own intervals make it:
    values that are alike by chance, or one alone, vary no less than that.
    """
    mean, half_width = mean_interval([each.value for each in values])
    numbers = np.arange(len(values)) if groups is None else np.asarray(groups)
    alike = [np.array(values)[numbers == number] for number in np.unique(numbers)]
    own = weighted_sum([len(some) / len(values) for some in alike], [Interval(*some.mean(axis=0)) for some in alike])
    low, high = np.fmin(mean - half_width, own.low), np.fmax(mean + half_width, own.high)
    return Interval(mean, float(max(low, bounds.least)), float(min(high, bounds.most)))


def weighted_sum(weights: Sequence[float], values: Sequence[Interval], among: int = 1) -> Interval:
    """Returns a weighted sum of independent values with its 95 % interval, from their own 95 % intervals.

    Args:
        weights: of the values; 1 and -1 for a difference.
        values: with their intervals, which need not be symmetric; one without an interval makes the sum's NaN.
        among: number of sums from which this one was chosen by its value: the ends move outwards as far as dividing
            the error of 5 % among them (Bonferroni) moves those of a normal distribution.

    The method of variance estimates recovery (G. Y. Zou and A. Donner, Statistics in Medicine, 2008).
    """
    wider = normal_quantile(1 - (1 - CONFIDENCE) / 2 / among) / normal_quantile(0.5 + CONFIDENCE / 2)
    total = sum(weight * each.value for weight, each in zip(weights, values, strict=True))
    below = above = 0.0
    for weight, each in zip(weights, values, strict=True):
        ends = weight * (each.low - each.value), weight * (each.high - each.value)
        down, up = ends if weight > 0 else ends[::-1]
        below, above = below + down**2, above + up**2
    return Interval(total, total - wider * math.sqrt(below), total + wider * math.sqrt(above))


def median_interval(values: Sequence[float] | npt.NDArray[np.float64]) -> Interval:
    """Returns the median with its 95 % interval, for any distribution; NaN for too few values.

    The ends are order statistics (W. J. Conover, Practical Nonparametric Statistics, 1999, 3.2).
    """
    n = len(values)
    if n == 0:
        return _UNKNOWN
    ordered = np.sort(np.asarray(values, np.float64))
    below = median_rank(n, (1 - CONFIDENCE) / 2)  # P(fewer values below the median) is at most 2.5 %
    if 0.5**n > (1 - CONFIDENCE) / 2:
        return Interval(float(np.median(ordered)), math.nan, math.nan)
    return Interval(float(np.median(ordered)), float(ordered[below - 1]), float(ordered[n - below]))


def mean_over_groups(values: npt.ArrayLike, groups: npt.ArrayLike, clusters: npt.ArrayLike) -> Mean:
    """Returns the mean of the means of groups with its 95 % interval; NaN if all values are of one cluster.

    Args:
        values: [n].
        groups: [n] of each value.
        clusters: [n] of each value. Values of a cluster depend on each other, within and across groups, like positions
            of one game.

    The jackknife (R. G. Miller, The jackknife, Biometrika, 1974): each cluster is left out in turn, together with the
    groups that only it has. The degrees of freedom are the effective number of clusters minus one, at least one:
    clusters count by their shares of the variance that the mean would have if all values varied equally.
    """
    found = np.asarray(values, np.float64)
    of_group, of_cluster = (np.unique(np.asarray(keys), return_inverse=True)[1] for keys in (groups, clusters))
    if not len(found):
        return Mean(math.nan, math.nan)
    counts, sums = (np.zeros((of_group.max() + 1, of_cluster.max() + 1)) for _ in range(2))
    np.add.at(counts, (of_group, of_cluster), 1)
    np.add.at(sums, (of_group, of_cluster), found)
    size, total = counts.sum(axis=1, keepdims=True), sums.sum(axis=1, keepdims=True)
    mean, number = float(np.mean(total / size)), counts.shape[1]
    if number < 2:
        return Mean(mean, math.nan)
    left = size - counts
    means = np.divide(total - sums, left, out=np.zeros_like(sums), where=left > 0)
    without = means.sum(axis=0) / (left > 0).sum(axis=0)
    error = math.sqrt((number - 1) / number * float(((without - mean) ** 2).sum()))
    weight = (counts / size**2).sum(axis=0)  # each cluster's share in the variance
    freedom = max(1.0, weight.sum() ** 2 / (weight**2).sum() - 1)
    return Mean(mean, float(t_quantile(0.5 + CONFIDENCE / 2, freedom)) * error)


def share_interval(hits: int, n: int, among: int = 1) -> Interval:
    """Returns a share with its Wilson 95 % interval; NaN for n = 0.

    Args:
        hits: number of hits.
        n: number of tries.
        among: number of shares from which this one was chosen by its hits: dividing the error of 5 % among them
            (Bonferroni) makes the interval hold whichever was chosen.
    """
    if n == 0:
        return _UNKNOWN
    share = hits / n
    low, high = points_intervals(share, share * (1 - share), n, among)
    return Interval(share, float(low), float(high))


def points_intervals(
    shares: npt.ArrayLike, variances: npt.ArrayLike, games: npt.ArrayLike, among: int = 1
) -> tuple[Floats, Floats]:
    """Returns the ends of 95 % intervals of shares of points, each between 0 and 1; NaN if there is no game.

    Args:
        shares: means of the points of games.
        variances: observed variances of the points of one game; draws make them smaller than share * (1 - share).
        games: numbers of games.
        among: number of shares from which these were chosen, as in `share_interval`.

    Wilson's interval with the observed variance in place of the binomial one; without draws it is Wilson's interval.
    """
    share, variance, n = (np.asarray(values, np.float64) for values in (shares, variances, games))
    with np.errstate(divide="ignore", invalid="ignore"):
        shrink = normal_quantile(1 - (1 - CONFIDENCE) / 2 / among) ** 2 / n
        centre = (share + shrink / 2) / (1 + shrink)
        half = np.sqrt(shrink * (variance + shrink / 4)) / (1 + shrink)
    low = np.where(share == 0, 0.0, np.maximum(centre - half, 0.0))
    return low, np.where(share == 1, 1.0, np.minimum(centre + half, 1.0))


class Shares(NamedTuple):
    """Shares of points, or of games won, with their 95 % intervals; every field is an array [groups]."""

    value: Floats  # NaN for groups without games
    low: Floats
    high: Floats


def shares_of_units(
    values: Floats, units: Ints, groups: Ints | None = None, number: int = 1, times: Floats | None = None
) -> Shares:
    """Returns the shares of groups of games; games of the same unit are not independent.

    Args:
        values: [games] between 0 and 1.
        units: [games] equal numbers, from 0, for games that share a seed.
        groups: [games] index of the group; None = all are one group.
        number: of groups.
        times: [games] number of units like the game's own; None = 1.

    Student's t with two virtual units, one full and one empty, as in the interval of Agresti and Coull: it has a width
    even if all units ended alike, lies between 0 and 1, and covers at least 94 % from 2 units on
    (tests/statistics/test_intervals.py). Larger units count more: their effective number is (sum of games)² / sum of
    squares (L. Kish, Survey Sampling, 1965).
    """
    group = np.zeros(len(values), np.int64) if groups is None else groups
    cells, cell = np.unique(group * (int(units.max(initial=0)) + 1) + units, return_inverse=True)
    games = np.bincount(cell).astype(np.float64)
    alike = None if times is None else np.ones(len(cells))
    if alike is not None:
        alike[cell] = times
    of = cells // (int(units.max(initial=0)) + 1)
    return shares_of_cells(of, games, np.bincount(cell, values) / games, number, alike)


def shares_of_cells(of: Ints, games: Floats, means: Floats, number: int, times: Floats | None = None) -> Shares:
    """Returns `shares_of_units` of games that have been summed up in cells.

    Args:
        of: [cells] index of the group; a cell is all games of a group that share a seed.
        games: [cells] number of games.
        means: [cells] of the games' values.
        number: of groups.
        times: [cells] number of cells like each; None = 1.
    """
    counted = games if times is None else games * times
    total = np.bincount(of, counted, number)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.bincount(of, counted * means, number) / total
        n = total**2 / np.bincount(of, counted * games, number)
        square = np.bincount(of, counted * means**2, number) / total
        return Shares(share, *_share_ends(share, square, n))


def _share_ends(share: Floats, square: Floats, n: Floats) -> tuple[Floats, Floats]:
    """Returns the ends of intervals of means of n units, given the means of their values and of the squares."""
    centre = (n * share + 1) / (n + 2)
    variance = (n * square + 1) / (n + 2) - centre**2
    half = t_quantile(0.5 + CONFIDENCE / 2, n + 1) * np.sqrt(variance / (n + 2))
    return np.maximum(centre - half, 0.0), np.minimum(centre + half, 1.0)


def common_share(values: Floats, strata: Ints, places: Ints, clusters: Ints) -> Interval:
    """Returns the share of the variance of values that values of a cluster have in common, within 0 and 1.

    Args:
        values: [n].
        strata: [n] the means of equal numbers are subtracted first: what the cluster does not explain in any case.
        places: [n] only values of one cluster and one place are compared.
        clusters: [n] equal numbers, from 0; clusters are independent.

    The intraclass correlation (R. A. Fisher, Statistical Methods for Research Workers, 1925, VII): the mean product of
    two deviations of a cluster by the mean square of all. It is the first-order index of what the clusters share, with
    everything else drawn anew (I. M. Sobol, Math. Comput. Simul. 55, 2001). NaN if nothing varies, or if no two values
    are of one cluster. The interval is Student's t of the jackknife's pseudovalues (see `mean_over_groups`) and two
    virtual ones, the least and the largest: it covers 91 to 100 % with 25 and more clusters if the rarer of two results
    has 30 % (tests/statistics/test_intervals.py), fewer if it is much rarer; the ends are NaN below 20 clusters.
    """
    if not len(values):
        return _UNKNOWN
    apart = values - (np.bincount(strata, values) / np.maximum(np.bincount(strata), 1))[strata]
    number = int(clusters.max()) + 1
    cells, cell = np.unique(places * number + clusters, return_inverse=True)
    counts, sums, squares = (np.bincount(cell, weights) for weights in (None, apart, apart**2))
    of = cells % number
    products, pairs = np.bincount(of, sums**2 - squares, number), np.bincount(of, counts * (counts - 1.0), number)
    square, games = np.bincount(of, squares, number), np.bincount(of, counts, number)
    kept = pairs > 0
    products, pairs, square, games = products[kept], pairs[kept], square[kept], games[kept]
    n = len(pairs)
    if not n or square.sum() <= SAME * games.sum():
        return _UNKNOWN

    def share(product: Any, pair: Any, squared: Any, game: Any) -> Any:
        with np.errstate(divide="ignore", invalid="ignore"):
            return product * game / (pair * squared)

    whole = float(share(products.sum(), pairs.sum(), square.sum(), games.sum()))
    value = min(max(whole, 0.0), 1.0)
    if n < LEAST_CLUSTERS:
        return Interval(value, math.nan, math.nan)
    without = share(*(total.sum() - total for total in (products, pairs, square, games)))
    pseudo = n * whole - (n - 1) * np.where(np.isfinite(without), without, whole)
    pseudo = np.concatenate([pseudo, [min(0.0, pseudo.min()), max(1.0, pseudo.max())]])
    half = float(t_quantile(0.5 + CONFIDENCE / 2, n + 1) * np.std(pseudo) / math.sqrt(n + 2))
    low, high = SHARE.around(pseudo.mean(), half)
    return Interval(value, min(float(low), value), max(float(high), value))
