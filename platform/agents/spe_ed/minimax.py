"""The agent that keeps the most freedom, whatever the players near it do."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from ...core.kernel import compile_kernel
from ...core.parameters import parameter
from ...games.game import Game
from ..agent import Floats
from ..budget import AMOUNT
from .player import Choice, SpeEdPlayer, TimedAgent, best_of
from .search.field import ALIVE, MOVES, STANDS, nearest, walkers_of
from .search.minimax import DEEPEST, IMPOSSIBLE, NODES, STOPPED, new_numbers, value_of_move, value_of_replies


class Searched(NamedTuple):
    """The values of the own moves at the deepest horizon reached, IMPOSSIBLE for those that end at once."""

    values: Floats  # [MOVES]
    depth: int
    nodes: int

    def good(self, slack: float = 0.0) -> npt.NDArray[np.bool_]:
        """Returns whether each move is best or at most `slack` worse, [MOVES]; none is if all are impossible."""
        good: npt.NDArray[np.bool_] = (self.values >= self.values.max() - slack) & (self.values > IMPOSSIBLE)
        return good


class MinimaxPlayer(SpeEdPlayer):
    """Adds the search to a player, on one or several threads; their number never changes results by counts."""

    def __init__(self, agent: TimedAgent, game: Game, rng: npt.NDArray[np.uint64]) -> None:
        super().__init__(agent, game, rng)
        assert isinstance(agent, MinimaxAgent)
        compile_kernel(value_of_replies)
        self.limits = agent
        self.crew = ThreadPoolExecutor(agent.threads, "minimax") if agent.threads > 1 else None

    def near(self) -> list[int]:
        """Returns the seats in the search, the nearest first."""
        close = [seat for distance, seat in nearest(self.state, self.seat) if distance < self.limits.minimax_distance]
        return close[: self.limits.opponents]

    def deepen(self, opponents: list[int], jump_steps: int, ends: int) -> Searched:
        """Searches one round deeper at a time, within the depth and the nodes or the time."""
        limits = self.limits
        standing = [seat for _, seat in nearest(self.state, self.seat) if limits.territory and seat not in opponents]
        walkers = walkers_of(self.state, [self.seat, *opponents, *standing])
        walkers[1 + len(opponents) :, ALIVE] = STANDS
        weights = np.array(
            [limits.aggression, limits.territory, jump_steps, limits.neighbours, limits.decided, limits.freedom]
        )
        reached = Searched(np.full(MOVES, IMPOSSIBLE), 0, 0)
        spent = [0] * MOVES
        for depth in range(1, (DEEPEST if ends else limits.depth) + 1):

            def search(action: int, before: int, depth: int = depth) -> tuple[float, int, bool]:
                most = 0 if ends or not limits.nodes else max(1, limits.nodes // MOVES - before)
                numbers = new_numbers(most, ends)
                value = value_of_move(self.field, self.stride, walkers, action, depth, self.round, weights, numbers)
                return value, int(numbers[NODES]), bool(numbers[STOPPED])

            found = list((self.crew.map if self.crew else map)(search, range(MOVES), spent))
            spent = [before + nodes for before, (_, nodes, _) in zip(spent, found, strict=True)]
            reached = reached._replace(nodes=sum(spent))
            if any(stopped for _, _, stopped in found):
                break
            reached = Searched(np.array([value for value, _, _ in found]), depth, sum(spent))
            possible = reached.values > IMPOSSIBLE
            lost = limits.aggression == 0 and reached.values.max() < 0
            if lost or (possible.sum() < 2 and not ends):
                break
        return reached

    def choose(self, ends: int) -> Choice:
        searched = self.deepen(self.near(), self.limits.jump_steps, ends)
        possible = searched.values > IMPOSSIBLE
        return Choice(best_of(searched.values, possible), possible.astype(np.int64), searched.values, searched.nodes)


@dataclass(frozen=True)
class MinimaxAgent(TimedAgent):
    """Parameters of agents with minimax."""

    depth: int = parameter(8, "maximum rounds to look ahead", low=1, high=DEEPEST, search=(1, 12))
    nodes: int = parameter(
        100_000, "maximum nodes of minimax per move, 0 = no limit", low=0, high=1_000_000_000, log=True,
        search=(100, 1_000_000),
    )  # fmt: skip
    opponents: int = parameter(2, "maximum opponents in minimax, the nearest ones", low=0, high=5)
    minimax_distance: float = parameter(
        20.0,
        "maximum weighted distance of these (cells / product of speeds)",
        low=0,
        high=1000,
        search=(0, 100),
    )
    aggression: float = parameter(
        0.0, "weight of these opponents' freedom against a state", low=0, high=10, search=(0, 2)
    )
    territory: float = parameter(
        0.0, "weight of the cells that the player reaches first; with 1 all cells count as much as all five moves",
        low=0, high=100, search=(0, 20),
    )  # fmt: skip
    freedom: float = parameter(
        1.0, "weight of the player's own free moves in a state", low=0, high=10, search=(0, 2), later=True
    )
    neighbours: float = parameter(
        0.0, "weight in territory of the free places beside a cell, in addition to the cell",
        low=0, high=10, search=(0, 2), later=True,
    )  # fmt: skip
    decided: float = parameter(
        0.0, "added to the share of territory if shut off with more than each other player, subtracted with less",
        low=0, high=10, search=(0, 1), later=True,
    )  # fmt: skip
    jump_steps: int = parameter(
        0, "steps in territory for a jump of others over a wall of one or two cells; 0 = walls are closed",
        low=0, high=1000, search=(4, 40), later=True,
    )  # fmt: skip
    threads: int = parameter(1, "cores per decision", low=1, high=MOVES)


@dataclass(frozen=True)
class Minimax(MinimaxAgent):
    """spe_ed: plays the move with the most freedom some rounds later, against nearby ones. Source: Brot 2021, 4.1."""

    name: ClassVar[str] = "minimax"
    player: ClassVar[Any] = MinimaxPlayer

    budgets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "ms": {"milliseconds": AMOUNT},
        "nodes": {"nodes": AMOUNT, "depth": DEEPEST, "milliseconds": 0},
        "plies": {"depth": AMOUNT, "nodes": 0, "milliseconds": 0},
    }

    def draws_numbers(self, game: Game) -> bool | None:
        return None if self.milliseconds else False
