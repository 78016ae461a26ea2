"""Certainty: the thesis's formula by hand, 0 for a random agent and 1 for a deterministic one, means and intervals."""

from __future__ import annotations

import itertools
import math
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from turnier.arena.play import play_matches
from turnier.arena.positions import choose_positions, collector_matches, search_specs
from turnier.arena.repeated_search import SearchRecord, SearchSpec, SeenPosition, search_positions
from turnier.results.frames.certainty import (
    agent_certainty,
    chance_level,
    group_certainty,
    normalised,
    position_certainty,
    searches_frame,
)
from turnier.statistics.intervals import mean_interval, mean_of_means, points_interval


def voted(state: int, actions: str, legal: int, phase: int = 5, agent: str = "random") -> list[SearchRecord]:
    """Searches of a made-up position: one letter per search."""
    position = SeenPosition("2048(size=4)", (state,), (0.0,), tuple(range(legal)), phase)
    none = (0.0,) * legal
    return [
        SearchRecord(SearchSpec(position, agent, i), "abcd".index(a), none, none, 1, 0.5) for i, a in enumerate(actions)
    ]


def table(*records: list[SearchRecord]) -> pd.DataFrame:
    return position_certainty(searches_frame(itertools.chain(*records)))


def test_the_formula_by_hand() -> None:
    """75 % of two actions are 50 %, 70 % of four are 60 % (the thesis prints 66.7 % for the latter, a slip)."""
    two = table(voted(1, "aaab", 2)).iloc[0]
    assert (two["certainty"], two["normalised"]) == pytest.approx((0.75, 0.5))
    assert two["agreement"] == pytest.approx(2 * (3 / 6) - 1)  # 3 of 6 pairs of searches agree
    four = table(voted(1, "aaaaaaabcd", 4)).iloc[0]
    assert (four["certainty"], four["normalised"]) == pytest.approx((0.7, 0.6))
    assert four["agreement"] == pytest.approx((4 * 21 / 45 - 1) / 3)
    assert normalised(0.25, 4) == 0 and normalised(1.0, 4) == 1
    assert list(two[["searches", "seconds"]]) == [4, 2.0]


def searches_of(agent: str, states: int, repeats: int) -> pd.DataFrame:
    matches = play_matches(collector_matches("2048", "random", 4, seed=5))
    chosen = choose_positions(matches, states, seed=1)
    groups = [group for (legal, phase), group in chosen.items() if phase % 3 == 0]
    specs = [spec for group in groups for spec in search_specs(group, agent, repeats, seed=2)]
    return position_certainty(searches_frame(search_positions(specs)))


def test_certainty_of_random_is_0() -> None:
    """Agreement covers 0 with any number of searches; the thesis's figure covers its chance level, which goes to 0."""
    row = agent_certainty(searches_of("random", states=8, repeats=20)).iloc[0]
    assert row["agreement_low"] < 0 < row["agreement_high"] and row["agreement_high"] < 0.03
    assert row["normalised_low"] < row["chance_level"] < row["normalised_high"]
    assert row["normalised_low"] > 0.1, "20 searches are few: most frequent is more frequent than chance"
    more = agent_certainty(searches_of("random", states=1, repeats=200)).iloc[0]
    assert more["chance_level"] < 0.06 and 0 < more["normalised"] < 0.08
    assert [chance_level(4, n) > chance_level(4, 4 * n) for n in (2, 8, 32, 128)] == [True] * 4
    assert chance_level(4, 512) < 0.031


def test_certainty_of_a_deterministic_agent_is_1() -> None:
    row = agent_certainty(searches_of("greedy", states=2, repeats=5)).iloc[0]
    assert [row[name] for name in ("certainty", "normalised", "agreement")] == [1, 1, 1]
    assert row["agreement_low"] == row["agreement_high"] == 1


@pytest.mark.parametrize(("legal", "searches"), [(2, 2), (2, 5), (3, 4), (4, 5), (5, 1)])
def test_the_chance_level_is_the_mean_over_all_ways_to_vote(legal: int, searches: int) -> None:
    ways = [max(Counter(way).values()) for way in itertools.product(range(legal), repeat=searches)]
    assert chance_level(legal, searches) == pytest.approx(normalised(np.mean(ways) / searches, legal))


