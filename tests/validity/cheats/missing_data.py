"""Reads a file that is not there."""

from dataclasses import dataclass
from pathlib import Path

import honest


@dataclass(frozen=True)
class Bot(honest.Bot):
    def start(self, game, seat=0, seed=0):
        Path(__file__).with_name("weights.json").read_text()
        return honest.HonestPlayer(self, game, seat, seed)
