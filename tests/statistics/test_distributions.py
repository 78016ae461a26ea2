"""Quantiles and probabilities are those of scipy.stats, bit for bit: stored figures stay as they are."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from turnier.statistics.distributions import (
    median_rank,
    normal_quantile,
    poisson_probability,
    t_probability,
    t_quantile,
)

FREEDOM = np.concatenate([np.arange(-1, 200), 10.0 ** np.linspace(-1, 9, 200), [np.inf, np.nan]])


@pytest.mark.parametrize("probability", [0.025, 0.8, 0.975])
def test_quantiles(probability: float) -> None:
    assert np.array_equal(t_quantile(probability, FREEDOM), stats.t.ppf(probability, FREEDOM), equal_nan=True)
    assert normal_quantile(probability) == stats.norm.ppf(probability)


def test_probabilities() -> None:
    values, freedom = np.random.default_rng(1).normal(0, 3, len(FREEDOM) - 2), FREEDOM[2:]
    assert np.array_equal(t_probability(values, freedom), stats.t.cdf(values, freedom), equal_nan=True)


@pytest.mark.parametrize("mean", [0.1, 1.0, 3.7, 500.3])
def test_counts_of_events(mean: float) -> None:
    counts = np.arange(1001)
    assert np.array_equal(poisson_probability(counts, mean), stats.poisson.pmf(counts, mean))


def test_ranks_of_medians() -> None:
    samples = [*range(1, 400), 10_001, 1_000_000]
    assert [median_rank(n, 0.025) for n in samples] == stats.binom.ppf(0.025, samples, 0.5).astype(int).tolist()
