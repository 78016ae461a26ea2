"""The agent that walks random paths while all others stand still."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ...core.kernel import compile_kernel
from ...core.parameters import parameter
from ...games.drawing import Overlay, Route
from ...games.game import Game
from ..budget import AMOUNT
from .player import Choice, SpeEdPlayer, TimedAgent, best_of
from .search.field import CELL, MOVES, board_numbers, places
from .search.rollouts import (
    LONGEST,
    ROLLOUTS,
    Found,
    Paths,
    following,
    longest_of,
    new_found,
    new_paths,
    run_rollouts,
    surviving,
)

NO_LIMIT = 1 << 60
SHOWN_PATHS = 12  # to people
TREE_NODES = 1 << 20  # to keep paths from coming twice; if they are used up, the rest of a path may


class PathMemory:
    """The paths of one round that are still open in the next, and their start."""

    def __init__(self, kept: int) -> None:
        self._found, self._open = new_paths(kept), new_paths(kept)
        self._begins: tuple[int, int] | None = None  # round and cell in which the open ones begin
        self._played = 0

    def recall(self, round_number: int, cell: int) -> tuple[Paths, Paths]:
        """Returns the open paths from a player's cell, and space for those of this round."""
        open_here = self._begins == (round_number, cell)
        return following(self._found, self._played, self._open) if open_here else new_paths(0), self._found

    @property
    def found(self) -> Paths:
        """The paths of the latest round."""
        return self._found

    def remember(self, played: int, round_number: int, cell: int) -> None:
        """Notes the move played, and the round and cell to which it leads."""
        self._played, self._begins = played, (round_number, cell)


class RolloutPlayer(SpeEdPlayer):
    """Adds rollouts to a player, which remember their longest paths from round to round."""

    def __init__(self, agent: TimedAgent, game: Game, rng: npt.NDArray[np.uint64]) -> None:
        super().__init__(agent, game, rng)
        assert isinstance(agent, RolloutAgent)
        compile_kernel(run_rollouts)
        self.settings = agent
        self.memory = PathMemory(agent.reuse)
        self.filter_value = agent.filter_value  # at the latest decision
        self.tree = np.zeros((TREE_NODES if agent.unique else 0, MOVES), np.int32)

    def roll_out(self, filter_value: float, hug: float, table: npt.NDArray[np.float64], ends: int) -> Found:
        """Returns the results of rollouts until `ends`, or of the agent's number of them."""
        self.filter_value = filter_value
        guides, room = self.memory.recall(self.round, int(self.walker[CELL]))
        found = new_found(room)
        most = NO_LIMIT if ends else self.settings.rollouts
        run_rollouts(
            self.field,
            self.stride,
            self.walker,
            self.round,
            guides,
            table,
            self.tree,
            filter_value,
            self.settings.vary if self.settings.reuse else 0.0,
            hug,
            self.rng,
            most,
            ends,
            found,
        )
        return found

    def remember(self, action: int) -> None:
        after, _ = self.lands(action)
        self.memory.remember(action, self.round + 1, int(after[CELL]))

    def overlay(self) -> Overlay:
        """Adds the longest paths kept, equally many for each first action."""
        found = self.memory.found
        chosen = longest_of(found, self.filter_value, SHOWN_PATHS)
        ways = (places(self.walker, found.actions[slot, : found.lengths[slot]], self.stride) for slot in chosen)
        routes = tuple(
            Route(int(found.actions[slot, 0]), board_numbers(way, self.stride))
            for slot, way in zip(chosen, ways, strict=True)
        )
        return super().overlay()._replace(routes=routes)

    def choose(self, ends: int) -> Choice:
        found = self.roll_out(self.settings.filter_value, self.settings.hug, np.zeros(0), ends)
        counts, _ = surviving(found, self.settings.filter_value)
        action = best_of(counts.astype(float), counts > 0)
        self.remember(action)
        visits = found.counts.sum(axis=0)
        values = counts / max(1, counts.sum())
        return Choice(action, visits if found.numbers[LONGEST] else counts, values, int(found.numbers[ROLLOUTS]))


@dataclass(frozen=True)
class RolloutAgent(TimedAgent):
    """Parameters of agents with rollouts."""

    rollouts: int = parameter(5000, "rollouts per move", low=1, high=1_000_000_000, log=True, search=(100, 100_000))
    filter_value: float = parameter(0.69, "paths count from this length on, relative to the longest one", low=0, high=1)
    reuse: int = parameter(
        1000,
        "number of longest paths to follow again in the next round, 0 = none",
        low=0,
        high=100_000,
        search=(0, 5_000),
    )
    vary: float = parameter(
        0.0, "share of the rollouts that follow one of the longest paths up to a random move", low=0, high=1
    )
    hug: float = parameter(
        0.0, "share of the rollouts' moves that are slow and stay beside occupied cells", low=0, high=1, later=True
    )
    unique: bool = parameter(False, "draw no path twice in a decision, and stop when all are drawn")

    def draws_numbers(self, game: Game) -> bool:
        return True


@dataclass(frozen=True)
class Rollouts(RolloutAgent):
    """spe_ed: plays the move that begins most of its longest random paths. Source: Brot 2021, 4.2."""

    name: ClassVar[str] = "rollouts"
    player: ClassVar[Any] = RolloutPlayer

    budgets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "ms": {"milliseconds": AMOUNT},
        "rollouts": {"rollouts": AMOUNT, "milliseconds": 0},
    }
