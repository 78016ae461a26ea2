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
    certainty_lead,
    certainty_over_game,
    chance_level,
    group_certainty,
    normalised,
    position_certainty,
    searches_frame,
)
from turnier.statistics.intervals import mean_over_groups, points_intervals


def voted(
    state: int, actions: str, legal: int, phase: int = 5, agent: str = "random", source: str = ""
) -> list[SearchRecord]:
    """Searches of a made-up position: one letter per search."""
    position = SeenPosition("2048(size=4)", (state,), (0.0,), tuple(range(legal)), phase, source)
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
    matches = play_matches(collector_matches("2048", "random", 8, seed=5))
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
        known = groups[groups[f"{name}_low"].notna()]
        inside = known[f"{name}_low"].le(known[name] + 1e-9) & known[name].le(known[f"{name}_high"] + 1e-9)
        assert inside.all() and len(known) > 4, name
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
    low, high = map(float, points_intervals(0.5, np.var([1.0, 0.5, 0.0]), 3))
    assert tuple(random[name] for name in ends) == pytest.approx((0.5, low, high))
    assert math.isnan(groups.iloc[0]["normalised_low"]) and math.isnan(groups.iloc[0]["normalised_high"]), "one state"
    greedy, both = (agent_certainty(table(*first, *second, *other)).iloc[i] for i in (0, 1))
    assert (greedy["groups"], both["groups"], both["states"]) == (1, 2, 5)
    assert both["normalised"] == pytest.approx((0.5 + 0.625) / 2), "groups count alike, whatever their sizes"


def test_the_lead_is_paired_by_position_and_counts_games() -> None:
    """Positions differ more than the agents: only the difference in the same positions tells these apart."""
    votes = {"random": ("aabb", "aaab", "aaaa"), "greedy": ("aaab", "aaaa", "aaaa")}
    records = [
        voted(state, actions, 2, agent=agent, source=f"game {state}")
        for agent, chosen in votes.items()
        for state, actions in enumerate(chosen)
    ]
    alone = voted(9, "aabb", 2, agent="random", source="game 9")  # of one agent only
    lead = certainty_lead(table(*records, alone), "normalised")
    assert lead is not None
    assert (lead.first, lead.second, lead.positions, lead.games) == ("greedy", "random", 3, 3)
    assert (lead.mean, lead.half_width) == pytest.approx(mean_over_groups([0.5, 0.5, 0], [0, 0, 0], [0, 1, 2]))
    one_game = certainty_lead(table(*(voted(i, "aaab", 2, agent=a) for a in votes for i in range(2))), "normalised")
    assert one_game is not None and one_game.mean == 0 and one_game.games == 2, "unknown games: each position is one"
    assert certainty_lead(table(*records[:3]), "normalised") is None, "one agent"
    apart = table(records[0], voted(7, "aaab", 2, agent="greedy"))
    assert certainty_lead(apart, "normalised") is None, "no position in common"


def test_certainty_over_the_game_pools_neighbouring_phases() -> None:
    votes = ("aaaa", "aaab", "aabb")
    records = [
        voted(10 * phase + i, votes[i % 3], 2, phase, agent, f"game {i}")
        for agent in ("random", "greedy")
        for phase in range(8)
        for i in range(6)
    ]
    found = certainty_over_game(table(*records), "normalised")
    assert found.groupby("agent")["states"].sum().to_dict() == {"greedy": 48, "random": 48}
    random = found[found["agent"] == "random"]
    assert list(random["phase"]) == [0.5, 2.5, 4.5, 6.5] and list(random["states"]) == [12, 12, 12, 12]
    games = [i for _ in range(2) for i in range(6)]
    mean, half = mean_over_groups([[1, 0.5, 0][i % 3] for i in games], np.zeros(12), games)
    assert tuple(random.iloc[0][["value", "low", "high"]]) == pytest.approx((mean, mean - half, mean + half))
    assert random["chance"].eq(chance_level(2, 4)).all()
    assert certainty_over_game(table(*records), "agreement")["chance"].eq(0).all()
    assert certainty_over_game(table(*records), "certainty")["chance"].eq((chance_level(2, 4) + 1) / 2).all()
    assert len(certainty_over_game(table(*records[:4]), "normalised")) == 1, "too few positions for two places"


