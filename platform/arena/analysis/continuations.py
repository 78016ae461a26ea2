"""Games from any position to their end: in compiled code if the agent is a kernel, otherwise move by move."""

from __future__ import annotations

import contextlib

import numpy as np
import numpy.typing as npt
from numba import types

from ...agents.abi import ILLEGAL, NORMAL, SEATS, STOPPED, VALUES, VISITS, SeatKernels
from ...agents.agent import Agent
from ...agents.seats.failure import SeatFailure
from ...agents.seats.seating import prepare_seat, seat_kernels
from ...core.errors import UserError
from ...core.kernel import compile_kernel, kernel
from ...core.rng import streams
from ...games.abi import CHANCE, GAME, TERMINAL
from ...games.game import MAX_SEATS, Position
from ...games.generic import copy_state, draw_outcome
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
            raise self._illegal()
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

    def _illegal(self) -> UserError:
        return UserError(f"{self.agent} must choose legal actions of {self.game}; fix the agent.")
