"""Certainty as an objective: how often an agent's searches of the same position agree (Kutsch 2017, 9.1).

All candidates search the same positions, taken from games of the start; the agents on the front at the end search
positions of other games. The measure is agreement, see `results.frames.certainty`: 0 % for a random agent, 100 % for
one that always chooses the same, as does every agent that draws no random numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ...agents.agent import Agent
from ...arena.match import derive_seed
from ...arena.positions import Group, choose_positions, collector_matches, search_specs
from ...arena.randomness import draws_nothing, tried_positions
from ...arena.repeated_search import SearchRecord, SeenPosition
from ...arena.workers.executor import Executor
from ...core.errors import UserError
from ...games.game import Game
from ...results.frames.certainty import estimates, position_certainty, searches_frame
from ...runs.bar import Bar
from ...runs.play import play_into, search_into
from ..objective import Objective
from ..storage.studies import StoredStudy
from .measures import Estimate, Played, Records

HELD_OUT = "held-out positions"
HELD_OUT_FACTOR = 5  # times as many positions are searched by the final front
REPEATS = 8  # searches of a position
COLLECTED_GAMES = 8  # of the start


class Agreement:
    """Searches positions into the store of a study; positions of finalists are in no other study of a new edition."""

    def __init__(self, study: StoredStudy, objective: Objective, collector: Agent, positions: int) -> None:
        self.study, self.positions = study, positions
        self.seed, self._held_out_seed = objective.seed, objective.held_out_seed
        self._game, self._collector = objective.game.full_text(), collector.full_text()
        self._chosen: dict[str, list[SeenPosition]] = {}

    def candidates(self, played: Sequence[Played], records: Records, executor: Executor, bar: Bar) -> list[float]:
        positions = self._collected("positions", self.seed, self.positions, executor, bar)
        return [found.value for found in self._agreements(played, positions, self.seed, executor, bar)]

    def finalists(self, played: Sequence[Played], records: Records, executor: Executor, bar: Bar) -> list[Estimate]:
        """Searches other positions, as far as the games have others, with other random numbers."""
        searched = {position.id for position in self._collected("positions", self.seed, self.positions, executor, bar)}
        seed, count = self._held_out_seed, HELD_OUT_FACTOR * self.positions
        positions = self._collected(HELD_OUT, seed, count, executor, bar)
        others = [position for position in positions if position.id not in searched]
        return self._agreements(played, others or positions, derive_seed(seed, HELD_OUT), executor, bar)

    def _agreements(
        self, played: Sequence[Played], positions: Sequence[SeenPosition], seed: int, executor: Executor, bar: Bar
    ) -> list[Estimate]:
        agents = dict.fromkeys(one.agent for one in played)
        specs = [spec for agent in agents for spec in search_specs(positions, agent, REPEATS, seed)]
        searches: list[SearchRecord] = []
        for batch in search_into(self.study.store, self.study.run_id, specs, executor):
            searches += batch
            bar.note(f"{len(searches):,} of {len(specs):,} searches")
        bar.note("")
        found = {}
        for agent, own in position_certainty(searches_frame(searches)).groupby("agent"):
            row = estimates(own)
            half = (row["agreement_high"] - row["agreement_low"]) / 2
            found[agent] = Estimate(100 * row["agreement"], 100 * half, row["states"])
        return [found[one.agent] for one in played]

    def _collected(self, purpose: str, seed: int, count: int, executor: Executor, bar: Bar) -> list[SeenPosition]:
        """Returns the positions of games of the start played for this purpose only."""
        if purpose not in self._chosen:
            bar.note("collecting positions")
            seed = derive_seed(seed, purpose)
            specs = collector_matches(self._game, self._collector, COLLECTED_GAMES, seed)
            matches = [m for batch in play_into(self.study.store, self.study.run_id, specs, executor) for m in batch]
            self._chosen[purpose] = spread(choose_positions(matches, count, seed), count)
        return self._chosen[purpose]


def spread(groups: Mapping[Group, Sequence[SeenPosition]], count: int) -> list[SeenPosition]:
    """Returns at most `count` positions, equally many of each group, or of evenly spaced groups if these are too many.

    Each group has two positions or more if the games have them: the interval needs their differences.
    """
    chosen = np.unique(np.linspace(0, len(groups) - 1, min(len(groups), max(1, count // 2))).round().astype(int))
    kept = [list(groups.values())[i] for i in chosen.tolist()]
    return [position for positions in kept for position in positions[: max(1, count // len(kept))]]


def require_certainty(game: Game, agent: Agent, seed: int) -> None:
    """Raises UserError if certainty says nothing: for some games, and for agents that draw no random numbers."""
    if game.kernels.has_observe:
        raise UserError(
            "certainty as an objective needs a game without simultaneous moves and hidden information, where good"
            f" agents mix their moves, got {game}; search for --objectives strength,time."
        )
    positions = tried_positions(game, seed)
    if not positions:
        raise UserError(
            f"certainty as an objective needs a game with choices, got {game}; search for --objectives strength,time."
        )
    if draws_nothing(agent, positions, seed):
        raise UserError(
            f"certainty as an objective needs an agent that draws random numbers, got {agent}, whose searches of a"
            " position are all the same: its certainty is always 100 %; search for --objectives strength,time."
        )
