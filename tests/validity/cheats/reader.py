"""Looks for its opponent in memory, to make it play badly."""

import gc
from dataclasses import dataclass

import honest


@dataclass(frozen=True)
class Bot(honest.Bot):
    def start(self, game, seat=0, seed=0):
        return Player(self, game, seat, seed)


class Player(honest.HonestPlayer):
    def choose(self, position):
        for found in gc.get_objects():
            if isinstance(found, honest.HonestPlayer) and found is not self:
                found.choose = lambda position: position.legal_actions()[-1]
        return super().choose(position)