def test_positions_with_one_search_and_no_searches_give_nothing() -> None:
    assert list(table(voted(1, "a", 2), voted(2, "ab", 2))["searches"]) == [2]
    empty = position_certainty(searches_frame([]))
    assert empty.empty and agent_certainty(empty).empty and group_certainty(empty).empty
    assert {"normalised_low", "agreement_high", "chance_level"} <= set(agent_certainty(empty).columns)


def test_the_mean_over_groups() -> None:
    """Of one group of single values it is Student's t; else each cluster is left out, with what it alone has."""
    one = np.array([3.0, 5.0, 9.0, 1.0])
    error = stats.t.ppf(0.975, 3) * stats.sem(one)
    assert mean_over_groups(one, [7] * 4, range(4)) == pytest.approx((4.5, error))
    values, groups, clusters = [3.0, 5.0, 9.0, 1.0, 6.0], [1, 1, 1, 2, 3], ["a", "b", "b", "a", "c"]
    without = (7 + 6) / 2, (3 + 1 + 6) / 3, (17 / 3 + 1) / 2  # a, b, c
    mean, half = mean_over_groups(values, groups, clusters)
    assert mean == pytest.approx((17 / 3 + 1 + 6) / 3)
    weights = np.array([1 / 9 + 1, 2 / 9, 1])
    freedom = max(1.0, weights.sum() ** 2 / (weights**2).sum() - 1)
    squares = sum((each - mean) ** 2 for each in without)
    assert half == pytest.approx(stats.t.ppf(0.975, freedom) * math.sqrt(2 / 3 * squares))
    assert mean_over_groups([1.0, 1.0, 2.0, 2.0], [1, 1, 2, 2], range(4)) == (1.5, 0.0)
    assert all(map(math.isnan, mean_over_groups([], [], [])))
    assert mean_over_groups([1.0, 3.0], [1, 2], [5, 5]) == pytest.approx((2, math.nan), nan_ok=True)


@pytest.mark.parametrize(("games", "least"), [(3, 0.93), (6, 0.93), (20, 0.93)])
def test_the_interval_of_a_mean_over_groups_counts_games(games: int, least: float) -> None:
    """Games of different lengths, so that the last groups are of one game, whose positions are alike."""
    rng, covered, positions = np.random.default_rng(games), [], []
    for _ in range(500):
        length = rng.integers(4, 13, games)
        game = np.repeat(np.arange(games), length)
        group = np.concatenate([np.arange(n) for n in length])
        values = rng.normal(0, 1, games)[game] + rng.normal(0, 1, len(game))
        for found, clusters in ((covered, game), (positions, np.arange(len(game)))):
            mean, half = mean_over_groups(values, group, clusters)
            found.append(abs(mean) < half)
    assert np.mean(covered) > least and np.mean(positions) < 0.85


def test_positions_of_one_game_have_no_interval_and_games_count() -> None:
    """Three positions of two games are as many as two."""
    same = [voted(i, actions, 2, source="one") for i, actions in enumerate(("aaaa", "aaab", "aabb"))]
    for row in (group_certainty(table(*same)).iloc[0], agent_certainty(table(*same)).iloc[0]):
        assert row["normalised"] == pytest.approx(0.5)
        assert all(math.isnan(row[f"{name}_{end}"]) for name in ("certainty", "agreement") for end in ("low", "high"))
    games = [*same[:2], voted(2, "aabb", 2, source="other")]
    group, agent = (frame(table(*games)).iloc[0] for frame in (group_certainty, agent_certainty))
    assert group["normalised_low"] < agent["normalised"] == group["normalised"] < group["normalised_high"]
    alone = group_certainty(table(voted(1, "aaaa", 2), voted(2, "aaab", 2), voted(3, "aabb", 2))).iloc[0]
    assert group["normalised_low"] < alone["normalised_low"] < alone["normalised_high"] < group["normalised_high"]
    _, half = mean_over_groups([1.0, 0.5, 0.0], [1, 1, 1], [1, 1, 2])
    assert agent["normalised_high"] - agent["normalised"] == pytest.approx(half)
