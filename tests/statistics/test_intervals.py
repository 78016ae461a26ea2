"""95 % intervals cover the truth in about 95 of 100 cases; Holm's correction keeps the error of all comparisons."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats
from scipy.stats import binomtest, ttest_ind

from turnier.statistics.comparisons import holm, paired_difference, paired_differences
from turnier.statistics.intervals import (
    PERCENT,
    Interval,
    common_share,
    half_width_of_mean,
    mean_interval,
    mean_of_estimates,
    median_interval,
    points_intervals,
    share_interval,
    shares_of_units,
    weighted_sum,
)
from turnier.statistics.superiority import superiority

RUNS = 2000
Case = Callable[[np.random.Generator], tuple[float, float, float]]  # low, truth, high


def around(truth: float, estimate: tuple[float, float]) -> tuple[float, float, float]:
    return estimate[0] - estimate[1], truth, estimate[0] + estimate[1]


def wilson(rng: np.random.Generator, p: float, n: int) -> tuple[float, float, float]:
    _, low, high = share_interval(int(rng.binomial(n, p)), n)
    return low, p, high


def median(rng: np.random.Generator) -> tuple[float, float, float]:
    _, low, high = median_interval(rng.exponential(1, 35).tolist())
    return low, math.log(2), high


def paired(rng: np.random.Generator) -> tuple[float, float, float]:
    """Scores on shared seeds: what the seeds have in common drops out."""
    luck = rng.normal(0, 5, 20)
    found = paired_difference((luck + rng.normal(1, 1, 20)) - (luck + rng.normal(0, 2, 20)))
    return found.low, 1.0, found.high


CASES: dict[str, Case] = {
    "mean": lambda rng: around(3.0, mean_interval(rng.normal(3, 2, 6).tolist())),
    "mean of a skewed score": lambda rng: around(
        math.exp(0.5 * 0.47**2), mean_interval(rng.lognormal(0, 0.47, 40).tolist())
    ),
    "median": median,
    "paired difference": paired,
    "share near a half": lambda rng: wilson(rng, 0.45, 60),
    "small share": lambda rng: wilson(rng, 0.06, 120),
}


@pytest.mark.parametrize("name", CASES)
def test_intervals_cover_the_truth(name: str) -> None:
    """93 to 97 %: four standard deviations of a frequency of 95 % in RUNS runs."""
    rng = np.random.default_rng(1)
    found = np.array([CASES[name](rng) for _ in range(RUNS)])
    assert 0.93 <= np.mean((found[:, 0] <= found[:, 1]) & (found[:, 1] <= found[:, 2])) <= 0.97


def test_the_interval_of_a_mean_by_hand() -> None:
    """Student's t, wider by 1.08 times the squared skewness over n; at most twice as wide and a bit."""
    values = np.random.default_rng(2).gamma(2, 1, 37)
    wider = 1 + (1.959964**4 + 2 * 1.959964**2 - 3) / 18 * stats.skew(values, bias=False) ** 2 / 37
    assert mean_interval(values).half_width == pytest.approx(stats.t.ppf(0.975, 36) * stats.sem(values) * wider)
    assert half_width_of_mean(37, 2.0) == pytest.approx(stats.t.ppf(0.975, 36) * 2 / math.sqrt(37))
    outlier = [0.0] * 99 + [1.0]  # no sample is more skewed
    assert mean_interval(outlier).half_width == pytest.approx(2.08 * half_width_of_mean(100, 0.1), rel=0.01)
    assert mean_interval([3.0] * 5) == (3.0, 0.0)
    assert mean_interval([1.0, 4.0]).half_width == pytest.approx(half_width_of_mean(2, math.sqrt(4.5)))
    assert mean_interval([7.0])[0] == 7 and all(map(math.isnan, (mean_interval([7.0])[1], *mean_interval([]))))


def test_the_mean_of_few_skewed_scores_is_covered_where_students_t_misses_it() -> None:
    """20 values as skewed as scores of 2048: Student's t holds the mean in 93.5 % (99.9 % interval 92.7 to 94.3)."""
    samples = np.random.default_rng(3).gamma(2, 1, (10_000, 20))
    corrected = np.mean([abs(mean - 2) <= half for mean, half in map(mean_interval, samples)])
    student = stats.t.ppf(0.975, 19) * stats.sem(samples, axis=1)
    assert np.mean(abs(samples.mean(axis=1) - 2) <= student) < 0.938 < 0.942 < corrected < 0.955


