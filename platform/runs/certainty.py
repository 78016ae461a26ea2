"""What `turnier certainty` does: collect positions, search them again and again, and show how often agents agree."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from turnier.agents.registry import AGENTS
from turnier.arena.match import derive_seed
from turnier.arena.positions import choose_positions, collector_matches, search_specs
from turnier.arena.repeated_search import SearchRecord
from turnier.arena.workers.executor import Executor
from turnier.games.registry import GAMES
from turnier.results.store.store import Store
from turnier.runs.bar import run_bar
from turnier.runs.play import play_into, search_into


@dataclass(frozen=True)
class Certainty:
    """What is measured; texts of game and agents with every parameter."""

    game: str
    agents: tuple[str, ...]
    states: int  # of a group
    repeats: int  # searches of a state
    collector: str
    games: int  # of the collector
    seed: int

    @classmethod
    def of(
        cls, game: str, agents: Sequence[str], states: int, repeats: int, collector: str, games: int, seed: int
    ) -> Certainty:
        """Returns it with texts in full; raises UserError where that cannot be measured."""
        made, playing = GAMES.make(game), [AGENTS.make(agent) for agent in agents]
        for agent in playing:
            agent.require(made)
        collector_matches(game, collector, games, seed)
        choose_positions([], states, seed)
        search_specs([], agents[0], repeats, seed)
        texts = tuple(dict.fromkeys(agent.full_text() for agent in playing))
        return cls(made.full_text(), texts, states, repeats, AGENTS.make(collector).full_text(), games, seed)

    @property
    def run_id(self) -> str:
        return f"certainty:{derive_seed(json.dumps(asdict(self))):016x}"


def measure(certainty: Certainty, store: Store, executor: Executor) -> list[SearchRecord]:
    """Collects and searches what the store does not have yet, and returns all votes."""
    name, run_id = str(GAMES.make(certainty.game)), certainty.run_id
    specs = collector_matches(certainty.game, certainty.collector, certainty.games, certainty.seed)
    store.begin_run(run_id, "certainty", name, asdict(certainty))
    matches, votes = [], []
    with run_bar(store, run_id, f"{name}: collecting positions", len(specs)) as bar:
        for played in play_into(store, run_id, specs, executor):
            matches += played
            bar.advance(len(played))
        chosen = choose_positions(matches, certainty.states, certainty.seed)
        wanted = [
            spec
            for agent in certainty.agents
            for positions in chosen.values()
            for spec in search_specs(positions, agent, certainty.repeats, certainty.seed)
        ]
        bar.expect(len(wanted), "searches")
        bar.note("searching them")
        for cast in search_into(store, run_id, wanted, executor):
            votes += cast
            bar.advance(len(cast))
    return votes
