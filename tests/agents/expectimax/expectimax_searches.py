"""Expectimax agents with the fused searches and without, and boards to compare them on."""

from __future__ import annotations

import random
from typing import Any

from tests.agents.positions import board_position
from turnier.agents.agent import CompiledAgent, Decision, SeatKernels
from turnier.agents.expectimax.agent import Expectimax
from turnier.agents.registry import EVALUATORS
from turnier.games.game import Game, Position


class Generic(Expectimax):
    """Expectimax without the fused search."""

    def kernels(self, game: Game) -> SeatKernels:
        return CompiledAgent.kernels(self, game)


def expectimax(evaluator: str = "score", kind: type[Expectimax] = Expectimax, **changes: Any) -> Expectimax:
    return kind(evaluator=EVALUATORS.make(evaluator), **changes)


def decide(agent: Expectimax, position: Position) -> Decision:
    return agent.start(position.game, position.to_move, 1).act(position)


def random_boards(count: int, fullest: int = 16, top: int = 11, seed: int = 0) -> list[Position]:
    """Returns 4x4 positions with legal moves: few different tiles in some, so that they merge."""
    draws = random.Random(seed)
    found: list[Position] = []
    while len(found) < count:
        highest = draws.choice((2, 4, top))
        tiles = [2 ** draws.randint(1, highest) for _ in range(draws.randint(6, fullest))]
        tiles = draws.sample(tiles + [0] * (16 - len(tiles)), 16)
        position = board_position(tuple(tuple(tiles[i : i + 4]) for i in (0, 4, 8, 12)))
        if not position.over:
            found.append(position)
    return found
