"""Reanalysis: replaying a stored match move by move, and asking its agents for their values again.

A match stores its plies only. Values and visits come from asking players of the same agents and seeds again; asked from
the first move on, they decide as before, unless they search by the clock or share a tree between threads.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from turnier.agents.agent import Agent, Decision, ExplainingPlayer, Player, decide
from turnier.agents.registry import agent_of
from turnier.arena.match import MatchRecord, derive_seed, unpack_plies
from turnier.arena.play import replay_positions
from turnier.arena.repeated_search import SearchRecord, SearchSpec, SeenPosition, searched_position
from turnier.arena.table import seated, seen_by
from turnier.core.errors import UserError
from turnier.games.abi import CHANCE
from turnier.games.drawing import Overlay
from turnier.games.game import Game, Position
from turnier.games.registry import game_of


@dataclass(frozen=True)
class Moment:
    """A position of a match in which a seat chose, or its last one."""

    position: Position
    changed: tuple[int, ...]  # cells that the latest ply changed
    seat: int  # to move; -1 at the end
    action: int  # what it chose; -1 at the end
    decided: int  # earlier decisions of all seats; those of the opening do not count
    opening: bool  # whether the ply was part of the opening


@dataclass(frozen=True)
class Thought:
    """What an agent thinks when it is asked again."""

    decision: Decision
    from_start: bool  # whether it was asked for all earlier moves too, so that it decides as it did in the match
    overlay: Overlay | None = None  # what it knew, for display on the board; None where the agent shows nothing


class Reanalysis:
    """A stored match, move by move; raises UserError where a ply is not legal."""

    def __init__(self, record: MatchRecord) -> None:
        self.record, self.game = record, game_of(record.spec.game)
        self.moments = _moments(record)
        self._players: dict[int, Player] = {}  # of the seats whose agents can be asked again
        self._thoughts: list[Thought] = []  # of the first decisions, all seats in turn

    @property
    def seconds_per_decision(self) -> float:
        """Mean wall clock of the match's decisions, seconds; 0 where nobody decided."""
        known = [s for s in self.record.seat_seconds if not math.isnan(s)]
        spent = sum(known) if len(known) == len(self.record.seat_seconds) else self.record.seconds
        return spent / max(1, sum(self.record.decisions))

    def think(self, number: int, patience: float = math.inf) -> Thought:
        """Asks the agent that decided at a moment again.

        Args:
            number: of a moment in which a seat decided.
            patience: seconds; if asking for all earlier decisions takes longer, a player that begins here is asked.
        """
        moment = self.moments[number]
        self._require_no_program(moment.seat)
        if (moment.decided + 1 - len(self._thoughts)) * self.seconds_per_decision > patience:
            return _ask(self._player(moment.seat), self._seen(moment), False)
        decisions = [m for m in self.moments if m.seat >= 0 and not m.opening]
        while len(self._thoughts) <= moment.decided:
            if not self._players:
                asked = [seat for seat in range(self.game.num_seats) if not self._agent(seat).runs_program]
                self._players = {seat: self._player(seat) for seat in asked}
            following = decisions[len(self._thoughts)]
            if self._agent(following.seat).runs_program:
                self._thoughts.append(_played(following, self.game))
            else:
                self._thoughts.append(_ask(self._players[following.seat], self._seen(following), True))
        return self._thoughts[moment.decided]

    def search_again(self, number: int, repeats: int) -> list[SearchRecord]:
        """Searches a moment's position repeatedly, each time with a new player and seed, to measure certainty."""
        moment = self.moments[number]
        self._require_no_program(moment.seat)
        seen, agent = SeenPosition.of(moment.position), self.record.spec.agents[moment.seat]
        seeds = [derive_seed(self.record.spec.seed, seen.id, repeat) for repeat in range(repeats)]
        return [searched_position(SearchSpec(seen, agent, seed)) for seed in seeds]

    def _player(self, seat: int) -> Player:
        return seated(self._agent(seat), self.game, seat, self.record.spec.seed)

    def _agent(self, seat: int) -> Agent:
        return agent_of(self.record.spec.agents[seat])

    def _require_no_program(self, seat: int) -> None:
        if self._agent(seat).runs_program:
            raise UserError(
                f"{self._agent(seat)} is a program or a person, whom only matches ask; choose another seat."
            )

    def _seen(self, moment: Moment) -> Position:
        return seen_by(moment.position, moment.seat, self.record.spec.seed, moment.decided)


def _ask(player: Player, position: Position, from_start: bool) -> Thought:
    decision = decide(player, position)
    return Thought(decision, from_start, player.overlay() if isinstance(player, ExplainingPlayer) else None)


def _played(moment: Moment, game: Game) -> Thought:
    """Returns what is known of a decision whose player is not asked: the action."""
    none = np.zeros((2, game.num_actions))
    return Thought(Decision(moment.action, none[0], none[1], 0, 0.0), True, None)


def _moments(record: MatchRecord) -> list[Moment]:
    plies = unpack_plies(record.plies).tolist()
    game, opening = game_of(record.spec.game), len(record.spec.opening)
    moments: list[Moment] = []
    changed: tuple[int, ...] = ()
    decided, cells = 0, None
    for number, position in enumerate(replay_positions(record.spec, record.plies)):
        now = game.cell_values(position.state)
        if cells is not None:
            changed = tuple(int(cell) for cell in (now != cells).nonzero()[0])
        cells = now
        if position.to_move == CHANCE and number < len(plies):
            continue
        if number == len(plies):
            moments.append(Moment(position, changed, -1, -1, decided, False))
        else:
            moments.append(Moment(position, changed, position.to_move, plies[number], decided, number < opening))
            decided += number >= opening
    return moments
