"""Which places may agents have, and which of them may be the best?

Rank intervals hold for all agents at once: an agent may have every place above those of agents that are certainly
better and below those of agents that are certainly worse. Differences are certain if they exceed what the largest of
all differences exceeds by chance in one of twenty tournaments, from draws of the joint distribution.

How likely one agent is better than another depends on how much agents of a field differ at all: where all are alike, a
large difference is rather luck. Here true values lie anywhere between two limits, which are unknown: before the games
every order of magnitude of their spread from a hundredth of the usual one to it is as likely, and larger ones are ever
less; what the field shows then weighs them. Each estimate is drawn into the limits by its own variance; estimates stay
correlated as they are, as those from common seeds. Limits are the careful choice: with normally distributed values, who
leads a field that ends at what is possible would look too far ahead of the others (docs/validity.md).

Sources: M. Mogstad, J. P. Romano, A. M. Shaikh and D. Wilhelm, Inference for ranks, Rev. Econ. Stud. 91, 2024;
A. Gelman, Prior distributions for variance parameters in hierarchical models, Bayesian Analysis 1, 2006.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import special

from .distributions import Floats, normal_quantile, t_quantile
from .intervals import CONFIDENCE

DRAWS = 1_000, 10_000  # of large fields and of small ones
NUMBERS = 3 * 10**7  # differences that are drawn, more in DRAWS[0] draws
MOST_NUMBERS = 2 * 10**8  # beyond, the bound of Bonferroni is used
LEAST = 100  # times smaller than a usual one is the smallest spread
SPREADS = 24  # that the prior of the field is averaged over
MIDDLES = np.linspace(-3, 3, 9)  # between the limits, in standard errors of the field's mean, averaged over too
UNLIKELY = 1e-6  # as likely limits are left out
BEST_DRAWS = 20_000


class Ranks(NamedTuple):
    """The places [agents] that agents may have, from 1 = best; all are right at once with 95 %."""

    low: npt.NDArray[np.int64]
    high: npt.NDArray[np.int64]


def rank_intervals(values: Floats, covariance: Floats, freedom: Floats) -> Ranks:
    """Returns the places that agents may have.

    Args:
        values: [agents] estimates, the larger the better.
        covariance: [agents, agents] theirs.
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
    """Returns what no difference of equal agents exceeds, in its standard error, with 95 %."""
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
    """What to believe of the agents of a field after their games."""

    better: Floats  # [agents, agents] the probability that the row's agent is better than the column's
    best: Floats  # [agents] the probability to be the best of all


def beliefs(values: Floats, covariance: Floats, freedom: Floats, usual: float) -> Beliefs:
    """Returns the probabilities that agents are better than others, and best of all.

    Args:
        values: [agents] estimates.
        covariance: [agents, agents] theirs.
        freedom: [agents] degrees of freedom of Student's t.
        usual: a usual standard deviation of true values in a field.
    """
    n = len(values)
    if n < 2:
        return Beliefs(np.full((n, n), 0.5), np.ones(n))
    # Where few clusters tell how sure an estimate is, it is less sure than its variance says.
    wider = t_quantile(0.5 + CONFIDENCE / 2, np.maximum(freedom, 1.0)) / normal_quantile(0.5 + CONFIDENCE / 2)
    centre = np.eye(n) - 1 / n
    seen, noise = centre @ values, centre @ (covariance * np.outer(wider, wider)) @ centre
    own = np.maximum(np.diag(noise) * n / (n - 1), 1e-12 * usual**2)
    means, errors, weights = _limited(seen, own, usual)
    better = np.zeros((n, n))
    for mean, error, weight in zip(means, errors, weights, strict=True):
        variance = noise * np.outer(error, error)
        apart = np.diag(variance)[:, None] + np.diag(variance) - 2 * variance
        better += weight * special.ndtr((mean[:, None] - mean) / np.sqrt(np.maximum(apart, 1e-24 * usual**2)))
    return Beliefs(better, _best(noise, means, errors, weights))


def _limited(seen: Floats, own: Floats, usual: float) -> tuple[Floats, Floats, Floats]:
    """Returns what is likely of true values, for each of the pairs of limits that are likely after the games.

    Returns:
        The means [limits, agents] of true values, their standard deviations [limits, agents] relative to the standard
        errors of what was seen, and how likely the limits [limits] are.
    """
    n, largest = len(seen), max(float(np.abs(seen).max()), usual)
    spreads = np.repeat(np.geomspace(usual / LEAST, 4 * largest, SPREADS), len(MIDDLES))
    widths = np.sqrt((spreads**2 + own.mean()) / n)
    middles, half = widths * np.tile(MIDDLES, SPREADS), np.sqrt(3) * spreads
    low, high = (((middles + end)[:, None] - seen) / np.sqrt(own) for end in (-half, half))
    above = low > 0  # turned around, since probabilities near 0 are more exact than those near 1
    low, high = np.where(above, -high, low), np.where(above, -low, high)
    inside = np.maximum(special.ndtr(high) - special.ndtr(low), 1e-300)
    likelihood = np.log(inside / half[:, None]).sum(axis=1) * (n - 1) / n
    likelihood += np.log(widths) - np.log1p(
        (spreads / usual) ** 2
    )  # the prior of middles and of the spreads' logarithms
    weights = np.exp(likelihood - likelihood.max())
    kept = weights > UNLIKELY * weights.sum()
    low, high, inside, above = low[kept], high[kept], inside[kept], above[kept]
    at_low, at_high = (np.exp(-(end**2) / 2) / np.sqrt(2 * np.pi) for end in (low, high))
    moved = (at_low - at_high) / inside
    variance = 1 + (low * at_low - high * at_high) / inside - moved**2
    means = seen + np.sqrt(own) * np.where(above, -moved, moved)
    return means, np.sqrt(np.clip(variance, 0.0, 1.0)), weights[kept] / weights[kept].sum()


def _best(noise: Floats, means: Floats, errors: Floats, weights: Floats) -> Floats:
    """Returns how often [agents] each one is the best of draws within all limits, as often as they are likely."""
    random, n = np.random.default_rng(0), len(noise)
    values, vectors = np.linalg.eigh(noise)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    found = np.zeros(n)
    for number, mean, error in zip(random.multinomial(BEST_DRAWS, weights), means, errors, strict=True):
        drawn = mean + error * (random.normal(size=(number, n)) @ root.T)
        found += np.bincount(drawn.argmax(axis=1), minlength=n) if number else 0
    return found / BEST_DRAWS
