"""Ratings that are updated game by game, for games of three and more seats: Weng and Lin's model, by openskill.

The model uses the whole order of a game, where Bradley and Terry's uses pairs of seats.
Source: R. C. Weng and C.-J. Lin, A Bayesian approximation method for online ranking, JMLR 12, 2011.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

MAX_GAMES = 5000  # that are rated, at a third of a millisecond each


class LiveRating(NamedTuple):
    mu: float  # 25 before the first game
    sigma: float  # 25 / 3 before the first game

    @property
    def ordinal(self) -> float:
        """A strength that the agent almost surely exceeds, mu - 3 sigma; openskill ranks by it."""
        return self.mu - 3 * self.sigma


def live_ratings(games: Iterable[tuple[Sequence[str], Sequence[float]]]) -> dict[str, LiveRating]:
    """Rates agents by whole games.

    Args:
        games: agents by seat and scores by seat, at most MAX_GAMES. Their order matters: ordered by match id, which is
            a hash, they depend neither on workers nor on time, and the first games are a fair sample. An agent with
            several seats in a game takes part with the first of them.
    """
    from openskill.models import PlackettLuce, PlackettLuceRating

    model = PlackettLuce()
    known: dict[str, PlackettLuceRating] = {}
    for agents, scores in games:
        seats = [agents.index(agent) for agent in dict.fromkeys(agents)]
        if len(seats) < 2:
            continue
        teams = [[known.setdefault(agents[seat], model.rating())] for seat in seats]
        rated = model.rate(teams, scores=[scores[seat] for seat in seats])
        known |= {agents[seat]: team[0] for seat, team in zip(seats, rated, strict=True)}
    return {agent: LiveRating(rating.mu, rating.sigma) for agent, rating in known.items()}
