"""What a candidate is worth: its mean score alone at a game, or its share of the points against opponents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from turnier.agents.registry import AGENTS
from turnier.arena.match import MatchRecord, MatchSpec, derive_seed
from turnier.core.errors import UserError
from turnier.games.game import Game

Unit = tuple[MatchSpec, ...]


@dataclass(frozen=True)
class Objective:
    """Units are what is independent and worth one number: a game, or all games of one seed in all seats of the agent.

    Args:
        against: full texts of the opponents; each of them takes all other seats of its games.
    """

    game: Game
    against: tuple[str, ...]
    seed: int

    def __post_init__(self) -> None:
        if self.alone and self.against:
            raise UserError(f"opponents are for games of two or more seats, got {self.game}; leave out --against.")
        if not self.alone and not self.against:
            raise UserError(f"tuning at {self.game} needs at least 1 opponent, got 0; name them with --against.")
        for opponent in self.against:
            AGENTS.make(opponent).require(self.game)

    @property
    def alone(self) -> bool:
        return self.game.num_seats == 1

    @property
    def unit_games(self) -> int:
        """Games of a unit."""
        return 1 if self.alone else self.game.num_seats * len(self.against)

    @property
    def name(self) -> str:
        return "mean score" if self.alone else "share of points"

    def search_unit(self, agent: str, generation: int, index: int, number: int, twin: int = 0) -> Unit:
        """Returns a unit of a candidate.

        Against opponents all candidates of a generation have the same seeds; alone each has its own, since there equal
        seeds gain nothing (scores of nearly equal agents on one seed hardly correlate).

        Args:
            index: of the candidate in its generation.
            twin: how many candidates before it are the same agent, with which it must not share its games.
        """
        own = [index] if self.alone else [f"twin {twin}"] * bool(twin)
        return self._unit(agent, "search", generation, *own, number)

    def held_out_unit(self, agent: str, number: int) -> Unit:
        """Returns a unit on seeds that the search never sees, the same for every agent."""
        return self._unit(agent, "held-out", number)

    def spare_unit(self, agent: str, generation: int, number: int) -> Unit:
        """Returns a unit that the recommendation after a generation plays on workers that would idle."""
        return self._unit(agent, "spare", generation, number)

    def _unit(self, agent: str, *parts: int | str) -> Unit:
        text = self.game.full_text()
        if self.alone:
            return (MatchSpec(text, (agent,), derive_seed(self.seed, *parts)),)
        specs = []
        for number, opponent in enumerate(self.against):
            seed = derive_seed(self.seed, *parts, number)
            for seat in range(self.game.num_seats):
                agents = [opponent] * self.game.num_seats
                agents[seat] = agent
                specs.append(MatchSpec(text, tuple(agents), seed))
        return tuple(specs)

    def value(self, unit: Unit, records: Mapping[str, MatchRecord]) -> float:
        """Returns what a played unit is worth; raises UserError where an agent failed."""
        played = [records[spec.id] for spec in unit]
        failed = next((record for record in played if not record.termination.has_result), None)
        if failed:
            raise UserError(
                f"every game of a study must end normally, got {failed.termination} ({failed.error or failed.spec});"
                " mend the agent and start again."
            )
        if self.alone:
            value = played[0].scores[0]
        else:
            value = float(np.mean([r.points[seat % self.game.num_seats] for seat, r in enumerate(played)]))
        if not np.isfinite(value):
            raise UserError(f"every score of a study must be finite, got {value} in {played[0].spec}; mend the game.")
        return float(value)

    def values(self, units: Sequence[Unit], records: Mapping[str, MatchRecord]) -> list[float]:
        return [self.value(unit, records) for unit in units]
