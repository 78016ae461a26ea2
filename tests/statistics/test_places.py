"""The adaptive choice of games finds the first places with far fewer games than a round robin."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from tests.statistics.fields import Field, spread
from turnier.statistics.places import deciding_pairs, next_pairings, place_certainty, ranking
from turnier.statistics.ratings import Ratings

CERTAINTY, TOP, MOST = 0.9, 3, 4000


def finds(field: Field, adaptive: bool) -> tuple[int, bool]:
    """Returns the pairs of games until the first places are certain, and whether they are right."""
    field.play(field.everyone)
    while place_certainty(ratings := field.rate(), TOP) < CERTAINTY and field.pairs < MOST:
        field.play(next_pairings(ratings, TOP, 4 * len(field.elo)) if adaptive else field.everyone)
    return field.pairs, ranking(ratings)[:TOP] == np.argsort(-field.elo)[:TOP].tolist()


@pytest.mark.parametrize("agents", [8, 12])
def test_seven_tenths_of_the_games_are_enough_for_the_same_certainty(agents: int) -> None:
    """Measured with 60 such fields: 0.30 of the games with 8 agents, 0.19 with 12; all 120 places are right."""
    played = {True: 0, False: 0}
    right = {True: 0, False: 0}
    fields = 10
    for number in range(fields):
        elo = spread(np.random.default_rng(number), agents, gap=80)
        for adaptive in (True, False):
            pairs, found = finds(Field(np.random.default_rng(100 + number), elo), adaptive)
            played[adaptive] += pairs
            right[adaptive] += found
    assert played[True] <= 0.7 * played[False]
    assert right[True] >= fields - 2  # 90 % certain: 9 of 10 on average, at least


def ratings(elo: list[float], error: float) -> Ratings:
    """Independent errors."""
    return Ratings(np.array(elo), np.eye(len(elo)) * error**2, 1000)


def test_games_go_where_the_order_is_unsure() -> None:
    rated = ratings([300.0, 0.0, 10.0, -400.0, -410.0], 30.0)
    assert ranking(rated) == [0, 2, 1, 3, 4]
    above, below = deciding_pairs(rated, 2)
    assert (above.tolist(), below.tolist()) == ([0, 2, 2, 2], [2, 1, 3, 4])
    chosen = Counter(next_pairings(rated, 2, 40))
    assert chosen.total() == 40
    assert chosen.most_common(1)[0][0] == (1, 2)
    assert (3, 4) not in chosen


def test_places_that_are_not_asked_for_do_not_matter() -> None:
    rated = ratings([300.0, 0.0, 10.0, -400.0, -400.0], 30.0)
    assert place_certainty(rated, 1) > 0.99
    assert place_certainty(rated, 2) < 0.6
    assert place_certainty(rated, 4) < 0.1
    assert place_certainty(ratings([1.0, 1.0, 1.0, 1.0], 30.0), 3) == 0.0


def test_small_and_empty_rounds() -> None:
    rated = ratings([30.0, 0.0, 10.0], 30.0)
    assert len(next_pairings(rated, 1, 3)) == 3
    assert next_pairings(rated, 1, 0) == []
