"""A match with people, for any program that shows them the board: a terminal or a web server."""

from __future__ import annotations

import time
from collections.abc import Sequence

from ..agents.agent import Agent, Decision
from ..agents.ensembles.pool import Pool
from ..agents.human.agent import Human
from ..agents.seats.failure import SeatFailure
from ..agents.seats.seating import prepare_seat
from ..core.errors import UserError
from ..games.game import Game, Position
from .match import MatchRecord, MatchSpec, Termination, unpack_plies
from .play import require_moves
from .table import Table

PATIENCE = 10.0  # seconds that a player may need to repeat its earlier thoughts


class HostedMatch:
    """A match, ply by ply; chance plays by itself, so at every `position` a seat moves, or the match is over.

    The agents decide as in any match of this spec, unless a move is taken back after an agent has thought for longer
    than PATIENCE; it then continues with later random numbers.

    Attributes:
        spec: the match; people are agents, too.
        position: the present position.
        plies: all plies so far, including outcomes of chance.
        before: the position before each ply.
        ending: the way the match has ended, or UNFINISHED.
    """

    def __init__(
        self, game: Game, agents: Sequence[Agent], seed: int, pool: Pool | None = None, opening: Sequence[int] = ()
    ) -> None:
        if len(agents) != game.num_seats:
            raise UserError(f"{game} has {game.num_seats} seats, got {len(agents)} agents; name one agent per seat.")
        self.game, self.agents, self.pool = game, tuple(agents), pool
        for agent in agents:
            if not isinstance(agent, Human):
                agent.require(game)
                prepare_seat(agent, game)
        texts = tuple(agent.full_text() for agent in agents)
        self.spec = MatchSpec(game.full_text(), texts, seed, opening=tuple(opening))
        self.table = Table(game, agents, seed, pool=pool)
        require_moves(self.position)
        if game.hidden and any(isinstance(agent, Human) for agent in agents):
            raise UserError(f"people can play only games that hide nothing, got {game}; choose another.")
        self.ending, self.error = Termination.UNFINISHED, ""
        self._asked = time.perf_counter()
        self._open()
        self._play_chance()

    @property
    def position(self) -> Position:
        return self.table.position

    @property
    def plies(self) -> list[int]:
        return self.table.plies

    @property
    def before(self) -> list[Position]:
        return self.table.before

    @property
    def over(self) -> bool:
        return self.ending is not Termination.UNFINISHED

    @property
    def human_to_move(self) -> bool:
        return not self.over and isinstance(self.agents[self.position.to_move], Human)

    def seen(self) -> Position:
        """Returns the position as the seat to move may see it."""
        return self.table.seen()

    def play(self, action: int) -> None:
        """Plays a legal action of the person to move; raises UserError for any other."""
        if not self.human_to_move:
            raise UserError("it is not a person's turn; wait, or begin another game.")
        if action not in self.position.legal_actions():
            raise UserError(f"a move must be legal, got {self.game.action_name(action)}; choose another.")
        self.table.seconds[self.position.to_move] += time.perf_counter() - self._asked
        self._decided(action, 0)

    def ask(self) -> Decision | None:
        """Plays and returns the decision of the agent to move; None if the agent has forfeited the match instead."""
        try:
            decision = self.table.decide()
        except SeatFailure as failure:
            self.ending, self.error = Termination(failure.ending.value), str(failure)
            return None
        self._decided(int(decision.action), int(decision.nodes))
        return decision

    def resign(self) -> None:
        """Ends the match with a loss of the person to move."""
        self.ending = Termination.RESIGNED

    def undo(self) -> bool:
        """Takes back the latest move of the person to move and everything after it; returns whether there was one.

        After the end, takes back the latest move of any person.
        """
        seats = {s for s, a in enumerate(self.agents) if isinstance(a, Human) and self.position.to_move in (s, -1, -2)}
        places = [i for i, seat in enumerate(self.table.seats) if seat in seats]
        if not places:
            return False
        self.table.rewind(self.table.decided[places[-1]])
        self.error = ""
        self._settle()
        self._think_again()
        return True

    def resume(self, plies: Sequence[int]) -> None:
        """Plays the stored plies of a match with this spec; quick agents continue as if it had never stopped."""
        self.close()
        self.table = Table(self.game, self.agents, self.spec.seed, pool=self.pool)
        self._open()
        self.table.resume(plies[len(self.plies) :])
        self._play_chance()
        self._think_again()

    def record(self) -> MatchRecord:
        """Returns the record to store, also before the end."""
        return self.table.record(self.spec, self.ending, self.error)

    def close(self) -> None:
        """Tells programs that the match has ended for them."""
        self.table.close()

    def _decided(self, action: int, nodes: int) -> None:
        self.table.play(action, nodes)
        self._play_chance()

    def _open(self) -> None:
        """Plays the opening, which nobody has decided."""
        self.table.push_legal(self.spec.opening)

    def _play_chance(self) -> None:
        self.table.play_chance()
        self._settle()

    def _settle(self) -> None:
        self.ending = Termination.NORMAL if self.position.over else Termination.UNFINISHED
        self._asked = time.perf_counter()

    def _think_again(self) -> None:
        """Brings new players to the present position by asking them again; slow players stay as they are."""
        slow = {
            seat
            for seat, agent in enumerate(self.agents)
            if self.table.seconds[seat] > PATIENCE and not agent.runs_program and seat in self.table.players
        }
        self.table.replace_players(set(range(self.game.num_seats)) - slow)


def plies_of(record: MatchRecord) -> list[int]:
    """Returns the plies of a record, by which `HostedMatch.resume` continues it."""
    return [int(ply) for ply in unpack_plies(record.plies)]
