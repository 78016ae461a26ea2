"""An agent as an engine of another program's arena: it is told the plies, and answers with its move."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Sequence
from typing import NamedTuple

from ...agents.agent import Agent, Decision
from ...agents.seats.failure import SeatFailure
from ...agents.timed import interrupted_by
from ...arena.match import derive_seed
from ...arena.table import Table, seated, seen_by
from ...core.errors import UserError
from ...games.game import Game, Position


class Limit(NamedTuple):
    """The limit of a decision, in a unit of budgets."""

    amount: int
    unit: str


def limited(agent: Agent, limit: Limit | None) -> Agent:
    """Returns the agent held to a limit, or unchanged if that is impossible or its own time is shorter."""
    own = getattr(agent, "milliseconds", 0)
    if limit is None or (limit.unit == "ms" and 0 < own <= limit.amount):
        return agent
    with contextlib.suppress(UserError):
        return agent.within(*limit)
    return agent


def common_length(one: Sequence[object], other: Sequence[object]) -> int:
    """Returns the length of the common beginning of two sequences."""
    different = (i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)
    return next(different, min(len(one), len(other)))


class HostedAgent:
    """An agent that plays any seat, one game at a time, and is told all plies."""

    def __init__(self, game: Game, agent: Agent, seed: int, version: str = "") -> None:
        if game.hidden or game.kernels.has_observe:
            raise UserError(f"an engine needs a game that hides nothing, since it is told all moves, got {game}.")
        agent.require(game)
        if agent.runs_program:
            raise UserError(f"an engine needs an agent that is no program itself, got {agent}; choose another.")
        self.agent, self.version, self._seed, self._begun = agent, version, seed, 0
        self.begin(game)

    def require_two_seats(self, protocol: str) -> None:
        """Raises UserError if the protocol cannot express the game."""
        if self.game.num_seats != 2 or self.game.has_chance:
            raise UserError(
                f"{protocol} is for games of two seats without chance, got {self.game}; choose --protocol json."
            )

    def begin(self, game: Game, seed: int | None = None) -> None:
        """Begins a new game, possibly of another variant, with a new seed unless one is given."""
        self.agent.require(game)
        self._begun += 1
        own_seed = derive_seed(self._seed, "engine", self._begun) if seed is None else seed
        table = Table(game, (self.agent,) * game.num_seats, own_seed)
        if table.position.over:  # this also detects a game that cannot begin, before any change
            raise UserError(f"a game must not be over at its start, got {game}.")
        self.game, self.table = game, table

    @property
    def position(self) -> Position:
        return self.table.position

    @property
    def plies(self) -> list[int]:
        return self.table.plies

    def prepare(self) -> None:
        """Decides once without effect, to compile all kernels before any clock runs."""
        position = self.game.start()
        player = seated(limited(self.agent, Limit(1, "ms")), self.game, position.to_move, 0)
        if not self.game.in_python:  # its searches are too slow for a warm-up
            player.act(position)

    def play(self, text: str) -> None:
        """Plays a move; raises UserError if the text is no legal move."""
        action = None if self.position.over else self.game.move_of(self.position.state, text)
        if action is None:
            raise UserError(f"a move must be legal, got {text}.")
        self.table.push(action)

    def undo(self) -> None:
        """Takes the last move back; raises UserError if there is none."""
        if not self.plies:
            raise UserError("cannot undo")
        self._keep(len(self.plies) - 1)

    def follow(self, texts: Sequence[str]) -> None:
        """Plays the new moves of a whole game; raises UserError after the legal ones."""
        before = zip(self.table.before, self.plies, strict=True)
        written = [self.game.move_text(position.state, ply).casefold() for position, ply in before]
        self._keep(common_length([text.casefold() for text in texts], written))
        for text in texts[len(self.plies) :]:
            self.play(text)

    def follow_plies(self, plies: Sequence[int]) -> None:
        """Plays the new actions and outcomes of a whole game; raises UserError after the legal ones."""
        self._keep(common_length(plies, self.plies))
        self.table.push_legal(plies[len(self.plies) :])

    def _keep(self, plies: int) -> None:
        if plies < len(self.plies):
            self.table.rewind(plies)
            self.table.players.clear()

    def choose(self, limit: Limit | None, stop: threading.Event | None = None) -> Decision:
        """Returns the agent's decision; it ends early if the event is set and its time is limited.

        Raises UserError if the agent fails: the other program gets a sentence, and may continue.
        """
        table, seed = self.table, self.table.seed
        agent = limited(self.agent, limit)
        if agent != self.agent:  # an agent held to a limit starts anew for every decision
            agents = (agent,) * self.game.num_seats
            table = Table(self.game, agents, derive_seed(seed, len(self.plies)), position=self.position)
        try:
            with interrupted_by(stop):
                return table.decide(seen_by(self.position, self.position.to_move, seed, len(self.plies)))
        except SeatFailure as failure:
            raise UserError(str(failure)) from failure

    def written(self, decision: Decision) -> str:
        """Returns a decision as text for protocols."""
        return self.game.move_text(self.position.state, decision.action)
