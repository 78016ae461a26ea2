"""An agent held to a time per move from outside: it loses if it takes longer, whatever its code does."""

from __future__ import annotations

import dataclasses
import time
from dataclasses import dataclass
from typing import ClassVar

from ...core.parameters import parameter
from ...games.game import Game, Position
from ..agent import Agent, Decision, FollowingPlayer, Player, decide
from ..evaluator import ValueUnit
from ..random import Random
from .failure import Ending, SeatFailure


@dataclass(frozen=True)
class Limited(Agent):
    """An agent that loses the game if it exceeds its time per move."""

    name: ClassVar[str] = "limited"

    agent: Agent = parameter(Random(), "the agent that decides")
    milliseconds: int = parameter(60_000, "time per move", low=1, high=3_600_000)
    margin: int = parameter(200, "milliseconds by which a decision may be late", low=0, high=3_600_000)

    def draws_numbers(self, game: Game) -> bool | None:
        return self.agent.draws_numbers(game)

    @property
    def seconds(self) -> float:
        """The time for a decision."""
        return (self.milliseconds + self.margin) / 1000

    @property
    def in_python(self) -> bool:
        return self.agent.in_python

    @property
    def one_thread(self) -> bool:
        return self.agent.one_thread

    def cannot_play(self, game: Game) -> str | None:
        if self.agent.runs_program:
            return f"{self.name} is for agents that are not programs, got {self.agent.name}, which has its own limits."
        return self.agent.cannot_play(game)

    def value_unit(self, game: Game) -> ValueUnit:
        return self.agent.value_unit(game)

    def prepare(self, game: Game) -> None:
        self.agent.prepare(game)

    def start(self, game: Game, seat: int = 0, seed: int = 0) -> Player:
        """Returns a player with a clock; one in this process cannot be stopped."""
        self.require(game)
        return LimitedPlayer(self.agent.start(game, seat, seed), self.seconds)


class LimitedPlayer:
    """Raises SeatFailure after a decision that took too long."""

    def __init__(self, player: Player, seconds: float) -> None:
        self._player, self._seconds = player, seconds

    def act(self, position: Position) -> Decision:
        began = time.perf_counter()
        decision = decide(self._player, position)
        took = time.perf_counter() - began
        if took > self._seconds:
            raise SeatFailure(Ending.TIMEOUT, f"answered after {took:.3g} s, later than {self._seconds:.3g} s")
        return dataclasses.replace(decision, seconds=took)

    def follow(self, plies: list[int], before: list[Position]) -> None:
        if isinstance(self._player, FollowingPlayer):
            self._player.follow(plies, before)

    def close(self) -> None:
        if isinstance(self._player, FollowingPlayer):
            self._player.close()
