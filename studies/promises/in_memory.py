"""Searches without a store: for comparisons of samplers, and for simulations with known optima."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from turnier.search.noise import Noise
from turnier.search.samplers.sampler import Search, Vectors

Play = Callable[[Vectors], Sequence[float]]  # [n, dimensions] -> one game's score for each row


@dataclass(frozen=True)
class EvaluatedGeneration:
    """A generation with its scores, and the number of games up to its end."""

    vectors: Vectors  # [n, dimensions]
    scores: list[list[float]]  # of each candidate
    games: int


def search_in_memory(search: Search, noise: Noise, play: Play, games: int) -> Iterator[EvaluatedGeneration]:
    """Yields generations until the next one would exceed the total number of games."""
    spent = 0
    while True:
        vectors = search.ask()
        if spent + noise.max_games(search.generation, len(vectors)) > games:
            return
        scores: list[list[float]] = [[] for _ in vectors]
        while any(more := noise.more(search.generation, scores)):
            rows = [index for index, count in enumerate(more) for _ in range(count)]
            for index, score in zip(rows, play(vectors[rows]), strict=True):
                scores[index].append(score)
        search.tell([float(np.mean(own)) for own in scores])
        spent += sum(map(len, scores))
        yield EvaluatedGeneration(vectors, scores, spent)
