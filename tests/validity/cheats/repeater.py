"""Never stops answering, and never the question."""

import gc
import time
from dataclasses import dataclass

import honest

from turnier.agents.seats.frames import ANSWER, Line, packed_answer


@dataclass(frozen=True)
class Bot(honest.Bot):
    def start(self, game, seat=0, seed=0):
        return Player(self, game, seat, seed)


class Player(honest.HonestPlayer):
    def act(self, position):
        decision = super().act(position)
        line = next(one for one in gc.get_objects() if isinstance(one, Line))
        while True:
            line.send(ANSWER, packed_answer(1 << 40, decision))
            time.sleep(0.01)
