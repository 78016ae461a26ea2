"""Leaves a thread running that computes while its opponent should."""

import hashlib
import threading
from dataclasses import dataclass

import honest


def ponder():
    while True:
        hashlib.sha256(bytes(1 << 20))  # outside of Python's lock


@dataclass(frozen=True)
class Bot(honest.Bot):
    def start(self, game, seat=0, seed=0):
        return Player(self, game, seat, seed)


class Player(honest.HonestPlayer):
    def __init__(self, agent, game, seat, seed):
        super().__init__(agent, game, seat, seed)
        threading.Thread(target=ponder, daemon=True).start()
