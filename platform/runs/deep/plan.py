"""What a deep network learns, and how."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from turnier.agents.deep.agent import Dqn
from turnier.agents.deep.learning import LOG, DeepQ
from turnier.agents.deep.network import Network
from turnier.core.errors import UserError, require_extra
from turnier.games.game import Game


@dataclass(frozen=True)
class Plan:
    """Two trainings with the same plan and number of games learn the same weights on the same machine."""

    game: Game
    agent: Dqn  # its layers, without a file
    learning: DeepQ
    seed: int = 1
    every: int = 1000  # games of a point of the curve

    def described(self) -> dict[str, Any]:
        return {
            "game": self.game.full_text(),
            "network": self.agent.full_text(),
            "learning": self.learning.full_text(),
            "seed": self.seed,
            "every": self.every,
        }

    def check(self) -> None:
        """Raises UserError where this cannot be learned, here or at all."""
        if self.agent.file:
            raise UserError(f"what is trained must be a network without a file, got {self.agent}; name it as --out.")
        self.network().check()
        require_extra("to train a deep network", "deep", "jax", "optax")

    def network(self) -> Network:
        return self.agent.network_for(self.game, self.learning.unit, self.learning.reward == LOG)
