"""Thinks far too long in every eighth of its games."""

import time
from dataclasses import dataclass

import honest


@dataclass(frozen=True)
class Bot(honest.Bot):
    def start(self, game, seat=0, seed=0):
        return Player(self, game, seat, seed)


class Player(honest.HonestPlayer):
    def __init__(self, agent, game, seat, seed):
        super().__init__(agent, game, seat, seed)
        self.sleeps = seed % 8 == 0

    def choose(self, position):
        if self.sleeps:
            time.sleep(3600)
        return super().choose(position)
