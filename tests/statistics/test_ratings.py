"""Ratings: intervals cover known strengths, are those of statsmodels, and make sense where an agent won everything."""

from __future__ import annotations

import numpy as np
import pytest
from openskill.models import PlackettLuce

from tests.statistics.fields import Field
from turnier.results.frames.rating_list import live_ratings
from turnier.statistics.ratings import ELO, PRIOR_GAMES, bradley_terry

RUNS = 200
# agents, pairs of games of every two, draws, luck
FIELDS = {
    "four agents": (4, 20, 0.0, 0.0),
    "many draws": (4, 20, 0.6, 0.0),
    "few games": (7, 4, 0.3, 0.0),
    "pairs decided by luck": (4, 25, 0.0, 700.0),
    "two agents": (2, 30, 0.3, 0.0),
}


def coverage(name: str, together: bool = True) -> tuple[float, float]:
    """Returns how often intervals cover: strengths beside the field's mean, and differences of two agents."""
    agents, pairs, draws, luck = FIELDS[name]
    rng, own, differences = np.random.default_rng(1), [], []
    for _ in range(RUNS):
        elo = rng.normal(0, 60, agents)
        field = Field(rng, elo, draws, luck)
        field.play(field.everyone * pairs)
        first, second, points, clusters = field.games()
        # On average luck makes the better one's odds smaller: what ratings estimate then is a fraction of the Elo.
        truth = elo / np.sqrt(1 + (luck / ELO) ** 2 * np.pi / 8)
        ratings = bradley_terry(agents, first, second, points, clusters if together else np.arange(len(first)))
        own.append(np.abs(ratings.elo - (truth - truth.mean())) <= ratings.half_widths())
        difference, half = ratings.differences()
        above = np.triu_indices(agents, 1)
        differences.append((np.abs(difference - (truth[:, None] - truth)) <= half)[above])
    return float(np.mean(own)), float(np.mean(differences))


@pytest.mark.parametrize("name", FIELDS)
def test_intervals_cover_the_truth(name: str) -> None:
    """93 to 97 %, where several agents of RUNS fields stand for about a thousand independent intervals."""
    own, differences = coverage(name)
    assert 0.93 <= own <= 0.975
    assert 0.93 <= differences <= 0.975


def test_intervals_that_take_games_of_a_pair_as_independent_cover_too_little() -> None:
    assert coverage("pairs decided by luck", together=False)[1] < 0.92


@pytest.mark.filterwarnings("ignore:cov_type not fully supported")  # it is, with weights of 1
def test_the_covariance_is_statsmodels_clustered_one() -> None:
    """On games one by one, with the virtual games as rows; clusters counted as statsmodels does but for a factor."""
    from statsmodels.genmod.families import Binomial
    from statsmodels.genmod.generalized_linear_model import GLM

    field = Field(np.random.default_rng(2), np.array([0.0, 50.0, 120.0]), 0.2, 100.0)
    field.play(field.everyone * 400)
    first, second, points, clusters = field.games()
    eye = np.eye(3)
    design = np.concatenate([eye[first] - eye[second], eye])
    weights = np.append(np.ones(len(first)), np.full(3, PRIOR_GAMES))
    shares = np.append(points, np.full(3, 0.5))
    groups = np.append(clusters, clusters.max() + 1 + np.arange(3))
    model = GLM(shares, design, Binomial(), var_weights=weights)
    fitted = model.fit(cov_type="cluster", cov_kwds={"groups": groups})
    ratings = field.rate()
    for i, j in field.everyone:
        contrast = eye[i] - eye[j]
        assert ratings.elo[i] - ratings.elo[j] == pytest.approx(ELO * contrast @ fitted.params)
        expected = ELO**2 * contrast @ fitted.cov_params() @ contrast
        assert ratings.variances()[i, j] == pytest.approx(expected, rel=0.01)


