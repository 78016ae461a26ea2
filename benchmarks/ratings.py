"""Speed of rating many agents relative to our C program: the same games, the same ratings and variances."""

from __future__ import annotations

import numpy as np

from benchmarks.programs import Benchmark, Rates, Round, Stopwatch, program_speed, run_program
from turnier.statistics.ratings import bradley_terry

AGENTS, GAMES_OF_A_PAIR = 200, 4
ROUNDS = 3


def _ratings_200(this: Round) -> Rates:
    """Fits/s of a round robin of two pairs of games each, with every agent's interval."""
    agents = this.part(AGENTS, least=10)
    first, second = (np.repeat(ends, GAMES_OF_A_PAIR) for ends in np.triu_indices(agents, 1))
    rng = np.random.default_rng(this.seed)
    strengths = rng.normal(size=agents)
    points = (rng.random(len(first)) < 1 / (1 + np.exp(strengths[second] - strengths[first]))).astype(np.float64)
    clusters = np.arange(len(first)) // 2
    file, rounds = this.folder / "games", this.part(ROUNDS)
    file.write_bytes(b"".join(column.tobytes() for column in (first, second, points, clusters)))
    theirs = run_program(this.folder, "reference_ratings", agents, len(first), file, rounds)
    with Stopwatch() as clocks:
        for _ in range(rounds):
            ratings = bradley_terry(agents, first, second, points, clusters)
    found = [ratings.elo.max(), ratings.elo.min(), np.trace(ratings.covariance)]
    expected = [theirs[name] for name in ("highest", "lowest", "variance")]
    if not np.allclose(found, expected, rtol=1e-6, atol=0):
        raise RuntimeError(f"both programs must find the same ratings, got {found} and {expected}")
    return Rates(clocks.speed(rounds), program_speed(theirs, "fits"))


RATING_BENCHMARKS = {"ratings_200": Benchmark("fits/s", "C, Newton's method", _ratings_200)}
