"""A match under way: its seats, their knowledge, and the one rule for seats that fail.

All move-by-move questions to agents are asked here: for matches, games with people, continuations, analyses, and our
agents as engines. A seat of any kind that raises, answers too late, plays an illegal action or finds values that are no
numbers raises SeatFailure; only failures of a game's rules raise GameFailure.
"""

from __future__ import annotations

import bisect
import contextlib
import math
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..agents.agent import Agent, Decision, FollowingPlayer, Player, decide
from ..agents.ensembles.pool import Pool
from ..agents.seats.failure import Ending, SeatFailure, SeatsEnded
from ..agents.seats.seating import start_player
from ..core.errors import UserError
from ..core.outside import library
from ..core.outside.classes import described
from ..core.rng import streams
from ..games.abi import CHANCE
from ..games.game import Game, Position
from ..games.python.information import imagined
from ..games.python.live_states import GameFailure
from ..games.python.python_game import PythonGame
from .match import MatchRecord, MatchSpec, Termination, derive_seed, pack_plies

NAN_VALUES = "found values that are no numbers"


class Turn(NamedTuple):
    """A decision that was played."""

    seat: int
    position: Position  # before the decision
    decision: Decision


class Table:
    """A match, ply by ply.

    Attributes:
        position: the present position.
        plies: all plies so far, including outcomes of chance.
        before: the position before each ply.
        seats: the seat of every decision; plies of an opening are nobody's.
        decided: the ply number of every decision.
        nodes: evaluations by each seat.
        seconds: wall clock of each seat's decisions; the start of its player does not count.
        cpu_seconds: CPU time of this thread for each seat's decisions.
    """

    def __init__(
        self,
        game: Game,
        agents: Sequence[Agent],
        seed: int,
        *,
        pool: Pool | None = None,
        position: Position | None = None,
    ) -> None:
        """Sets up a match of one agent per seat, from the start of the game or from a position."""
        self.game, self.agents, self.seed, self.pool = game, tuple(agents), seed, pool
        self.position = first_position(game, seed) if position is None else position
        self.plies: list[int] = []
        self.before: list[Position] = []
        self.seats: list[int] = []
        self.decided: list[int] = []
        self.nodes = [0] * game.num_seats
        self.seconds, self.cpu_seconds = [0.0] * game.num_seats, [0.0] * game.num_seats
        self.players: dict[int, Player] = {}  # by seat, each from its first decision on
        self._known: dict[int, Player] = {}
        self._following: dict[int, FollowingPlayer | None] = {}
        self._hides = game.hidden or bool(game.kernels.has_observe)

    def push(self, ply: int) -> None:
        """Plays an action or outcome that is known to be possible, and is nobody's decision."""
        self._go(ply, self.position.stepped(ply))

    def push_legal(self, plies: Iterable[int]) -> None:
        """Plays plies that are nobody's decisions; raises UserError before the first impossible one."""
        for ply in plies:
            self._go(ply, self.position.play(ply, draw_chance=False))

    def resume(self, plies: Sequence[int]) -> None:
        """Plays the next stored plies of a match as decisions of its seats and outcomes of chance.

        Outcomes are drawn as well, so that later ones follow from the seed. Raises UserError before an impossible ply.
        """
        for ply in plies:
            mover = self.position.to_move
            if mover == CHANCE:
                self.position.draw_outcome()
            after = self.position.play(ply, draw_chance=False)
            if mover != CHANCE:
                self._note(mover)
            self._go(ply, after)

    def play_chance(self) -> None:
        """Plays outcomes of chance until a seat is to move or the match is over."""
        while self.position.to_move == CHANCE:
            self.push(self.position.draw_outcome())

    def turns(self, stop: npt.NDArray[np.int64] | None = None, most: int = 0) -> Iterator[Turn]:
        """Plays the match to its end, and yields every decision after playing it; raises like `decide`.

        Args:
            stop: ends the match early once stop[0] is not 0.
            most: maximum decisions of all seats, 0 = no limit.
        """
        while True:
            self.play_chance()
            if self.position.over or (stop is not None and stop[0]) or (most and len(self.seats) >= most):
                return
            seat, position, decision = self.position.to_move, self.position, self.decide()
            self.play(int(decision.action), int(decision.nodes))
            yield Turn(seat, position, decision)

    def seen(self) -> Position:
        """Returns the position as the seat to move may see it."""
        return seen_by(self.position, self.position.to_move, self.seed, len(self.seats))

    def decide(self, seen: Position | None = None) -> Decision:
        """Returns the legal decision of the seat to move; raises SeatFailure if it fails, GameFailure if the rules
        fail.

        Args:
            seen: the position as the seat sees it; default: by the match.
        """
        seat = self.position.to_move
        player = self._player(seat, len(self.plies))
        seen = self.seen() if seen is None else seen
        legal = seen.legal_actions()  # before the agent can change the position
        wall, cpu = time.perf_counter(), time.thread_time()
        try:
            return ask(player, seen, seat, self.agents[seat], legal)
        finally:
            used = getattr(player, "cpu_seconds", None)  # of its own process
            self.cpu_seconds[seat] += time.thread_time() - cpu if used is None else used
            self.seconds[seat] += time.perf_counter() - wall

    def decide_again(self, number: int) -> Decision:
        """Asks a seat again for an earlier decision and returns the answer; raises like `decide`."""
        ply, seat = self.decided[number], self.seats[number]
        seen = seen_by(self.before[ply], seat, self.seed, number)
        return ask(self._player(seat, ply), seen, seat, self.agents[seat], seen.legal_actions())

    def play(self, action: int, nodes: int = 0) -> None:
        """Plays a legal action as the decision of the seat to move."""
        seat = self.position.to_move
        self._note(seat)
        self.nodes[seat] += nodes
        self.push(action)

    def rewind(self, plies: int) -> None:
        """Goes back to the position before a ply; the players stay as they are."""
        self.position = self.before[plies]
        del self.before[plies:], self.plies[plies:]
        decisions = bisect.bisect_left(self.decided, plies)
        del self.seats[decisions:], self.decided[decisions:]

    def replace_players(self, seats: Collection[int]) -> None:
        """Gives seats new players, which are asked for all their decisions again to regain their knowledge.

        Programs and people are not asked: they are told the whole match with the next question.
        """
        close_players(player for seat, player in self.players.items() if seat in seats)
        self.players = {seat: player for seat, player in self.players.items() if seat not in seats}
        for number, seat in enumerate(self.seats):
            if seat in seats and not self.agents[seat].runs_program:
                with contextlib.suppress(SeatFailure):  # it will fail again on its turn
                    self.decide_again(number)

    def decisions(self) -> tuple[int, ...]:
        """Returns the number of decisions of each seat."""
        return tuple(self.seats.count(seat) for seat in range(self.game.num_seats))

    def record(
        self, spec: MatchSpec, ending: Termination, error: str = "", seconds: float | None = None, cpu: bool = False
    ) -> MatchRecord:
        """Returns the record to store, also before the end.

        Args:
            spec: the match.
            ending: the way it ended.
            error: the reason, as a sentence.
            seconds: wall clock of the match; None: the sum of its decisions.
            cpu: whether the CPU time of all decisions is known.
        """
        return MatchRecord(
            spec,
            ending,
            scores_at(self.position, ending),
            self.decisions(),
            tuple(self.nodes),
            tuple(self.seconds),
            math.fsum(self.seconds) if seconds is None else seconds,
            pack_plies(np.array(self.plies, np.int64)),
            self.game.facts(self.position.state),
            error,
            tuple(self.cpu_seconds) if cpu else (),
        )

    def notes(self) -> list[str]:
        """Returns notes of players that did not affect the match, such as answers that nobody asked for."""
        return [f"seat {seat}: {note}" for seat, one in self.players.items() for note in getattr(one, "notes", ())]

    def close(self) -> None:
        """Tells programs that the match has ended for them."""
        close_players(self.players.values())

    def _go(self, ply: int, after: Position) -> None:
        self.before.append(self.position)
        self.plies.append(ply)
        self.position = after

    def _note(self, seat: int) -> None:
        self.seats.append(seat)
        self.decided.append(len(self.plies))

    def _player(self, seat: int, plies: int) -> Player:
        """Returns a seat's player, told its view of so many plies; raises SeatFailure if it cannot start."""
        try:
            if seat not in self.players:
                self.players[seat] = seated(self.agents[seat], self.game, seat, self.seed, self.pool)
            player = self.players[seat]
            if player is not self._known.get(seat):  # checking the kind of a player takes longer than some decisions
                self._known[seat] = player
                self._following[seat] = player if isinstance(player, FollowingPlayer) and not self._hides else None
            if (following := self._following[seat]) is not None:
                all_of_it = plies == len(self.plies)
                following.follow(
                    self.plies if all_of_it else self.plies[:plies], self.before if all_of_it else self.before[:plies]
                )
            return player
        except Exception as failure:
            raise failed(seat, self.agents[seat], failure) from failure


