"""Nash averages: those of OpenSpiel's evolution and voting, the same with copies, with bands that hold."""

from __future__ import annotations

import numpy as np
import pytest

from turnier.statistics.nash import LEAST, nash_average, unbeaten

CIRCLE = np.array([[0.5, 0.9, 0.2], [0.1, 0.5, 0.8], [0.8, 0.2, 0.5]])


def with_copies(shares: np.ndarray, agent: int, copies: int) -> np.ndarray:
    places = np.append(np.arange(len(shares)), np.full(copies, agent))
    return shares[np.ix_(places, places)]


def test_copies_change_nothing_but_share_their_weight() -> None:
    alone, copied = (nash_average(shares, np.zeros_like(shares)) for shares in (CIRCLE, with_copies(CIRCLE, 1, 5)))
    assert copied.share[:3] == pytest.approx(alone.share, abs=5 * LEAST)
    assert alone.share == pytest.approx(0.5, abs=3 * LEAST)
    assert copied.weights[[1, 3, 4, 5, 6, 7]] == pytest.approx(alone.weights[1] / 6, abs=0.01)


def test_with_noise_copies_move_averages_little() -> None:
    """By less than 0.04, from 400 games of every two."""
    rng = np.random.default_rng(1)
    noisy = with_copies(CIRCLE, 1, 5)
    above = np.triu_indices(8, 1)
    noisy[above] = rng.binomial(400, noisy[above]) / 400
    noisy.T[above] = 1 - noisy[above]
    few, many = (nash_average(part, np.sqrt(part * (1 - part) / 400)) for part in (noisy[:3, :3], noisy))
    assert many.share[:3] == pytest.approx(few.share, abs=0.04)
    assert (many.low <= many.share).all() and (many.share <= many.high).all()


def test_an_order_without_circles_has_the_best_alone() -> None:
    strengths = np.array([2.0, 1.0, 0.0, -1.0])
    found = nash_average(1 / (1 + np.exp(strengths - strengths[:, None])), np.zeros((4, 4)))
    assert found.weights[0] > 0.98 and found.share[0] == pytest.approx(0.5, abs=3 * LEAST)
    assert (np.diff(found.share) < 0).all()


def test_weights_are_where_openspiel_finds_an_evolution_at_rest() -> None:
    """On average over time its replicator dynamics are in the equilibrium, of a circle of three."""
    from open_spiel.python.egt import dynamics

    payoffs = 2 * CIRCLE - 1
    evolution = dynamics.SinglePopulationDynamics(np.stack([payoffs, payoffs.T]), dynamics.replicator)
    state, total, steps = np.array([0.3, 0.4, 0.3]), np.zeros(3), 30_000
    for _ in range(steps):
        state = state + 0.01 * evolution(state)
        total += state
    assert unbeaten(payoffs, np.full(3, LEAST)) == pytest.approx(total / steps, abs=0.02)


@pytest.mark.filterwarnings("ignore")  # of the solver
def test_weights_are_the_maximal_lottery_of_openspiel() -> None:
    """Voters who disagree in a circle: what most of them prefer is the game that agents play."""
    from open_spiel.python.voting import base, maximal_lotteries

    votes = [base.WeightedVote(count, list(order)) for count, order in ((2, "abc"), (3, "bca"), (4, "cab"))]
    profile = base.PreferenceProfile(votes=votes)
    outcome = maximal_lotteries.MaximalLotteriesVoting(iterative=False).run_election(profile)
    theirs = dict(zip(outcome.ranking, outcome.scores, strict=True))
    weights = unbeaten(profile.margin_matrix() / 9, np.full(3, LEAST))
    assert weights == pytest.approx([theirs[name] for name in profile.alternatives], abs=0.01)


def test_nobody_wins_against_the_weights() -> None:
    payoffs = np.triu(np.random.default_rng(1).uniform(-1, 1, (7, 7)), 1)
    payoffs -= payoffs.T
    weights = unbeaten(payoffs, np.full(7, LEAST))
    assert (payoffs @ weights <= LEAST + 1e-6).all() and weights.sum() == pytest.approx(1)
