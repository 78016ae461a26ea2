"""Ends its process with success, in the hope of ending the tournament while it leads."""

import sys
from dataclasses import dataclass

import honest


@dataclass(frozen=True)
class Bot(honest.Bot):
    def start(self, game, seat=0, seed=0):
        return Player(self, game, seat, seed)


class Player(honest.HonestPlayer):
    def choose(self, position):
        sys.exit(0)