def close_players(players: Iterable[Player]) -> None:
    """Tells players that the match has ended for them."""
    for player in players:
        if isinstance(player, FollowingPlayer):
            player.close()


def seated(agent: Agent, game: Game, seat: int, seed: int, pool: Pool | None = None) -> Player:
    """Returns an agent's player for a match with that seed; the player is told only `told_seed`."""
    return start_player(agent, game, seat, told_seed(agent, seat, seed), pool)


def told_seed(agent: Agent, seat: int, seed: int) -> int:
    """Returns the seed that a player is told.

    Agents of ours get the match's own, which decides their streams. Other agents could foresee chance by it, and get a
    hash.
    """
    return seed if _ours(agent) else derive_seed(seed, "told", seat)


def _ours(agent: Agent) -> bool:
    return not agent.runs_program and not library.digests_in([agent.full_text()])


def ask(player: Player, seen: Position, seat: int, agent: Agent, legal: Sequence[int]) -> Decision:
    """Returns a player's decision, one of the legal actions; raises SeatFailure, or GameFailure if the rules fail.

    In a game that hides something, an agent that is not ours gets another position, which the seat cannot tell apart.
    """
    if seen.game.hidden and not _ours(agent) and isinstance(seen.game, PythonGame) and seen.game.has_information:
        seen = imagined(seen, seen.rng.tolist())
    try:
        decision = decide(player, seen)
        action, _ = int(decision.action), int(decision.nodes)
        nan = bool(np.isnan(decision.values).any())
    except (Exception, SystemExit) as failure:
        raise failed(seat, agent, failure) from failure
    if action not in legal:
        raise SeatFailure(Ending.ILLEGAL_MOVE, f"seat {seat}, {agent}: {illegal(seen.game, action)}")
    if nan:
        raise SeatFailure(Ending.CRASHED, f"seat {seat}, {agent}: {NAN_VALUES}")
    return decision


