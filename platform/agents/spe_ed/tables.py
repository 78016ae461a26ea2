"""The agent that goes where it is most likely to survive, by the probabilities that others enter each cell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ...core.kernel import compile_kernel
from ...core.parameters import parameter
from ...games.drawing import Overlay
from ...games.game import Game
from ...games.spe_ed.board import ACTIVE, DIRECTION, ROUND, SPEED
from ..agent import Floats
from ..budget import AMOUNT
from .player import Choice, SpeEdPlayer, TimedAgent, best_of
from .search.field import FASTER, MOVES, SEAT, TURN, nearest, on_board, walkers_of
from .search.tables import MOST_ROUNDS, Tables, fill_tables, new_tables

LEAST_PLAYERS = 2  # others that get tables at any distance; Brot 2021, 5.1


class TablePlayer(SpeEdPlayer):
    """Adds the tables to a player."""

    def __init__(self, agent: TimedAgent, game: Game, rng: npt.NDArray[np.uint64]) -> None:
        super().__init__(agent, game, rng)
        assert isinstance(agent, TableAgent)
        compile_kernel(fill_tables)
        self.wanted = agent
        self._spaces: dict[int, Tables] = {}
        self._latest: Tables | None = None
        self._before = np.zeros(0, np.int64)  # state of the last decision
        self.seen = np.zeros((game.num_seats, MOVES))  # moves of each seat in this match, by action

    def tables(self, start_probability: float, ends: int) -> tuple[Tables, int]:
        """Returns the tables and their number of rounds."""
        others = nearest(self.state, self.seat)
        distance = self.wanted.table_distance
        chosen = [seat for i, (away, seat) in enumerate(others) if i < LEAST_PLAYERS or away < distance]
        walkers = walkers_of(self.state, [self.seat, *chosen])
        if len(walkers) not in self._spaces:
            self._spaces[len(walkers)] = new_tables(len(walkers), self.wanted.table_nodes, self.field.size)
        tables = self._latest = self._spaces[len(walkers)]
        most = MOST_ROUNDS if ends else self.wanted.table_rounds
        likely = self.habits([int(seat) for seat in walkers[:, SEAT]])
        asked = (self.round, start_probability, likely, most, ends)
        rounds = fill_tables(self.field, self.stride, walkers, *asked, tables)
        return tables, int(rounds)

    def habits(self, seats: list[int]) -> Floats:
        """Returns the relative probabilities of moves, [seats, MOVES]: of others by those seen, of the own one equal.

        Every kind counts once, and `habits` times for each move of that kind in this match.
        """
        if self.wanted.habits:
            self.watch()
        likely = 1.0 + self.wanted.habits * self.seen[seats]
        likely[0] = 1.0
        return np.ascontiguousarray(likely)

    def watch(self) -> None:
        """Adds the moves of the last round to those seen, or forgets all if another round is on the board."""
        before, after, self._before = self._before, self.state, self.state.copy()
        if np.array_equal(before, after):
            return
        if not before.size or after[ROUND] != before[ROUND] + 1:
            self.seen[:] = 0.0
            return
        for seat in np.flatnonzero(after[ACTIVE : ACTIVE + self.game.num_seats]):
            turned = (after[DIRECTION + seat] - before[DIRECTION + seat]) & 3
            faster = after[SPEED + seat] - before[SPEED + seat]
            self.seen[seat] += (turned == (TURN & 3)) & (faster == FASTER)

    def overlay(self) -> Overlay:
        """Adds the probability that others enter each cell, over all rounds of the tables."""
        if self._latest is None:
            return super().overlay()
        return super().overlay()._replace(shares=on_board(self._latest.total, self.stride).flatten())

    def choose(self, ends: int) -> Choice:
        tables, rounds = self.tables(self.wanted.start_probability, ends)
        alive = [depth for depth in range(1, rounds + 1) if tables.mass[depth].any()]
        mass = tables.mass[alive[-1]] if alive else np.zeros(MOVES)
        possible = mass > 0 if alive else self.possible()
        nodes = int(sum(bounds[rounds + 1] for bounds in tables.bounds))
        return Choice(best_of(mass, possible), possible.astype(np.int64), mass.copy(), nodes)


@dataclass(frozen=True)
class TableAgent(TimedAgent):
    """Parameters of agents with probability tables."""

    start_probability: float = parameter(
        2.0,
        "probability of the player's own start; the others' is 1 (myStartProbability)",
        low=0.01,
        high=10,
        search=(0.1, 10),
    )
    table_rounds: int = parameter(6, "rounds of the tables", low=1, high=MOST_ROUNDS, search=(1, 12))
    table_nodes: int = parameter(
        200_000, "maximum nodes of each player's tree", low=100, high=10_000_000, log=True, search=(1_000, 1_000_000)
    )
    table_distance: float = parameter(
        40.0,
        "weighted distance up to which others get tables; the two nearest always do",
        low=0,
        high=1000,
        search=(0, 100),
    )
    habits: float = parameter(
        0.0,
        "how much a move of another player in this match makes the same move of it likelier; 0 = all are alike",
        low=0,
        high=100,
        search=(0, 5),
        later=True,
    )


@dataclass(frozen=True)
class TablesAgent(TableAgent):
    """spe_ed: plays the move with the best chance of survival, by probability tables. Source: Brot 2021, 4.3.

    The document has no strategy that uses only the tables; this agent plays the move whose nodes in the last round of
    its own tree have the largest total probability.
    """

    name: ClassVar[str] = "tables"
    player: ClassVar[Any] = TablePlayer

    budgets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "ms": {"milliseconds": AMOUNT},
        "plies": {"table_rounds": AMOUNT, "milliseconds": 0},
    }

    def draws_numbers(self, game: Game) -> bool | None:
        return None if self.milliseconds else False