def test_agreement_is_right_on_average_however_few_the_searches() -> None:
    """Over all ways in which three searches choose a, b or c with 1/2, 1/3, 1/6."""
    chances = dict(zip("abc", (1 / 2, 1 / 3, 1 / 6), strict=True))
    mean = sum(
        math.prod(chances[action] for action in way) * table(voted(1, "".join(way), 3)).iloc[0]["agreement"]
        for way in itertools.product("abc", repeat=3)
    )
    assert mean == pytest.approx(normalised(sum(p**2 for p in chances.values()), 3))


def test_intervals_of_groups_hold_their_means() -> None:
    """Agreement goes down to -1 / (n - 1): half of a random agent's positions have less than by chance."""
    groups = group_certainty(searches_of("random", states=3, repeats=10))
    assert (groups["agreement"] < 0).any()
    for name in ("certainty", "normalised", "agreement"):
        inside = groups[f"{name}_low"].le(groups[name] + 1e-9) & groups[name].le(groups[f"{name}_high"] + 1e-9)
        assert inside.all(), name
    never = group_certainty(table(voted(1, "ab", 2), voted(2, "ba", 2))).iloc[0]
    assert never["agreement"] == -1 == never["agreement_low"] and -1 < never["agreement_high"] < 1


def test_groups_and_agents_are_means_with_intervals() -> None:
    first = [voted(1, "aaaa", 2), voted(2, "aaab", 2), voted(3, "aabb", 2)]
    second = [voted(4, "aaaa", 3, 7), voted(5, "aabb", 3, 7)]
    other = [voted(6, "abab", 2, 5, "greedy")]
    groups = group_certainty(table(*first, *second, *other))
    assert list(zip(groups["agent"], groups["legal"], groups["phase"], strict=True)) == [
        ("greedy", 2, 5),
        ("random", 2, 5),
        ("random", 3, 7),
    ]
    random = groups.iloc[1]
    assert (random["states"], random["searches"], random["seconds"]) == (3, 12, 0.5)
    ends = ("normalised", "normalised_low", "normalised_high")
    assert tuple(random[name] for name in ends) == pytest.approx(tuple(points_interval([1.0, 0.5, 0.0])))
    assert 0 <= groups.iloc[0]["normalised_low"] < 0.2 and 0.7 < groups.iloc[0]["normalised_high"] <= 1, "one state"
    greedy, both = (agent_certainty(table(*first, *second, *other)).iloc[i] for i in (0, 1))
    assert (greedy["groups"], both["groups"], both["states"]) == (1, 2, 5)
    assert both["normalised"] == pytest.approx((0.5 + 0.625) / 2), "groups count alike, whatever their sizes"


def test_positions_with_one_search_and_no_searches_give_nothing() -> None:
    assert list(table(voted(1, "a", 2), voted(2, "ab", 2))["searches"]) == [2]
    empty = position_certainty(searches_frame([]))
    assert empty.empty and agent_certainty(empty).empty and group_certainty(empty).empty
    assert {"normalised_low", "agreement_high", "chance_level"} <= set(agent_certainty(empty).columns)


def test_the_mean_of_means() -> None:
    one = [3.0, 5.0, 9.0, 1.0]
    assert mean_of_means([one]) == pytest.approx(mean_interval(one))
    two = [2.0, 4.0, 4.5]
    welch = stats.ttest_ind(one, [-x for x in two], equal_var=False).confidence_interval(0.95)
    mean, half = mean_of_means([one, two])
    assert (mean - half, mean + half) == pytest.approx((welch.low / 2, welch.high / 2))
    single, wider = mean_of_means([one, two, [4.0]])
    assert single == pytest.approx((np.mean(one) + np.mean(two) + 4) / 3)
    pooled = (3 * np.var(one, ddof=1) + 2 * np.var(two, ddof=1)) / 5
    error = math.sqrt(np.var(one, ddof=1) / 4 + np.var(two, ddof=1) / 3 + pooled) / 3
    assert 2 * error < wider < 3.5 * error
    assert mean_of_means([[1.0, 1.0], [2.0, 2.0]]) == (1.5, 0.0)
    assert all(map(math.isnan, mean_of_means([]))) and math.isnan(mean_of_means([[1.0], [2.0]])[1])


def test_the_interval_of_a_mean_of_means_holds_in_19_of_20_cases() -> None:
    rng = np.random.default_rng(1)
    hits = 0
    for _ in range(2000):
        groups = [rng.normal(i, 1 + i, size) for i, size in enumerate((20, 5, 3, 20))]
        mean, half = mean_of_means(groups)
        hits += abs(mean - 1.5) < half
    assert 0.935 < hits / 2000 < 0.97
