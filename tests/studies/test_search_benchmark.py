"""The problems of the benchmark of searches have the truth that they are said to have; its statistics are right."""

from __future__ import annotations

import math

import numpy as np
import pytest

from turnier.studies.benchmark.contenders import CONTENDERS, ChessSpsa
from turnier.studies.benchmark.runs import START, Result, Results, Task, run, tasks
from turnier.studies.benchmark.skewed import SkewedScores
from turnier.studies.benchmark.summary import Summary
from turnier.studies.benchmark.tables import BY_NAME, PRESETS
from turnier.studies.benchmark.won_games import DEPTH, MIDDLE, mixed, won

SEEDS = (501, 502, 503)


@pytest.mark.parametrize("ridge", [False, True])
@pytest.mark.parametrize("gap", [20.0, 60.0, 200.0])
def test_a_surface_has_its_best_at_0_and_its_start_below(gap: float, ridge: bool) -> None:
    for seed in SEEDS:
        problem = won(seed, 6, gap, ridge)
        points = np.random.default_rng(seed).uniform(size=(4000, 6))
        elo = problem.strength(points)
        assert problem.loss(problem.surface.best) == 0 and elo.max() <= 0 and elo.min() >= -DEPTH
        assert abs(elo.mean() + 150) < 8
        assert problem.strength(np.full((1, 6), 0.5))[0] <= MIDDLE
        # Where there are stairs the start may lie a step lower.
        assert gap <= problem.loss(problem.start) < gap + (60 if ridge else 3)


def test_games_are_won_as_often_as_elo_says() -> None:
    problem = won(501, 6)
    pairs = np.tile([problem.surface.best, problem.start], (4000, 1))
    shares = np.array(problem.duel(pairs, np.random.default_rng(1)))
    assert (shares[::2] + shares[1::2] == 1).all()
    expected = 1 / (1 + 10 ** (-problem.loss(problem.start) / 400))
    assert shares[::2].mean() == pytest.approx(expected, abs=4 * 0.3 / math.sqrt(4000))
    assert set(shares.tolist()) == {0, 0.25, 0.5, 0.75, 1}
    against_start = np.mean(problem.play(pairs[::2], np.random.default_rng(2)))
    assert against_start == pytest.approx(expected, abs=4 * 0.3 / math.sqrt(4000))


def test_whole_numbers_and_choices_can_be_right() -> None:
    for seed in SEEDS:
        problem = mixed(seed)
        best = [*problem.surface.best, (problem.best_choice + 0.5) / 3, (problem.best_switch + 0.5) / 2]
        assert problem.loss(best) == 0 and 55 < problem.loss(problem.start) < 75
        switched = [*best[:7], 1 - best[7]]
        assert problem.loss(switched) == pytest.approx(-problem.switched)


def test_games_in_a_circle_have_no_strength_alone() -> None:
    problem = won(501, 6, circle=100.0)
    a, b, c = np.random.default_rng(3).uniform(size=(3, 1, 6))
    assert problem.ahead(a, b) == pytest.approx(-problem.ahead(b, a))
    assert abs(problem.ahead(a, b) + problem.ahead(b, c) - problem.ahead(a, c))[0] > 1
    assert problem.loss(problem.start) == pytest.approx(problem.best)
    points = np.random.default_rng(4).uniform(size=(4000, 6))
    assert (problem.ahead(points, np.tile(problem.start, (4000, 1))) <= problem.best + 1e-6).all()


def test_skewed_scores_are_half_as_wide_as_their_mean() -> None:
    problem = SkewedScores(501)
    scores = np.array(problem.play(np.tile(problem.start, (4000, 1)), np.random.default_rng(1)))
    assert scores.std() / scores.mean() == pytest.approx(0.5, abs=0.04)
    assert 1 - scores.mean() == pytest.approx(problem.loss(problem.start), abs=0.03)
    best = problem.best.copy()
    best[4] = 0.5
    assert problem.loss(best) == pytest.approx(0, abs=1e-12)
    idle, needed = best.copy(), best.copy()
    idle[6], needed[5] = 1 - idle[6], (needed[5] + 0.5) % 1
    assert problem.loss(idle) == problem.loss(best) and problem.loss(needed) > 0.1
    needed[4] = best[4] = 0.9
    assert problem.loss(needed) == problem.loss(best)  # only one choice needs it


def test_spsa_of_chess_ends_with_the_step_that_is_asked_for() -> None:
    search = ChessSpsa([0.5] * 3, 1, pairs=1000, batch=1)
    search.played = 999
    signs = np.sign(search.ask()[0] - 0.5)
    assert np.abs(search.ask() - 0.5) == pytest.approx(0.05)
    search.tell([1.0, 0.0])  # both games won
    assert (search.point - 0.5) * signs == pytest.approx(0.002 * 0.05 * 2)


def test_games_needed_and_ranks_are_those_of_known_losses() -> None:
    table = BY_NAME["won 6"]
    results: Results = {}
    for problem in range(30):
        results[Task(table.name, START, problem, 500)] = Result(60, 0)
        for place, label in enumerate("abcde"):
            for games, loss in zip(table.games, (24, 12, 3, 2, 1), strict=True):
                results[Task(table.name, label, problem, games)] = Result(loss + 10 * place, 0.5)
    summary = Summary.of(table, results)
    assert summary is not None
    assert {label: ranks.tolist() for label, ranks in summary.ranks().items()} == {
        label: [place] * 5 for place, label in enumerate("abcde", 1)
    }
    assert summary.critical_difference() == pytest.approx(2.728 * math.sqrt(5 * 6 / (6 * 30)), abs=1e-3)  # Demšar 2006
    needed = summary.needed("a")
    assert needed.games == needed.low == needed.high == pytest.approx(1000 * math.sqrt(2))  # from 12 to 6 of 12 to 3
    assert math.isinf(summary.needed("b").games) and "> 20,000" in summary.markdown()


def test_every_search_goes_through_its_games() -> None:
    """With the fewest games: it recommends a point of the cube, the same every time."""
    found = {task.search for task in tasks(PRESETS["tiny"])}
    assert found == {START, *(one.label for one in CONTENDERS if one.installed)}
    for label in ("package cmaes, 64, mean", "package cmaes, usual, mean", "fishtest's SPSA", "duels"):
        task = Task("won 6", label, 501, 200)
        first, second = run(task)[1], run(task)[1]
        assert first.loss == second.loss and math.isfinite(first.loss)
