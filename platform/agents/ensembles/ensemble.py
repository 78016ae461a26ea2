"""Base of ensembles: members that search the same position independently, and a rule that combines them."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Sequence
from typing import Self

import numpy as np
import numpy.typing as npt

from ...core.rng import next_word
from ...games.game import Game, Position
from ..abi import SeatKernels
from ..agent import Agent, Decision, Floats, Player, seat_rng
from ..evaluator import ValueUnit
from .pool import Pool, SearchJob, SerialPool, search_first

Rng = npt.NDArray[np.uint64]


class Ensemble(Agent):
    """Base of ensembles. Subclasses declare the parameters named here.

    For every decision a member is a new player of the inner agent, with a seed from the ensemble's own stream. So
    members may run anywhere and in any order, but keep nothing between moves.
    """

    agent: Agent
    members: int

    @abstractmethod
    def combine(self, found: list[Decision], rng: Rng) -> tuple[int, Floats, Floats]:
        """Returns the action, and visits and values per action, from the decisions that count."""

    def needed(self, found: Sequence[Decision | None]) -> int:
        """Returns the least number of first members that count, by the decisions known so far; see search_first."""
        return len(found)

    @property
    def in_python(self) -> bool:
        return self.agent.in_python

    @property
    def one_thread(self) -> bool:
        """Whether its members search in the calling thread, if its pool allows that."""
        return self.agent.one_thread

    def draws_numbers(self, game: Game) -> bool | None:
        return self.agent.draws_numbers(game)

    def cannot_play(self, game: Game) -> str | None:
        if self.agent.runs_program:
            return f"{self.name} needs an agent that searches single positions, got {self.agent.name}; choose another."
        return self.agent.cannot_play(game)

    def value_unit(self, game: Game) -> ValueUnit:
        return self.agent.value_unit(game)

    def within(self, amount: int, unit: str) -> Self:
        """Returns the ensemble whose members share the budget of one agent."""
        return self.replace(agent=self.agent.within(max(1, amount // self.members), unit))

    def seat_kernels(self, game: Game) -> SeatKernels | None:
        """Returns None: members are combined in Python. Compiles their kernels before many workers do so at once."""
        self.agent.seat_kernels(game)
        return None

    def start(self, game: Game, seat: int = 0, seed: int = 0, pool: Pool | None = None) -> Player:
        """Returns a player whose members search in the pool, by default one after the other."""
        self.require(game)
        self.seat_kernels(game)
        return EnsemblePlayer(self, game, seat, seat_rng(seed, seat, game.num_seats), pool or SerialPool())


class EnsemblePlayer:
    """Combines the decisions of the members."""

    def __init__(self, ensemble: Ensemble, game: Game, seat: int, rng: Rng, pool: Pool) -> None:
        self.ensemble, self.game, self.seat, self.rng, self.pool = ensemble, game, seat, rng, pool
        self.texts = game.full_text(), ensemble.agent.full_text()

    def act(self, position: Position) -> Decision:
        began = time.perf_counter()
        legal = position.legal_actions()
        if len(legal) == 1:
            none = np.zeros((2, self.game.num_actions))
            return Decision(legal[0], none[0], none[1], 0, time.perf_counter() - began)
        state, returns = position.view(position.to_move), position.returns.copy()
        # Every member gets a seed, needed or not.
        seeds = [int(next_word(self.rng)) for _ in range(self.ensemble.members)]
        jobs = [SearchJob(*self.texts, state, returns, self.seat, seed) for seed in seeds]
        found = search_first(self.pool, jobs, self.ensemble.needed)
        action, visits, values = self.ensemble.combine(found, self.rng)
        nodes = sum(max(1, decision.nodes) for decision in found)  # a member without a search counts as one node
        return Decision(action, visits, values, nodes, time.perf_counter() - began)