def illegal(game: Game, action: int) -> str:
    """Returns the end of a sentence about an action that is not legal."""
    known = 0 <= action < game.num_actions
    return f"played {game.action_name(action) if known else action}, which is not legal here"


def failed(seat: int, agent: Agent, failure: BaseException) -> BaseException:
    """Returns the meaning of a player's exception: SeatFailure with the seat in its sentence, or the exception itself.

    A UserError of an agent of ours is no failure of a seat: it ends the command.
    """
    if isinstance(failure, GameFailure | SeatsEnded):
        return failure
    if isinstance(failure, SeatFailure):
        return SeatFailure(failure.ending, f"seat {seat}, {agent}: {failure}", failure.on_failure)
    code = library.bundles_in([agent.full_text()])
    if isinstance(failure, UserError) and not code:
        return failure
    return SeatFailure(Ending.CRASHED, f"seat {seat}, {agent}: {described(failure, code[0] if code else None)}")


def scores_at(position: Position, termination: Termination) -> tuple[float, ...]:
    """Returns the scores of a match that ended in a position: its returns, unless the seat to move forfeits.

    That seat then gets the least return of the game, and the others share its opposite. A single seat that resigns
    keeps its return.
    """
    seats, lost = position.game.num_seats, position.game.max_return
    if not termination.is_forfeit:
        return tuple(position.returns.tolist())
    if seats == 1:
        return (position.game.min_return if termination.is_failure else float(position.returns[0]),)
    return tuple(-lost if seat == position.to_move else lost / (seats - 1) for seat in range(seats))


def agrees(position: Position, termination: Termination, scores: tuple[float, ...]) -> bool:
    """Whether a match that ended in a position has such scores; a single failing seat once kept its return."""
    kept = len(scores) == 1 and termination.is_failure and scores == tuple(position.returns.tolist())
    return kept or scores == scores_at(position, termination)


def seen_by(position: Position, seat: int, match_seed: int, decisions: int) -> Position:
    """Returns a copy of a position for an agent: its seat's view, with random numbers other than the match's."""
    return position.game.position(position.view(seat), position.returns, derive_seed(match_seed, "view", decisions))


def first_position(game: Game, seed: int) -> Position:
    """Returns the position before the first ply, which may be a chance outcome."""
    rng: npt.NDArray[np.uint64] = streams(seed, 1)[0]
    state = game.new_state()
    game.kernels.init(state, rng)
    return Position(game, state, np.zeros(game.num_seats), rng)
