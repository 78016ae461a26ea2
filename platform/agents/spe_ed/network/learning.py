"""How a network on probability tables learns from games against itself, as declared parameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ....core.parameters import parameter
from ...ntuple.td import Learning
from .weights import Floats32


@dataclass(frozen=True)
class Outcomes(Learning):
    """TD(lambda) on the outcomes of games in which all seats are the network, greedy except for random moves.

    The value of a move moves towards that of the best next one of the same seat, and with lambda towards those after
    it, up to the outcome (1 = won, 1/2 = drawn, 0 = lost) or the next random move. Every `chunk` games the network
    learns from all their moves, and forgets them. Sources: Sutton 1988; Kingma and Ba 2015 (Adam).
    """

    name: ClassVar[str] = "outcomes"
    learner = "table_network"

    alpha: float = parameter(0.001, "learning rate of Adam", low=0, high=1, search=(0.0001, 0.01), log=True)
    alpha_end: float = parameter(
        0.0001, "learning rate after the last game, 0 = as alpha", low=0, high=1, search=(0.00001, 0.01), log=True
    )
    trace: float = parameter(0.8, "lambda: weight of later values, 1 = the outcome only", low=0, high=1)
    epsilon: float = parameter(0.15, "probability of a random move at first", low=0, high=1)
    epsilon_end: float = parameter(0.02, "probability of a random move in the last game", low=0, high=1)
    chunk: int = parameter(20, "games between two times of learning", low=1, high=10_000, search=(5, 200))
    passes: int = parameter(3, "how often each move is learned from", low=1, high=100, search=(1, 10))
    batch: int = parameter(64, "moves per update", low=1, high=100_000, search=(16, 512))

    @property
    def whole(self) -> bool:
        return False

    def rate(self, share: float) -> float:
        """Returns the learning rate after a share of the games."""
        end = self.alpha_end or self.alpha
        return self.alpha * float((end / self.alpha if self.alpha else 1.0) ** share)

    def exploration(self, share: float) -> float:
        """Returns the probability of a random move after a share of the games."""
        return self.epsilon + (self.epsilon_end - self.epsilon) * share


def targets_of(
    best: Floats32, explored: np.ndarray[tuple[int], np.dtype[np.bool_]], outcome: float, trace: float
) -> Floats32:
    """Returns what the values of a seat's moves in one game move towards, [moves].

    Args:
        best: [moves] the best value of each of its turns.
        explored: [moves] whether the move was random.
        outcome: of the game for the seat, from 0 to 1.
        trace: lambda.
    """
    targets = np.empty(len(best), np.float32)
    ahead = outcome
    for move in range(len(best) - 1, -1, -1):
        targets[move] = ahead
        ahead = best[move] if explored[move] else trace * ahead + (1 - trace) * best[move]
    return targets
