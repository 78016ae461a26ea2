"""Starts a program when a match begins that computes on, in a session of its own, where no signal reaches it."""

import subprocess
import sys
from dataclasses import dataclass

import honest

SPIN = "while True: pass"


@dataclass(frozen=True)
class Bot(honest.Bot):
    def start(self, game, seat=0, seed=0):
        subprocess.Popen([sys.executable, "-c", SPIN], start_new_session=True)
        return honest.HonestPlayer(self, game, seat, seed)
