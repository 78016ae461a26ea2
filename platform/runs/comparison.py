"""Comparisons: two agents, or several and their base, play pairs of games until a verdict, which is one sentence."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

from ..core.errors import MAX_GAMES, MAX_IN_MEMORY
from ..core.number_text import roughly
from .declared.options import GameOption, OpeningsOption, Option, PerMoveOption, SeedOption
from .plan import OWN_SEEDS, Plan, Playing

if TYPE_CHECKING:
    from ..agents.registry import AnyAgent
    from ..arena.schedules.duel import Duel
    from ..arena.schedules.race import Race as Duels
    from ..games.game import Game
    from ..results.store.store import Run, Store
    from .stored.comparison import ComparisonResults
    from .stored.race import RaceResults

MANY_OPENINGS = 1000  # proposed for agents that draw no random numbers
MARGIN = "the difference that counts as equal; default: 20 Elo, or for one seat 5 % of the second's mean score"
FIRST_ROUND = "minimum pairs of games between two looks"

MarginOption = Annotated[float | None, Option(MARGIN, more=True)]
AlphaOption = Annotated[float, Option("maximum probability of a wrong verdict", more=True)]
GamesOption = Annotated[int, Option("maximum games; with --base, of each agent", high=MAX_GAMES, more=True)]
FirstRoundOption = Annotated[int, Option(FIRST_ROUND, low=1, high=MAX_IN_MEMORY, more=True)]


class Comparison(Plan["ComparisonResults"]):
    """Compare two agents until it is clear which is stronger.

    They play pairs of games (same seed, seats rotated) until a sequential test decides whether the first agent is
    stronger, weaker, or equal within the margin; each verdict is wrong with a probability of at most alpha. In games
    with three or more seats, the two agents take the seats in every possible way. Stored games are not played again:
    repeat the command to resume, even with a smaller margin or more games.

    With --base, any number of agents play pairs of games with that base until it is clear which of them are better;
    those that are not, or are behind the best, stop early. The probability that any agent is wrongly called better is
    at most alpha, and all intervals hold at once.

    \b
    Examples:
      turnier compare random "mc(iterations=20,rollout_depth=10)" --game 2048
      turnier compare "mcts(iterations=1000)" "alphabeta(depth=4)" --game yavalath --margin 50 --openings 1
      turnier compare bot.py:Bot bot.py:Bot@PREVIOUS --game tictactoe    # did my last change help?
      turnier compare "mc(iterations=20)" "mcts(iterations=40)" greedy --base "mc(iterations=9)" --game hex
    """

    kind = "comparison"

    def __init__(
        self,
        first: Annotated[str | AnyAgent, Option("the agent that the verdict is about", complete="agent")],
        second: Annotated[str | AnyAgent, Option("the agent to compare it with", complete="agent")],
        *,
        game: GameOption,
        margin: MarginOption = None,
        alpha: AlphaOption = 0.05,
        games: GamesOption = 10_000,
        seed: SeedOption = 1,
        openings: OpeningsOption = 0,
        per_move: PerMoveOption = "",
        first_round: FirstRoundOption = 32,
    ) -> None:
        from ..agents.registry import agents_within
        from ..games.registry import GAMES

        self.game: Game = GAMES.make(game)
        self.agents = agents_within((first, second), per_move)
        self.seed, self.alpha, self.openings = seed, alpha, openings
        self.margin, self._margin = margin_of(self.game, margin)
        self._games, self._first_round = games, first_round
        self._own_seeds = True
        self.schedule()

    def has_begun(self, store: Store) -> bool:
        """Whether a store has the run, which keeps the seeds of a tournament if it began with them."""
        begun = super().has_begun(store)
        if not begun and self._own_seeds:
            self._own_seeds = False
            begun = super().has_begun(store)
            self._own_seeds = not begun
        return begun

    def schedule(self) -> Duel:
        """Returns the schedule before its first round."""
        from ..arena.schedules.duel import Duel

        return Duel(
            self.game,
            self.agents,
            self.seed,
            self._margin,
            self.alpha,
            self._games,
            self._first_round,
            self.openings,
            self._own_seeds,
        )

    @property
    def cure(self) -> str:
        """The remedy if every seed gives the same game."""
        return cure_of(self.game, self.openings)

    @property
    def definition(self) -> dict[str, Any]:
        """The stored options of the run.

        The settings of the test decide only the number of games: a stricter test resumes the run.
        """
        agents = tuple(agent.full_text() for agent in self.agents)
        fixed = {"game": self.game.full_text(), "agents": agents, "seed": self.seed, "openings": self.openings}
        return fixed | {OWN_SEEDS: True} if self._own_seeds else fixed

    @property
    def total(self) -> int:
        """The games of the first round."""
        duel = self.schedule()
        return duel.round_size * len(duel.orders)

    def require_playable(self, store: Store) -> None:
        """Raises UserError if all games of a new comparison would be one and the same."""
        from ..arena.randomness import one_game, repeats_one_game

        if not (self.has_begun(store) or self.openings) and repeats_one_game(self.game, self.agents):
            raise one_game(self.game, self.agents, self.cure)

    def play(self, run: Playing) -> None:
        """Plays the games that the store lacks, until the verdict."""
        from .play import play_rounds
        from .stored.comparison import estimate_text

        duel, bar = self.schedule(), run.bar
        total, pairs = self.total, 0
        for records in play_rounds(run.store, run.id, duel.rounds(), run.pool):
            if duel.pairs > pairs:  # a round has ended since
                pairs, left = duel.pairs, duel.games_left
                known = not math.isnan(left)
                expected = duel.games + max(math.ceil(left) if known else 0, len(duel.orders))
                bar.expect(expected - total, "games")
                total = expected
                more = f", about {roughly(left)} more games" if known else ""
                bar.note(f"{estimate_text(duel)}{more}")
            bar.advance(len(records))
        bar.expect(duel.games - total, "games")
        bar.note(estimate_text(duel))

    @classmethod
    def reopened(cls, store: Store, run: Run) -> ComparisonResults:
        """Returns the results of the stored games: the state after the last complete round."""
        return cls.of_run(store, run).results(store)

    def results(self, store: Store) -> ComparisonResults:
        """Returns the results so far, also of a comparison that has not begun."""
        from .stored.comparison import stored_results

        self.has_begun(store)
        return stored_results(store, self)

    @classmethod
    def options_of(cls, run: Run) -> dict[str, Any]:
        """Returns the options given by the definition of a stored comparison."""
        first, second = run.definition["agents"]
        return super().options_of(run) | {"first": first, "second": second}


class Race(Plan["RaceResults"]):
    """Compare several agents with one base, such as many takes of one idea, and stop those early that lose.

    Every agent plays pairs of games with the base (same seed, seats rotated) until a sequential test shows that it is
    better, or not better by the margin, or until it is clearly behind the best. The probability that any agent is
    wrongly called better is at most alpha. Stored games are not played again: run it again to resume, even with a
    smaller margin or more games.
    """

    kind = "race"

    def __init__(
        self,
        agents: Annotated[Sequence[AnyAgent], Option("more agents, each compared with --base", complete="agent")],
        *,
        base: Annotated[str | AnyAgent, Option("the agent that all others are compared with", complete="agent")],
        game: GameOption,
        margin: MarginOption = None,
        alpha: AlphaOption = 0.05,
        games: GamesOption = 10_000,
        seed: SeedOption = 1,
        openings: OpeningsOption = 0,
        per_move: PerMoveOption = "",
        first_round: FirstRoundOption = 32,
    ) -> None:
        from ..agents.registry import agents_within
        from ..games.registry import GAMES

        self.game: Game = GAMES.make(game)
        *self.agents, self.base = agents_within((*agents, base), per_move)
        self.alpha, self.openings = alpha, openings
        self.margin, shown = margin_of(self.game, margin)
        self._test = seed, shown, alpha, games, first_round, openings
        self.schedule()

    def schedule(self) -> Duels:
        """Returns the schedule before its first round."""
        from ..arena.schedules.race import Race as Duels

        return Duels(self.game, self.agents, self.base, *self._test)

    @property
    def definition(self) -> dict[str, Any]:
        """The stored options of the run; the settings of the tests decide only the number of games."""
        agents, base = [agent.full_text() for agent in self.agents], self.base.full_text()
        return super().definition | {"agents": agents, "base": base, "per_move": ""}

    @property
    def total(self) -> int:
        """The games of the first round."""
        return len({spec.id for spec in next(self.schedule().rounds())})

    def require_playable(self, store: Store) -> None:
        """Raises UserError if all games of an agent in a new race would be one and the same."""
        from ..arena.randomness import one_game, repeats_one_game

        for agent in [] if self.openings or self.has_begun(store) else self.agents:
            if repeats_one_game(self.game, [agent, self.base]):
                raise one_game(self.game, [agent, self.base], cure_of(self.game, self.openings))

    def play(self, run: Playing) -> None:
        """Plays the games that the store lacks, until no agent plays."""
        from .play import play_rounds

        race, bar = self.schedule(), run.bar
        total, games = self.total, 0
        for records in play_rounds(run.store, run.id, race.rounds(), run.pool):
            if race.games > games:  # a round has ended since
                games, left = race.games, race.games_left
                expected = games + max(math.ceil(left), len(race.playing))
                bar.expect(expected - total, "games")
                total = expected
                counts = {str(each): len(list(found)) for each, found in itertools.groupby(sorted(race.standings))}
                more = f", about {roughly(left)} more games"
                bar.note(", ".join(f"{count} {name}" for name, count in counts.items()) + more)
            bar.advance(len(records))
        bar.expect(race.games - total, "games")

    @classmethod
    def reopened(cls, store: Store, run: Run) -> RaceResults:
        """Returns the results of the stored games: the state after the last complete round."""
        from .stored.race import stored_race

        return stored_race(store, cls.of_run(store, run))


def margin_of(game: Game, margin: float | None) -> tuple[str, float]:
    """Returns the margin, or the default of a game, as text and as schedules take it."""
    from ..statistics.sprt import MARGIN_ELO, MARGIN_SCORE

    single_player = game.num_seats == 1
    shown = (100 * MARGIN_SCORE if single_player else MARGIN_ELO) if margin is None else margin
    return (f"{shown:g} % of its mean score", shown / 100) if single_player else (f"{shown:g} Elo", shown)


def cure_of(game: Game, openings: int) -> str:
    """Returns the remedy if every seed gives the same game."""
    from ..arena.schedules.round_robin import plies_for_openings

    plies = plies_for_openings(game, MANY_OPENINGS)
    if not openings:
        return f"start from positions that differ: --openings {plies}"
    return f"start from more positions: --openings {max(plies, openings + 1)}"
