"""What `turnier tournament` plays: its formats, and what each of them says at the end."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from turnier.agents.registry import agents_within
from turnier.arena.match import MatchRecord, MatchSpec, derive_seed
from turnier.arena.schedules.adaptive import AdaptiveTournament
from turnier.arena.schedules.round_robin import Rounds, gauntlet, round_robin, seat_orders
from turnier.arena.schedules.swiss import rounds_to_the_best, swiss
from turnier.arena.workers.executor import Executor
from turnier.core.errors import UserError, unknown
from turnier.games.game import Game
from turnier.games.registry import GAMES
from turnier.results.store.store import Store
from turnier.runs.bar import Bar
from turnier.runs.play import play_into, play_rounds

FORMATS = ("round_robin", "gauntlet", "swiss", "adaptive")


@dataclass
class Tournament:
    """A tournament as the command line asks for it; raises UserError where it cannot be played."""

    game_text: str
    agent_texts: Sequence[str]
    format: str
    games: int
    seed: int
    openings: int = 0
    challengers: int = 1
    rounds: int = 0
    top: int = 3
    certainty: float = 0.95
    budget: str = ""

    def __post_init__(self) -> None:
        if self.format not in FORMATS:
            raise unknown("format", self.format, FORMATS)
        if self.openings and self.format in ("swiss", "adaptive"):
            raise UserError(f"openings are for round robins and gauntlets, got the format {self.format}; leave them.")
        self.game: Game = GAMES.make(self.game_text)
        agents = agents_within(self.agent_texts, self.budget)
        self.agents = sorted({agent.full_text() for agent in agents})
        self.specs: list[MatchSpec] = []  # where all matches are known
        self.schedule: Rounds | None = None  # where they depend on results
        self.adaptive: AdaptiveTournament | None = None
        if self.format == "round_robin":
            self.specs = round_robin(self.game, agents, self.games, self.seed, self.openings)
        elif self.format == "gauntlet":
            self.specs = gauntlet(self.game, agents, self.challengers, self.games, self.seed, self.openings)
        elif self.format == "swiss":
            self.schedule = swiss(self.game, agents, self.games, self.seed, self.rounds)
        else:
            self.adaptive = AdaptiveTournament(self.game, agents, self.seed, self.top, self.certainty, self.games)
            self.schedule = self.adaptive.rounds()

    @property
    def definition(self) -> dict[str, Any]:
        """What is stored of the run; more games of the same matches go on with it, other matches are another run."""
        definition: dict[str, Any] = {"game": self.game.full_text(), "agents": self.agents, "seed": self.seed}
        definition |= {"openings": self.openings} if self.openings else {}
        ordered = [agent.full_text() for agent in agents_within(self.agent_texts, self.budget)]
        of_format: dict[str, dict[str, Any]] = {
            "gauntlet": {"challengers": sorted(ordered[: self.challengers])},
            "swiss": {"games": self.games, "rounds": self.rounds, "order": ordered},
            "adaptive": {"top": self.top, "order": ordered},
        }
        return definition | ({"format": self.format, **of_format[self.format]} if self.format in of_format else {})

    @property
    def run_id(self) -> str:
        return f"tournament:{derive_seed(json.dumps(self.definition)):016x}"

    @property
    def most_games(self) -> int:
        """How many games are played at most."""
        if self.format != "swiss":
            return len(self.specs) or self.games
        seats, orders = self.game.num_seats, len(seat_orders(self.game.num_seats))
        rounds = self.rounds or rounds_to_the_best(len(self.agents), seats)
        return rounds * (len(self.agents) // seats) * -(-self.games // orders) * orders

    def play(self, store: Store, executor: Executor, bar: Bar) -> Iterator[list[MatchRecord]]:
        """Plays what the store does not have, and yields the records; needs the run to have begun."""
        if self.schedule is None:
            yield from play_into(store, self.run_id, self.specs, executor, bar.skip)
        else:
            yield from play_rounds(store, self.run_id, self.schedule, executor)
            bar.expect(bar.done - bar.total, bar.unit)  # places may be certain before all games are played
