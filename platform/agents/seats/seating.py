"""How an agent takes a seat: as a kernel, as a player of this process, or in a process of its own if it is not ours."""

from __future__ import annotations

from ...games.game import Game
from ..abi import SeatKernels
from ..agent import Agent, Player
from ..ensembles.ensemble import Ensemble
from ..ensembles.pool import Pool
from .outside import player_of, plays_outside, prove


def start_player(agent: Agent, game: Game, seat: int, seed: int, pool: Pool | None = None) -> Player:
    """Returns the agent's player; that of an ensemble lets its members search in the pool."""
    if isinstance(agent, Ensemble) and not plays_outside(agent):
        return agent.start(game, seat, seed, pool)
    return player_of(agent, game, seat, seed)


def seat_kernels(agent: Agent, game: Game) -> SeatKernels | None:
    """Returns the agent as compiled matches take it, or None if it decides move by move."""
    return None if game.in_python or plays_outside(agent) else agent.seat_kernels(game)


def prepare_seat(agent: Agent, game: Game) -> None:
    """Raises UserError if the agent cannot begin to play here."""
    agent.prepare(game)
    if plays_outside(agent):
        prove(agent, game)