def chosen_share(rng: np.random.Generator, shares: list[float]) -> tuple[float, float, float]:
    votes = rng.multinomial(10, shares)
    best = int(votes.argmax())
    found = share_interval(int(votes[best]), 10, among=len(shares))
    return found.low, shares[best], found.high


@pytest.mark.parametrize(
    ("shares", "least"),
    [
        ([1 / 7] * 7, 0.93),
        ([0.3, 0.3, 0.1, 0.1, 0.1, 0.05, 0.05], 0.95),
        ([1.0, 0.0], 0.95),
        ([1 / 30] * 30, 0.87),  # Wilson's intervals begin too high for shares near 0; uncorrected it would be 0.18
    ],
)
def test_the_interval_of_the_largest_share_covers_it_although_it_was_chosen(shares: list[float], least: float) -> None:
    rng = np.random.default_rng(1)
    found = np.array([chosen_share(rng, shares) for _ in range(RUNS)])
    assert np.mean((found[:, 0] <= found[:, 1]) & (found[:, 1] <= found[:, 2])) >= least


def test_a_paired_interval_is_narrower_than_one_that_forgets_the_seeds() -> None:
    rng = np.random.default_rng(1)
    luck = rng.normal(0, 5, 50)
    a, b = luck + rng.normal(1, 1, 50), luck + rng.normal(0, 1, 50)
    found = paired_difference(a - b)
    unpaired = ttest_ind(a, b, equal_var=False).confidence_interval(0.95)
    assert found.high - found.low < 0.4 * (unpaired.high - unpaired.low)


def test_holm_keeps_the_error_of_all_comparisons() -> None:
    """Ten equal agents make 45 comparisons: uncorrected some differ almost always, corrected in 5 % of the cases."""
    rng, runs = np.random.default_rng(3), 400
    any_raw = any_holm = 0
    for _ in range(runs):
        scores = rng.normal(0, 1, (10, 12))
        first, second = np.triu_indices(10, 1)
        differences = scores[first] - scores[second]
        t = differences.mean(axis=1) / differences.std(axis=1, ddof=1) * math.sqrt(12)
        p = [paired_difference(differences[k]).p for k in np.argsort(-abs(t))[:2]]  # the smallest decide
        any_raw += min(p) < 0.05
        any_holm += min(holm([*p, *[1.0] * 43])) < 0.05
    assert any_raw > 0.3 * runs
    assert 0.01 * runs < any_holm <= (0.05 + 0.025) * runs


def test_holm_by_hand() -> None:
    assert holm([0.01, math.nan, 0.04, 0.03]) == pytest.approx([0.03, math.nan, 0.06, 0.06], nan_ok=True)
    assert holm([]) == []


def test_holm_is_that_of_statsmodels() -> None:
    from statsmodels.stats.multitest import multipletests

    rng = np.random.default_rng(4)
    for count in range(1, 12):
        p = np.round(rng.random(count) ** 3, 2)  # some are equal
        assert holm(p.tolist()) == multipletests(p, method="holm")[1].tolist()


def test_differences_that_do_not_vary() -> None:
    same = paired_difference([2.0] * 8)
    assert (same.mean, same.p) == (2.0, 2 / 2**8) and math.isnan(same.low)
    none = paired_difference([0.0] * 8)
    assert none.p == 1.0
    assert math.isnan(paired_difference([]).mean) and paired_difference([-1.0]).p == 1.0


def test_the_median_of_too_few_values_has_no_interval() -> None:
    assert median_interval([4.0, 1.0, 2.0]) == pytest.approx((2.0, math.nan, math.nan), nan_ok=True)
    assert median_interval([6.0, 1.0, 2.0, 3.0, 4.0, 5.0]) == (3.5, 1.0, 6.0)  # 1 - 2 / 2^6 = 97 %
    assert math.isnan(median_interval([])[0])


@pytest.mark.parametrize(("win", "draw"), [(0.5, 0.0), (0.3, 0.4), (0.1, 0.8), (0.7, 0.2), (0.02, 0.9)])
def test_points_intervals_cover_and_are_bounded(win: float, draw: float) -> None:
    """At least 93 %, and not much more; a few more where only some of the 60 games are not drawn."""
    rng, n = np.random.default_rng(7), 60
    games = rng.choice([1.0, 0.5, 0.0], size=(4000, n), p=[win, draw, 1 - win - draw])
    low, high = points_intervals(games.mean(axis=1), games.var(axis=1), np.full(4000, n))
    assert (low >= 0).all() and (high <= 1).all()
    assert 0.93 <= np.mean((low <= win + draw / 2) & (win + draw / 2 <= high)) <= (0.975 if draw < 0.5 else 0.99)


