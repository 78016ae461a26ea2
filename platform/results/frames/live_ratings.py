"""Ratings updated game by game, for games of three and more seats: Weng and Lin's model of whole orders.

The model uses the whole order of a game; that of Bradley and Terry uses pairs of seats. Source: R. C. Weng and C.-J.
Lin, A Bayesian approximation method for online ranking, JMLR 12, 2011, algorithm 4, with the constants of openskill,
whose ratings these are.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

MAX_GAMES = 5000  # maximum number of rated games
MU, SIGMA = 25.0, 25.0 / 3.0
BETA = SIGMA / 2  # deviation of the play in one game from the strength
TAU = SIGMA / 100  # deviation of a change of strength between two games
LEAST = 0.0001  # minimum share of a variance that a game leaves


class LiveRating(NamedTuple):
    mu: float  # MU before the first game
    sigma: float  # SIGMA before the first game

    @property
    def ordinal(self) -> float:
        """The strength for ranking, which the agent almost surely exceeds: mu - 3 sigma."""
        return self.mu - 3 * self.sigma


def live_ratings(games: Iterable[tuple[Sequence[str], Sequence[float]]]) -> dict[str, LiveRating]:
    """Rates agents by whole games.

    Args:
        games: agents by seat and scores by seat, at most MAX_GAMES. Their order matters: ordered by match id, which is
            a hash, ratings depend neither on workers nor on time, and the first games are a fair sample. An agent with
            several seats in a game takes part with the first one.
    """
    known: dict[str, LiveRating] = {}
    for agents, scores in games:
        seats = [agents.index(agent) for agent in dict.fromkeys(agents)]
        if len(seats) < 2:
            continue
        before = [known.setdefault(agents[seat], LiveRating(MU, SIGMA)) for seat in seats]
        after = _after(before, [scores[seat] for seat in seats])
        known |= {agents[seat]: rating for seat, rating in zip(seats, after, strict=True)}
    return known


def _after(before: list[LiveRating], scores: list[float]) -> list[LiveRating]:
    """Returns the ratings of a game's participants after it."""
    variances = [rating.sigma**2 + TAU**2 for rating in before]
    c = math.sqrt(sum(variances) + len(before) * BETA**2)
    weights = [math.exp(rating.mu / c) for rating in before]
    # For each place: the weights of all that did not do better, and the number of agents sharing it.
    behind = [sum(w for w, other in zip(weights, scores, strict=True) if other <= score) for score in scores]
    shared = [scores.count(score) for score in scores]
    after = []
    for rating, variance, weight, score in zip(before, variances, weights, scores, strict=True):
        chances = [(weight / b, n) for b, n, other in zip(behind, shared, scores, strict=True) if other >= score]
        omega = 1 / scores.count(score) - sum(p / n for p, n in chances)
        delta = sum(p * (1 - p) / n for p, n in chances) * math.sqrt(variance) / c
        sigma = math.sqrt(variance * max(1 - delta * variance / c**2, LEAST))
        after.append(LiveRating(rating.mu + omega * variance / c, sigma))
    return after
