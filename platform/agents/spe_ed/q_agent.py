"""The agent that plays what a learned table says of a window around it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from turnier.agents.spe_ed.field import MOVES
from turnier.agents.spe_ed.player import Choice, SpeEdAgent, SpeEdPlayer, best_of, only
from turnier.agents.spe_ed.q_learning import Learning, key_of, read_table
from turnier.core.parameters import parameter
from turnier.games.game import Game


class QPlayer(SpeEdPlayer):
    def __init__(self, agent: SpeEdAgent, game: Game, rng: npt.NDArray[np.uint64]) -> None:
        super().__init__(agent, game, rng)
        assert isinstance(agent, QLearning)
        self.safe = agent.safe
        self.table, told = np.zeros((1, MOVES), np.float32), {"window": Learning.window}
        if agent.file:
            self.table, told = read_table(Path(agent.file))
        self.window = int(told["window"])

    def choose(self, ends: int) -> Choice:
        row = key_of(self.field, self.stride, self.walker, self.window, len(self.table))
        values = self.table[row].astype(np.float64)
        possible = self.possible()
        allowed = possible if self.safe and possible.any() else np.ones(MOVES, np.bool_)
        if not values.any():
            return only(best_of(values, allowed))
        return Choice(best_of(values, allowed), np.ones(MOVES, np.int64), values, MOVES)


@dataclass(frozen=True)
class QLearning(SpeEdAgent):
    """spe_ed: plays what Q-learning found best for the window around it. Source: Brot 2021, 3.3."""

    name: ClassVar[str] = "qlearning"
    player: ClassVar[Any] = QPlayer

    file: str = parameter("", "the table, as studies/brot/qlearning.py learns it; without one all moves are equal")
    safe: bool = parameter(True, "only moves that enter free cells, as long as there are any")
