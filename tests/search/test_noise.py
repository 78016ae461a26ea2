"""Strategies against noise: who plays how often, and that racing keeps its word."""

from __future__ import annotations

import numpy as np
import pytest

from turnier.core.errors import UserError
from turnier.search.noise import NOISES, Noise
from turnier.search.samplers.registry import SAMPLERS
from turnier.search.space import Space
from turnier.studies.promises.in_memory import search_in_memory


def played(noise: Noise, truth: np.ndarray, seed: int = 1, generation: int = 0) -> list[list[float]]:
    """Returns the scores of a generation, game noise 1."""
    rng, scores = np.random.default_rng(seed), [[] for _ in truth]  # type: ignore[var-annotated]
    while any(more := noise.more(generation, scores)):
        for own, mean, count in zip(scores, truth, more, strict=True):
            own += (mean + rng.standard_normal(count)).tolist()
    return scores


def counts(text: str, truth: np.ndarray, **kw: int) -> list[int]:
    noise = NOISES.make(text)
    found = [len(own) for own in played(noise, truth, **kw)]
    assert sum(found) <= noise.max_games(kw.get("generation", 0), len(truth))
    return found


def test_fixed_and_growing_numbers_of_games() -> None:
    assert counts("fixed(games=3)", np.zeros(4)) == [3] * 4
    growing = "growing(games=2,growth=1.5,largest=9)"
    assert [counts(growing, np.zeros(2), generation=g)[0] for g in (0, 1, 2, 3, 4, 10, 99_999)] == [
        2,
        3,
        4,
        7,
        9,
        9,
        9,
    ]


def test_the_best_by_their_first_games_play_again() -> None:
    noise = NOISES.make("reevaluated(games=2,share=0.25,again=5)")
    scores = played(noise, np.arange(8.0))
    first = np.array([np.mean(own[:2]) for own in scores])
    assert sorted(map(len, scores)) == [2] * 6 + [7] * 2
    assert {i for i, own in enumerate(scores) if len(own) == 7} == set(np.argsort(-first)[:2].tolist())


def test_racing_stops_the_bad_ones_early_and_never_the_good_ones() -> None:
    found = counts("racing(games=32,first=2)", np.array([0.0] * 6 + [-3.0] * 3 + [3.0] * 3))
    assert max(found[6:9]) <= 8 and found[9:] == [32] * 3


def test_racing_stops_equals_no_more_often_than_it_says() -> None:
    racing = NOISES.make("racing(games=32)")
    stopped = [len(own) < 32 for seed in range(60) for own in played(racing, np.zeros(16), seed)]
    assert 0.0 < np.mean(stopped) < 0.2


def test_racing_ends_where_scores_do_not_vary() -> None:
    noise, scores = NOISES.make("racing(games=8)"), [[1.0], [1.0], [0.0]]
    while any(more := noise.more(0, scores)):
        scores = [own + own[:1] * count for own, count in zip(scores, more, strict=True)]
    assert [len(own) for own in scores] == [8, 8, 2]


@pytest.mark.parametrize("text", ["racing(games=2,first=4)", "fixed(games=0)", "growing(growth=0.5)", "annealed"])
def test_senseless_strategies_are_refused(text: str) -> None:
    with pytest.raises(UserError):
        NOISES.make(text)


@pytest.mark.parametrize("text", [f"{name}(games=4)" for name in NOISES.names()])
def test_a_search_in_memory_spends_its_games_and_no_more(text: str) -> None:
    rng, asked = np.random.default_rng(1), 0

    def play(vectors: np.ndarray) -> list[float]:
        nonlocal asked
        asked += len(vectors)
        return (rng.standard_normal(len(vectors)) - ((vectors - 0.3) ** 2).sum(1)).tolist()

    noise = NOISES.make(text)
    generations = list(
        search_in_memory(SAMPLERS.make("cmaes(population=8)").begin([0.8, 0.8], 1, Space.cube(2)), noise, play, 700)
    )
    assert generations[-1].games == asked <= 700
    assert asked + noise.max_games(len(generations), 8) > 700
