"""Places and probabilities: all places hold at once, and what is called likely is as often right."""

from __future__ import annotations

import numpy as np
import pytest

from tests.statistics.fields import Field
from turnier.statistics import ranks
from turnier.statistics.ranks import beliefs, rank_intervals


def test_of_two_agents_the_better_one_is_the_best() -> None:
    found = beliefs(np.array([30.0, 0.0]), np.diag([100.0, 400.0]), np.array([20.0, 50.0]), 200.0)
    assert found.best.tolist() == [found.better[0, 1], found.better[1, 0]] and found.best.sum() == pytest.approx(1)


@pytest.mark.parametrize("spread", [0.0, 60.0])
def test_places_hold_for_all_agents_at_once(spread: float) -> None:
    rng, right, widths = np.random.default_rng(1), [], []
    for _ in range(60):
        elo = rng.normal(0, spread, 8) if spread else np.zeros(8)
        field = Field(rng, elo)
        field.play(field.everyone * 12)
        ratings = field.rate()
        ranks = rank_intervals(ratings.elo, ratings.covariance, ratings.freedom)
        least, most = 1 + (elo > elo[:, None]).sum(axis=1), (elo >= elo[:, None]).sum(axis=1)
        right.append(((ranks.low <= least) & (most <= ranks.high)).all())
        widths.append(np.mean(ranks.high - ranks.low + 1))
    assert np.mean(right) >= 0.88
    assert np.mean(widths) > 7.8 if spread == 0 else np.mean(widths) < 7


@pytest.mark.parametrize("spread", [15.0, 100.0, 400.0])
def test_what_is_called_likely_is_at_least_as_often_right(spread: float) -> None:
    """A flat prior says 97 % of close agents where 61 to 70 % are right. Far apart it is as often right."""
    rng, said, right, best = np.random.default_rng(2), [], [], []
    for _ in range(100):
        elo = rng.normal(0, spread, 6)
        field = Field(rng, elo)
        field.play(field.everyone * 10)
        ratings = field.rate()
        found = beliefs(ratings.elo, ratings.evidence(), ratings.freedom, 200.0)
        above = np.triu_indices(6, 1)
        chance, true = found.better[above], (elo[:, None] > elo)[above]
        said.append(np.maximum(chance, 1 - chance))
        right.append(true == (chance > 0.5))
        best.append((found.best.max(), elo.argmax() == found.best.argmax()))
        assert found.best.sum() == pytest.approx(1) and np.allclose(found.better + found.better.T, 1)
    for low, high in ((0.5, 0.75), (0.75, 1.0)):
        some = (np.concatenate(said) >= low) & (np.concatenate(said) < high)
        true, claimed = np.mean(np.concatenate(right)[some]), np.mean(np.concatenate(said)[some])
        assert claimed - 0.06 <= true <= claimed + (0.25 if spread < 50 else 0.15)
    sure, was = np.array(best, float).T
    assert was.mean() >= sure.mean() - 0.1


def test_the_leader_of_a_field_that_ends_at_a_limit_is_not_too_sure(monkeypatch: pytest.MonkeyPatch) -> None:
    """Normally distributed values would let it be the best in 73 of 100 cases, of which 68 are right."""
    monkeypatch.setattr(ranks, "BEST_DRAWS", 2_000)
    rng, sure, right = np.random.default_rng(1), [], []
    for _ in range(300):
        elo = rng.uniform(-90, 90, 8)
        best = beliefs(elo + rng.normal(0, 20, 8), np.eye(8) * 400, np.full(8, 1e6), 200.0).best
        sure.append(best.max())
        right.append(best.argmax() == elo.argmax())
    likely = np.array(sure) > 0.5
    assert likely.sum() > 180
    assert np.mean(np.array(right)[likely]) >= np.mean(np.array(sure)[likely]) - 0.01


def test_common_luck_does_not_hide_who_is_better() -> None:
    """Means that vary by 30 together and by 1 apart: a difference of 5 is beyond doubt."""
    covariance = 900.0 + np.eye(2)
    assert beliefs(np.array([5.0, 0.0]), covariance, np.full(2, 1e6), 10.0).better[0, 1] > 0.95
    assert rank_intervals(np.array([5.0, 0.0]), covariance, np.full(2, 1e6)).high.tolist() == [1, 2]
