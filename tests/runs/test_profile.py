"""`turnier.Profile`: its figures counted anew from its games, what chance decides, perfect play, resuming, mistakes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import turnier
from tests.runs.toss import Toss
from turnier.arena.play import replay_positions
from turnier.arena.workers.where import Where
from turnier.dashboards.kinds import profile as drawn
from turnier.games.registry import make_game
from turnier.results.store.store import Store
from turnier.runs.profile import Profile
from turnier.runs.stored.profile import FIRST, OTHERS, UNDECIDED, ahead
from turnier.statistics.intervals import Interval

QUIET: dict[str, Any] = {"where": Where("serial"), "progress": False}


def small(game: str = "tictactoe", **options: Any) -> Profile:
    return Profile(game, **{"per_move": "4rollouts", "steps": 3, "games": 30} | options)


def test_figures_are_those_counted_from_the_games(store: Store) -> None:
    plan = small()
    results = plan.run(store, **QUIET)
    records = [record for some in store.records_of_run(results.id) for record in some]
    assert plan.total == len(records) == 5 * 30
    for row in results.strengths().to_dict("records"):
        own = [record for record in records if set(record.spec.agents) == {row["agent"]}]
        assert row["games"] == row["different"] == len(own) == 30 and row["failures"] == 0
        assert row["seat_1"] == pytest.approx(np.mean([record.points[0] for record in own]))
        assert row["drawn"] == pytest.approx(np.mean([record.points[0] == 0.5 for record in own]))
        assert row["moves"] == pytest.approx(np.mean([sum(record.decisions) for record in own]))
        choices = [
            np.mean([len(p.legal_actions()) for p in replay_positions(record.spec, record.plies) if not p.over])
            for record in own
        ]
        assert row["choices"] == pytest.approx(np.mean(choices))
        assert row["seat_1_low"] < row["seat_1"] < row["seat_1_high"] and row["seat_2"] == pytest.approx(
            1 - row["seat_1"]
        )
        assert row["thought"] == 4 << row["step"]
    for row in results.doublings().to_dict("records"):
        lower, upper = (plan.agents[row["step"] - 1 + i].full_text() for i in range(2))
        met = [record for record in records if set(record.spec.agents) == {lower, upper}]
        assert row["agent"] == upper and row["games"] == len(met) == 30
        assert row["points"] == pytest.approx(
            np.mean([record.points[record.spec.agents.index(upper)] for record in met])
        )
        assert math.isnan(row["chance"]) and row["gain_low"] < row["gain"] < row["gain_high"]
    ratings = results.doublings()["gain"]
    assert results.gain().value == pytest.approx(ratings.mean()), "the chain of neighbours"
    shares = results.strengths()["seat_1"]
    assert results.trend().value == pytest.approx(np.polyfit(range(3), shares, 1)[0])


def test_more_strengths_and_games_resume_a_profile_with_the_same_games(store: Store) -> None:
    first = small(steps=2, games=10).run(store, **QUIET)
    plan = small(steps=3, games=20)
    again = plan.run(store, where=Where("threads", 2), progress=False)
    assert again.id == first.id and plan.skipped == 30 and plan.total == 100
    alone = small(steps=3, games=20).run(**QUIET)
    assert alone.strengths().equals(again.strengths()) and alone.doublings().equals(again.doublings())
    fewer = Profile.of_run(store, store.run(first.id), steps=2)
    assert fewer.total == 60 and len(fewer.run(store, **QUIET).strengths()) == 2, (
        "games of other strengths do not count"
    )


@pytest.mark.parametrize(("swayed", "low", "high"), [(False, 0.9, 1.0), (True, 0.0, 0.4)])
def test_what_chance_alone_decides_is_found(swayed: bool, low: float, high: float) -> None:
    """A coin that decides everything, and one whose fall means the opposite as often as not."""
    results = Profile(Toss(swayed=swayed), per_move="2rollouts", steps=3, games=60).run(**QUIET)
    common = results.chance()
    assert low <= common.low <= common.value <= common.high <= high
    assert (common.value == 1.0) is not swayed and (common.low == 0.0) is swayed
    assert "no chance" not in drawn.facts(drawn.read(results)).values()


@pytest.mark.parametrize(
    ("game", "value", "sentence"),
    [
        ("tictactoe", 0, "a draw (search to the end)"),
        ("nim(piles=1;2;3)", -1, "the second seat wins (search to the end)"),
        ("nim(piles=1;2)", 1, "the first seat wins (search to the end)"),
    ],
)
def test_perfect_play_is_known_of_small_games(game: str, value: int, sentence: str) -> None:
    results = small(game, steps=2, games=2).run(**QUIET)
    assert results.perfect["value"] == value
    facts = drawn.facts(drawn.read(results))
    assert facts["with perfect play"] == sentence and facts["decided by chance"] == "no chance"


def test_strong_players_come_near_to_perfect_play() -> None:
    """Nim is won by the first seat here, and by the second after one object less."""
    options: dict[str, Any] = {"agent": "mcts(solver=true)", "per_move": "2rollouts", "steps": 8, "games": 40}
    for game, winner in (("nim(piles=1;3)", FIRST), ("nim(piles=3;3)", OTHERS)):
        results = Profile(game, **options).run(**QUIET)
        ends = results.strengths().iloc[[0, -1]]["seat_1"].tolist()
        assert results.strengths().iloc[-1]["ahead"] == winner and ends[-1] in (0.0, 1.0)
        assert (results.trend().low > 0) if winner == FIRST else (results.trend().high < 0)


def test_three_seats_share_the_points() -> None:
    plan = small("yavalath(size=3,players=3)", steps=2, games=12)
    assert [len(set(group)) for group in plan.groups] == [1, 1, 2, 2] and plan.total == 48
    results = plan.run(**QUIET)
    table = results.strengths()
    assert (table["seat_1"] + table["seat_2"] + table["seat_3"]).tolist() == pytest.approx([1.0, 1.0])
    assert results.gain().low < results.gain().value < results.gain().high
    headings = [column.heading for column in drawn.strengths_table(drawn.read(results)).columns]
    assert headings[1:5] == ["first seat, %", "ahead", "second seat, %", "third seat, %"]


def test_games_of_one_seat_have_scores() -> None:
    results = small("2048(size=3)", per_move="1rollouts", games=20).run(**QUIET)
    frame = results.frame().pivot(index="seed", columns="agent", values="score")
    texts = [agent.full_text() for agent in results.profile.agents]
    table, doublings = results.strengths(), results.doublings()
    assert table["score"].tolist() == pytest.approx(frame[texts].mean().tolist()) and "seat_1" not in table
    assert doublings["gain"].tolist() == pytest.approx(frame[texts].mean().diff()[1:].tolist())
    assert results.gain().value == pytest.approx((frame[texts[-1]] - frame[texts[0]]).mean() / 2)
    assert not math.isnan(results.chance().value) and "points per doubling" in drawn.head(results).sentence


def test_a_verdict_needs_an_interval_without_equal_shares() -> None:
    assert ahead(Interval(0.6, 0.51, 0.7), 0.5) == FIRST and ahead(Interval(0.4, 0.3, 0.49), 0.5) == OTHERS
    assert ahead(Interval(0.6, 0.49, 0.7), 0.5) == UNDECIDED and ahead(Interval(0.6, math.nan, math.nan), 0.5) == ""
    assert ahead(Interval(0.4, 0.35, 0.45), 1 / 3) == FIRST


def test_a_profile_without_games_says_so(store: Store) -> None:
    plan = small()
    plan.begin(store, 1)
    results = Profile.reopened(store, store.run(plan.run_id))
    assert drawn.head(results).sentence == ""
    assert [str(section.text) for section in drawn.sections(drawn.read(results))] == ["No game has been played yet."]


@pytest.mark.parametrize(
    ("game", "options", "error"),
    [
        ("tictactoe", {"agent": "random"}, "an agent that thinks longer if it may, got random"),
        ("tictactoe", {"per_move": "16"}, "a budget per move must be a whole number and one of"),
        ("tictactoe", {"per_move": "4plies"}, "takes only"),
        ("tictactoe", {"steps": 1}, "steps must be from 2 to 20, got 1"),
        ("tictactoe", {"agent": "mcts", "per_move": "10000000rollouts"}, "iterations"),
        ("2048", {"openings": 1}, "openings need a game without chance"),
    ],
)
def test_mistakes_are_told_in_a_sentence(game: str, options: dict[str, Any], error: str) -> None:
    with pytest.raises(turnier.UserError, match=error):
        small(game, **options)


def test_games_that_would_all_be_the_same_are_refused() -> None:
    options: dict[str, Any] = {"agent": "alphabeta", "per_move": "1plies", "steps": 2}
    with pytest.raises(turnier.UserError, match=r"with every seed they would play the same game.*--openings"):
        small(**options).run(**QUIET)
    results = small(**options, openings=1, games=10).run(**QUIET)
    row = results.strengths().iloc[0]
    assert row["games"] == row["different"] == 10, "one from the start, and one from each first move"


def test_a_start_that_is_drawn_is_chance() -> None:
    assert Profile("spe_ed").has_chance and not Profile("hex(size=3)").has_chance
    assert not make_game("spe_ed").has_chance and Profile("2048").family.name == "mctse"
