"""The value of a candidate: its mean score in a single-player game, or its share of the points against opponents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..agents.registry import AGENTS
from ..arena.match import MatchRecord, MatchSpec, derive_seed, require_results
from ..core.errors import UserError
from ..core.outside.classes import is_outside
from ..games.game import Game

Unit = tuple[MatchSpec, ...]
ENOUGH = 16  # equal units that suffice to believe that all are equal
STARTS = 4  # compared starts: some games draw theirs


def require_generation(generation: int, games: int) -> None:
    """Raises UserError if a budget in games is too small for a generation of that many."""
    if games < generation:
        raise UserError(f"a budget must last for a generation of {generation:,} games, got {games:,}; raise --budget.")


@dataclass(frozen=True)
class Objective:
    """The value of candidates in units: independent groups of games that yield one number each.

    A unit is one single-player game, or all games of one seed: the agent in every seat, against every opponent.

    Args:
        against: full texts of the opponents; each fills all other seats of the games against it.
        study: its name, if no other study may have its held-out games; otherwise studies of one seed share them.
    """

    game: Game
    against: tuple[str, ...]
    seed: int
    study: str = ""

    def __post_init__(self) -> None:
        if self.single_player and self.against:
            raise UserError(f"opponents are for games of two or more seats, got {self.game}; leave out --against.")
        if not self.single_player and not self.against:
            raise UserError(f"tuning at {self.game} needs at least 1 opponent, got 0; name them with --against.")
        for opponent in self.against:
            AGENTS.make(opponent).require(self.game)

    @property
    def single_player(self) -> bool:
        return self.game.num_seats == 1

    @property
    def unit_games(self) -> int:
        """Games per unit."""
        return 1 if self.single_player else self.game.num_seats * len(self.against)

    @property
    def name(self) -> str:
        return "mean score" if self.single_player else "share of points"

    @property
    def held_out_seed(self) -> int:
        """The seed of everything that the search never sees."""
        return derive_seed(self.seed, "study", self.study) if self.study else self.seed

    def search_unit(self, agent: str, generation: int, index: int, number: int, twin: int = 0) -> Unit:
        """Returns a unit of a candidate.

        Against opponents all candidates of a generation share their seeds. In single-player games each has its own:
        equal seeds gain nothing there, because scores of nearly equal agents on one seed hardly correlate.

        Args:
            index: of the candidate in its generation.
            twin: number of earlier candidates with the same agent; they must not share games.
        """
        own = [index] if self.single_player else [f"twin {twin}"] * bool(twin)
        return self._unit(agent, self.seed, "search", generation, *own, number)

    def held_out_unit(self, agent: str, number: int) -> Unit:
        """Returns a unit on seeds that the search never sees, the same for every agent."""
        return self._unit(agent, self.held_out_seed, "held-out", number)

    def idle_unit(self, agent: str, generation: int, number: int) -> Unit:
        """Returns a unit for idle workers, of the recommendation after a generation."""
        return self._unit(agent, self.seed, "spare", generation, number)  # seeds of stored studies have this name

    def _unit(self, agent: str, *parts: int | str) -> Unit:
        text = self.game.full_text()
        if self.single_player:
            return (MatchSpec(text, (agent,), derive_seed(*parts)),)
        specs = []
        for number, opponent in enumerate(self.against):
            seed = derive_seed(*parts, number)
            for seat in range(self.game.num_seats):
                agents = [opponent] * self.game.num_seats
                agents[seat] = agent
                specs.append(MatchSpec(text, tuple(agents), seed))
        return tuple(specs)

    def value(self, unit: Unit, records: Mapping[str, MatchRecord]) -> float:
        """Returns the value of a played unit; raises UserError if a match is void."""
        played = [records[spec.id] for spec in unit]
        require_results(played, "a study")
        if self.single_player:
            value = played[0].scores[0]
        else:
            value = float(np.mean([r.points[seat % self.game.num_seats] for seat, r in enumerate(played)]))
        if not np.isfinite(value):
            raise UserError(f"every score of a study must be finite, got {value} in {played[0].spec}; fix the game.")
        return float(value)

    def values(self, units: Sequence[Unit], records: Mapping[str, MatchRecord]) -> list[float]:
        return [self.value(unit, records) for unit in units]


def is_one_game(game: Game, units: Sequence[Unit], records: Mapping[str, MatchRecord]) -> bool:
    """Whether all units must be one game again and again, and so say no more than one of them.

    This is so if games differ by moves only and no agent draws random numbers. Studies of our own agents are then
    refused; programs and classes of others have shown it once ENOUGH units are the same, move for move.
    """
    if len(units) < ENOUGH or game.has_chance or game.kernels.has_observe:
        return False
    if not any(_is_foreign(agent) for spec in units[0] for agent in spec.agents):
        return False
    if len({game.start(number).state.tobytes() for number in range(STARTS)}) > 1:
        return False
    return len({tuple(records[spec.id].plies for spec in unit) for unit in units}) == 1


def _is_foreign(agent: str) -> bool:
    return is_outside(agent) or AGENTS.make(agent).runs_program
