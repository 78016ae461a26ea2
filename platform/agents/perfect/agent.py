"""Perfect play: an agent that asks a judge."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...core.rng import below
from ...games.game import Game, Position
from ..abi import VALUES, VISITS
from ..agent import Agent, Decision, Player, seat_rng
from ..evaluator import ValueUnit
from .judge import cannot_judge, judge_of


@dataclass(frozen=True)
class Perfect(Agent):
    """Perfect play of connect four (pip install 'turnier[judges]') and of games with few boards, such as hex(size=3).

    It plays any action with the best value (win, draw or loss), all equally likely, however soon the game ends.
    """

    name: ClassVar[str] = "perfect"
    takes_its_time: ClassVar[bool] = True

    def draws_numbers(self, game: Game) -> bool:
        return True

    def value_unit(self, game: Game) -> ValueUnit:
        return ValueUnit(1.0, "-1 is lost, 1 is won")

    def cannot_play(self, game: Game) -> str | None:
        return cannot_judge(game)

    def start(self, game: Game, seat: int = 0, seed: int = 0) -> Player:
        self.require(game)
        return PerfectPlayer(game, seat, seed)


class PerfectPlayer:
    """Plays the best action by the judge of a game."""

    def __init__(self, game: Game, seat: int, seed: int) -> None:
        self.judge, self.num_actions = judge_of(game), game.num_actions
        self.rng = seat_rng(seed, seat, game.num_seats)

    def act(self, position: Position) -> Decision:
        began = time.perf_counter()
        root, legal = np.zeros((2, self.num_actions)), position.legal_actions()
        if len(legal) == 1:
            return Decision(legal[0], root[VISITS], root[VALUES], 0, time.perf_counter() - began)
        values = self.judge.values(position)
        root[VISITS, legal], root[VALUES, legal] = 1.0, list(values.values())
        best = [action for action, value in values.items() if value == max(values.values())]
        action = best[int(below(self.rng, len(best)))]
        return Decision(action, root[VISITS], root[VALUES], len(legal), time.perf_counter() - began)
