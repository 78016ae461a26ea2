"""What a candidate is worth: its mean score in a single-player game, or its share of the points against others."""

from __future__ import annotations

import functools
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..agents.agent import Agent
from ..agents.registry import AGENTS
from ..arena.match import MatchRecord, MatchSpec, derive_seed, require_results
from ..arena.play import play_match, play_matches
from ..arena.schedules.round_robin import openings
from ..core.errors import UserError
from ..core.outside.classes import is_outside
from ..games.game import Game

ENOUGH = 16  # units that are the same before it is believed that all will be
MEASURED, MEASURED_SECONDS = 50, 1.0  # units at the most, and seconds, to measure how fast games are
SCALED = 50  # games of the start, to compare the scores of several games
RELATIVE = "score relative to the start"
STARTS = 4  # that are compared: some games draw theirs


def require_generation(generation: int, games: int) -> None:
    """Raises UserError if a budget in games is too small for a generation of that many."""
    if games < generation:
        raise UserError(f"a budget must last for a generation of {generation:,} games, got {games:,}; raise --budget.")


def games_per_second(objective: Objective) -> float:
    """Returns how many games of the start a worker plays in a second, measured for a moment."""
    played, began = 0, time.perf_counter()
    for number in range(MEASURED):
        specs = objective.search_unit(objective.start, number, 0, 0).specs
        if number == 0:
            play_match(specs[0])  # compiles
            began = time.perf_counter()
        for spec in specs:
            play_match(spec)
            played += 1
            if (took := time.perf_counter() - began) > MEASURED_SECONDS:
                return played / took
    return played / max(time.perf_counter() - began, 1e-6)


@dataclass(frozen=True)
class Unit:
    """Games that yield one number for an agent, independent of all others; without games it is worth an equal share."""

    specs: tuple[MatchSpec, ...]
    seats: tuple[tuple[int, ...], ...]  # of the agent, in each of the games

    def __iter__(self) -> Iterator[MatchSpec]:
        return iter(self.specs)

    def __len__(self) -> int:
        return len(self.specs)


