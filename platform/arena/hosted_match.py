"""A match in which people take part, for any program that shows them the board: a terminal or a web server."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence

import numpy as np

from turnier.agents.agent import Agent, Decision, FollowingPlayer, Player, decide
from turnier.agents.ensembles.ensemble import start_player
from turnier.agents.ensembles.pool import Pool
from turnier.agents.failure import SeatFailure
from turnier.agents.human.agent import Human
from turnier.arena.match import MatchRecord, MatchSpec, Termination, pack_plies, unpack_plies
from turnier.arena.play import first_position, require_moves, scores_at, seen_by
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
                agent.prepare(game)
        texts = tuple(agent.full_text() for agent in agents)
        self.spec = MatchSpec(game.full_text(), texts, seed, opening=tuple(opening))
        self.plies: list[int] = []
        self.before: list[Position] = []
        self.position = first_position(game, seed)
        require_moves(self.position)
        if game.hidden and any(isinstance(agent, Human) for agent in agents):
            raise UserError(
                f"a person would see all of a position, got {game}, which hides some of it; choose another."
            )
        self.ending, self.error = Termination.UNFINISHED, ""
        self._seats: list[int] = []  # who decided, of every decision
        self._nodes, self._seconds = [0] * game.num_seats, [0.0] * game.num_seats
        self._asked = time.perf_counter()
        self._players = self._new_players()
        self._open()
        self._play_chance()

    @property
    def over(self) -> bool:
        return self.ending is not Termination.UNFINISHED

    @property
    def human_to_move(self) -> bool:
        return not self.over and isinstance(self.agents[self.position.to_move], Human)

    def seen(self) -> Position:
        """Returns the position as the seat to move may see it."""
        return seen_by(self.position, self.position.to_move, self.spec.seed, len(self._seats))

    def play(self, action: int) -> None:
        """Plays a legal action of the person to move; raises UserError for any other."""
        if not self.human_to_move:
            raise UserError("a move must be that of a person to move, got one of nobody; wait, or begin another game.")
        if action not in self.position.legal_actions():
            raise UserError(f"a move must be legal, got {self.game.action_name(action)}; choose another.")
        self._decided(action, 0, time.perf_counter() - self._asked)

    def ask(self) -> Decision | None:
        """Lets the agent to move decide and plays it; None where it has forfeited the match instead."""
        seat, asked = self.position.to_move, time.perf_counter()
        try:
            decision = self._decision(seat)
        except SeatFailure as failure:
            self.ending, self.error = Termination(failure.ending.value), str(failure)
            return None
        except UserError:
            raise
        except Exception as failure:  # whatever an agent of somebody else raises
            raise UserError(f"{self.agents[seat]} raised {type(failure).__name__}: {failure}; fix it.") from failure
        if decision.action not in self.position.legal_actions():
            raise UserError(f"{self.agents[seat]} must choose a legal action, got {decision.action}; fix the agent.")
        self._decided(int(decision.action), int(decision.nodes), time.perf_counter() - asked)
        return decision

    def resign(self) -> None:
        """Ends the match as lost for the person to move."""
        self.ending = Termination.RESIGNED

    def undo(self) -> bool:
        """Takes back the latest move of the person to move and all that followed; returns whether there was one.

        After the end it is the latest move of any person.
        """
        seats = {s for s, a in enumerate(self.agents) if isinstance(a, Human) and self.position.to_move in (s, -1, -2)}
        places = [i for i, seat in enumerate(self._seats) if seat in seats]
        if not places:
            return False
        self._rewind(self._decisions()[places[-1]], places[-1])
        return True

    def resume(self, plies: Sequence[int]) -> None:
        """Plays what was stored of a match with this spec; quick agents continue as if it had never stopped."""
        self.position = first_position(self.game, self.spec.seed)
        for known in (self.plies, self.before, self._seats):
            known.clear()
        self._open()
        for ply in plies[len(self.plies) :]:
            if self.position.to_move == CHANCE:
                self.position.draw_outcome()  # so that later ones follow from the seed, too
            else:
                self._seats.append(self.position.to_move)
            self._push(ply)
        self._play_chance()
        self._think_again()

    def record(self) -> MatchRecord:
        """Returns the match as it is stored, also before its end."""
        seats = range(self.game.num_seats)
        return MatchRecord(
            self.spec,
            self.ending,
            scores_at(self.position, self.ending),
            tuple(self._seats.count(seat) for seat in seats),
            tuple(self._nodes),
            tuple(self._seconds),
            math.fsum(self._seconds),
            pack_plies(np.array(self.plies, np.int64)),
            self.game.facts(self.position.state),
            self.error,
        )

    def close(self) -> None:
        """Ends the participation of programs in the match."""
        for player in self._players.values():
            if isinstance(player, FollowingPlayer):
                player.close()

    def _new_players(self) -> dict[int, Player]:
        return {
            seat: start_player(agent, self.game, seat, self.spec.seed, self.pool)
            for seat, agent in enumerate(self.agents)
            if not isinstance(agent, Human)
        }

    def _decision(self, seat: int) -> Decision:
        player = self._players[seat]
        if isinstance(player, FollowingPlayer):
            player.follow(self.plies, self.before)
            return decide(player, self.position)
        return decide(player, self.seen())

    def _decided(self, action: int, nodes: int, seconds: float) -> None:
        seat = self.position.to_move
        self._seats.append(seat)
        self._nodes[seat] += nodes
        self._seconds[seat] += seconds
        self._push(action)
        self._play_chance()

    def _push(self, ply: int) -> None:
        self.before.append(self.position)
        self.plies.append(ply)
        self.position = self.position.play(ply, draw_chance=False)

    def _open(self) -> None:
        """Plays the plies of the opening, which nobody has decided."""
        for ply in self.spec.opening:
            self._push(ply)

    def _decisions(self) -> list[int]:
        """Returns the numbers of the plies that seats have decided."""
        first = len(self.spec.opening)
        return [ply for ply in range(first, len(self.before)) if self.before[ply].to_move != CHANCE]

    def _play_chance(self) -> None:
        while self.position.to_move == CHANCE:
            self._push(self.position.draw_outcome())
        self._settle()

    def _settle(self) -> None:
        self.ending = Termination.NORMAL if self.position.over else Termination.UNFINISHED
        self._asked = time.perf_counter()

    def _rewind(self, plies: int, decisions: int) -> None:
        self.position = self.before[plies]
        del self.before[plies:], self.plies[plies:], self._seats[decisions:]
        self.error = ""
        self._settle()
        self._think_again()

    def _think_again(self) -> None:
        """Brings new players to where they were, by asking them again; those that took too long stay as they are.

        Programs are told the whole match when they are asked next.
        """
        self.close()
        slow = {seat: player for seat, player in self._players.items() if self._seconds[seat] > PATIENCE}
        self._players = self._new_players()
        again = {seat: one for seat, one in self._players.items() if not isinstance(one, FollowingPlayer)}
        positions = [self.before[ply] for ply in self._decisions()]
        for number, (position, seat) in enumerate(zip(positions, self._seats, strict=True)):
            if seat in again and seat not in slow:
                decide(again[seat], seen_by(position, seat, self.spec.seed, number))
        self._players |= {seat: player for seat, player in slow.items() if seat in again}


def plies_of(record: MatchRecord) -> list[int]:
    """Returns the plies of a record, by which `HostedMatch.resume` continues it."""
    return [int(ply) for ply in unpack_plies(record.plies)]
