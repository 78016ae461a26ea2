"""CMA-ES by ask and tell: exact replay, and that it climbs."""

from __future__ import annotations

import numpy as np

from turnier.search.samplers import CmaEs


def values_of(vectors: np.ndarray) -> list[float]:
    return [-float(((x - 0.3) ** 2).sum()) for x in vectors]


def run(generations: int, seed: int = 5) -> tuple[CmaEs, list[np.ndarray]]:
    strategy = CmaEs([0.8] * 5, 0.3, 10, seed)
    asked = []
    for _ in range(generations):
        asked.append(strategy.ask())
        strategy.tell(values_of(asked[-1]))
    return strategy, asked


def test_replay_is_exact_whatever_numpys_global_generator_does() -> None:
    _, first = run(12)
    np.random.seed(1)
    np.random.random(100)
    _, second = run(12)
    assert all((a == b).all() for a, b in zip(first, second, strict=True))


def test_another_seed_asks_other_candidates() -> None:
    assert not (run(1, seed=5)[1][0] == run(1, seed=6)[1][0]).any()


def test_numpys_global_generator_is_left_alone() -> None:
    np.random.seed(3)
    expected = np.random.random(4)
    np.random.seed(3)
    run(3)
    assert (np.random.random(4) == expected).all()


def test_candidates_stay_in_the_cube_and_the_mean_reaches_the_optimum() -> None:
    strategy, asked = run(60)
    assert all(((a >= 0) & (a <= 1)).all() for a in asked)
    assert np.abs(np.array(strategy.mean) - 0.3).max() < 0.01
    assert strategy.sigma < 0.1
    assert strategy.axis_ratio >= 1


def test_a_flat_noisy_function_does_not_stop_it() -> None:
    strategy = CmaEs([0.5] * 3, 0.3, 6, 1)
    for _ in range(100):
        strategy.ask()
        strategy.tell([0.0] * 6)
    assert strategy.generation == 100
