"""Honest: wins if it can at once, otherwise plays at random; the cheats are this bot and one trick each."""

from __future__ import annotations

import random
from dataclasses import dataclass

import numpy as np

from turnier.agents.agent import Agent, Decision, Player
from turnier.core.parameters import parameter
from turnier.games.game import Game, Position


@dataclass(frozen=True)
class Bot(Agent):
    """Wins if it can at once, otherwise plays at random."""

    surprise: float = parameter(0.1, "share of random moves", low=0.0, high=1.0)

    def start(self, game: Game, seat: int = 0, seed: int = 0) -> Player:
        return HonestPlayer(self, game, seat, seed)


class HonestPlayer:
    """Plays one seat of one match."""

    def __init__(self, agent: Bot, game: Game, seat: int, seed: int) -> None:
        self.agent, self.game, self.seat = agent, game, seat
        self.rng = random.Random(f"{seed} {seat}")

    def act(self, position: Position) -> Decision:
        none = np.zeros(self.game.num_actions)
        return Decision(self.choose(position), none, none, 0, 0.0)

    def choose(self, position: Position) -> int:
        legal = position.legal_actions()
        chosen = self.rng.choice(legal)
        if self.rng.random() < self.agent.surprise:
            return chosen
        return next((action for action in legal if self.gain(position, action) > 0), chosen)

    def gain(self, position: Position, action: int) -> float:
        after = position.play(action, draw_chance=False)
        return float(after.returns[self.seat] - position.returns[self.seat]) if after.over else 0.0
