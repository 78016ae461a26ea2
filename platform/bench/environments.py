"""Speed of many boards of 2048 stepped in one call, as learners written elsewhere step them."""

from __future__ import annotations

import time
from pathlib import Path

from turnier.bench.programs import Benchmark, Rates, scaled

BOARDS, STEPS = 4096, 500
BOARDS_TARGET = 5e6  # steps/s, see `scaled`


def _boards_2048(folder: Path, seed: int) -> Rates:
    """Steps/s with uniformly random legal actions, whose choice counts, as do masks, observations and new episodes."""
    from turnier.environments import BoardsEnvironment  # needs Gymnasium, which is optional

    boards = BoardsEnvironment("2048", BOARDS)
    boards.reset(seed=seed)
    began = time.perf_counter()
    for _ in range(STEPS):
        boards.step(boards.sample_legal())
    return Rates(BOARDS * STEPS / (time.perf_counter() - began), scaled(BOARDS_TARGET, folder, seed))


ENVIRONMENT_BENCHMARKS = {
    "boards_2048": Benchmark("steps/s", "5 M/s at C's 42 M moves/s", _boards_2048),
}
