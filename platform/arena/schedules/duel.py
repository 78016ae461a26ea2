"""Duels: two agents play pairs of games until a sequential test says which is stronger, or that they are equal."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Sequence

import numpy as np

from ...agents.agent import Agent
from ...core.errors import MAX_GAMES, MAX_IN_MEMORY, UserError, require_at_most
from ...games.game import Game
from ...statistics.sprt import MARGIN_ELO, MARGIN_SCORE, Improvement, SequentialTest, Verdict
from ..match import MatchRecord, MatchSpec, derive_seed
from .repeats import Repeats, enough_repeats
from .round_robin import Rounds, openings

FIRST_ROUND = 32  # pairs
GROWTH = 5  # a round is at least a fifth of the games before it: about ten rounds per tenfold games


class Duel:
    """A schedule that compares two agents; `test` gives the present state.

    A pair is all games of one seed: both orders of two seats; with more seats, all ways in which the two agents can
    take them; in single-player games, one game each. A pair does not count if it has a void match, or if all its games
    repeat earlier ones by construction (`Repeats`); if an agent is later seen to draw random numbers, the latter pairs
    count.

    Args:
        game: their game.
        agents: two agents; the verdict is about the first.
        seed: every pair's own seed depends only on it and on the pair's number.
        margin: largest difference that counts as equal, in Elo; in single-player games a share of the second agent's
            mean score; None = the default.
        alpha: maximum probability of a wrong verdict.
        games: maximum games.
        first_round: pairs before the first test, and the minimum of every round; enough to keep all workers busy.
        opening_plies: every pair starts after one of the openings of at most this many plies, drawn by its seed.
        own_seeds: use seeds that no tournament has, otherwise those of a tournament. A test on the games by which its
            agents were chosen finds differences that do not exist.
        sharing: the number of duels of a race, which share alpha and only test whether the first agent is better; their
            seeds are their own. 0 = a duel by itself.
    """

    def __init__(
        self,
        game: Game,
        agents: Sequence[Agent],
        seed: int,
        margin: float | None = None,
        alpha: float = 0.05,
        games: int = 10_000,
        first_round: int = FIRST_ROUND,
        opening_plies: int = 0,
        own_seeds: bool = False,
        sharing: int = 0,
    ) -> None:
        self.game = game
        self.agents = tuple(agent.full_text() for agent in agents)
        if len(set(self.agents)) != 2:
            raise UserError(f"a comparison must have two different agents, got {' and '.join(map(str, agents))}.")
        for agent in agents:
            agent.require(game)
        if seed < 0:
            raise UserError(f"a seed must be 0 or larger, got {seed}.")
        require_at_most(MAX_GAMES, games, "games of a comparison")
        require_at_most(MAX_IN_MEMORY, first_round, "pairs of games in a round")
        if first_round < 1:
            raise UserError(f"a round must have at least 1 pair of games, got {first_round}.")
        self.single_player = game.num_seats == 1
        self.orders: list[tuple[str, ...]]
        kind = Improvement if sharing else SequentialTest
        if self.single_player:
            self.orders = [(agent,) for agent in self.agents]
            shown = MARGIN_SCORE if margin is None else margin
            self._new_test = functools.partial(kind.of_scores, shown, alpha, max(1, sharing))
        else:
            taken = itertools.product(self.agents, repeat=game.num_seats)
            self.orders = [order for order in taken if len(set(order)) == 2]
            shown = MARGIN_ELO if margin is None else margin
            self._new_test = functools.partial(kind.of_shares, shown, alpha, max(1, sharing))
        self.test = self._new_test()
        if games < len(self.orders):
            raise UserError(f"a comparison at {game} must have at least {len(self.orders)} games, got {games}.")
        self.pairs = 0  # played, including pairs that do not count
        self.repeated = 0  # games that repeat earlier ones
        self.exhausted = False  # whether further games would only repeat these
        self.outcomes: list[tuple[float, ...]] = []  # of counting pairs: (share of points,) or (score, score)
        self.looks: list[int] = []  # the number of outcomes at each test
        self._seed = seed
        self._max_pairs = games // len(self.orders)
        self._first_round = first_round
        self._repeats = Repeats(game.full_text())
        self._whole: list[tuple[float, ...]] = []  # outcomes of all pairs without a void match
        self._counting: list[int] = []  # indices of those that count
        self._opened: set[tuple[int, ...]] = set()  # openings played so far
        self._openings = openings(game, opening_plies)
        self._own = ["race"] if sharing else ["duel"] * own_seeds
        self._round: list[tuple[int, tuple[int, ...]]] = []  # seeds and openings of the round under way
        self._all_void = False

    @property
    def games(self) -> int:
        """The number of games played."""
        return self.pairs * len(self.orders)

    @property
    def games_left(self) -> float:
        """The expected number of further games until a verdict if the estimate is right; NaN if unknown."""
        if self.exhausted:
            return math.nan
        return min(self.test.units_left(), self._max_pairs - self.pairs) * len(self.orders)

    @property
    def different(self) -> int:
        """The number of games without repeats."""
        return self.games - self.repeated

    @property
    def void_pairs(self) -> int:
        """The number of pairs with a void match."""
        return self.pairs - len(self._whole)

    @property
    def round_size(self) -> int:
        """Pairs of the next round."""
        return min(max(self._first_round, self.pairs // GROWTH), self._max_pairs - self.pairs)

    @property
    def open(self) -> bool:
        """Whether there is a next round.

        There is none after a verdict, after all games, and if further games are useless: if every pair of a round has a
        void match, or if games would only repeat earlier ones.
        """
        useless = self.exhausted or self._all_void
        return self.test.verdict is Verdict.UNDECIDED and self.pairs < self._max_pairs and not useless

    def rounds(self) -> Rounds:
        """Yields rounds as long as the duel is open."""
        while self.open:
            self.add((yield self.next_round()))

    def next_round(self) -> list[MatchSpec]:
        """Returns the matches of the next round."""
        self._round = [self._start(pair) for pair in range(self.pairs, self.pairs + self.round_size)]
        text = self.game.full_text()
        # Consecutive matches with the same seats share a call into compiled code.
        return [MatchSpec(text, order, seed, 0, start) for order in self.orders for seed, start in self._round]

    def add(self, records: Sequence[MatchRecord]) -> None:
        """Adds the records of the round's matches, in their order."""
        size = len(self._round)
        self.pairs += size
        by_order = [records[i : i + size] for i in range(0, len(records), size)]
        pairs = zip(*by_order, strict=True)
        whole = [pair for pair in pairs if all(record.termination.has_result for record in pair)]
        self._all_void = not whole
        if whole:
            self._opened |= {start for _, start in self._round}
            self._add(whole)

    def _add(self, pairs: Sequence[Sequence[MatchRecord]]) -> None:
        """Adds the pairs of a round, tests once if any of them counts, and finds out whether others could."""
        self._whole += [self._outcome(pair) for pair in pairs]
        self._repeats.add_records(record for pair in pairs for record in pair)
        again = np.reshape(self._repeats.found(), (len(self._whole), len(self.orders)))
        self.repeated, counting = int(again.sum()), np.flatnonzero(~again.all(axis=1)).tolist()
        known = len(self._counting)
        if counting[:known] != self._counting:  # an agent was seen to draw: more of the earlier pairs count
            self.test, self.outcomes, known = self._new_test(), [], 0
        self._counting = counting
        new = [self._whole[pair] for pair in counting[known:]]
        if new:
            self.outcomes += new
            self.test.add(*zip(*new, strict=True))
            self.looks.append(len(self.outcomes))
        repeats = len(self._whole) - len(counting)
        undecided = self.test.verdict is Verdict.UNDECIDED
        enough = repeats >= enough_repeats(self.game.full_text(), self.agents)
        self.exhausted = undecided and enough and (not new or len(self._opened) == len(self._openings))

    def _start(self, pair: int) -> tuple[int, tuple[int, ...]]:
        """Returns seed and opening of a pair."""
        opening = self._openings[derive_seed(self._seed, pair, "opening") % len(self._openings)]
        return derive_seed(*self._own, self._seed, pair, *opening), opening

    def _outcome(self, pair: Sequence[MatchRecord]) -> tuple[float, ...]:
        """Returns the first agent's share of the points of a pair; in single-player games both agents' scores."""
        if self.single_player:
            return tuple(record.scores[0] for record in pair)
        won = [p for r in pair for p, agent in zip(r.points, r.spec.agents, strict=True) if agent == self.agents[0]]
        return (float(np.sum(won)) / len(pair),)
