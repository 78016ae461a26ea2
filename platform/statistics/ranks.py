"""Which places may agents have, and which of them may be the best?

Rank intervals hold for all agents at once: an agent may have any place below the agents that are certainly better and
above those that are certainly worse. A difference is certain if it exceeds the threshold that the largest of all
differences exceeds by chance in one of twenty tournaments, from draws of the joint distribution.

The probability that one agent is better than another depends on the spread of the field: if all agents are alike, a
large difference is probably luck. Here true values are uniformly distributed between two unknown limits. Before the
games, all orders of magnitude of their spread from a hundredth of the usual spread up to it are equally likely, and
larger ones ever less; the results of the field then weight them. Each estimate is drawn between the limits according to
its variance; correlations of estimates, as from common seeds, are kept. Limits are the cautious choice: a normal
distribution makes the leader of a field with an upper limit look too far ahead (docs/validity.md).

Sources: M. Mogstad, J. P. Romano, A. M. Shaikh and D. Wilhelm, Inference for ranks, Rev. Econ. Stud. 91, 2024;
A. Gelman, Prior distributions for variance parameters in hierarchical models, Bayesian Analysis 1, 2006.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy

from .distributions import Floats, normal_quantile, t_quantile
from .intervals import CONFIDENCE

DRAWS = 1_000, 10_000  # for large fields and for small ones
NUMBERS = 3 * 10**7  # differences to draw, unless DRAWS[0] draws need more
MOST_NUMBERS = 2 * 10**8  # above it, the bound of Bonferroni is used
LEAST = 100  # ratio of the usual spread to the smallest one
SPREADS = 24  # in the average over the prior of the field
MIDDLES = np.linspace(-3, 3, 9)  # of the limits, in standard errors of the field's mean, averaged over as well
UNLIKELY = 1e-6  # limits with a smaller probability are left out
BEST_DRAWS = 20_000


class Ranks(NamedTuple):
    """The best and worst places [agents] of agents, from 1 = best; all hold at once with 95 %."""

    low: npt.NDArray[np.int64]
    high: npt.NDArray[np.int64]


def rank_intervals(values: Floats, covariance: Floats, freedom: Floats) -> Ranks:
    """Returns the places that agents may have.

    Args:
        values: [agents] estimates, larger is better.
        covariance: [agents, agents] of the estimates.
        freedom: [agents] degrees of freedom of Student's t.
    """
    n = len(values)
    variance = np.diag(covariance)
    errors = np.sqrt(np.maximum(variance[:, None] + variance - 2 * covariance, 0.0))
    above = values[:, None] - values > _largest_by_chance(covariance, errors, freedom) * errors
    np.fill_diagonal(above, False)
    above &= errors > 0
    return Ranks(1 + above.sum(axis=0), n - above.sum(axis=1))


def _largest_by_chance(covariance: Floats, errors: Floats, freedom: Floats) -> float:
    """Returns the number of standard errors that, with 95 %, no difference of equal agents exceeds."""
    n, least = len(covariance), max(1.0, float(np.min(freedom, initial=np.inf)))
    pairs = n * (n - 1) / 2
    if n < 2:
        return 0.0
    draws = round(min(max(NUMBERS / pairs, DRAWS[0]), DRAWS[1]))
    if pairs * draws > MOST_NUMBERS:
        return float(t_quantile(1 - (1 - CONFIDENCE) / 2 / pairs, least))
    random = np.random.default_rng(0)
    values, vectors = np.linalg.eigh(covariance)
    drawn = random.normal(size=(draws, n)) * np.sqrt(np.maximum(values, 0.0)) @ vectors.T
    scale = np.sqrt(random.chisquare(least, draws) / least)
    inverse = np.divide(1.0, errors, out=np.zeros_like(errors), where=errors > 0)
    largest = np.zeros(draws)
    for i in range(n - 1):
        apart = np.abs(drawn[:, i, None] - drawn[:, i + 1 :]) * inverse[i, i + 1 :]
        largest = np.maximum(largest, apart.max(axis=1))
    return float(np.quantile(largest / scale, CONFIDENCE))


class Beliefs(NamedTuple):
    """Probabilities for the agents of a field after their games."""

    better: Floats  # [agents, agents] the probability that the row's agent is better than the column's
    best: Floats  # [agents] the probability of being the best of all


def beliefs(values: Floats, covariance: Floats, freedom: Floats, usual: float) -> Beliefs:
    """Returns the probabilities that agents are better than others, and best of all.

    Args:
        values: [agents] estimates.
        covariance: [agents, agents] of the estimates.
        freedom: [agents] degrees of freedom of Student's t.
        usual: a usual standard deviation of true values in a field.
    """
    n = len(values)
    if n < 2:
        return Beliefs(np.full((n, n), 0.5), np.ones(n))
    # If few clusters determine the variance of an estimate, it is less certain than its variance says.
    wider = t_quantile(0.5 + CONFIDENCE / 2, np.maximum(freedom, 1.0)) / normal_quantile(0.5 + CONFIDENCE / 2)
    centre = np.eye(n) - 1 / n
    seen, noise = centre @ values, centre @ (covariance * np.outer(wider, wider)) @ centre
    own = np.maximum(np.diag(noise) * n / (n - 1), 1e-12 * usual**2)
    means, errors, weights = _limited(seen, own, usual)
    better = np.zeros((n, n))
    for mean, error, weight in zip(means, errors, weights, strict=True):
        variance = noise * np.outer(error, error)
        apart = np.diag(variance)[:, None] + np.diag(variance) - 2 * variance
        better += weight * scipy.special.ndtr((mean[:, None] - mean) / np.sqrt(np.maximum(apart, 1e-24 * usual**2)))
    best = better[[0, 1], [1, 0]] if n == 2 else _best(noise, means, errors, weights)  # of two, one number
    return Beliefs(better, best)


def _limited(seen: Floats, own: Floats, usual: float) -> tuple[Floats, Floats, Floats]:
    """Returns the distributions of true values between each pair of limits that is likely after the games.

    Returns:
        The means [limits, agents] of true values, their standard deviations [limits, agents] relative to the standard
        errors of the estimates, and the probabilities [limits] of the limits.
    """
    n, largest = len(seen), max(float(np.abs(seen).max()), usual)
    spreads = np.repeat(np.geomspace(usual / LEAST, 4 * largest, SPREADS), len(MIDDLES))
    widths = np.sqrt((spreads**2 + own.mean()) / n)
    middles, half = widths * np.tile(MIDDLES, SPREADS), np.sqrt(3) * spreads
    low, high = (((middles + end)[:, None] - seen) / np.sqrt(own) for end in (-half, half))
    above = low > 0  # mirrored, because probabilities near 0 are more exact than those near 1
    low, high = np.where(above, -high, low), np.where(above, -low, high)
    inside = np.maximum(scipy.special.ndtr(high) - scipy.special.ndtr(low), 1e-300)
    likelihood = np.log(inside / half[:, None]).sum(axis=1) * (n - 1) / n
    likelihood += np.log(widths) - np.log1p((spreads / usual) ** 2)  # the prior of middles, and of log spreads
    weights = np.exp(likelihood - likelihood.max())
    kept = weights > UNLIKELY * weights.sum()
    low, high, inside, above = low[kept], high[kept], inside[kept], above[kept]
    at_low, at_high = (np.exp(-(end**2) / 2) / np.sqrt(2 * np.pi) for end in (low, high))
    moved = (at_low - at_high) / inside
    variance = 1 + (low * at_low - high * at_high) / inside - moved**2
    means = seen + np.sqrt(own) * np.where(above, -moved, moved)
    return means, np.sqrt(np.clip(variance, 0.0, 1.0)), weights[kept] / weights[kept].sum()


def _best(noise: Floats, means: Floats, errors: Floats, weights: Floats) -> Floats:
    """Returns how often [agents] each agent is the best, in draws between all limits by their probabilities."""
    random, n = np.random.default_rng(0), len(noise)
    values, vectors = np.linalg.eigh(noise)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    found = np.zeros(n)
    for number, mean, error in zip(random.multinomial(BEST_DRAWS, weights), means, errors, strict=True):
        drawn = mean + error * (random.normal(size=(number, n)) @ root.T)
        found += np.bincount(drawn.argmax(axis=1), minlength=n) if number else 0
    return found / BEST_DRAWS
