"""The outlook of every move of a position: an agent continues games from each of them."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ...agents.abi import ILLEGAL, NORMAL, SEATS, STOPPED, VALUES, VISITS, SeatKernels
from ...agents.agent import Agent
from ...agents.registry import make_agent
from ...agents.seats.failure import SeatFailure
from ...agents.seats.seating import prepare_seat, seat_kernels
from ...core.errors import MAX_IN_MEMORY, UserError, require_at_most
from ...core.kernel import compile_kernel, kernel, types
from ...core.rng import streams
from ...games.abi import CHANCE, GAME, TERMINAL
from ...games.game import MAX_SEATS, Position
from ...games.generic import copy_state, draw_outcome
from ...statistics.intervals import Interval, Mean, mean_interval, share_interval
from ..match import derive_seed
from ..repeated_search import SeenPosition
from ..table import Table

_I1, _F1 = types.Array(types.int64, 1, "C"), types.Array(types.float64, 1, "C")
_U2 = types.Array(types.uint64, 2, "C")


@kernel(types.int64(GAME, SEATS, _I1, _U2, _F1, _I1))
def play_on(game, seats, state, rngs, returns, stop):
    """Plays from a state to the end in place, and returns a match's status; rngs [1 + seats, 4], returns [seats]."""
    choices, probs = np.empty(game.max_choices, np.int64), np.empty(game.max_choices)
    root, view = np.empty((2, game.num_actions)), state.copy()
    while True:
        mover = game.to_move(state)
        if mover == TERMINAL:
            return NORMAL
        if mover == CHANCE:
            ply = draw_outcome(game, state, rngs[0], choices, probs)
        else:
            if stop[0] != 0:
                return STOPPED
            if game.has_observe:
                game.observe(state, mover, view)
            else:
                copy_state(state, view)
            for action in range(game.num_actions):
                root[VISITS, action] = root[VALUES, action] = 0.0
            seat = seats[mover]
            ply = seat.act(game, seat.evaluator, seat.settings, view, returns, rngs[1 + mover], root)
            legal = False
            for i in range(game.legal(state, choices)):
                legal |= choices[i] == ply
            if not legal:
                return ILLEGAL
        game.step(state, ply, returns)


class Continuations:
    """Games of one agent in all seats, from positions of one game."""

    def __init__(self, position: Position, agent: Agent) -> None:
        """Raises UserError if the agent cannot play the game."""
        game = position.game
        agent.require(game)
        prepare_seat(agent, game)
        if agent.runs_program:
            raise UserError(f"games from a position need an agent of Turnier, got {agent}; choose another.")
        self.agent, self.game = agent, game
        kernels: SeatKernels | None = seat_kernels(agent, game)
        self.seats = None if kernels is None else (kernels,) * MAX_SEATS
        if kernels is not None:
            compile_kernel(play_on)  # before any clock starts

    def play(self, position: Position, seed: int, stop: npt.NDArray[np.int64]) -> Position | None:
        """Returns the end of a game from a position or afterstate; None if stop[0] becomes non-zero earlier.

        The same seed gives the same game, unless the agent searches by the clock.
        """
        if self.seats is None:
            return self._play_in_python(position, seed, stop)
        state, returns = position.state.copy(), position.returns.copy()
        rngs = streams(seed, 1 + self.game.num_seats)
        status = play_on(self.game.kernels, self.seats, state, rngs, returns, stop)
        self.game.raise_failure()
        if status == ILLEGAL:
            raise UserError(f"{self.agent} must choose legal actions of {self.game}; fix the agent.")
        return None if status == STOPPED else self.game.position(state, returns)

    def _play_in_python(self, position: Position, seed: int, stop: npt.NDArray[np.int64]) -> Position | None:
        game = self.game
        chance = streams(seed, 1 + game.num_seats)[0]
        begin = Position(game, position.state.copy(), position.returns.copy(), chance)
        table = Table(game, (self.agent,) * game.num_seats, seed, position=begin)
        try:
            with contextlib.closing(table):
                for _ in table.turns(stop):
                    pass
        except SeatFailure as failure:
            raise UserError(f"{failure}; fix the agent.") from failure
        return table.position if table.position.over else None


GAMES, SECONDS = 100, 1.0  # from each move, and for all moves together
MOST_SECONDS = 86_400
PAUSE = 0.1  # seconds between two reports
PATIENCE = 2.0  # games under way are given up when all games have taken so many times their seconds


@dataclass(frozen=True)
class Goal:
    """The goal of a continued game: a large enough value of a fact at its end, or a win."""

    fact: str = ""  # of `Game.facts`; empty: the mover has more than all others
    least: float = 0.0

    def __str__(self) -> str:
        return f"{self.fact} {self.least:g}" if self.fact else "win"

    def data(self) -> dict[str, Any]:
        return {"reach": self.fact, "at_least": self.least} if self.fact else {"reach": "win"}

    def reached(self, end: Position, mover: int) -> bool:
        if self.fact:
            return end.game.facts(end.state)[self.fact] >= self.least
        returns = end.returns.tolist()
        return all(returns[mover] > other for seat, other in enumerate(returns) if seat != mover)


