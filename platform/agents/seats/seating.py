"""How an agent takes a seat: as a kernel, as a player in this process, or in its own process if it is not ours."""

from __future__ import annotations

from ...games.game import Game
from ..abi import SeatKernels
from ..agent import Agent, Player
from ..ensembles.ensemble import Ensemble
from ..ensembles.pool import Pool
from .outside import player_of, plays_outside, prove


def start_player(agent: Agent, game: Game, seat: int, seed: int, pool: Pool | None = None) -> Player:
    """Returns the agent's player; members of an ensemble search in the pool."""
    if isinstance(agent, Ensemble) and not plays_outside(agent):
        return agent.start(game, seat, seed, pool)
    return player_of(agent, game, seat, seed)


def seat_kernels(agent: Agent, game: Game) -> SeatKernels | None:
    """Returns the agent for compiled matches, or None if it decides move by move."""
    return None if game.in_python or plays_outside(agent) else agent.seat_kernels(game)


def prepare_seat(agent: Agent, game: Game) -> None:
    """Raises UserError if the agent cannot begin to play here."""
    agent.prepare(game)
    if plays_outside(agent):
        prove(agent, game)
