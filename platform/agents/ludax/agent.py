"""The trained network of ludax-agents as an agent: https://pypi.org/project/ludax-agents."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from turnier.agents.abi import VALUES, VISITS
from turnier.agents.agent import Agent, Decision, Player, seat_rng
from turnier.agents.budget import AMOUNT
from turnier.agents.ludax.checkpoint import installed_checkpoint, installed_digest, require_ludax
from turnier.core.errors import UserError
from turnier.core.parameters import parameter
from turnier.core.rng import next_word
from turnier.games.game import Game, Position
from turnier.games.othello import Othello


@dataclass(frozen=True)
class Ludax(Agent):
    """The AlphaZero network for Othello from Todd and Padula's package (pip install 'turnier[ludax]'), with its search.

    Searches with mctx's Gumbel MuZero, as the package does; 256 simulations and noise are the package's own settings.
    Each process compiles for some seconds before its first match.
    """

    name: ClassVar[str] = "ludax"
    in_python: ClassVar[bool] = False  # nearly all its time is spent in compiled code of jax, without Python's lock
    budgets: ClassVar[Mapping[str, Mapping[str, Any]]] = {"nodes": {"simulations": AMOUNT}}

    simulations: int = parameter(
        256, "simulations per move, 0 = the action that the network prefers", low=0, high=100_000, search=(16, 512)
    )
    noise: float = parameter(1.0, "Gumbel noise at the root, 0 = none", low=0.0, high=10.0)
    digest: str = parameter("", "digest that the network must have; filled in")

    def draws_numbers(self, game: Game) -> bool | None:
        return True if self.noise and self.simulations else None

    def check(self) -> None:
        if not self.digest:
            object.__setattr__(self, "digest", installed_digest())

    def cannot_play(self, game: Game) -> str | None:
        if game != Othello():
            return f"ludax plays othello(size=8), got {game}; choose another agent."
        try:
            require_ludax()
        except UserError as missing:
            return str(missing)
        return None

    def prepare(self, game: Game) -> None:
        installed_checkpoint(self.digest)

    def start(self, game: Game, seat: int = 0, seed: int = 0) -> Player:
        self.require(game)
        self.prepare(game)
        return LudaxPlayer(self, game, seat, seed)


class LudaxPlayer:
    """Asks the network, in one seat of one match."""

    def __init__(self, agent: Ludax, game: Game, seat: int, seed: int) -> None:
        from turnier.agents.ludax.search import search_of

        self._agent, self._search = agent, search_of(agent.digest, agent.simulations)
        self._rng, self._num_actions = seat_rng(seed, seat, game.num_seats), game.num_actions

    def act(self, position: Position) -> Decision:
        began = time.perf_counter()
        legal, root = position.legal_actions(), np.zeros((2, self._num_actions))
        if len(legal) == 1:
            return Decision(legal[0], root[VISITS], root[VALUES], 0, time.perf_counter() - began)
        bits = np.array([next_word(self._rng) >> np.uint64(32) for _ in range(2)], np.uint32)
        found = self._search(position, self._agent.noise, bits)
        action, simulations = int(found.action), self._agent.simulations
        if simulations:
            root[VISITS], root[VALUES] = found.visits, found.values
        else:
            root[VISITS, action], root[VALUES, action] = 1.0, found.value
        return Decision(action, root[VISITS], root[VALUES], max(1, simulations), time.perf_counter() - began)
