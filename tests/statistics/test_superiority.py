"""The test of several challengers: its boundaries, its errors in simulated studies, and its power."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

from turnier.statistics.superiority import ALPHA, Boundary, Superiority, repeated, repeated_ratio, superiority
from turnier.studies.verdicts import CHALLENGERS, REFERENCES, Play, scores, simulate_study


def equal_scores(rng: np.random.Generator) -> Play:
    return scores(rng, 0.0)


def shares(rng: np.random.Generator) -> Play:
    """Points of agents that differ on one seed in ten."""
    common: list[float] = []  # of the agents that do not differ, by seed
    begun: dict[str, int] = {}

    def points(units: int) -> np.ndarray:
        return rng.choice([0, 0.5, 1], units, p=[0.5, 0.2, 0.3])

    def play(label: str, units: int) -> np.ndarray:
        first = begun.get(label, 0)
        begun[label] = first + units
        common.extend(points(max(0, first + units - len(common))).tolist())
        return np.where(rng.random(units) < 0.1, points(units), common[first : first + units])

    return play


def normal(rng: np.random.Generator, strength: dict[str, float], deviation: float) -> Play:
    return lambda label, units: rng.normal(strength[label], deviation, units)


@pytest.mark.parametrize("alpha", [0.05, 0.025, 0.005])
def test_boundaries_spend_what_they_may(alpha: float) -> None:
    """Simulated random walks cross the boundaries with the probability that is spent by each look."""
    looks, walks = [24, 50, 90, 200, 210], 200_000
    boundary, spent = Boundary(alpha), [(i / 5) ** 2 for i in range(1, 6)]
    critical = [stats.norm.isf(boundary.look(n, s)) for n, s in zip(looks, spent, strict=True)]
    steps = np.sqrt(np.diff([0, *looks]))
    sums = np.cumsum(np.random.default_rng(1).normal(size=(walks, 5)) * steps, axis=1)
    crossed = np.maximum.accumulate(sums / np.sqrt(looks) >= critical, axis=1).mean(axis=0)
    for found, share in zip(crossed, spent, strict=True):
        assert abs(found - alpha * share) < 4 * math.sqrt(alpha * share / walks)


def test_boundaries_fall_to_the_fixed_test() -> None:
    """One look is the fixed test; the critical values of several fall to little above that of the fixed test."""
    assert Boundary(0.025).look(100, 1.0) == pytest.approx(0.025)
    boundary = Boundary(0.025)
    critical = [float(stats.norm.isf(boundary.look(20 * k, (k / 5) ** 2))) for k in range(1, 6)]
    assert critical[0] == pytest.approx(stats.norm.isf(0.001), abs=1e-6)
    assert critical == sorted(critical, reverse=True) and 1.96 < critical[-1] < 2.2


@pytest.mark.parametrize("draw", [equal_scores, shares])
@pytest.mark.parametrize("references", [REFERENCES[:1], REFERENCES])
def test_equal_agents_are_seldom_called_better(
    draw: Callable[[np.random.Generator], Play], references: tuple[str, ...]
) -> None:
    """400 studies in which all agents are equal: at most 5 % false claims, give or take two standard errors."""
    rng, studies = np.random.default_rng(2), 400
    false = sum(simulate_study(draw(rng), CHALLENGERS, references, 600).better is not None for _ in range(studies))
    assert false / studies <= ALPHA + 2 * math.sqrt(ALPHA * (1 - ALPHA) / studies)


def test_a_gain_is_found_and_saves_games() -> None:
    """An agent half as good again is found in nearly every study, with less than half of the games."""
    rng = np.random.default_rng(3)
    ended = [simulate_study(scores(rng, 10.0), CHALLENGERS, REFERENCES, 2000) for _ in range(50)]
    assert sum(one.better == "proposed" for one in ended) >= 48 and np.mean([one.games for one in ended]) < 1000


def test_all_references_must_be_beaten() -> None:
    play = normal(np.random.default_rng(4), {"start": 0.0, "baseline": 1.0, "proposed": 0.95}, 0.5)
    test = Superiority(("proposed",), REFERENCES, 8)
    ended = simulate_study(play, ("proposed",), REFERENCES, 600, test)
    assert ended.better is None and test.beaten["proposed"].keys() == {"start"}
    assert ended.units > 600 / 3  # the start was beaten, and left its games to the others


def test_challengers_that_are_behind_leave() -> None:
    play = normal(np.random.default_rng(5), {"start": 0.0, "proposed": 0.1, "candidate 1": -1.0}, 1.0)
    assert simulate_study(play, ("proposed", "candidate 1"), ("start",), 800).units > 800 / 3


def test_few_differing_seeds_are_not_overrated() -> None:
    """Of many seeds three differ, all in one direction: a sign test has p = 1/8."""
    values = np.zeros(100)
    values[:3] = 0.5
    assert superiority(values.tolist(), [0.0] * 100) == pytest.approx(1 / 8, abs=0.05)
    assert superiority([1.0] * 30, [1.0] * 30) == 0.5


@pytest.mark.parametrize(("gain", "challengers"), [(0.0, CHALLENGERS[:1]), (1.5, CHALLENGERS[:1]), (3.0, CHALLENGERS)])
def test_repeated_intervals_hold_the_truth_and_agree_with_the_claim(gain: float, challengers: tuple[str, ...]) -> None:
    """150 studies that end early or not: 95 % or more, less two standard errors, whatever was claimed."""
    rng, held, studies = np.random.default_rng(7), 0, 150
    for _ in range(studies):
        test, kept = Superiority(challengers, REFERENCES[:1], 8), dict[str, list[float]]()
        draw = scores(rng, gain)

        def play(label: str, units: int, kept: dict[str, list[float]] = kept, draw: Play = draw) -> np.ndarray:
            kept.setdefault(label, []).extend(values := draw(label, units))
            return values

        simulate_study(play, challengers, REFERENCES[:1], 1000, test)
        claimed = False
        for name in challengers:
            units = min(len(kept[name]), len(kept["start"]))
            own, other, critical = kept[name][:units], kept["start"][:units], test.critical[name][units]
            low, high = repeated(own, other, critical)
            assert (low > 0) == ("start" in test.beaten[name]) == (repeated_ratio(own, other, critical)[0] > 1)
            claimed |= low > 0
            held += name == "proposed" and low <= gain * 20_000 * 0.05 <= high
        assert claimed == (test.better is not None)
    assert held / studies >= 0.95 - 2 * math.sqrt(0.95 * 0.05 / studies)


def test_repeated_intervals_of_one_look() -> None:
    """They are Student's and Fieller's of the sample with the two virtual pairs."""
    values, others = [3.0, 5.0, 4.0, 6.0], [2.0, 2.0, 3.0, 5.0]
    usual = math.sqrt(np.mean([1, 9, 1, 1]))
    known = stats.ttest_1samp([1, 3, 1, 1, usual, -usual], 0).confidence_interval(0.95)
    assert repeated(values, others, 0.025) == pytest.approx((known.low, known.high))
    for end in repeated_ratio(values, others, 0.025):
        ratios = np.append(values, [3 + usual, 3 - usual]) - end * np.append(others, [3, 3])
        assert abs(stats.ttest_1samp(ratios, 0).statistic) == pytest.approx(stats.t.isf(0.025, 5))
    assert all(math.isnan(end) for end in (*repeated(values, values, 0.01), *repeated_ratio(values, values, 0.01)))


def test_one_who_is_no_challenger_ends_the_test_at_once() -> None:
    assert Superiority((), ("start",), 4).active == []