def test_shares_of_hits_are_wilsons() -> None:
    for won, n in ((0, 5), (3, 7), (40, 40), (1, 100_000)):
        expected = binomtest(won, n).proportion_ci(method="wilson")
        assert share_interval(won, n) == pytest.approx((won / n, expected.low, expected.high), abs=1e-12)


@pytest.mark.parametrize("luck", [0.0, 3.0])
@pytest.mark.parametrize("strength", [0.0, 1.0, 2.5])
@pytest.mark.parametrize("n", [4, 10, 40])
def test_shares_of_pairs_of_games_are_covered(n: int, strength: float, luck: float) -> None:
    """Also where a pair's games depend on each other, or one agent wins nearly all of them."""
    rng = np.random.default_rng(10)
    chance = 1 / (1 + np.exp(-strength - luck * rng.normal(size=(RUNS, n, 1))))
    points = (rng.random((RUNS, n, 2)) < chance).astype(float)
    truth = float(np.mean(1 / (1 + np.exp(-strength - luck * rng.normal(size=200_000)))))
    unit, group = np.tile(np.repeat(np.arange(n), 2), RUNS), np.repeat(np.arange(RUNS), 2 * n)
    found = shares_of_units(points.ravel(), unit, group, RUNS)
    assert np.mean((found.low <= truth) & (truth <= found.high)) >= 0.93
    assert found.value == pytest.approx(points.mean(axis=(1, 2)))


def test_larger_units_count_more_in_shares() -> None:
    """A single game beside pairs counts for half of one; units of a game each are no pairs."""
    points, pairs = np.array([1.0, 0.0, 1.0, 1.0, 0.0]), np.array([0, 0, 1, 1, 2])
    found, alone = shares_of_units(points, pairs), shares_of_units(points, np.arange(5))
    assert found.value[0] == alone.value[0] == 0.6 and found.low[0] <= alone.low[0]
    assert np.isnan(shares_of_units(np.zeros(0), np.zeros(0, int)).low).all()


def test_many_paired_differences_are_each_what_one_is() -> None:
    rng = np.random.default_rng(8)
    groups = [rng.normal(0.3, 1, 12), np.full(6, -2.0), np.zeros(5), np.array([1.5]), rng.normal(-9, 1, 40)]
    group = np.repeat(np.arange(len(groups)), [len(values) for values in groups])
    shuffled = rng.permutation(len(group))
    found = paired_differences(np.concatenate(groups)[shuffled], group[shuffled], len(groups))
    for i, values in enumerate(groups):
        assert [field[i] for field in found] == pytest.approx(list(paired_difference(values.tolist())), nan_ok=True)


def marked(units: np.ndarray, level: float) -> float:
    """Returns the share of groups [groups, units] of differences of points that are called different."""
    groups, n = units.shape
    found = paired_differences(units.ravel(), np.repeat(np.arange(groups), n), groups, points=True)
    return float(np.mean(found.p < level))


@pytest.mark.parametrize("pairings", [1, 6, 91])
@pytest.mark.parametrize("draws", [0.0, 0.5, 0.9])
@pytest.mark.parametrize("pairs", [3, 5, 8, 10, 20])
def test_equal_agents_are_seldom_called_different(pairs: int, draws: float, pairings: int) -> None:
    """At most the stated error, corrected for the pairings; Student's t alone calls 6.5 % of 8 half drawn pairs so."""
    rng, level, groups = np.random.default_rng(9), 0.05 / pairings, 40_000
    games = rng.choice([1.0, 0.0, -1.0], size=(2, groups, pairs), p=[(1 - draws) / 2, draws, (1 - draws) / 2])
    chance = math.sqrt(level / groups)  # a standard deviation of that share
    assert marked(games.mean(axis=0), level) <= level + 3 * chance


def test_a_clean_sweep_is_marked_before_a_mixed_result() -> None:
    """20 to 0 in 10 pairs differ even among 91 pairings; 14 to 6, most pairs shared, not even alone."""
    sweep, mixed = np.ones((1, 10)), np.array([[1.0] * 4 + [0.0] * 6])
    assert marked(sweep, 0.05 / 91) == 1.0 and marked(mixed, 0.05) == 0.0
    assert paired_difference(mixed[0].tolist()).p < 0.05 < 91 * paired_difference(sweep[0].tolist()).p


def test_p_values_of_points_are_those_of_superiority() -> None:
    rng = np.random.default_rng(10)
    units = rng.choice([1.0, 0.5, 0.0, -0.5, -1.0], size=(50, 12))
    found = paired_differences(units.ravel(), np.repeat(np.arange(50), 12), 50, points=True)
    one_sided = np.array([superiority(row.tolist(), [0.0] * 12) for row in units])
    assert found.p == pytest.approx(2 * np.minimum(one_sided, 1 - one_sided))
    assert paired_differences(np.zeros(4), np.zeros(4, np.int64), 2, points=True).p.tolist() == [1.0, 1.0]


