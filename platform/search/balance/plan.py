"""Balance: a search among the variants of a game for one in which the first seat has no advantage."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

from ...core.errors import MAX_GAMES, UserError, require_at_most
from ...core.number_text import number
from ...runs.declared.options import GameOption, OpeningsOption, Option, SeedOption
from ...runs.plan import Plan, Playing
from .. import VERIFY

if TYPE_CHECKING:
    from ...agents.agent import Agent
    from ...arena.match import MatchSpec
    from ...arena.schedules.round_robin import MatchPlan
    from ...games.game import Game
    from ...results.store.store import Run, Store
    from .results import BalanceResults

MAX_VARIANTS = 1000
LEAST = 20  # held-out games of each of the two variants


class Balance(Plan["BalanceResults"]):
    """Search for the variant of a game in which the first seat is neither ahead nor behind.

    The same agent plays all seats of every variant. After every round the half of the variants stays whose first seat
    is nearest to an equal share of the points; the last one is proposed (sequential halving). Then it and the variant
    that the search starts from play held-out games, which the search has not seen. They say whether the first seat's
    share is within a margin of an equal one, with its 95 % interval, or not, or that more games are needed.

    Stored games are not played again: repeat the command to resume, also with a larger --verify.

    \b
    Examples:
      turnier tune "go(size=5,komi=0.5)" "mcts(iterations=100)" --parameters komi=0.5..24.5:4 --balance 5
      turnier tune yavalath "mcts(iterations=200)" --parameters "size=3..6,swap" --balance 10
    """

    kind = "balance"

    def __init__(
        self,
        game: GameOption,
        agent: Annotated[str | Agent, Option("the agent that plays all seats", complete="agent")],
        parameters: Annotated[
            str | Sequence[str],
            Option('parameters of the game, with the values to try, such as "komi=0.5..24.5:4,swap"', named=True),
        ],
        *,
        balance: Annotated[
            float,
            Option(
                "search parameters of the game instead, until the first seat's share of the points is within so many %"
                " of an equal one",
                low=0.1,
                high=50,
                named=True,
            ),
        ],
        budget: Annotated[str | int, Option("games of the search", low=1, high=MAX_GAMES)] = 2000,
        verify: Annotated[float, Option("maximum held-out games, as a share of the budget", more=True)] = 0.0,
        openings: OpeningsOption = 0,
        seed: SeedOption = 1,
    ) -> None:
        from ...agents.registry import AGENTS
        from ...arena.schedules.round_robin import check_field
        from ...games.registry import GAMES
        from ..study import read_games

        games = read_games(budget)
        self.game: Game = GAMES.make(game)
        self.agent: Agent = AGENTS.make(agent)
        paths = parameters.split(",") if isinstance(parameters, str) else list(parameters)
        if self.game.num_seats < 2:
            raise UserError(f"a search for balance needs a game of two or more seats, got {self.game}; choose another.")
        self.variants = variants_of(self.game, [path.strip() for path in paths])
        for variant in self.variants:
            check_field(variant, [self.agent] * variant.num_seats, games, seed)
        self.openings, self.seed, self.margin = openings, seed, balance / 100
        self.rounds = halving(len(self.variants), games)
        self.last_games = max(LEAST, round((verify or VERIFY) * games / 2))
        require_at_most(MAX_GAMES, 2 * self.last_games, "held-out games")

    @property
    def equal(self) -> float:
        """The first seat's equal share of the points."""
        return 1 / self.game.num_seats

    @property
    def total(self) -> int:
        before = [(0, 0), *self.rounds]
        search = sum(left * (games - done) for (left, games), (_, done) in zip(self.rounds, before, strict=False))
        return search + 2 * self.last_games

    def searched(self, variant: Game, games: int) -> MatchPlan:
        """Returns a variant's games of the search; fewer are the first of more."""
        return self._games(variant, games, self.seed)

    def held_out(self, variant: Game) -> MatchPlan:
        """Returns a variant's held-out games."""
        from ...arena.match import derive_seed

        return self._games(variant, self.last_games, derive_seed(self.seed, "held-out"))

    def _games(self, variant: Game, games: int, seed: int) -> MatchPlan:
        from ...arena.schedules.round_robin import MatchPlan
        from ...arena.schedules.round_robin import openings as starts

        group = (self.agent.full_text(),) * variant.num_seats
        begins = starts(variant, self.openings)
        return MatchPlan(variant, [group], games, (seed,), begins, exactly=True, own_seeds=True)

    def require_playable(self, store: Store) -> None:
        """Raises UserError if all games of a new search would be one and the same."""
        from ...arena.randomness import one_game, repeats_one_game
        from ...runs.comparison import cure_of

        for variant in [] if self.openings or self.has_begun(store) else self.variants:
            if repeats_one_game(variant, [self.agent]):
                raise one_game(variant, [self.agent], cure_of(variant, self.openings))

    def play(self, run: Playing) -> None:
        """Plays the rounds of the search that the store lacks, and the held-out games."""
        found = self.reopened(run.store, run.store.run(run.id))
        done = 0
        for round, (_, games) in enumerate(self.rounds):
            left = found.left(round)
            self._play(
                run, [spec for each in left for spec in itertools.islice(self.searched(each, games), done, None)]
            )
            done = games
        finalists = dict.fromkeys([found.proposed, self.game])
        self._play(run, [spec for variant in finalists if variant for spec in self.held_out(variant)])

    def _play(self, run: Playing, specs: list[MatchSpec]) -> None:
        from ...runs.play import play_into

        for records in play_into(run.store, run.id, specs, run.pool, run.bar.skip):
            run.bar.advance(len(records))

    @classmethod
    def reopened(cls, store: Store, run: Run) -> BalanceResults:
        """Returns the results of a stored search, from the store alone."""
        from .results import BalanceResults

        return BalanceResults(store, run.id)


def variants_of(game: Game, paths: Sequence[str]) -> list[Game]:
    """Returns every combination of the values to try, the game itself first, without those that the game refuses."""
    from ..space import Space

    start: Any = game  # a space is of anything that declares parameters
    dimensions = Space.of(start, paths).dimensions
    for each in dimensions:
        if not each.options:
            raise UserError(
                f"a parameter of a game must have values to try, got {each.text}; write it with steps, such as"
                f" {each.path}={number(each.range.low)}..{number(each.range.high)}:1, or as a list, ONE|OTHER."
            )
    require_at_most(MAX_VARIANTS, math.prod(len(each.options) for each in dimensions), "variants of a game")
    found, refusal = [game], ""
    for values in itertools.product(*(each.options for each in dimensions)):
        try:
            variant = game.replace(**dict(zip((each.path for each in dimensions), values, strict=True)))
        except UserError as error:
            refusal = str(error)
            continue
        found += [variant] if variant not in found and variant.num_seats == game.num_seats else []
    if len(found) < 2:
        raise UserError(refusal or f"a search must have two variants of {game} or more, got one; widen the ranges.")
    return found


def halving(variants: int, budget: int) -> list[tuple[int, int]]:
    """Returns the rounds of sequential halving: how many variants are left, and the games of each so far.

    Every round has an equal part of the budget. Source: Karnin, Koren and Somekh 2013.
    """
    rounds, games, left = math.ceil(math.log2(variants)), 0, variants
    found = []
    while left > 1:
        games += max(1, budget // rounds // left)
        found.append((left, games))
        left = -(-left // 2)
    return found
