"""Certainty: how often searches of the same position agree (Kutsch 2017, 9.1), measured on positions of real games."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Any

from ..core.errors import MAX_IN_MEMORY
from .declared.options import AgentsOption, GameOption, Option, SeedOption
from .plan import Plan, Playing

if TYPE_CHECKING:
    from ..agents.agent import Agent
    from ..arena.match import MatchRecord
    from ..arena.repeated_search import SearchSpec
    from ..games.game import Game
    from ..results.store.store import Run, Store
    from .stored.certainty import CertaintyResults


class Certainty(Plan["CertaintyResults"]):
    """Measure how often searches of the same position agree.

    Positions from real games are searched repeatedly. Normalised certainty (Kutsch 2017, 9.1) is 0 if all actions are
    equally frequent and 1 if one action is always chosen; agreement between pairs of searches is 0 for a random agent,
    even with few searches. Stored searches are not repeated.

    \b
    Examples:
      turnier certainty 2048 random "mc(iterations=100)" --states 5
      turnier certainty yavalath "mcts(iterations=200)" --repeats 50 --json
    """

    kind = "certainty"

    def __init__(
        self,
        game: GameOption,
        agents: AgentsOption,
        *,
        states: Annotated[int, Option("positions per group (by legal actions and phase of the game)", low=1)] = 20,
        repeats: Annotated[int, Option("searches of each position")] = 20,
        collector: Annotated[
            str | Agent,
            Option(
                "the agent in these games; default: mc(iterations=50,rollout_depth=20,score_method=2)", complete="agent"
            ),
        ] = "",
        games: Annotated[int, Option("games to collect positions from", low=1, high=MAX_IN_MEMORY)] = 20,
        seed: SeedOption = 1,
    ) -> None:
        from ..agents.registry import AGENTS
        from ..arena.positions import COLLECTOR, choose_positions, collector_matches, search_specs
        from ..games.registry import GAMES

        self.game: Game = GAMES.make(game)
        playing = [AGENTS.make(agent) for agent in agents]
        for agent in playing:
            agent.require(self.game)
        self.agents = tuple(dict.fromkeys(agent.full_text() for agent in playing))
        self.collector = AGENTS.make(collector or COLLECTOR).full_text()
        self.states, self.repeats, self.games, self.seed = states, repeats, games, seed
        self._collecting = collector_matches(self.game.full_text(), self.collector, games, seed)
        choose_positions([], states, seed)
        search_specs([], self.agents[0], repeats, seed)

    @property
    def definition(self) -> dict[str, Any]:
        """The stored options of the run, each agent once."""
        return self.settings | {"agents": self.agents, "collector": self.collector}

    @property
    def total(self) -> int:
        """The number of games that positions are collected from; searches come later."""
        return len(self._collecting)

    def searches(self, matches: Iterable[MatchRecord]) -> list[SearchSpec]:
        """Returns every agent's searches of the positions that are chosen from these games."""
        from ..arena.positions import choose_positions, search_specs

        groups = choose_positions(list(matches), self.states, self.seed)
        return [
            spec
            for agent in self.agents
            for positions in groups.values()
            for spec in search_specs(positions, agent, self.repeats, self.seed)
        ]

    def play(self, run: Playing) -> None:
        """Collects positions and plays the searches that the store lacks."""
        from .play import play_into, search_into

        bar, matches = run.bar, list["MatchRecord"]()
        bar.note("collecting positions")
        for played in play_into(run.store, run.id, self._collecting, run.pool):
            matches += played
            bar.advance(len(played))
        planned = self.searches(matches)
        bar.expect(len(planned), "searches")
        bar.note("searching them")
        for done in search_into(run.store, run.id, planned, run.pool):
            bar.advance(len(done))

    @classmethod
    def reopened(cls, store: Store, run: Run) -> CertaintyResults:
        """Returns the results of a stored measurement, from the store alone."""
        from .stored.certainty import CertaintyResults

        return CertaintyResults(store, run.id)