@dataclass(frozen=True)
class Objective:
    """The value of candidates in units: independent groups of games that yield one number each.

    A unit is one single-player game, or all games of one seed: the agent in every seat, against every opponent.

    Args:
        against: full texts of the opponents; each fills all other seats of the games against it.
        study: its name, where its held-out games are to be in no other study; otherwise studies of one seed share them.
        start: full text of the agent that a search begins with, which is the opponent if there is no other.
        opening_plies: games begin after one of the openings of at most this many plies, drawn by the seed.
        also: further games, with as many seats, that each unit plays as well.
        scales: mean scores of the start in all of the games, which scores are divided by; without any they count as
            they are.
    """

    game: Game
    against: tuple[str, ...]
    seed: int
    study: str = ""
    start: str = ""
    opening_plies: int = 0
    also: tuple[Game, ...] = ()
    scales: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if self.single_player and self.against:
            raise UserError(f"opponents are for games of two or more seats, got {self.game}; leave out --against.")
        for game in self.also:
            if game.num_seats != self.game.num_seats:
                raise UserError(f"all games of a study must have as many seats, got {self.game} and {game}.")
        for opponent in self.against:
            self.require(AGENTS.make(opponent))

    @property
    def games(self) -> tuple[Game, ...]:
        """All games, the first one first."""
        return (self.game, *self.also)

    def require(self, agent: Agent) -> None:
        """Raises UserError if an agent cannot play all of the games."""
        for game in self.games:
            agent.require(game)

    @property
    def single_player(self) -> bool:
        return self.game.num_seats == 1

    @property
    def opponents(self) -> tuple[str, ...]:
        return () if self.single_player else self.against or (self.start,)

    @property
    def unit_games(self) -> int:
        """Games per unit."""
        return len(self.games) * self.game.num_seats * max(1, len(self.opponents))

    @property
    def name(self) -> str:
        if self.single_player and self.also:
            return RELATIVE
        return "mean score" if self.single_player else "share of points"

    @property
    def worst(self) -> float:
        """What a candidate is worth that breaks a rule: as much as one that fails in every game."""
        return float(self.game.min_return) if self.single_player and not self.also else 0.0

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

    def duel_units(self, agents: tuple[str, str], generation: int, pair: int, number: int) -> tuple[Unit, Unit]:
        """Returns the two games of two candidates against each other, of each kind, as a unit of each of them.

        In the second game they have changed seats. Of more than two seats each has half, drawn by the seed; of an odd
        number one of them has one more.
        """
        seats, seed = self.game.num_seats, derive_seed(self.seed, "duel", generation, pair, number)
        drawn = np.random.default_rng(seed).permutation(seats)[: seats // 2].tolist()
        sides = [tuple(sorted(drawn)), tuple(seat for seat in range(seats) if seat not in drawn)]
        seated = [tuple(agents[seat in sides[1 - side]] for seat in range(seats)) for side in (0, 1)]
        specs = tuple(self._spec(game, own, seed) for game in self.games for own in seated)
        return tuple(Unit(specs, tuple(order) * len(self.games)) for order in (sides, sides[::-1]))  # type: ignore[return-value]

    def held_out_unit(self, agent: str, number: int) -> Unit:
        """Returns a unit on seeds that the search never sees, the same for every agent."""
        if self.is_free(agent):
            return Unit((), ())
        return self._unit(agent, self.held_out_seed, "held-out", number)

    def is_free(self, agent: str) -> bool:
        """Whether the held-out units of an agent need no games, since it is the opponent."""
        return not self.against and agent == self.start and not self.single_player

    def idle_unit(self, agent: str, generation: int, number: int) -> Unit:
        """Returns a unit for idle workers, of the recommendation after a generation."""
        return self._unit(agent, self.seed, "spare", generation, number)  # seeds of stored studies have this name

    def _unit(self, agent: str, *parts: int | str) -> Unit:
        if self.single_player:
            seed = derive_seed(*parts)
            return Unit(tuple(self._spec(game, (agent,), seed) for game in self.games), ((0,),) * len(self.games))
        specs = []
        for game in self.games:
            for number, opponent in enumerate(self.opponents):
                seed = derive_seed(*parts, number)
                for seat in range(game.num_seats):
                    agents = [opponent] * game.num_seats
                    agents[seat] = agent
                    specs.append(self._spec(game, tuple(agents), seed))
        seats = [(seat,) for seat in range(self.game.num_seats)]
        return Unit(tuple(specs), tuple(seats * len(self.opponents) * len(self.games)))

    def _spec(self, game: Game, agents: tuple[str, ...], seed: int) -> MatchSpec:
        known = self._openings[game]
        opening = known[derive_seed(seed, "opening") % len(known)]
        return MatchSpec(game.full_text(), agents, seed, 0, opening)

    @functools.cached_property
    def _openings(self) -> dict[Game, list[tuple[int, ...]]]:
        return {game: openings(game, self.opening_plies) if self.opening_plies else [()] for game in self.games}

    def measured_scales(self) -> tuple[float, ...]:
        """Returns the mean scores of the start in all of the games, from games of its own; none if they do not count.

        Raises UserError if a mean is not above 0.
        """
        if not (self.single_player and self.also):
            return ()
        units = [self._unit(self.start, self.seed, "scale", number) for number in range(SCALED)]
        records = {record.spec.id: record for record in play_matches([spec for unit in units for spec in unit])}
        scores = np.array([[records[spec.id].scores[0] for spec in unit] for unit in units])
        for game, mean in zip(self.games, scores.mean(axis=0), strict=True):
            if not mean > 0:
                raise UserError(
                    f"scores are divided by the start's mean, which must be above 0, got {mean:g} in {game}; tune for"
                    " each game alone."
                )
        return tuple(scores.mean(axis=0).tolist())

    def value(self, unit: Unit, records: Mapping[str, MatchRecord]) -> float:
        """Returns the value of a played unit; raises UserError if a match is void."""
        if not unit.specs:
            return 1 / self.game.num_seats
        played = [records[spec.id] for spec in unit]
        require_results(played, "a study")
        if self.single_player:
            scores = np.array([record.scores[0] for record in played])
            value = float(np.mean(scores / self.scales if self.scales else scores))
        else:
            shares = [sum(r.points[seat] for seat in own) for own, r in zip(unit.seats, played, strict=True)]
            value = float(np.mean(shares))
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
