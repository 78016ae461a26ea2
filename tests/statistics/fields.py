"""Simulated agents of known strength: games without playing them."""

from __future__ import annotations

import numpy as np

from turnier.statistics.ratings import ELO, Ratings, bradley_terry


class Field:
    """Agents that meet in pairs of games; every pair is a cluster.

    Args:
        rng: decides the games.
        elo: [agents] true strengths.
        draws: share of games of equal agents that are drawn; fewer where one is stronger.
        luck: standard deviation, in Elo, of what a pair's first agent gains in both of its games.
    """

    def __init__(self, rng: np.random.Generator, elo: np.ndarray, draws: float = 0.3, luck: float = 0.0) -> None:
        self.rng, self.elo, self.draws, self.luck = rng, elo, draws, luck
        self.everyone = [(i, j) for i in range(len(elo)) for j in range(i + 1, len(elo))]
        self._games: list[tuple[np.ndarray, ...]] = []
        self.pairs = 0

    def play(self, pairings: list[tuple[int, int]]) -> None:
        first, second = np.array(pairings).T
        difference = self.elo[first] - self.elo[second] + self.luck * self.rng.normal(0, 1, len(first))
        won = 1 / (1 + np.exp(-difference / ELO))
        half = self.draws * np.minimum(won, 1 - won)
        drawn = self.rng.random((2, len(first)))
        cluster = self.pairs + np.arange(len(first))
        for game in np.where(drawn < won - half, 1.0, np.where(drawn < won + half, 0.5, 0.0)):
            self._games.append((first, second, game, cluster))
        self.pairs += len(first)

    def games(self) -> tuple[np.ndarray, ...]:
        return tuple(np.concatenate(column) for column in zip(*self._games, strict=True))

    def rate(self) -> Ratings:
        return bradley_terry(len(self.elo), *self.games())


def spread(rng: np.random.Generator, agents: int, gap: float) -> np.ndarray:
    """Returns shuffled strengths, neighbours about `gap` Elo apart, half of it at least."""
    return rng.permutation(gap * np.arange(agents) + rng.uniform(-gap / 4, gap / 4, agents))
