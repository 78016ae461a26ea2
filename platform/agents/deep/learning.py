"""Deep Q-learning as declared parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from ...core.errors import UserError
from ...core.parameters import parameter
from ...games.game import Game
from ..ntuple.td import Learning

SCORE, LOG = "score", "log2"


@dataclass(frozen=True)
class DeepQ(Learning):
    """Q-learning with a deep network and a memory of moves (DQN).

    Boards are played side by side, greedily except for random moves, and every move goes into the memory. At intervals
    a batch is drawn from it, and the network's values move towards the rewards of the next `steps` moves, plus the
    value of the position after them by the target network, an earlier copy. In games for two seats the network plays
    both, and the other seat's values count negatively. Sources: Mnih et al. 2015 (memory, target network, clipped
    errors); van Hasselt et al. 2016 (double); Sutton 1988 (several steps); Kingma and Ba 2015 (Adam).

    For 2048, `turnier train` uses unit=256, steps=5 and discount=0.995 unless the text says otherwise.
    """

    name: ClassVar[str] = "deep_q"
    learner = "dqn"

    @staticmethod
    def usual(game: Game) -> Mapping[str, Any]:
        return {"unit": 256.0, "steps": 5, "discount": 0.995} if game.name == "2048" else {}

    alpha: float = parameter(0.001, "learning rate of Adam", low=0, high=1, search=(0.00001, 0.01), log=True)
    alpha_end: float = parameter(
        0.0, "learning rate after the last game, 0 = as alpha", low=0, high=1, search=(0.00001, 0.01), log=True
    )
    discount: float = parameter(0.99, "gamma: weight of the next move", low=0, high=1, search=(0.9, 1))
    steps: int = parameter(1, "number of moves whose rewards count before the target network does", low=1, high=100)
    double: bool = parameter(True, "the network chooses the action, and the target network values it")
    reward: str = parameter(SCORE, "what a move earns: its points, or log2(1 + points)", choices=(SCORE, LOG))
    unit: float = parameter(1.0, "points, or their logarithm, that give a reward of 1", low=1e-9, high=1e9)
    clip: float = parameter(1.0, "size from which errors count linearly", low=1e-9, high=1e9, search=(0.1, 10))
    epsilon: float = parameter(1.0, "probability of a random move at first", low=0, high=1)
    epsilon_end: float = parameter(0.01, "probability of a random move after `explore` moves", low=0, high=1)
    explore: int = parameter(
        20_000, "moves over which epsilon falls linearly", low=0, high=10**12, search=(0, 1_000_000)
    )
    replay: int = parameter(200_000, "number of newest moves to learn from", low=100, high=100_000_000)
    warmup: int = parameter(5_000, "moves before the first update", low=1, high=100_000_000)
    batch: int = parameter(128, "moves per update", low=1, high=100_000, search=(16, 512))
    interval: int = parameter(32, "moves between two updates", low=1, high=1_000_000, search=(1, 128), log=True)
    target: int = parameter(200, "updates between two copies to the target network", low=1, high=10**9)
    boards: int = parameter(64, "boards played side by side", low=1, high=100_000)

    @property
    def whole(self) -> bool:
        return False

    def check(self) -> None:
        if self.replay // self.boards <= self.steps + 1:
            raise UserError(
                f"deep_q: replay must have room for more than steps + 1 moves of each board, got {self.replay} for"
                f" {self.boards} boards and {self.steps} steps; raise replay."
            )

    def rate(self, done: int, games: int) -> float:
        """Returns the learning rate after `done` games of `games` in all."""
        end = self.alpha_end or self.alpha
        share = min(done / max(games, 1), 1.0)
        return self.alpha * float((end / self.alpha if self.alpha else 1.0) ** share)

    def exploration(self, moves: int) -> float:
        """Returns the probability of a random move after so many moves."""
        share = min(moves / self.explore, 1.0) if self.explore else 1.0
        return self.epsilon + (self.epsilon_end - self.epsilon) * share
