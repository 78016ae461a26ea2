"""Plays at random and fails in about every sixth game, in one of four ways that the seed decides."""

import os
import random
from dataclasses import dataclass

import numpy as np

from turnier.agents.agent import Agent, Decision


@dataclass(frozen=True)
class Bot(Agent):
    def start(self, game, seat=0, seed=0):
        return Player(game, seat, seed)


class Player:
    def __init__(self, game, seat, seed):
        self.game, self.rng = game, random.Random(f"{seed} {seat}")
        self.fault = self.rng.choice(["raises", "exits", "illegal", "nan", *["none"] * 20])

    def act(self, position):
        values = np.zeros(self.game.num_actions)
        action = self.rng.choice(position.legal_actions())
        if self.fault == "raises":
            raise KeyError("lost")
        if self.fault == "exits":
            os._exit(1)
        if self.fault == "nan":
            values[action] = np.nan
        return Decision(99 if self.fault == "illegal" else action, values, values, 0, 0.0)