def test_a_weighted_sum_has_the_interval_of_its_parts() -> None:
    """Of symmetric intervals, the root of the sum of squares; of a share near 1, no more than the way to 1."""
    one, other = Interval(5.0, 2.0, 8.0), Interval(1.0, -3.0, 5.0)
    assert weighted_sum((1, -1), (one, other)) == (4.0, -1.0, 9.0)
    assert weighted_sum((2,), (one,)) == (10.0, 4.0, 16.0) and weighted_sum((-1,), (one,)) == (-5.0, -8.0, -2.0)
    skewed = Interval(1.0, 0.8, 1.0)
    assert weighted_sum((1, -1), (skewed, skewed)) == pytest.approx((0.0, -0.2, 0.2))
    assert weighted_sum((1, 1), (skewed, skewed)).high == 2.0
    wider = weighted_sum((1,), (one,), among=4)
    assert wider.high - 5.0 == pytest.approx(3.0 * 2.4977 / 1.96, rel=1e-3)
    assert math.isnan(weighted_sum((1, 1), (one, Interval(1.0, math.nan, math.nan))).low)


def test_a_mean_of_estimates_is_as_uncertain_as_they_are() -> None:
    """Five trainings that lost all of their 50 games each say as much as one that lost 250, or less."""
    alike = [Interval(*(100 * end for end in share_interval(0, 50)))] * 5
    mean = mean_of_estimates(alike, PERCENT)
    assert mean.value == mean.low == 0.0 and 100 * share_interval(0, 250).high < mean.high < 5
    apart = [Interval(value, value - 1, value + 1) for value in (10.0, 50.0, 90.0)]
    over = mean_interval([10.0, 50.0, 90.0])
    assert mean_of_estimates(apart) == (50.0, 50.0 - over.half_width, 50.0 + over.half_width), "they differ by more"
    assert mean_of_estimates(apart, PERCENT)[1:] == (0.0, 100.0)
    assert mean_of_estimates(apart[:1]) == apart[0], "one alone"


def games_of_seeds(rng: np.random.Generator, seeds: int, share: float, rate: float) -> Interval:
    """Two games of each seed; a share of the seeds decides both, the others neither."""
    one, other = rng.random((2, seeds)) < rate
    values = np.stack([one, np.where(rng.random(seeds) < share, one, other)], axis=1).ravel().astype(np.float64)
    return common_share(values, np.tile([0, 1], seeds), np.zeros(2 * seeds, np.int64), np.repeat(np.arange(seeds), 2))


@pytest.mark.parametrize("rate", [0.3, 0.5])
@pytest.mark.parametrize("share", [0.0, 0.1, 0.3, 0.6, 0.9, 1.0])
@pytest.mark.parametrize("seeds", [25, 100])
def test_the_share_that_seeds_decide_is_covered(seeds: int, share: float, rate: float) -> None:
    rng = np.random.default_rng(11)
    found = [games_of_seeds(rng, seeds, share, rate) for _ in range(400)]
    covered = np.mean([each.low <= share <= each.high for each in found])
    assert covered >= 0.91 - 3 * math.sqrt(0.09 * 0.91 / 400)
    assert np.mean([each.value for each in found]) == pytest.approx(share, abs=0.12 if seeds == 25 else 0.05)


def test_the_common_share_is_the_intraclass_correlation() -> None:
    """Worked out by hand: deviations 1, 1; -1, -1; 1, -1; -1, 1 have the mean product 0; without the last two, 1."""
    strata, places = np.tile([0, 1], 4), np.zeros(8, np.int64)
    values, seeds = np.array([5.0, 3, 3, 1, 5, 1, 3, 3]), np.repeat(np.arange(4), 2)
    assert common_share(values, strata, places, seeds).value == 0.0
    whole = common_share(values[:4], strata[:4], places[:4], seeds[:4])
    assert whole.value == 1.0 and math.isnan(whole.low), "too few seeds for an interval"
    for unknown in (
        common_share(np.ones(8), strata, places, seeds),  # nothing varies
        common_share(values, strata, places, np.arange(8)),  # no two games of a seed
        common_share(values, strata, np.arange(8), seeds),  # or of a place
        common_share(*[np.zeros(0), *[np.zeros(0, np.int64)] * 3]),
    ):
        assert math.isnan(unknown.value)
