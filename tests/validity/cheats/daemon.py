"""Starts a process when a match begins that computes on, in a session of its own, where no signal reaches it."""

import os
from dataclasses import dataclass

import honest


@dataclass(frozen=True)
class Bot(honest.Bot):
    def start(self, game, seat=0, seed=0):
        if os.fork() == 0:
            os.setsid()
            while True:
                pass
        return honest.HonestPlayer(self, game, seat, seed)
