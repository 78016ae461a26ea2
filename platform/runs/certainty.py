"""Certainty: how often searches of the same position agree (Kutsch 2017, 9.1), measured on positions of real games."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from turnier.agents.agent import Agent
from turnier.agents.registry import AGENTS
from turnier.arena.match import derive_seed
from turnier.arena.positions import COLLECTOR, choose_positions, collector_matches, search_specs
from turnier.arena.repeated_search import SearchRecord
from turnier.arena.workers.executor import Executor
from turnier.arena.workers.where import Where
from turnier.games.game import Game
from turnier.games.registry import GAMES
from turnier.results.frames.certainty import agent_certainty, group_certainty, position_certainty, searches_frame
from turnier.results.store.store import Store
from turnier.runs.play import play_into, playing, search_into
from turnier.runs.results import RunResults


class Certainty:
    """Agents that search positions of real games repeatedly."""

    def __init__(
        self,
        game: str | Game,
        agents: Sequence[str | Agent],
        *,
        states: int = 20,
        repeats: int = 20,
        games: int = 20,
        collector: str | Agent = COLLECTOR,
        seed: int = 1,
    ) -> None:
        """Plans a measurement; raises UserError where it cannot be made.

        Args:
            game: such as "2048".
            agents: such as "mc(iterations=100)".
            states: positions per group (number of legal actions, phase of the game).
            repeats: searches of each position.
            games: number of games from which positions are collected.
            collector: the agent that plays these games.
            seed: the same seed gives the same positions and searches, whatever the number of workers.
        """
        self.game: Game = GAMES.make(game)
        playing = [AGENTS.make(agent) for agent in agents]
        for agent in playing:
            agent.require(self.game)
        self.agents = tuple(dict.fromkeys(agent.full_text() for agent in playing))
        self.collector = AGENTS.make(collector).full_text()
        self.states, self.repeats, self.games, self.seed = states, repeats, games, seed
        self._collecting = collector_matches(self.game.full_text(), self.collector, games, seed)
        choose_positions([], states, seed)
        search_specs([], self.agents[0], repeats, seed)

    @property
    def definition(self) -> dict[str, Any]:
        """What is stored of the run."""
        return {
            "game": self.game.full_text(),
            "agents": self.agents,
            "states": self.states,
            "repeats": self.repeats,
            "collector": self.collector,
            "games": self.games,
            "seed": self.seed,
        }

    @property
    def run_id(self) -> str:
        return f"certainty:{derive_seed(json.dumps(self.definition)):016x}"

    def run(
        self,
        store: Store,
        *,
        where: Where | Executor = Where(),
        progress: bool = True,
    ) -> CertaintyResults:
        """Collects positions and searches what the store does not have yet. See `playing`."""
        name, specs = str(self.game), self._collecting
        label = f"{name}: collecting positions"

        def begin() -> None:
            store.begin_run(self.run_id, "certainty", name, self.definition)

        with playing(store, self.run_id, label, len(specs), where, progress, begin) as (pool, bar):
            matches, searches = [], []
            for played in play_into(store, self.run_id, specs, pool):
                matches += played
                bar.advance(len(played))
            groups = choose_positions(matches, self.states, self.seed)
            planned = [
                spec
                for agent in self.agents
                for positions in groups.values()
                for spec in search_specs(positions, agent, self.repeats, self.seed)
            ]
            bar.expect(len(planned), "searches")
            bar.note("searching them")
            for done in search_into(store, self.run_id, planned, pool):
                searches += done
                bar.advance(len(done))
        return CertaintyResults(store, self.run_id, searches)


@dataclass(frozen=True, repr=False)
class CertaintyResults(RunResults):
    """The results of a measurement of certainty."""

    searches: list[SearchRecord]

    def positions(self) -> pd.DataFrame:
        """Returns one row per agent and position."""
        return position_certainty(searches_frame(self.searches))

    def groups(self) -> pd.DataFrame:
        """Returns one row per agent and group of positions, with 95 % intervals."""
        return group_certainty(self.positions())

    def agents(self) -> pd.DataFrame:
        """Returns one row per agent: means over the groups, with 95 % intervals."""
        return agent_certainty(self.positions())

    def table(self) -> pd.DataFrame:
        return self.agents()[["label", "searches", "certainty", "normalised", "chance_level", "agreement"]]
