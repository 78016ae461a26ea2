"""Adaptive tournaments find the best few of many agents: games go where the order of the first places is uncertain."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...agents.agent import Agent
from ...core.errors import UserError
from ...games.game import Game
from ...statistics.places import next_pairings, place_certainty, ranking
from ...statistics.ratings import Ratings, bradley_terry
from ..match import MatchRecord, MatchSpec, derive_seed
from .repeats import Repeats, enough_repeats
from .round_robin import Rounds, group_seeds

PAIRS_PER_AGENT = 4  # per round; fewer save little and keep fewer workers busy


class _Result(NamedTuple):
    """A game with a result; agents are indices."""

    first: int
    second: int
    points: float  # of the first
    pair: int  # number of the pair of games


class AdaptiveTournament:
    """A schedule for games of two seats; `ratings` and `certainty` give the present state.

    First every agent meets every other in one pair of games (one seed, both orders of seats). Then each round plays the
    pairs that make the first places most certain, until these are as certain as requested. Games that repeat earlier
    ones by construction (`Repeats`) do not count, and agents whose further games would be repeats do not meet again.

    Args:
        game: a game of two seats.
        agents: at least three different ones.
        seed: every pair's own seed depends only on it, on the number of earlier meetings and, with own seeds, on the
            agents.
        top: number of first places that must be certain, including their order.
        certainty: the minimum probability that they are right; see `place_certainty`.
        games: maximum games.
        round_pairs: pairs of games per round, None = PAIRS_PER_AGENT for each agent; enough to keep all workers busy.
        own_seeds: see `matches_of`.
    """

    def __init__(
        self,
        game: Game,
        agents: Sequence[Agent],
        seed: int,
        top: int = 3,
        certainty: float = 0.95,
        games: int = 10_000,
        round_pairs: int | None = None,
        own_seeds: bool = False,
    ) -> None:
        self.game = game
        self.agents = tuple(dict.fromkeys(agent.full_text() for agent in agents))
        if game.num_seats != 2:
            raise UserError(f"an adaptive tournament needs a game of 2 seats, got {game}; play a round robin.")
        if len(self.agents) < 3:
            raise UserError(
                f"an adaptive tournament needs at least 3 different agents, got {len(self.agents)};"
                " compare two with turnier compare."
            )
        for agent in agents:
            agent.require(game)
        if seed < 0:
            raise UserError(f"a seed must be 0 or larger, got {seed}.")
        if not 1 <= top < len(self.agents):
            raise UserError(f"the number of places must be from 1 to {len(self.agents) - 1}, got {top}.")
        if not 0 < certainty < 1:
            raise UserError(f"a certainty must be above 0 and below 1, got {certainty:g}.")
        self._all_pairings = list(itertools.combinations(range(len(self.agents)), 2))
        if games < 2 * len(self._all_pairings):
            raise UserError(
                f"{len(self.agents)} agents must have at least {2 * len(self._all_pairings)} games to meet, got"
                f" {games}; choose more."
            )
        self.round_pairs = PAIRS_PER_AGENT * len(self.agents) if round_pairs is None else round_pairs
        if self.round_pairs < 1:
            raise UserError(f"a round must have at least 1 pair of games, got {self.round_pairs}.")
        self.ratings: Ratings | None = None  # before the first round
        self._target, self._top, self._seed, self._max_pairs = certainty, top, seed, games // 2
        self._own_seeds = own_seeds
        self._met: Counter[tuple[int, int]] = Counter()
        self._repeated: Counter[tuple[int, int]] = Counter()  # games of each pairing that do not count
        self._results: list[_Result] = []  # including games that do not count
        self._repeats = Repeats(game.full_text())

    @property
    def games(self) -> int:
        """The number of games played."""
        return 2 * self._met.total()

    @property
    def certainty(self) -> float:
        """A lower bound of the probability that the first places are right, valid at any time."""
        return 0.0 if self.ratings is None else place_certainty(self.ratings, self._top)

    def leaders(self) -> list[str]:
        """Returns the agents in the first places, the strongest first; none before the first round."""
        return [] if self.ratings is None else [self.agents[i] for i in ranking(self.ratings)[: self._top]]

    def rounds(self) -> Rounds:
        """Yields rounds until the places are certain, all games are played, or further games would be repeats."""
        pairings = self._all_pairings
        while pairings:
            number = self._met.total()  # of the round's first pair
            first_games, second_games = zip(*(self._pair(*pairing) for pairing in pairings), strict=True)
            records = yield [*first_games, *second_games]  # matches with the same seats share a call into compiled code
            size = len(pairings)
            for pairing, *pair in zip(pairings, records[:size], records[size:], strict=True):
                self._add_results(pairing, pair, number)
                number += 1
            self.ratings = self._rate()
            pairings = [] if self.certainty >= self._target else self._next_pairings(self.ratings)

    def _pair(self, first: int, second: int) -> tuple[MatchSpec, MatchSpec]:
        # The seeds of a round robin: its stored games can be used here.
        a, b = self.agents[first], self.agents[second]
        begin = group_seeds((self._seed,), (a, b)) if self._own_seeds else (self._seed,)
        seed = derive_seed(*begin, self._met[first, second])
        self._met[first, second] += 1
        text = self.game.full_text()
        return MatchSpec(text, (a, b), seed), MatchSpec(text, (b, a), seed)

    def _add_results(self, pairing: tuple[int, int], pair: Sequence[MatchRecord], number: int) -> None:
        if all(record.termination.has_result for record in pair):
            seats = zip(pair, (0, 1), strict=True)  # of the first agent
            self._results += [_Result(*pairing, record.points[seat], number) for record, seat in seats]
            self._repeats.add_records(pair)

    def _next_pairings(self, ratings: Ratings) -> list[tuple[int, int]]:
        """Returns the most informative of the pairings that are not exhausted; any of these if none is informative."""
        left = min(self.round_pairs, self._max_pairs - self._met.total())
        wanted = next_pairings(ratings, self._top, left)
        open_ones = [pairing for pairing in self._all_pairings if not self._is_exhausted(pairing)]
        return [pairing for pairing in wanted if pairing in open_ones] or (open_ones[:left] if wanted else [])

    def _is_exhausted(self, pairing: tuple[int, int]) -> bool:
        """Whether further games of two agents would repeat earlier ones."""
        agents = [self.agents[i] for i in pairing]
        return self._repeated[pairing] >= 2 * enough_repeats(self.game.full_text(), agents)

    def _rate(self) -> Ratings:
        again = self._repeats.found()
        repeated = (result for result, repeats in zip(self._results, again, strict=True) if repeats)
        self._repeated = Counter((result.first, result.second) for result in repeated)
        counting = [result for result, repeats in zip(self._results, again, strict=True) if not repeats]
        first, second, won, pair = np.array(counting, np.float64).reshape(-1, 4).T
        indices = (first.astype(np.int64), second.astype(np.int64))
        return bradley_terry(len(self.agents), *indices, won, pair.astype(np.int64))
