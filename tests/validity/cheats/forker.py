"""Leaves a process behind in every move."""

import os
from dataclasses import dataclass

import honest


@dataclass(frozen=True)
class Bot(honest.Bot):
    def start(self, game, seat=0, seed=0):
        return Player(self, game, seat, seed)


class Player(honest.HonestPlayer):
    def choose(self, position):
        if os.fork() == 0:
            while True:
                pass
        return super().choose(position)
