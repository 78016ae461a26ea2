"""Reanalysis: replaying a stored match move by move, and asking its agents for their values again.

A match stores only its plies. Values and visits come from asking players of the same agents and seeds again. Asked from
the first move on, they decide as before, unless they search by the clock or share a tree between threads.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ...agents.agent import Agent, Decision, ExplainingPlayer
from ...agents.registry import agent_of
from ...agents.seats.failure import SeatFailure
from ...core.errors import UserError
from ...games.abi import CHANCE
from ...games.drawing import Overlay
from ...games.game import Position
from ...games.registry import game_of
from ..match import MatchRecord, derive_seed, unpack_plies
from ..repeated_search import SearchRecord, SearchSpec, SeenPosition, searched_position
from ..table import Table, seen_by


@dataclass(frozen=True)
class Moment:
    """A position of a match in which a seat chose, or the last position."""

    position: Position
    changed: tuple[int, ...]  # cells that the latest ply changed
    seat: int  # to move; -1 at the end
    action: int  # its choice; -1 at the end
    decided: int  # number of earlier decisions of all seats, without the opening
    opening: bool  # whether the ply was part of the opening


@dataclass(frozen=True)
class Thought:
    """The thoughts of an agent that is asked again."""

    decision: Decision
    from_start: bool  # whether it was asked for all earlier moves too, and so decides as in the match
    overlay: Overlay | None = None  # its knowledge, for display on the board; None if the agent shows nothing


class Reanalysis:
    """A stored match, move by move; raises UserError if a ply is not legal.

    Args:
        record: the record of the match.
        judge: text form of an agent to ask for every seat, instead of the agents that played.
    """

    def __init__(self, record: MatchRecord, judge: str = "") -> None:
        self.record, self.game, self.judge = record, game_of(record.spec.game), judge
        self._table = Table(self.game, (), record.spec.seed)
        self._table.push_legal(record.spec.opening)
        self._table.resume(unpack_plies(record.plies).tolist()[len(record.spec.opening) :])
        self.moments = list(_moments(self._table, len(record.spec.opening)))
        self._thoughts: list[Thought] = []  # for the first decisions, in the order of play

    @property
    def seconds_per_decision(self) -> float:
        """Mean wall clock of the match's decisions, seconds; 0 if nobody decided."""
        known = [s for s in self.record.seat_seconds if not math.isnan(s)]
        spent = sum(known) if len(known) == len(self.record.seat_seconds) else self.record.seconds
        return spent / max(1, sum(self.record.decisions))

    def agent(self, seat: int) -> Agent:
        """Returns the agent to ask for a seat."""
        return agent_of(self.judge or self.record.spec.agents[seat])

    def think(self, number: int, patience: float = math.inf) -> Thought:
        """Asks the agent that decided at a moment again; raises UserError if it fails.

        Args:
            number: number of a moment in which a seat decided.
            patience: seconds; if asking for all earlier decisions takes longer, a player that begins here is asked
                instead.
        """
        moment = self.moments[number]
        self._require_no_program(moment.seat)
        agents = self._table.agents = tuple(map(self.agent, range(self.game.num_seats)))
        try:
            if (moment.decided + 1 - len(self._thoughts)) * self.seconds_per_decision > patience:
                here = Table(self.game, agents, self.record.spec.seed, position=moment.position)
                seen = seen_by(moment.position, moment.seat, self.record.spec.seed, moment.decided)
                return Thought(here.decide(seen), False, _overlay(here, moment.seat))
            while len(self._thoughts) <= moment.decided:
                self._thoughts.append(self._next_thought(len(self._thoughts)))
        except SeatFailure as failure:
            raise UserError(f"{failure}; it cannot be asked again.") from failure
        return self._thoughts[moment.decided]

    def search_again(self, number: int, repeats: int) -> list[SearchRecord]:
        """Searches a moment's position repeatedly, with a new player and seed each time, to measure certainty."""
        moment = self.moments[number]
        self._require_no_program(moment.seat)
        seen, agent = SeenPosition.of(moment.position), self.judge or self.record.spec.agents[moment.seat]
        seeds = [derive_seed(self.record.spec.seed, seen.id, repeat) for repeat in range(repeats)]
        return [searched_position(SearchSpec(seen, agent, seed)) for seed in seeds]

    def _next_thought(self, number: int) -> Thought:
        """Returns a decision made again; for programs and people, which are not asked, the action alone."""
        table, seat = self._table, self._table.seats[number]
        if not self.agent(seat).runs_program:
            return Thought(table.decide_again(number), True, _overlay(table, seat))
        none = np.zeros((2, self.game.num_actions))
        return Thought(Decision(table.plies[table.decided[number]], none[0], none[1], 0, 0.0), True)

    def _require_no_program(self, seat: int) -> None:
        if self.agent(seat).runs_program:
            raise UserError(f"programs and people are not asked again, got {self.agent(seat)}; choose another seat.")


def _overlay(table: Table, seat: int) -> Overlay | None:
    player = table.players[seat]
    return player.overlay() if isinstance(player, ExplainingPlayer) else None


def _moments(table: Table, opening: int) -> Iterator[Moment]:
    """Yields the positions in which seats chose, including the plies of the opening, and the last one."""
    changed: tuple[int, ...] = ()
    decided, cells = 0, None
    for number, position in enumerate([*table.before, table.position]):
        now = table.game.cell_values(position.state)
        if cells is not None:
            changed = tuple(int(cell) for cell in (now != cells).nonzero()[0])
        cells = now
        if number == len(table.plies):
            yield Moment(position, changed, -1, -1, decided, False)
        elif position.to_move != CHANCE:
            yield Moment(position, changed, position.to_move, table.plies[number], decided, number < opening)
            decided += number >= opening