@dataclass(frozen=True)
class MoveOutlook:
    """The results of the games continued from a move."""

    results: tuple[float, ...]  # the mover's results, in points
    reached: int  # games that reached the goal

    @property
    def result(self) -> Mean:
        return mean_interval(self.results)

    @property
    def chance(self) -> Interval:
        """The share of games that reached the goal, with Wilson's 95 % interval."""
        return share_interval(self.reached, len(self.results))

    def data(self, goal: Goal | None) -> dict[str, Any]:
        """Returns everything as JSON values, with null for unknown ones."""
        mean, half = self.result
        share, low, high = self.chance if goal else (None, None, None)
        values: dict[str, float | None] = {"result": mean, "result_low": mean - half, "result_high": mean + half}
        values |= {"chance": share, "chance_low": low, "chance_high": high}
        known = {name: None if value is None or np.isnan(value) else float(value) for name, value in values.items()}
        return {"games": len(self.results)} | known


@dataclass(frozen=True)
class Outlook:
    """The outlook of all moves."""

    player: str  # the agent in every seat
    goal: Goal | None
    moves: tuple[MoveOutlook, ...]  # of the legal actions, in order

    @property
    def games(self) -> int:
        """The number of games from each move."""
        return len(self.moves[0].results)


@dataclass(frozen=True)
class PlayingOn:
    """Settings for games continued from every move.

    Games are played in rounds, one from every move with the same random numbers. A round begins only if it would end in
    time, by the mean of earlier rounds; a round that is not over after twice the seconds is left out.

    Attributes:
        games: maximum number from each move.
        seconds: time for all of them; the first round begins in any case.
        player: text form of the agent in every seat; None: a quick version of the first agent of the analysis.
        goal: the milestone whose chance is estimated; None: the next one, see `goal_of`.
    """

    games: int = GAMES
    seconds: float = SECONDS
    player: str | Agent | None = None
    goal: int | None = None

    def __post_init__(self) -> None:
        if not 0 < self.seconds <= MOST_SECONDS:
            raise UserError(f"the seconds of games must be above 0 and at most {MOST_SECONDS}, got {self.seconds:g}.")
        if self.games < 1:
            raise UserError(f"the games from a move must be 1 or more, got {self.games}.")
        require_at_most(MAX_IN_MEMORY, self.games, "games from a move")

    def rounds(self, position: Position, agent: Agent) -> Rounds:
        """Returns the rounds of games, none played yet, from a position that an agent searched.

        Raises UserError if the player cannot continue, or the goal makes no sense there.
        """
        player = agent.quick() if self.player is None else make_agent(self.player)
        return Rounds(position, Continuations(position, player), goal_of(position, self.goal))


class Rounds:
    """The games continued from every legal action so far."""

    def __init__(self, position: Position, continuations: Continuations, goal: Goal | None) -> None:
        self.position, self.continuations, self.goal = position, continuations, goal
        self.legal = position.legal_actions()
        self.results: list[list[float]] = [[] for _ in self.legal]
        self.reached = [0] * len(self.legal)

    def play(self, asked: PlayingOn, seed: int) -> Iterator[Outlook]:
        """Plays them, and yields the outlook now and then, finally the complete one.

        The same rounds give the same numbers for a seed, unless agents search by the clock.
        """
        seen, stop = SeenPosition.of(self.position).id, np.zeros(1, np.int64)
        began, shown = time.perf_counter(), 0.0
        timer = threading.Timer(PATIENCE * asked.seconds, lambda: stop.__setitem__(0, 1))
        timer.daemon = True
        timer.start()
        try:
            for number in range(asked.games):
                spent = time.perf_counter() - began
                if number and spent + spent / number > asked.seconds:
                    break
                if not self._play(derive_seed(seed, seen, "on", number), stop):
                    break
                if time.perf_counter() - shown > PAUSE:
                    yield self.outlook()
                    shown = time.perf_counter()
            yield self.outlook()
        finally:
            timer.cancel()

    def outlook(self) -> Outlook:
        """Returns the outlook by the games so far."""
        moves = (MoveOutlook(tuple(some), reached) for some, reached in zip(self.results, self.reached, strict=True))
        return Outlook(str(self.continuations.agent), self.goal, tuple(moves))

    def _play(self, seed: int, stop: npt.NDArray[np.int64]) -> bool:
        """Plays a game from every action and counts them if all end before stop[0] is set; returns whether they did."""
        mover, ends = self.position.to_move, []
        for action in self.legal:
            end = self.continuations.play(self.position.stepped(action), seed, stop)
            if end is None:
                return False
            ends.append(end)
        for i, end in enumerate(ends):
            self.results[i].append(float(end.returns[mover]))
            self.reached[i] += self.goal is not None and self.goal.reached(end, mover)
        return True


def goal_of(position: Position, wanted: int | None = None) -> Goal | None:
    """Returns the game's next milestone, or `wanted` instead; in games with several seats a win.

    None in games of one seat without milestones; raises UserError if the wanted one makes no sense there.
    """
    game = position.game
    for fact, thresholds in game.milestones.items():
        now = game.facts(position.state)[fact]
        if wanted is not None and wanted <= now:
            raise UserError(f"the {fact} to reach must be above {now:g}, the present one, got {wanted}; choose more.")
        above = (threshold for threshold in thresholds if threshold > now)
        return Goal(fact, wanted or next(above, 2 * now))
    if wanted is not None:
        raise UserError(f"{game} has no milestones to reach, got {wanted}; leave it out.")
    return Goal() if game.num_seats > 1 else None
