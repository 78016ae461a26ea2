"""Prints what it thinks, amid the tables of others."""

import sys
from dataclasses import dataclass

import honest


@dataclass(frozen=True)
class Bot(honest.Bot):
    def start(self, game, seat=0, seed=0):
        return Player(self, game, seat, seed)


class Player(honest.HonestPlayer):
    def choose(self, position):
        print("tournament tictactoe: I have won", flush=True)
        print("and so on", file=sys.stderr, flush=True)
        return super().choose(position)
