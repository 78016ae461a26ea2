"""Does one rating per agent explain results? Seldom denied where it does; circles are found."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from tests.statistics.fields import Field
from turnier.statistics.fit import Fit, fit_of
from turnier.statistics.plackett_luce import Games
from turnier.statistics.ratings import rated


def fit(field: Field) -> Fit:
    first, second, points, clusters = field.games()
    ratings = rated(len(field.elo), [Games.of_two(first, second, points, clusters)])
    expected = ratings.expected(first, second, np.zeros((len(first), 2), int))
    return fit_of(len(field.elo), first, second, points, expected, clusters)


FIELDS = {"few": ([-100, 0, 100], 20, 0.3), "spread": ([-600, -300, 0, 300, 600], 6, 0.0), "equal": ([0] * 6, 3, 0.5)}


@pytest.mark.parametrize("name", FIELDS)
def test_fields_without_circles_are_seldom_denied(name: str) -> None:
    """4 to 6 % in larger runs, fewer among extreme strengths (docs/validity.md)."""
    elo, pairs, draws = FIELDS[name]
    rng, found = np.random.default_rng(1), []
    for _ in range(60):
        field = Field(rng, np.array(elo, float), draws)
        field.play(field.everyone * pairs)
        found.append(fit(field).p)
    assert np.mean(np.array(found) < 0.05) <= 0.15


def fit_of_four_seats(rng: np.random.Generator) -> Fit:
    """Returns the fit of five equal agents; in half of the games, all but the winner share the last place."""
    groups = np.array(list(itertools.combinations(range(5), 4)))
    seats = np.concatenate([np.roll(np.repeat(groups, 10, axis=0), turn, axis=1) for turn in range(4)])
    clusters = np.tile(np.arange(50), 4)  # ten seeds of each group, in four orders
    scores = rng.random(seats.shape)
    scores = np.where(rng.random((len(seats), 1)) < 0.5, scores, scores == scores.max(axis=1, keepdims=True))
    ratings = rated(5, [Games(seats, scores, clusters)])
    pairs = np.array(list(itertools.combinations(range(4), 2)))
    first, second = (seats[:, own].T.ravel() for own in pairs.T)
    points = (0.5 + 0.5 * np.sign(scores[:, pairs[:, 0]] - scores[:, pairs[:, 1]])).T.ravel()
    expected = ratings.expected(first, second, np.repeat(pairs, len(seats), axis=0))
    return fit_of(5, first, second, points, expected, np.tile(clusters, len(pairs)))


def test_games_of_four_seats_are_one_piece_of_evidence_for_six_pairs() -> None:
    """Were the pairs of a game independent, p-values would be 0.9 on average."""
    rng = np.random.default_rng(4)
    found = np.array([fit_of_four_seats(rng).p for _ in range(60)])
    assert 0.38 < found.mean() < 0.62 and (found < 0.05).mean() <= 0.15


def test_a_circle_is_found_with_its_pairs_and_share() -> None:
    """Three that beat each other by 90 %, and a fourth, weaker one: no rating explains most of what there is."""
    rng = np.random.default_rng(2)
    first, second = np.repeat([0, 1, 2, 0, 1, 2], 60), np.repeat([1, 2, 0, 3, 3, 3], 60)
    points = (rng.random(360) < np.repeat([0.9, 0.9, 0.9, 0.6, 0.6, 0.6], 60)).astype(float)
    clusters = np.arange(360) // 2
    ratings = rated(4, [Games.of_two(first, second, points, clusters)])
    expected = ratings.expected(first, second, np.zeros((360, 2), int))
    found = fit_of(4, first, second, points, expected, clusters)
    assert found.p < 0.001 and not found.holds and found.cyclic > 0.7
    assert {(pair.first, pair.second) for pair in found.worst} == {(0, 1), (1, 2), (2, 0)}
    assert all(pair.seen > 0.8 and 0.4 < pair.expected < 0.6 and pair.games == 60 for pair in found.worst)


def test_two_agents_cannot_contradict_their_ratings() -> None:
    field = Field(np.random.default_rng(3), np.array([50.0, 0.0]))
    field.play(field.everyone * 20)
    assert np.isnan(fit(field).p) and fit(field).holds and not fit(field).worst
