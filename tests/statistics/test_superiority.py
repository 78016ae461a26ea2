"""The test of several challengers: its boundaries, its errors in simulated studies, and its power."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

from turnier.statistics.superiority import ALPHA, MAX_ROUNDS, MIN_UNITS, Boundary, Superiority, superiority

Play = Callable[[np.random.Generator, int], Callable[[str], np.ndarray]]
CHALLENGERS, REFERENCES = ("proposed", "one", "two", "three"), ("start", "baseline")


def gamma(rng: np.random.Generator, units: int) -> Callable[[str], np.ndarray]:
    """Scores that vary as those of 2048 do, by half their mean."""
    return lambda label: rng.gamma(4, 5000, units)


def shares(rng: np.random.Generator, units: int) -> Callable[[str], np.ndarray]:
    """Points of agents that differ on one seed in ten."""

    def play() -> np.ndarray:
        return rng.choice([0, 0.5, 1], units, p=[0.5, 0.2, 0.3])

    common = play()
    return lambda label: np.where(rng.random(units) < 0.1, play(), common)


def study(
    rng: np.random.Generator, play: Play, challengers: tuple[str, ...], references: tuple[str, ...], games: int
) -> tuple[Superiority, dict[str, list[float]]]:
    """Runs a test to its end, as a study does."""
    values: dict[str, list[float]] = {label: [] for label in references + challengers}
    rounds = max(1, min(MAX_ROUNDS, games // (MIN_UNITS * len(values))))
    test, planned = Superiority(challengers, references, rounds), 0
    while active := test.active:
        units = (games * (test.done + 1) // rounds - planned) // len(active)
        planned += units * len(active)
        of = play(rng, units)
        for label in active:
            values[label] += of(label).tolist()
        test.add({label: values[label] for label in active})
    assert planned <= games
    return test, values


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


@pytest.mark.parametrize("play", [gamma, shares])
@pytest.mark.parametrize("references", [REFERENCES[:1], REFERENCES])
def test_equal_agents_are_seldom_called_better(play: Play, references: tuple[str, ...]) -> None:
    """400 studies in which all agents are equal: at most 5 % false claims, give or take two standard errors."""
    rng, studies = np.random.default_rng(2), 400
    false = sum(study(rng, play, CHALLENGERS, references, 600)[0].better is not None for _ in range(studies))
    assert false / studies <= ALPHA + 2 * math.sqrt(ALPHA * (1 - ALPHA) / studies)


def test_a_gain_is_found_and_saves_games() -> None:
    """An agent half as good again is found in nearly every study; those that it has left behind play no further."""
    rng, claims, played = np.random.default_rng(3), 0, []

    def play(rng: np.random.Generator, units: int) -> Callable[[str], np.ndarray]:
        return lambda label: rng.gamma(4, 7500 if label == "proposed" else 5000, units)

    for _ in range(50):
        test, values = study(rng, play, CHALLENGERS, REFERENCES, 2000)
        claims += test.better == "proposed"
        played.append(sum(map(len, values.values())))
    assert claims >= 48 and np.mean(played) < 1000


def test_all_references_must_be_beaten() -> None:
    rng = np.random.default_rng(4)
    strength = {"start": 0.0, "baseline": 1.0, "proposed": 0.95}
    play: Play = lambda rng, n: lambda label: rng.normal(strength[label], 0.5, n)  # noqa: E731
    test, values = study(rng, play, ("proposed",), REFERENCES, 600)
    assert test.better is None and test.beaten["proposed"] == {"start"}
    assert len(values["start"]) < len(values["baseline"]) == len(values["proposed"])  # beaten: it plays no longer


def test_challengers_that_are_behind_leave() -> None:
    rng = np.random.default_rng(5)
    strength = {"start": 0.0, "proposed": 0.1, "one": -1.0}
    play: Play = lambda rng, n: lambda label: rng.normal(strength[label], 1, n)  # noqa: E731
    _, values = study(rng, play, ("proposed", "one"), ("start",), 800)
    assert len(values["one"]) < len(values["proposed"])


def test_few_differing_seeds_are_not_overrated() -> None:
    """Of many seeds three differ, all in one direction: a sign test has p = 1/8."""
    values = np.zeros(100)
    values[:3] = 0.5
    assert superiority(values.tolist(), [0.0] * 100) == pytest.approx(1 / 8, abs=0.05)
    assert superiority([1.0] * 30, [1.0] * 30) == 0.5


def test_one_who_is_no_challenger_ends_the_test_at_once() -> None:
    assert Superiority((), ("start",), 4).active == []
