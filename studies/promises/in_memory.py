"""Searches without a store: for comparisons of samplers, and for simulations with known optima."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from turnier.search.noise import Noise
from turnier.search.samplers.sampler import Search, Vectors

# [n, dimensions] -> a game's score of each row; of rows that duel, neighbours play one game against each other
Play = Callable[[Vectors], Sequence[float]]


@dataclass(frozen=True)
class EvaluatedGeneration:
    """A generation with its scores, and the number of games up to its end."""

    vectors: Vectors  # [n, dimensions]
    scores: list[list[float]]  # of each candidate
    games: int


def search_in_memory(
    search: Search, noise: Noise, play: Play, games: int, duel: Play | None = None, unit: int = 1
) -> Iterator[EvaluatedGeneration]:
    """Yields generations until the next one would exceed the total number of games.

    Args:
        search: begun.
        noise: how often candidates play; those that duel play one game of each side.
        play: plays candidates against opponents, or for a score.
        games: maximum number.
        duel: plays candidates against each other, if the search lets some duel: neighbours play two games, which count
            as one of each.
        unit: games of a score against opponents.
    """
    spent = 0
    while True:
        vectors, duelling = search.ask(), 2 * search.duelling() if duel else 0
        if spent + duelling + unit * noise.max_games(search.generation, len(vectors) - duelling) > games:
            return
        scores: list[list[float]] = [[] for _ in vectors]
        if duel and duelling:
            scores[:duelling] = [[score] for score in duel(vectors[:duelling])]
        while any(more := noise.more(search.generation, scores)):
            rows = [index for index, count in enumerate(more) for _ in range(count)]
            for index, score in zip(rows, play(vectors[rows]), strict=True):
                scores[index].append(score)
        search.tell([float(np.mean(own)) for own in scores])
        spent += duelling + unit * sum(map(len, scores[duelling:]))
        yield EvaluatedGeneration(vectors, scores, spent)
