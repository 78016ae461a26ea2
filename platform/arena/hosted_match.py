"""A match in which people take part, for any program that shows them the board: a terminal or a web server."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Sequence

from turnier.agents.agent import Agent, Decision, FollowingPlayer, decide
from turnier.agents.ensembles.pool import Pool
from turnier.agents.human.agent import Human
from turnier.agents.seats.failure import SeatFailure
from turnier.agents.seats.seating import prepare_seat
from turnier.arena.match import MatchRecord, MatchSpec, Termination, unpack_plies
from turnier.arena.play import require_moves
from turnier.arena.table import Table, scores_at, seated, seen_by
from turnier.core.errors import UserError
from turnier.games.abi import CHANCE
from turnier.games.game import Game, Position

PATIENCE = 10.0  # seconds that a player may need to think again what it has thought before


class HostedMatch:
    """A match, ply by ply; chance plays by itself, so that `position` is always one where a seat moves, or the end.

    The agents decide as in any match of this spec, as long as nobody takes back a move after which one has thought for
    longer than PATIENCE; it then continues with later random numbers.

    Attributes:
        spec: of the match; people are agents, too.
        position: the present one.
        plies: all so far, outcomes of chance included.
        before: the position before each ply.
        ending: how the match has ended, or UNFINISHED.
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
            raise UserError(
                f"a person would see all of a position, got {game}, which hides some of it; choose another."
            )
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
            raise UserError("a move must be that of a person to move, got one of nobody; wait, or begin another game.")
        if action not in self.position.legal_actions():
            raise UserError(f"a move must be legal, got {self.game.action_name(action)}; choose another.")
        self.table.seconds[self.position.to_move] += time.perf_counter() - self._asked
        self._decided(action, 0)

    def ask(self) -> Decision | None:
        """Lets the agent to move decide and plays it; None if it has forfeited the match instead."""
        try:
            decision = self.table.decide()
        except SeatFailure as failure:
            self.ending, self.error = Termination(failure.ending.value), str(failure)
            return None
        self._decided(int(decision.action), int(decision.nodes))
        return decision

    def resign(self) -> None:
        """Ends the match as lost for the person to move."""
        self.ending = Termination.RESIGNED

    def undo(self) -> bool:
        """Takes back the latest move of the person to move and all that followed; returns whether there was one.

        After the end it is the latest move of any person.
        """
        seats = {s for s, a in enumerate(self.agents) if isinstance(a, Human) and self.position.to_move in (s, -1, -2)}
        places = [i for i, seat in enumerate(self.table.seats) if seat in seats]
        if not places:
            return False
        self._rewind(self._decisions()[places[-1]], places[-1])
        return True

    def resume(self, plies: Sequence[int]) -> None:
        """Plays what was stored of a match with this spec; quick agents continue as if it had never stopped."""
        self.close()
        self.table = Table(self.game, self.agents, self.spec.seed, pool=self.pool)
        self._open()
        for ply in plies[len(self.plies) :]:
            self.position.play(ply, draw_chance=False)  # which raises UserError unless it is legal
            if self.position.to_move == CHANCE:
                self.position.draw_outcome()  # so that later ones follow from the seed, too
                self.table.push(ply)
            else:
                self.table.play(ply)
        self._play_chance()
        self._think_again()

    def record(self) -> MatchRecord:
        """Returns the match as it is stored, also before its end."""
        return MatchRecord(
            self.spec,
            self.ending,
            scores_at(self.position, self.ending),
            self.table.decisions(),
            tuple(self.table.nodes),
            tuple(self.table.seconds),
            math.fsum(self.table.seconds),
            self.table.packed_plies(),
            self.game.facts(self.position.state),
            self.error,
        )

    def close(self) -> None:
        """Ends the participation of programs in the match."""
        self.table.close()

    def _decided(self, action: int, nodes: int) -> None:
        self.table.play(action, nodes)
        self._play_chance()

    def _open(self) -> None:
        """Plays the plies of the opening, which nobody has decided."""
        for ply in self.spec.opening:
            self.position.play(ply, draw_chance=False)  # which raises UserError unless it is legal
            self.table.push(ply)

    def _decisions(self) -> list[int]:
        """Returns the numbers of the plies that seats have decided."""
        first = len(self.spec.opening)
        return [ply for ply in range(first, len(self.before)) if self.before[ply].to_move != CHANCE]

    def _play_chance(self) -> None:
        self.table.play_chance()
        self._settle()

    def _settle(self) -> None:
        self.ending = Termination.NORMAL if self.position.over else Termination.UNFINISHED
        self._asked = time.perf_counter()

    def _rewind(self, plies: int, decisions: int) -> None:
        self.table.rewind(plies, decisions)
        self.error = ""
        self._settle()
        self._think_again()

    def _think_again(self) -> None:
        """Brings new players to where they were, by asking them again; those that took too long stay as they are.

        Programs are told the whole match when they are asked next.
        """
        slow = {seat for seat in self.table.players if self.table.seconds[seat] > PATIENCE and not self._told(seat)}
        for seat, player in self.table.players.items():
            if seat not in slow and isinstance(player, FollowingPlayer):
                player.close()
        self.table.players = {seat: player for seat, player in self.table.players.items() if seat in slow}
        for number, (ply, seat) in enumerate(zip(self._decisions(), self.table.seats, strict=True)):
            if isinstance(self.agents[seat], Human) or self._told(seat) or seat in slow:
                continue
            if seat not in self.table.players:
                self.table.players[seat] = seated(self.agents[seat], self.game, seat, self.spec.seed, self.pool)
            player = self.table.players[seat]
            if isinstance(player, FollowingPlayer):
                player.follow(self.plies[:ply], self.before[:ply])
            with contextlib.suppress(SeatFailure):  # it will fail again where it has to move
                decide(player, seen_by(self.before[ply], seat, self.spec.seed, number))

    def _told(self, seat: int) -> bool:
        """Whether a program has the seat, which is told the whole match at every decision."""
        return self.agents[seat].runs_program


def plies_of(record: MatchRecord) -> list[int]:
    """Returns the plies of a record, by which `HostedMatch.resume` continues it."""
    return [int(ply) for ply in unpack_plies(record.plies)]
