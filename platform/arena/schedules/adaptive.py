"""A tournament that finds the best few of many agents: games go where the order of the first places is unsure."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence

import numpy as np

from turnier.agents.agent import Agent
from turnier.arena.match import MatchRecord, MatchSpec, derive_seed
from turnier.arena.schedules.round_robin import Rounds
from turnier.core.errors import UserError
from turnier.games.game import Game
from turnier.statistics.places import next_pairings, place_certainty, ranking
from turnier.statistics.ratings import Ratings, bradley_terry

PAIRS_PER_AGENT = 4  # of a round; fewer save little and keep fewer workers busy


class AdaptiveTournament:
    """A schedule for games of two seats; `ratings` and `certainty` say what is known so far.

    First every agent meets every other in one pair of games (one seed, both orders of seats). Then each round's pairs
    go where they make the first places most certain, until these are as certain as was asked for.

    Args:
        game: of two seats.
        agents: at least three different ones.
        seed: every pair's own seed depends on it, on how often its agents have met and on nothing else.
        top: how many places must be certain, in their order.
        certainty: with which probability, at least.
        games: most games.
        round_pairs: pairs of games of a round, None = PAIRS_PER_AGENT for each agent; enough to keep all workers busy.
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
            raise UserError(f"the places asked for must be from 1 to {len(self.agents) - 1}, got {top}.")
        if not 0 < certainty < 1:
            raise UserError(f"a certainty must be above 0 and below 1, got {certainty:g}.")
        self._everyone = list(itertools.combinations(range(len(self.agents)), 2))
        if games < 2 * len(self._everyone):
            raise UserError(
                f"{len(self.agents)} agents must have at least {2 * len(self._everyone)} games to meet, got {games}."
            )
        self.round_pairs = PAIRS_PER_AGENT * len(self.agents) if round_pairs is None else round_pairs
        if self.round_pairs < 1:
            raise UserError(f"a round must have at least 1 pair of games, got {self.round_pairs}.")
        self.ratings: Ratings | None = None  # before the first round
        self._wanted, self._top, self._seed, self._most = certainty, top, seed, games // 2
        self._met: Counter[tuple[int, int]] = Counter()
        self._results: list[tuple[int, int, float, int]] = []  # both agents, points of the first, number of the pair

    @property
    def games(self) -> int:
        """How many were played."""
        return 2 * self._met.total()

    @property
    def certainty(self) -> float:
        """How certain the first places are, at least."""
        return 0.0 if self.ratings is None else place_certainty(self.ratings, self._top)

    def leaders(self) -> list[str]:
        """Returns the agents on the first places, the strongest first; nobody before the first round."""
        return [] if self.ratings is None else [self.agents[i] for i in ranking(self.ratings)[: self._top]]

    def rounds(self) -> Rounds:
        """Yields rounds until the places are certain or all games are played."""
        pairings = self._everyone
        while pairings:
            begun = self._met.total()
            there, back = zip(*(self._pair(*pairing) for pairing in pairings), strict=True)
            records = yield [*there, *back]  # neighbours with the same seats share a call into compiled code
            size = len(pairings)
            for number, (pairing, *pair) in enumerate(zip(pairings, records[:size], records[size:], strict=True)):
                self._note(pairing, pair, begun + number)
            self.ratings = self._rate()
            left = self._most - self._met.total()
            done = self.certainty >= self._wanted
            pairings = [] if done else next_pairings(self.ratings, self._top, min(self.round_pairs, left))

    def _pair(self, first: int, second: int) -> tuple[MatchSpec, MatchSpec]:
        seed = derive_seed(self._seed, self._met[first, second])  # as in a round robin, whose games then serve here
        self._met[first, second] += 1
        a, b = self.agents[first], self.agents[second]
        text = self.game.full_text()
        return MatchSpec(text, (a, b), seed), MatchSpec(text, (b, a), seed)

    def _note(self, pairing: tuple[int, int], pair: Sequence[MatchRecord], number: int) -> None:
        if all(record.termination.has_result for record in pair):
            there, back = pair
            self._results += [(*pairing, there.points[0], number), (*pairing, back.points[1], number)]

    def _rate(self) -> Ratings:
        first, second, won, pair = np.array(self._results, np.float64).reshape(-1, 4).T
        indices = (first.astype(np.int64), second.astype(np.int64))
        return bradley_terry(len(self.agents), *indices, won, pair.astype(np.int64))