@pytest.mark.parametrize(("agents", "spread"), [(2, 100.0), (30, 200.0), (12, 3000.0)])
def test_strengths_are_those_of_statsmodels(agents: int, spread: float) -> None:
    """Also of agents so far apart that Newton's first step leads beyond the maximum."""
    from statsmodels.genmod.families import Binomial
    from statsmodels.genmod.generalized_linear_model import GLM

    rng = np.random.default_rng(5)
    field = Field(rng, rng.normal(0, spread, agents), 0.2)
    field.play(field.everyone * 3)
    first, second, points, _ = field.games()
    eye = np.eye(agents)
    design = np.concatenate([eye[first] - eye[second], eye])
    weights = np.append(np.ones(len(first)), np.full(agents, PRIOR_GAMES))
    fitted = GLM(np.append(points, np.full(agents, 0.5)), design, Binomial(), var_weights=weights).fit(tol=1e-12)
    assert field.rate().elo == pytest.approx(ELO * (fitted.params - fitted.params.mean()), abs=1e-5)


def test_an_agent_that_won_everything_is_rated_finite_and_unsure() -> None:
    first, second = np.repeat([0, 0, 1], 20), np.repeat([1, 2, 2], 20)
    points = np.concatenate([np.ones(40), np.tile([1.0, 0.0], 10)])
    ratings = bradley_terry(3, first, second, points, np.arange(60) // 2)
    assert 300 < ratings.elo[0] - ratings.elo[1] < 1500
    assert ratings.elo[1] == pytest.approx(ratings.elo[2], abs=1e-6)
    assert ratings.half_widths()[0] > 150
    assert ratings.superiority()[0, 1] > 0.99
    assert ratings.superiority()[1, 2] == pytest.approx(0.5)
    assert np.diag(ratings.superiority()) == pytest.approx(0.5)


def test_more_won_games_say_more_of_an_agent_that_won_everything() -> None:
    lows = []
    for games in (4, 20, 100):
        ratings = bradley_terry(2, np.zeros(games, int), np.ones(games, int), np.ones(games), np.arange(games) // 2)
        difference, half = ratings.differences()
        lows.append(difference[0, 1] - half[0, 1])
    assert lows[0] < lows[1] < lows[2]


def test_agents_that_never_met_and_nobody_at_all() -> None:
    apart = bradley_terry(4, np.array([0, 2]), np.array([1, 3]), np.array([1.0, 0.5]), np.arange(2))
    assert apart.elo[0] > apart.elo[2] == pytest.approx(apart.elo[3])
    nobody = np.array([], int)
    assert bradley_terry(3, nobody, nobody, np.array([]), nobody).elo == pytest.approx(np.zeros(3))


def test_neither_order_nor_orientation_matters() -> None:
    field = Field(np.random.default_rng(3), np.array([0.0, 80.0, 40.0, 10.0]))
    field.play(field.everyone * 10)
    first, second, points, clusters = field.games()
    shuffled = np.random.default_rng(4).permutation(len(first))
    turned = bradley_terry(4, second[shuffled], first[shuffled], 1 - points[shuffled], clusters[shuffled])
    assert turned.elo == pytest.approx(field.rate().elo)
    assert turned.covariance == pytest.approx(field.rate().covariance)


def test_live_ratings_find_the_order() -> None:
    """Games of three of four agents; the one with two seats of a game takes part once."""
    rng, games = np.random.default_rng(1), []
    agents = ["a", "b", "c", "d"]
    for _ in range(300):
        seats = [agents[i] for i in rng.permutation(4)[:3]]
        games.append((seats, [-agents.index(agent) + rng.normal(0, 1) for agent in seats]))
    games.append((["a", "a", "b"], [1.0, 0.0, 0.0]))
    games.append((["a", "a", "a"], [1.0, 0.0, 0.0]))
    rated = live_ratings(games)
    assert sorted(rated, key=lambda agent: -rated[agent].mu) == agents
    assert rated["a"].ordinal > rated["d"].ordinal
    assert all(rating.sigma < 3 for rating in rated.values())


def test_live_ratings_are_those_of_openskill() -> None:
    """Games of two to four agents, a third of them with ties."""
    rng, model, known, games = np.random.default_rng(2), PlackettLuce(), {}, []
    for number in range(150):
        seats = rng.permutation(list("abcde"))[: 2 + number % 3].tolist()
        scores = rng.integers(0, 2 if number % 3 else 9, len(seats)).astype(float).tolist()
        games.append((seats, scores))
        teams = [[known.setdefault(agent, model.rating())] for agent in seats]
        known |= {agent: team[0] for agent, team in zip(seats, model.rate(teams, scores=scores), strict=True)}
    for agent, rating in live_ratings(games).items():
        assert rating == pytest.approx((known[agent].mu, known[agent].sigma), rel=1e-12)
