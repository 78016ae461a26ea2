"""Tournaments: their formats, and playing them into a store."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from turnier.agents.agent import Agent
from turnier.agents.registry import agents_within
from turnier.arena.match import derive_seed
from turnier.arena.play import require_moves
from turnier.arena.schedules.adaptive import AdaptiveTournament
from turnier.arena.schedules.round_robin import MatchPlan, Rounds, gauntlet, round_robin, seat_orders
from turnier.arena.schedules.swiss import rounds_to_the_best, swiss
from turnier.arena.workers.executor import Executor
from turnier.arena.workers.where import Where
from turnier.core.errors import MAX_GAMES, MAX_IN_MEMORY, UserError, require_at_most, unknown
from turnier.games.game import Game
from turnier.games.registry import GAMES
from turnier.results.store.annotations import ANCHOR
from turnier.results.store.store import Store
from turnier.runs.comparison import OWN_SEEDS
from turnier.runs.play import play_plan, play_rounds, playing
from turnier.runs.results import RunResults

FORMATS = ("round_robin", "gauntlet", "swiss", "adaptive")


class Tournament:
    """Agents that play a game against each other; in a single-player game, on the same seeds."""

    def __init__(
        self,
        game: str | Game,
        agents: Sequence[str | Agent],
        *,
        games: int = 20,
        seed: int = 1,
        format: str = "round_robin",
        openings: int = 0,
        exactly: bool = False,
        challengers: int = 1,
        rounds: int = 0,
        top: int = 3,
        certainty: float = 0.95,
        budget: str = "",
        anchor: str | Agent = "",
    ) -> None:
        """Plans a tournament; raises UserError where it cannot be played.

        Args:
            game: such as "yavalath" or "2048(size=3)".
            agents: such as "random" or "mc(iterations=50)".
            games: per agent (one seat) or per group of agents; with `adaptive`, the maximum for the tournament.
            seed: the same seed gives the same games, whatever the number of workers.
            format: round_robin, gauntlet, swiss or adaptive.
            openings: start from every position after at most this many plies.
            exactly: do not round `games` up to whole sets of openings and seat orders.
            challengers: of a gauntlet: this many agents, named first, play the others.
            rounds: of a Swiss tournament; 0 = as many as leave one agent unbeaten if the better one always wins.
            top: of an adaptive tournament: number of first places that must be certain.
            certainty: of an adaptive tournament: probability that they are right.
            budget: what every agent may spend per move, such as "50ms"; empty = as its parameters say.
            anchor: the agent whose Elo is 0; empty = the mean of the agents is, or the anchor that was last given.
        """
        if format not in FORMATS:
            raise unknown("format", format, FORMATS)
        if openings and format in ("swiss", "adaptive"):
            raise UserError(f"openings are for round robins and gauntlets, got the format {format}; leave them out.")
        if exactly and format in ("swiss", "adaptive"):
            raise UserError(f"--exactly is for round robins and gauntlets, got the format {format}; leave it out.")
        self.exactly = exactly
        self.game: Game = GAMES.make(game)
        require_moves(self.game.start())
        self.format, self.games, self.seed, self.openings = format, games, seed, openings
        self.challengers, self.rounds, self.top, self.certainty = challengers, rounds, top, certainty
        playing = agents_within(agents, budget)
        self._ordered = [agent.full_text() for agent in playing]
        self.agents = sorted(set(self._ordered))
        self._playing = playing
        self.anchor = self._anchor(anchor, budget)
        self._own_seeds = self.game.num_seats > 1
        self.plan = self._plan()
        if self.plan is None:
            self._rounds(self._adaptive())
        require_at_most(MAX_GAMES, self.max_games, "games of a tournament")
        if format == "swiss":
            require_at_most(MAX_IN_MEMORY, games * len(self.agents), "games of all agents in a Swiss round")

    def _anchor(self, anchor: str | Agent, budget: str) -> str:
        """Returns the full text of the agent whose Elo is 0; raises UserError if it does not play."""
        if not anchor:
            return ""
        if self.game.num_seats == 1:
            raise UserError(f"an anchor is for games of two and more seats, got {self.game}; leave it out.")
        (named,) = agents_within([anchor], budget)
        if named.full_text() not in self.agents:
            names = ", ".join(str(agent) for agent in self._playing)
            raise UserError(f"the anchor must be one of the agents, got {named}; the agents are {names}.")
        return named.full_text()

    def _plan(self) -> MatchPlan | None:
        """Returns all matches, of formats in which they do not depend on results."""
        set_by = self.games, self.seed, self.openings, self.exactly, self._own_seeds
        if self.format == "round_robin":
            return round_robin(self.game, self._playing, *set_by)
        return gauntlet(self.game, self._playing, self.challengers, *set_by) if self.format == "gauntlet" else None

    def has_begun(self, store: Store) -> bool:
        """Whether a store has it; one that began when all groups played on the same seeds resumes with these."""
        known = {run.id for run in store.runs()}
        if self.run_id not in known and self._own_seeds:
            self._own_seeds = False
            self._own_seeds = self.run_id not in known
            self.plan = self._plan()
        return self.run_id in known

    def _adaptive(self) -> AdaptiveTournament | None:
        """Returns an adaptive tournament before its first round, if that is the format."""
        if self.format != "adaptive":
            return None
        chosen = self.seed, self.top, self.certainty, self.games
        return AdaptiveTournament(self.game, self._playing, *chosen, own_seeds=self._own_seeds)

    def _rounds(self, adaptive: AdaptiveTournament | None) -> Rounds:
        """Returns the schedule of a format whose matches depend on results, from its start."""
        if adaptive:
            return adaptive.rounds()
        return swiss(self.game, self._playing, self.games, self.seed, self.rounds, self._own_seeds)

    @property
    def definition(self) -> dict[str, Any]:
        """What is stored of the run; more games of the same matches resume it, other matches are another run."""
        definition: dict[str, Any] = {"game": self.game.full_text(), "agents": self.agents, "seed": self.seed}
        definition |= {"openings": self.openings} if self.openings else {}
        definition |= {"exactly": True} if self.exactly else {}
        definition |= {OWN_SEEDS: True} if self._own_seeds else {}
        ordered = self._ordered
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
    def max_games(self) -> int:
        """The maximum number of games."""
        if self.format != "swiss":
            return self.games if self.plan is None else len(self.plan)
        seats, orders = self.game.num_seats, len(seat_orders(self.game.num_seats))
        rounds = self.rounds or rounds_to_the_best(len(self.agents), seats)
        return rounds * (len(self.agents) // seats) * -(-self.games // orders) * orders

    def run(
        self,
        store: Store,
        *,
        where: Where | Executor = Where(),
        progress: bool = True,
    ) -> TournamentResults:
        """Plays what the store does not have yet; after a stop or a kill, the same call resumes it. See `playing`."""
        self.has_begun(store)
        adaptive = self._adaptive()

        def begin() -> None:
            store.begin_run(self.run_id, "tournament", str(self.game), self.definition)

        with playing(store, self.run_id, str(self.game), self.max_games, where, progress, begin) as (
            pool,
            bar,
        ):
            if self.plan is not None:
                played = play_plan(store, self.run_id, self.plan, pool, bar.skip)
            else:
                played = play_rounds(store, self.run_id, self._rounds(adaptive), pool)
            for records in played:
                bar.advance(len(records))
            if self.plan is None:  # places may be certain before all games are played
                bar.expect(bar.done - bar.total, bar.unit)
        if self.anchor:
            store.annotations.set(self.run_id, ANCHOR, self.anchor)
        results = TournamentResults(store, self.run_id, self, bar.skipped, bar.total, adaptive)
        results.warn_of_failures()
        return results


@dataclass(frozen=True, repr=False)
class TournamentResults(RunResults):
    """The results of a tournament."""

    tournament: Tournament
    stored_before: int  # games that were in the store
    total: int  # games
    adaptive: AdaptiveTournament | None  # as it is after these games; None for other formats
