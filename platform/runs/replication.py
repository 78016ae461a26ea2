"""Replications: the same tournament again and again on other seeds, to see how much of the ranks is luck."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from ..core.errors import MAX_IN_MEMORY
from .declared.options import AgentsOption, GameOption, Option, PerMoveOption, SeedOption
from .plan import Plan, Playing

if TYPE_CHECKING:
    from ..games.game import Game
    from ..results.store.store import Run, Store
    from .results import RunResults


class Replication(Plan["RunResults"]):
    """Repeat a tournament on other seeds and show how far its ranks spread.

    All agents play each other in every tournament. An agent whose rank changes from one to the next owes its place to
    luck. Stored games are not played again: repeat the command to resume, also with more --times.

    \b
    Examples:
      turnier tournament tictactoe random mcts "mc(iterations=20)" --times 5
      turnier tournament 2048 random "mc(iterations=20)" --times 3 --games 4
    """

    kind = "replication"

    def __init__(
        self,
        game: GameOption,
        agents: AgentsOption,
        *,
        times: Annotated[
            int,
            Option(
                "play so many such tournaments on other seeds, and show the spread of ranks",
                low=2,
                high=1000,
                more=True,
            ),
        ],
        games: Annotated[int, Option("games per group of agents in each", low=1, high=MAX_IN_MEMORY)] = 20,
        seed: SeedOption = 1,
        per_move: PerMoveOption = "",
    ) -> None:
        from ..agents.registry import agents_within
        from ..arena.match import derive_seed
        from ..arena.schedules.round_robin import round_robin
        from ..games.registry import GAMES

        self.game: Game = GAMES.make(game)
        playing = agents_within(agents, per_move)
        seeds = [derive_seed(self.kind, seed, number) for number in range(times)]
        self.tournaments = [round_robin(self.game, playing, games, each, own_seeds=True) for each in seeds]

    @property
    def total(self) -> int:
        """The games of all tournaments."""
        return sum(map(len, self.tournaments))

    def play(self, run: Playing) -> None:
        """Plays the games that the store lacks, one tournament after another."""
        from .play import play_plan

        for tournament in self.tournaments:
            for records in play_plan(run.store, run.id, tournament, run.pool, run.bar.skip):
                run.bar.advance(len(records))

    @classmethod
    def reopened(cls, store: Store, run: Run) -> RunResults:
        """Returns the results of a stored replication, from the store alone."""
        from .results import RunResults

        return RunResults(store, run.id)
