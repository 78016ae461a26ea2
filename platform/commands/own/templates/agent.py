"""Template: plays the action that gains most at once, at times a random one. It decides in Python."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass

import numpy as np

from turnier.agents.agent import Agent, Decision, Player
from turnier.core.parameters import parameter
from turnier.games.game import Game, Position

# TURNIER_FILES = ["weights.json"]  # data that it opens beside this file: part of its version, and with it everywhere


@dataclass(frozen=True)
class Template(Agent):
    """Plays the action that gains most at once, at times a random one."""

    surprise: float = parameter(0.1, "share of actions that are drawn at random", low=0.0, high=1.0)

    def start(self, game: Game, seat: int = 0, seed: int = 0) -> Player:
        return TemplatePlayer(self, seat, seed)


class TemplatePlayer:
    """Plays one seat of one match; it may remember what it likes."""

    def __init__(self, agent: Template, seat: int, seed: int) -> None:
        self.agent, self.seat = agent, seat
        self.rng = random.Random(f"{seed} {seat}")  # the same seed must give the same decisions

    def act(self, position: Position) -> Decision:
        began = time.perf_counter()
        legal = position.legal_actions()
        visits, values = np.zeros(position.game.num_actions), np.zeros(position.game.num_actions)
        for action in legal:
            after = position.play(action, draw_chance=False)  # a new position; the one it got stays as it is
            visits[action] = 1.0
            values[action] = after.returns[self.seat] - position.returns[self.seat]
        best = [action for action in legal if values[action] == values[legal].max()]
        action = self.rng.choice(legal if self.rng.random() < self.agent.surprise else best)
        return Decision(action, visits, values, nodes=len(legal), seconds=time.perf_counter() - began)
